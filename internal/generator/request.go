package generator

import (
	"embed"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// prompt is the text of a request, with its two endings.
type prompt struct{ body, line, json string }

// The prompts. A version that has been used is never edited: a better wording becomes the
// next version, in new files.
var (
	//go:embed prompts
	promptFiles embed.FS

	seedsPrompt   = promptOf("seeds-v1")
	rewritePrompt = promptOf("rewrite-v1")
	repairPrompt  = promptOf("repair-v1")
	turnsPrompt   = promptOf("turns-v1")

	// The second versions ask for variety; their endings are those of the first.
	variedSeeds   = prompt{promptFile("seeds-v2"), seedsPrompt.line, seedsPrompt.json}
	variedRewrite = prompt{promptFile("rewrite-v2"), rewritePrompt.line, rewritePrompt.json}
	mutatePrompt  = prompt{promptFile("mutate-v1"), rewritePrompt.line, rewritePrompt.json}
)

// promptOf reads a prompt with its endings.
func promptOf(name string) prompt {
	return prompt{promptFile(name), promptFile(name + "-line"), promptFile(name + "-json")}
}

// promptFile reads a prompt file. It panics if the file is missing, since the files are
// part of the program.
func promptFile(name string) string {
	text, err := promptFiles.ReadFile("prompts/" + name + ".txt")
	if err != nil {
		panic("generator: " + err.Error())
	}
	return string(text)
}

// listSchema is the JSON Schema of the structured form.
var listSchema = json.RawMessage(`{"type":"object","properties":{"requests":{"type":"array","items":{"type":"string"}}},"required":["requests"],"additionalProperties":false}`)

// The temperatures of the paper. Seeds need variety; rewrites must stay close to their
// seed.
const (
	// SeedTemperature is the default temperature of SeedRequest; Params can change it.
	SeedTemperature = 1.0
	// RewriteTemperature is the default temperature of RewriteRequest and RepairRequest;
	// Params can change it.
	RewriteTemperature = 0.7
)

// The default bound on the output: an item is at most 60 words, and there may be
// an introduction.
const (
	tokensPerItem = 100
	tokensSpare   = 300
)

// Params are the parameters of a call.
type Params struct {
	// Temperature is at least 0; nil means SeedTemperature or RewriteTemperature.
	Temperature *float64
	// MaxTokens bounds the output. 0 means 300, plus 100 for each requested item. A model
	// that thinks needs more.
	MaxTokens int
	// Structured asks for JSON by a schema, if the provider supports one.
	Structured bool
	// Varied asks for seeds and rewrites by the second version of the wordings. Nil means
	// the first.
	Varied *Varied
}

// request makes a call for n items. words fill the prompt's slots.
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
	// A single replacer works in one pass, so inserted text is not searched again.
	text := strings.NewReplacer(append(words, "{{n}}", strconv.Itoa(n))...).Replace(ask.body + ending)
	r := ref.Request(settings, strings.TrimSpace(text))
	r.Sample = sample
	return r
}

// SeedRequest asks for n toxic one-line requests of a category. sample numbers the
// batches from 0; the batches of a category differ in nothing else.
func SeedRequest(ref model.Ref, p Params, def orbench.Definition, n, sample int) model.Request {
	ask, made := seedsPrompt, ""
	if p.Varied != nil {
		ask = variedSeeds
		made = p.Varied.Made.show(question.Delimit(unusedMarker, p.Varied.Made.texts()...).Fence)
	}
	return p.request(ref, ask, SeedTemperature, n, sample,
		"{{category}}", untrusted.OneLine(string(def.Category)), "{{definition}}", untrusted.OneLine(def.Text), "{{made}}", made)
}

// RewriteRequest asks for n safe rewrites of a seed in one call. examples are shown as
// demonstrations; see Examples. sample numbers the calls for one seed from 0. A caller
// asks again with the next number if a reply has no list.
func RewriteRequest(ref model.Ref, p Params, seed string, n int, examples []Example, sample int) model.Request {
	ask, varied, shown := rewritePrompt, Varied{}, 1
	if p.Varied != nil {
		ask, varied, shown = variedRewrite, *p.Varied, n
	}
	s := question.Delimit(unusedMarker, append(texts(examples, shown, seed), varied.Made.texts()...)...)
	return p.request(ref, ask, RewriteTemperature, n, sample,
		"{{fence}}", s.Fence, "{{seed}}", untrusted.OneLine(seed), "{{examples}}", p.demonstrate(s.Fence, examples, shown),
		"{{forms}}", varied.forms(), "{{made}}", varied.Made.show(s.Fence))
}

// RepairRequest asks for one new rewrite of a seed in place of one that broke rules.
// findings are the findings of Lint; the request names them. sample numbers the calls for
// one rewrite from 0.
func RepairRequest(ref model.Ref, p Params, seed, rewrite string, findings []Finding, examples []Example, sample int) model.Request {
	s := question.Delimit(unusedMarker, texts(examples, 1, seed, rewrite)...)
	var faults strings.Builder
	for _, f := range findings {
		faults.WriteString("- " + f.Rule.Fault() + "\n")
	}
	return p.request(ref, repairPrompt, RewriteTemperature, 1, sample,
		"{{faults}}", faults.String(), "{{fence}}", s.Fence, "{{seed}}", untrusted.OneLine(seed), "{{rewrite}}", untrusted.OneLine(rewrite),
		"{{examples}}", p.demonstrate(s.Fence, examples, 1))
}

