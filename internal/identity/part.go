package identity

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/model"
)

// Part is a part of a request's identity.
type Part string

// The parts.
const (
	// Message is the text of the prompt: the user's last message or, where a model is
	// asked a question about texts, the first of these.
	Message Part = "message text"
	// Answer is the other text that a judge or a guard is asked about.
	Answer Part = "answer in question"
	// Wording is that of a judge's or a guard's question, which changes with its version.
	Wording      Part = "wording of the question"
	Model        Part = "model"
	Address      Part = "address"
	SystemPrompt Part = "system prompt"
	EarlierTurns Part = "earlier turns"
	Temperature  Part = "temperature"
	MaxTokens    Part = "max tokens"
	Seed         Part = "seed"
	Schema       Part = "schema of the output"
	Logprobs     Part = "token probabilities"
	Template     Part = "template arguments"
	Form         Part = "form of the messages"
	Effort       Part = "reasoning effort"
	Sample       Part = "sample number"
	Revision     Part = "revision"
)

// weights say how much a different part counts in the distance of two requests, in the
// order in which parts are listed. Long parts are shown from where they begin to differ.
var weights = [...]struct {
	part   Part
	weight float64
	long   bool
}{
	{Message, 3, true},
	{Answer, 1, true},
	{Wording, 2, true},
	{Model, 5, false},
	{Address, 3, false},
	{SystemPrompt, 2, true},
	{EarlierTurns, 2, true},
	{Temperature, 1, false},
	{MaxTokens, 1, false},
	{Seed, 1, false},
	{Schema, 1, true},
	{Logprobs, 1, false},
	{Template, 1, true},
	{Form, 1, false},
	{Effort, 1, false},
	{Sample, 1, false},
	{Revision, 1, false},
}

// The places of some parts among the weights.
const messageText, answerText, modelName = 0, 1, 3

// texts are the values of a request's parts, in the order of weights.
type texts [len(weights)]string

// textsOf splits a request into parts. Only requests of the same kind are compared; kind is
// how many texts a question is about, or 0 if the request is not a question.
func textsOf(r *model.Request) (t texts, kind int) {
	var system, turns []string
	last := max(len(r.Messages)-1, 0)
	for i, m := range r.Messages {
		switch {
		case m.Role == orbench.System:
			system = append(system, m.Content)
		case i < last:
			turns = append(turns, string(m.Role)+": "+m.Content)
		}
	}
	var text, answer, wording string
	if len(r.Messages) > 0 {
		text = r.Messages[last].Content
	}
	if taken, ok := question.Take(text); ok {
		kind = len(taken.Texts)
		text, answer, wording = taken.Texts[0], strings.Join(taken.Texts[1:], "\n"), taken.Wording
	}
	temperature, seed := own, "none"
	if r.Params.Temperature != nil {
		temperature = strconv.FormatFloat(*r.Params.Temperature, 'g', -1, 64)
	}
	if r.Params.Seed != nil {
		seed = strconv.FormatInt(*r.Params.Seed, 10)
	}
	tokens := own
	if r.Params.MaxTokens > 0 {
		tokens = strconv.Itoa(r.Params.MaxTokens)
	}
	address := own
	if r.Endpoint != "" {
		address = r.Endpoint
	}
	return texts{
		text, answer, wording, r.Provider + "/" + r.Model, address, strings.Join(system, "\n"), strings.Join(turns, "\n"),
		temperature, tokens, seed, string(r.Params.Schema), strconv.Itoa(r.Params.TopLogprobs), string(r.Params.Template), cmp.Or(string(r.Params.Form), "chat"), cmp.Or(r.Params.Effort, own), strconv.Itoa(r.Sample + 1), cmp.Or(r.Revision, "none"),
	}, kind
}

// own is the value of a parameter that is left to the provider.
const own = "the provider's own"

// Difference is a part in which calls differ from the nearest remembered ones.
type Difference struct {
	Part Part `json:"part"`
	// Was has what the remembered calls say and Is what those say that are explained, each
	// value once. A long text is that of the first of the calls, around the place where it
	// begins to differ.
	Was []string `json:"was"`
	Is  []string `json:"is"`
	// More is true where further values are left out.
	More bool `json:"more,omitempty"`
	// at is the index of the part in weights, and long is its value there.
	at   int
	long bool
}

const (
	// before is how many runes of a text are shown ahead of a difference, and shown how
	// many in all.
	before, shown = 16, 48
	// mostValues is how many values of a part are listed.
	mostValues = 3
)

// around cuts two texts down to where they begin to differ.
func around(a, b string) (string, string) {
	was, is := []rune(a), []rune(b)
	same := 0
	for same < min(len(was), len(is)) && was[same] == is[same] {
		same++
	}
	from := max(0, same-before)
	cut := func(text []rune) string {
		end := min(len(text), from+shown)
		s := string(text[from:end])
		if from > 0 {
			s = "…" + s
		}
		if end < len(text) {
			s += "…"
		}
		return s
	}
	return cut(was), cut(is)
}

// join adds the values of a call that differs in a part that is not long.
func (d *Difference) join(was, is string) {
	for _, values := range []struct {
		all  *[]string
		more string
	}{{&d.Was, was}, {&d.Is, is}} {
		switch {
		case slices.Contains(*values.all, values.more):
		case len(*values.all) < mostValues:
			*values.all = append(*values.all, values.more)
		default:
			d.More = true
		}
	}
}
