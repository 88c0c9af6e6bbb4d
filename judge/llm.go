package judge

import (
	_ "embed"

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
	name  string
	model question.Model
}

// newLLM makes the judge for PROVIDER/MODEL.
func newLLM(spec, rest string, opts Options) (Judge, error) {
	ref, err := parseRef(spec, rest, opts)
	if err != nil {
		return nil, err
	}
	return &llm{name: spec, model: opts.Models().Model(ref)}, nil
}

func (j *llm) Name() string { return j.name }

func (j *llm) Models() []model.Ref { return []model.Ref{j.model.Ref} }

func (j *llm) Verdict(c Case, look model.Lookup) (orbench.Verdict, []model.Request) {
	if v, ok := Settled(c.Response); ok {
		return v, nil
	}
	choice, explanation, missing, err := j.pose(c).Ask(look)
	if err != nil {
		return orbench.Verdict{Rationale: err.Error()}, missing
	}
	class, _ := orbench.PaperClass(choice).Class()
	return graded(class, explanation), nil
}

// pose asks the question about a case.
func (j *llm) pose(c Case) question.Posed {
	return j.model.Pose(question.Question{
		Text: refusalPrompt, Line: refusalLine, JSON: refusalJSON, Word: plainMarker, Choices: paperClasses,
	}, "request", question.Transcript(c.Prompt), "reply", c.Response.Text)
}

// graded is the verdict of a judge that knows a class and nothing finer.
func graded(class orbench.Class, rationale string) orbench.Verdict {
	v := orbench.Verdict{Class: class, Rationale: rationale}
	if class.Refused() {
		v.Score, v.Reason = 1, orbench.ReasonOther
	}
	return v
}
