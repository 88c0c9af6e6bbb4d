package evaluate

import (
	"reflect"
	"slices"

	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// role says for what the run has a request asked: "target", "judge", or "defense" for what
// stands between prompts and a target. Where a model is asked for several, the parameters
// decide, and where they are the same, it is that of the target.
func (r *Run) role(q model.Request) job.Role {
	at := model.Ref{Provider: q.Provider, Endpoint: q.Endpoint, Model: q.Model}
	var role job.Role
	if slices.Contains(judge.ModelsOf(r.Judges...), at) {
		role = job.Judge
	}
	for _, t := range r.Targets {
		if role == "" && t.Defense != nil && slices.Contains(t.Defense.Models(), at) {
			role = "defense"
		}
		if t.undefended().Ref == at && (role == "" || reflect.DeepEqual(t.Params, q.Params)) {
			return job.Target
		}
	}
	return role
}
