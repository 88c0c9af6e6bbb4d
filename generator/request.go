package generator

import (
	"embed"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// prompt is what a call asks for, and its two endings.
type prompt struct{ body, line, json string }

// The prompts, version 1. A version that has been used is never edited: a better
// wording becomes the next version, in new files.
var (
	//go:embed prompts
	promptFiles embed.FS

	seedsPrompt   = promptOf("seeds-v1")
	rewritePrompt = promptOf("rewrite-v1")
	repairPrompt  = promptOf("repair-v1")
	turnsPrompt   = promptOf("turns-v1")
)

// promptOf reads a prompt with its endings.
func promptOf(name string) prompt {
	return prompt{promptFile(name), promptFile(name + "-line"), promptFile(name + "-json")}
}

// promptFile reads one of the files of prompts. It panics where there is none, since they
// are part of the program.
func promptFile(name string) string {
	text, err := promptFiles.ReadFile("prompts/" + name + ".txt")
	if err != nil {
		panic("generator: " + err.Error())
	}
	return string(text)
}

// listSchema is the JSON Schema of the structured form.
var listSchema = json.RawMessage(`{"type":"object","properties":{"requests":{"type":"array","items":{"type":"string"}}},"required":["requests"],"additionalProperties":false}`)

// The temperatures of the paper: seeds need variety, rewrites need to stay with
// their seed.
const (
	// SeedTemperature is that of SeedRequest unless Params says otherwise.
	SeedTemperature = 1.0
	// RewriteTemperature is that of RewriteRequest and RepairRequest unless Params
	// says otherwise.
	RewriteTemperature = 0.7
)

// The default bound on the output: an item is at most 60 words, and there may be
// an introduction.
const (
	tokensPerItem = 100
	tokensSpare   = 300
)

// Params are the settings of a call.
type Params struct {
	// Temperature is at least 0; nil means SeedTemperature or RewriteTemperature.
	Temperature *float64
	// MaxTokens bounds the output. 0 means 300 and 100 for each item asked for;
	// a model that thinks aloud needs more.
	MaxTokens int
	// Structured asks for JSON by a schema, where the provider takes one.
	Structured bool
}

// request makes a call for n items. words are what stands in the prompt's slots.
func (p Params) request(ref model.Ref, ask prompt, temperature float64, n, sample int, words ...string) model.Request {
	settings := model.Params{Temperature: &temperature, MaxTokens: p.MaxTokens}
	if p.Temperature != nil {
		settings.Temperature = p.Temperature
	}
	if settings.MaxTokens <= 0 {
		settings.MaxTokens = tokensSpare + n*tokensPerItem
	}
	ending := ask.line
	if p.Structured {
		ending = ask.json
		settings.Schema = listSchema
	}
	// One replacer in one pass: what it puts in is not searched again.
	text := strings.NewReplacer(append(words, "{{n}}", strconv.Itoa(n))...).Replace(ask.body + ending)
	r := ref.Request(settings, strings.TrimSpace(text))
	r.Sample = sample
	return r
}

// SeedRequest asks for n toxic one-line requests of a category. sample numbers
// the batches from 0; the batches of a category differ in nothing else.
func SeedRequest(ref model.Ref, p Params, def orbench.Definition, n, sample int) model.Request {
	return p.request(ref, seedsPrompt, SeedTemperature, n, sample,
		"{{category}}", untrusted.OneLine(string(def.Category)), "{{definition}}", untrusted.OneLine(def.Text))
}

// RewriteRequest asks for n safe rewrites of a seed in one call. examples are
// shown as demonstrations; see Examples. sample numbers the calls for one seed
// from 0: a caller asks for the next one when a reply holds no list.
func RewriteRequest(ref model.Ref, p Params, seed string, n int, examples []Example, sample int) model.Request {
	s := question.Delimit(unusedMarker, texts(examples, seed)...)
	return p.request(ref, rewritePrompt, RewriteTemperature, n, sample,
		"{{fence}}", s.Fence, "{{seed}}", untrusted.OneLine(seed), "{{examples}}", p.demonstrate(s.Fence, examples))
}

// RepairRequest asks for one new rewrite of a seed in place of one that broke
// rules. findings are what Lint found in it, and the request names them. sample
// numbers the calls for one rewrite from 0.
func RepairRequest(ref model.Ref, p Params, seed, rewrite string, findings []Finding, examples []Example, sample int) model.Request {
	s := question.Delimit(unusedMarker, texts(examples, seed, rewrite)...)
	var faults strings.Builder
	for _, f := range findings {
		faults.WriteString("- " + f.Rule.Fault() + "\n")
	}
	return p.request(ref, repairPrompt, RewriteTemperature, 1, sample,
		"{{faults}}", faults.String(), "{{fence}}", s.Fence, "{{seed}}", untrusted.OneLine(seed), "{{rewrite}}", untrusted.OneLine(rewrite),
		"{{examples}}", p.demonstrate(s.Fence, examples))
}

// TurnsRequest asks for the n messages of a conversation that lead up to a rewrite: the
// user's and the assistant's in turn, the user's first. sample numbers the calls for one
// rewrite from 0.
func TurnsRequest(ref model.Ref, p Params, rewrite string, n, sample int) model.Request {
	s := question.Delimit(unusedMarker, rewrite)
	return p.request(ref, turnsPrompt, RewriteTemperature, n, sample, "{{fence}}", s.Fence, "{{request}}", untrusted.OneLine(rewrite))
}

// Turns reads the messages of a conversation out of the items of a reply to
// TurnsRequest. It reports false where there are not n, or one of the user's breaks a
// rule; items beyond them are left out.
func Turns(items []string, n int, rules []Rule) ([]orbench.Message, bool) {
	if len(items) < n {
		return nil, false
	}
	turns := make([]orbench.Message, n)
	for i, item := range items[:n] {
		turns[i] = orbench.Message{Role: orbench.User, Content: item}
		if i%2 == 1 {
			turns[i].Role = orbench.Assistant
			continue
		}
		for _, f := range Lint("", item) {
			if slices.Contains(rules, f.Rule) {
				return nil, false
			}
		}
	}
	return turns, true
}

// unusedMarker stands where question.Delimit wants a word for a verdict: replies here
// are lists and have none.
const unusedMarker = "item"

// Example demonstrates a rewrite.
type Example struct {
	Seed    string `json:"seed" yaml:"seed"`
	Rewrite string `json:"rewrite" yaml:"rewrite"`
}

//go:embed examples.json
var examplesJSON []byte

// Examples are the demonstrations to use unless a config gives others: five of
// our own, which break no rule of Lint.
func Examples() []Example {
	var examples []Example
	if err := json.Unmarshal(examplesJSON, &examples); err != nil {
		panic("generator: examples.json: " + err.Error())
	}
	return examples
}

// texts are the untrusted texts of a request, for its delimiters.
func texts(examples []Example, more ...string) []string {
	for _, e := range examples {
		more = append(more, e.Seed, e.Rewrite)
	}
	return more
}

// demonstrate writes the examples out between fences, in the form that is asked
// for, or nothing where there are none.
func (p Params) demonstrate(fence string, examples []Example) string {
	if len(examples) == 0 {
		return ""
	}
	left, right := "[[", "]]"
	if p.Structured {
		left, right = "", ""
	}
	var b strings.Builder
	b.WriteString("<<" + fence + " EXAMPLES OPEN>>\n")
	for _, e := range examples {
		b.WriteString("Seed: " + untrusted.OneLine(e.Seed) + "\nNew request: " + left + untrusted.OneLine(e.Rewrite) + right + "\n")
	}
	b.WriteString("<<" + fence + " EXAMPLES CLOSE>>\n\n")
	return b.String()
}
