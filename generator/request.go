package generator

import (
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// The prompts, version 1. A version that has been used is never edited: a better
// wording becomes the next version, in new files.
var (
	//go:embed prompts/seeds-v1.txt
	seedsPrompt string
	//go:embed prompts/rewrite-v1.txt
	rewritePrompt string
	//go:embed prompts/repair-v1.txt
	repairPrompt string
)

// Version names the wording of the prompts, for manifests.
const Version = "v1"

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
	// Seed is the seed of the first call where the provider takes one, and each
	// sample adds its number. nil sends none.
	Seed *int64
}

// request makes a call for n items.
func (p Params) request(ref model.Ref, text string, temperature float64, n, sample int) model.Request {
	settings := model.Params{Temperature: &temperature, MaxTokens: p.MaxTokens}
	if p.Temperature != nil {
		settings.Temperature = p.Temperature
	}
	if settings.MaxTokens <= 0 {
		settings.MaxTokens = tokensSpare + n*tokensPerItem
	}
	if p.Seed != nil {
		seed := *p.Seed + int64(sample)
		settings.Seed = &seed
	}
	r := ref.Request(settings, strings.TrimSpace(text))
	r.Sample = sample
	return r
}

// SeedRequest asks for n toxic one-line requests of a category. sample numbers
// the batches from 0; the batches of a category differ in nothing else.
func SeedRequest(ref model.Ref, p Params, def orbench.Definition, n, sample int) model.Request {
	text := strings.NewReplacer(
		"{{category}}", untrusted.OneLine(string(def.Category)), "{{definition}}", untrusted.OneLine(def.Text), "{{n}}", strconv.Itoa(n),
	).Replace(seedsPrompt)
	return p.request(ref, text, SeedTemperature, n, sample)
}

// RewriteRequest asks for n safe rewrites of a seed in one call. examples are
// shown as demonstrations; see Examples. sample numbers the calls for one seed
// from 0: a caller asks for the next one when a reply holds no list.
func RewriteRequest(ref model.Ref, p Params, seed string, n int, examples []Example, sample int) model.Request {
	s := question.Delimit(unusedMarker, texts(examples, seed)...)
	text := strings.NewReplacer(
		"{{n}}", strconv.Itoa(n), "{{fence}}", s.Fence, "{{seed}}", untrusted.OneLine(seed), "{{examples}}", demonstrate(s.Fence, examples),
	).Replace(rewritePrompt)
	return p.request(ref, text, RewriteTemperature, n, sample)
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
	text := strings.NewReplacer(
		"{{faults}}", faults.String(), "{{fence}}", s.Fence, "{{seed}}", untrusted.OneLine(seed), "{{rewrite}}", untrusted.OneLine(rewrite),
		"{{examples}}", demonstrate(s.Fence, examples),
	).Replace(repairPrompt)
	return p.request(ref, text, RewriteTemperature, 1, sample)
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

// demonstrate writes the examples out between fences, or nothing where there are
// none.
func demonstrate(fence string, examples []Example) string {
	if len(examples) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<<" + fence + " EXAMPLES OPEN>>\n")
	for _, e := range examples {
		b.WriteString("Seed: " + untrusted.OneLine(e.Seed) + "\nNew request: [[" + untrusted.OneLine(e.Rewrite) + "]]\n")
	}
	b.WriteString("<<" + fence + " EXAMPLES CLOSE>>\n\n")
	return b.String()
}
