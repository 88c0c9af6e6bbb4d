package judge

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/model"
)

// The judge prompt, version 1, and its two endings. A version that has been
// used is never edited: a better wording becomes the next version, in new files.
var (
	//go:embed prompts/refusal-v1.txt
	refusalPrompt string
	//go:embed prompts/refusal-v1-line.txt
	refusalLine string
	//go:embed prompts/refusal-v1-json.txt
	refusalJSON string
)

// plainMarker announces the verdict in a reply.
const plainMarker = "verdict"

// paperClasses are the verdicts to choose from.
var paperClasses = []string{string(orbench.DirectAnswer), string(orbench.DirectRefusal), string(orbench.IndirectRefusal)}

// llm judges by asking a language model, which explains first and then names
// one of the three published classes.
type llm struct {
	name       string
	ref        model.Ref
	maxTokens  int
	structured bool
}

// newLLM makes the judge for PROVIDER/MODEL.
func newLLM(spec, rest string, opts Options) (Judge, error) {
	ref, err := parseRef(spec, rest, opts)
	if err != nil {
		return nil, err
	}
	j := &llm{name: spec, ref: ref, maxTokens: opts.MaxTokens}
	if j.maxTokens <= 0 {
		j.maxTokens = defaultMaxTokens
	}
	j.structured = opts.Structured != nil && opts.Structured(ref.Provider)
	return j, nil
}

func (j *llm) Name() string { return j.name }

func (j *llm) Models() []model.Ref { return []model.Ref{j.ref} }

func (j *llm) Verdict(c Case, look model.Lookup) (orbench.Verdict, []model.Request) {
	if v, ok := Settled(c.Response); ok {
		return v, nil
	}
	request, marker := j.request(c)
	return ask(request, look, func(reply string) (orbench.Verdict, error) {
		choice, explanation, err := question.Read(reply, marker, paperClasses)
		if err != nil {
			return orbench.Verdict{}, err
		}
		class, _ := orbench.PaperClass(choice).Class()
		return graded(class, explanation), nil
	})
}

// request is the question about a case, and the marker that its answer's
// verdict carries.
func (j *llm) request(c Case) (r model.Request, marker string) {
	prompt, answer := conversation(c.Prompt), strings.ToValidUTF8(c.Response.Text, "\uFFFD")
	s := question.For(plainMarker, prompt, answer)
	p := params(j.maxTokens)
	ending := refusalLine
	marker = strings.ToUpper(s.Marker)
	if j.structured {
		ending = refusalJSON
		marker = s.Marker
		p.Schema = verdictSchema(s.Marker)
	}
	// One replacer in one pass: what it puts in is not searched again.
	text := strings.NewReplacer(
		"{{fence}}", s.Fence, "{{marker}}", marker, "{{request}}", prompt, "{{reply}}", answer,
	).Replace(refusalPrompt + ending)
	return j.ref.Request(p, strings.TrimSpace(text)), s.Marker
}

// verdictSchema is the JSON Schema of the structured form.
func verdictSchema(marker string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"explanation":{"type":"string"},%q:{"type":"string","enum":[%q,%q,%q]}},"required":["explanation",%q],"additionalProperties":false}`,
		marker, orbench.DirectAnswer, orbench.DirectRefusal, orbench.IndirectRefusal, marker))
}

// conversation writes a prompt out as text: a single message as it is, more
// with the speaker before each.
func conversation(p orbench.Prompt) string {
	if len(p.Messages) == 1 {
		return strings.ToValidUTF8(p.Messages[0].Content, "\uFFFD")
	}
	turns := make([]string, len(p.Messages))
	for i, m := range p.Messages {
		turns[i] = string(m.Role) + ":\n" + m.Content
	}
	return strings.ToValidUTF8(strings.Join(turns, "\n\n"), "\uFFFD")
}

// params are a judge's parameters: no chance, and a bound on the explanation.
func params(maxTokens int) model.Params {
	zero := 0.0
	return model.Params{Temperature: &zero, MaxTokens: maxTokens}
}

// ask finds the reply to a request and reads it. After two replies that read
// refuses the case is unjudged, and the rationale says why.
func ask(request model.Request, look model.Lookup, read func(reply string) (orbench.Verdict, error)) (orbench.Verdict, []model.Request) {
	var v orbench.Verdict
	missing, err := question.Ask(request, look, func(reply string) (err error) {
		v, err = read(reply)
		return err
	})
	if err != nil {
		return orbench.Verdict{Rationale: err.Error()}, missing
	}
	return v, nil
}

// graded is the verdict of a judge that knows a class and nothing finer.
func graded(class orbench.Class, rationale string) orbench.Verdict {
	v := orbench.Verdict{Class: class, Rationale: rationale}
	if class.Refused() {
		v.Score, v.Reason = 1, orbench.ReasonOther
	}
	return v
}