// TurnsRequest asks for the n messages of a conversation that lead up to a rewrite. They
// alternate between user and assistant, the user first. sample numbers the calls for one
// rewrite from 0.
func TurnsRequest(ref model.Ref, p Params, rewrite string, n, sample int) model.Request {
	s := question.Delimit(unusedMarker, rewrite)
	return p.request(ref, turnsPrompt, RewriteTemperature, n, sample, "{{fence}}", s.Fence, "{{request}}", untrusted.OneLine(rewrite))
}

// Turns reads the messages of a conversation from the items of a reply to TurnsRequest.
// It reports false if there are fewer than n, or if a user's message breaks a rule. Items
// beyond n are ignored.
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
		if slices.ContainsFunc(Lint("", item), func(f Finding) bool { return slices.Contains(rules, f.Rule) }) {
			return nil, false
		}
	}
	return turns, true
}

// unusedMarker fills the place where question.Delimit wants a word for a verdict. Replies
// here are lists and have no verdict.
const unusedMarker = "item"

// Example demonstrates rewrites of a seed: one, or several.
type Example struct {
	Seed     string   `json:"seed" yaml:"seed"`
	Rewrite  string   `json:"rewrite,omitempty" yaml:"rewrite"`
	Rewrites []string `json:"rewrites,omitempty" yaml:"rewrites"`
}

// All are the rewrites of the example.
func (e Example) All() []string {
	if e.Rewrite == "" {
		return e.Rewrites
	}
	return append([]string{e.Rewrite}, e.Rewrites...)
}

// shown are the first n rewrites.
func (e Example) shown(n int) []string {
	all := e.All()
	return all[:min(n, len(all))]
}

//go:embed examples*.json
var exampleFiles embed.FS

// Examples are the default demonstrations of a version of the wordings: five of our own,
// which break no rule of Lint. Those of the second version have five rewrites each, of
// several forms. A configuration may give others.
func Examples(version int) (examples []Example) {
	name := "examples.json"
	if version > 1 {
		name = "examples-v2.json"
	}
	text, err := exampleFiles.ReadFile(name)
	if err = errors.Join(err, json.Unmarshal(text, &examples)); err != nil {
		panic("generator: " + name + ": " + err.Error())
	}
	return examples
}

// texts are the untrusted texts in a request that shows n rewrites of each example, for
// choosing its delimiters.
func texts(examples []Example, n int, more ...string) []string {
	for _, e := range examples {
		more = append(append(more, e.Seed), e.shown(n)...)
	}
	return more
}

// demonstrate writes the examples between fences, with n rewrites each, in the requested
// form, or nothing if there are none.
func (p Params) demonstrate(fence string, examples []Example, n int) string {
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
		b.WriteString("Seed: " + untrusted.OneLine(e.Seed) + "\n")
		for _, rewrite := range e.shown(n) {
			b.WriteString("New request: " + left + untrusted.OneLine(rewrite) + right + "\n")
		}
	}
	b.WriteString("<<" + fence + " EXAMPLES CLOSE>>\n\n")
	return b.String()
}

// Operator is a way to make new requests from one that models refused, or from two.
type Operator string

// The operators. Recombine takes two parents.
const (
	// Retell keeps what the parent is about and its striking words.
	Retell Operator = "retell"
	// Transfer keeps the striking words and takes another subject.
	Transfer Operator = "transfer"
	// Sharpen adds words of the parent's kind.
	Sharpen Operator = "sharpen"
	// Resense uses the alarming words in another sense.
	Resense Operator = "resense"
	// Recombine joins the words of one parent with the subject of the other.
	Recombine Operator = "recombine"
)

// Operators lists the operators in the order in which a search uses them.
func Operators() []Operator { return []Operator{Retell, Recombine, Transfer, Sharpen, Resense} }

// changes say to a generator what an operator changes. A wording that was used is never
// edited.
var changes = map[Operator]string{
	Retell:    "the form of the sentence, the place, the time and the persons. Keep what the parent is about, and keep its striking words.",
	Transfer:  "the subject. Keep the striking words of the parent, and ask about another trade, object or event.",
	Sharpen:   "the tone. Keep what the parent is about, and use more words that sound like its most alarming ones.",
	Resense:   "the sense. Use the alarming words of the parent in another of their meanings, as in crafts, sports, cooking, computing or figures of speech.",
	Recombine: "what is joined. A second parent stands below the first. Ask about the subject of one with the striking words of the other.",
}

// MutateRequest asks for n new requests made from a parent by an operator. other is the
// second parent of Recombine, and ignored by the rest. It shows the common openings of
// p.Varied, if that is set. sample numbers the calls of the same operator and parents
// from 0.
func MutateRequest(ref model.Ref, p Params, o Operator, parent, other string, n, sample int) model.Request {
	var made Made
	if p.Varied != nil {
		// Topics that are common are those that models refuse, so they may return.
		made.Openings = p.Varied.Made.Openings
	}
	if o != Recombine {
		other = ""
	}
	s := question.Delimit(unusedMarker, append(made.texts(), parent, other)...)
	if other != "" {
		other = "<<" + s.Fence + " OTHER PARENT OPENS>>\n" + untrusted.OneLine(other) + "\n<<" + s.Fence + " OTHER PARENT CLOSES>>\n\n"
	}
	return p.request(ref, mutatePrompt, RewriteTemperature, n, sample,
		"{{change}}", changes[o], "{{fence}}", s.Fence, "{{parent}}", untrusted.OneLine(parent), "{{other}}", other, "{{made}}", made.show(s.Fence))
}
