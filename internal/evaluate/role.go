package evaluate

import (
	"reflect"
	"slices"

	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// role gives the purpose of a request: "target", "judge", or "defense" for a step between
// the prompt and a target. If a model has several roles, the parameters decide; if those
// are the same, the role is "target".
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
