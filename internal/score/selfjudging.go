package score

import (
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// SelfJudging says how near a judge is to the model that it judges. Models tend to
// be lenient with their own refusals, and with those of models made alike.
type SelfJudging string

// The degrees. The zero value is a judge of other makers, as far as names tell.
const (
	// SameModel is a judge that asks the very model, perhaps at another provider.
	SameModel SelfJudging = "same_model"
	// SameFamily is a judge that asks a model of the same makers; see
	// model.FamilyOf.
	SameFamily SelfJudging = "same_family"
)

// selfJudging tells from the names of the models.
func selfJudging(target string, j judge.Judge) SelfJudging {
	var near SelfJudging
	for _, m := range judge.ModelsOf(j) {
		switch {
		case model.BareName(m.Model) == model.BareName(target):
			return SameModel
		case model.FamilyOf(m.Model) == model.FamilyOf(target):
			near = SameFamily
		}
	}
	return near
}
