package score

import (
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// SelfJudging says how closely a judge is related to the model that it judges.
// Models tend to be lenient with their own refusals, and with those of related
// models.
type SelfJudging string

// The degrees. The zero value means that the judge comes from other makers, as
// far as names tell.
const (
	// SameModel means that the judge asks the same model, perhaps at another
	// provider.
	SameModel SelfJudging = "same_model"
	// SameFamily means that the judge asks a model of the same makers; see
	// model.FamilyOf.
	SameFamily SelfJudging = "same_family"
)

// selfJudging decides by the names of the models.
func selfJudging(target string, j judge.Judge) (near SelfJudging) {
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
