package judge

import (
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/guard"
	"github.com/orbench/orbench/model"
)

// guarding judges by a guard that detects refusals. It knows only two classes.
type guarding struct {
	name   string
	format guard.Format
	ref    model.Ref
}

// newGuard makes the judge for FORMAT@PROVIDER/MODEL.
func newGuard(spec, rest string, opts Options) (Judge, error) {
	format, target, ok := strings.Cut(rest, "@")
	if !ok {
		return nil, wrong("judge %q must be guard:FORMAT@provider/model, for example guard:wildguard@vllm/allenai/wildguard", spec)
	}
	g, err := guard.ParseFormat("judge", format)
	if err != nil {
		return nil, err
	}
	if !g.Tells(guard.Refusal) {
		return nil, wrong("judge %q: %s tells whether a prompt or an answer is harmful, not whether an answer is a refusal, so it can moderate but not judge; formats that see refusals are %s", spec, g, strings.Join(guard.Telling(guard.Refusal), ", "))
	}
	ref, err := parseRef(spec, target, opts)
	if err != nil {
		return nil, err
	}
	return &guarding{name: spec, format: g, ref: ref}, nil
}

func (j *guarding) Name() string { return j.name }

func (j *guarding) Models() []model.Ref { return []model.Ref{j.ref} }

func (j *guarding) Verdict(c Case, look model.Lookup) (orbench.Verdict, []model.Request) {
	if v, ok := Settled(c.Response); ok {
		return v, nil
	}
	g := guard.Guard{Format: j.format}
	a, missing, err := g.Ask(g.Request(j.ref), guard.Refusal, c.Prompt, c.Response.Text, look)
	if err != nil {
		return orbench.Verdict{Rationale: err.Error()}, missing
	}
	class := orbench.FullAnswer
	if *a.Refusal {
		class = orbench.Refusal
	}
	return graded(class, string(j.format)+": "+a.String()), nil
}
