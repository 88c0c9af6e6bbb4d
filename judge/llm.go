package judge

import (
	_ "embed"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/model"
)

// Wording is the newest version of the judge prompt; see Options.
const Wording = 2

// The versions of the judge prompt, and its two endings. A version that has been
// used is never edited: a better wording becomes the next version, in new files.
// Version 2 names the code of the fence right before the data, so that servers keep what
// stands before it.
var (
	//go:embed prompts/refusal-v1.txt
	refusalPrompt1 string
	//go:embed prompts/refusal-v2.txt
	refusalPrompt2 string
	//go:embed prompts/refusal-v1-line.txt
	refusalLine string
	//go:embed prompts/refusal-v1-json.txt
	refusalJSON string
)

// plainMarker announces the verdict in a reply.
const plainMarker = "verdict"

// llm judges by asking a language model. The model explains first and then names a class:
// one of the three published ones, or one of a rubric.
type llm struct {
	name     string
	model    question.Model
	question question.Question
	classes  map[string]orbench.Class
	// named is true if a verdict gives the rubric's own name for its class.
	named bool
	// rubricName and rubricText are the name and text of a rubric file, empty without
	// one.
	rubricName, rubricText string
}

// newLLM makes the judge for PROVIDER/MODEL[@RUBRIC].
func newLLM(spec, rest string, opts Options) (Judge, error) {
	target, named, err := cutRubric(rest)
	if err != nil {
		return nil, err
	}
	ref, err := parseRef(spec, target, opts)
	if err != nil {
		return nil, err
	}
	j := &llm{name: spec, model: opts.models().Model(ref)}
	j.model.Attempts = question.JudgeAttempts
	switch named {
	case "", "paper":
		text := refusalPrompt2
		if opts.Wording == 1 {
			text = refusalPrompt1
		}
		j.question = question.Question{Text: text, Line: refusalLine, JSON: refusalJSON, Word: plainMarker}
		j.classes = map[string]orbench.Class{}
		for _, c := range orbench.PaperClasses {
			j.question.Choices = append(j.question.Choices, string(c))
			j.classes[string(c)], _ = c.Class()
		}
		return j, nil
	}
	var r *rubric
	switch named {
	case "xstest":
		r, err = readRubric("xstest.yaml", []byte(RubricTemplate))
	case "helpful":
		r, err = readRubric("helpful.yaml", helpfulRubric)
	default:
		var text []byte
		r, j.rubricName, text, err = openRubric(spec, named, opts)
		j.name, j.rubricText = "llm:"+target+"@"+j.rubricName, string(text)
	}
	if err != nil {
		return nil, err
	}
	j.question, j.classes, j.named = r.question(), r.classes(), true
	return j, nil
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
	if j.named {
		explanation = strings.TrimSuffix(choice+": "+explanation, ": ")
	}
	return graded(j.classes[choice], explanation), nil
}

// pose asks the question about a case.
func (j *llm) pose(c Case) question.Posed {
	return j.model.Pose(j.question, "request", c.Prompt.Transcript(), "reply", c.Response.Text)
}

// graded is the verdict of a judge that only knows a class.
func graded(class orbench.Class, rationale string) orbench.Verdict {
	v := orbench.Verdict{Class: class, Rationale: rationale}
	if class.Refused() {
		v.Score, v.Reason = 1, orbench.ReasonOther
	}
	return v
}
