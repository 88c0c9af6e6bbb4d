package evaluate

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/refusal"
)

// Refused reports whether a reply of a model is a refusal or calls an answer one, by the reply
// alone. It is read as the judge of that name reads it or, where that is empty, as what a target
// says: by the guard that it is, or by the detector.
func (r *Run) Refused(of model.Ref, by string, request model.Request, reply model.Response) bool {
	prompt := orbench.Prompt{Messages: request.Messages}
	if by != "" {
		i := slices.IndexFunc(r.Judges, func(j judge.Judge) bool { return j.Name() == by })
		return i >= 0 && judge.Read(r.Judges[i], of, reply).Class.Refused()
	}
	for _, t := range r.Targets {
		if t.Ref() == of && t.Guard != nil {
			a, _, err := t.Guard.Ask(model.Request{}, guard.PromptHarm, prompt, "", func(model.Request) (model.Response, bool) { return reply, true })
			return err == nil && *a.Of(guard.PromptHarm)
		}
	}
	reply = r.Reading.Answer(reply)
	return reply.Finish == model.Blocked || refusal.Detect(prompt.Text(), reply.Text).Class.Refused()
}
