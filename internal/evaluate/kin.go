package evaluate

import (
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Kinship says how near a judge is to the model that it judges. Models tend to
// see their own refusals, and those of models made alike, with kind eyes.
type Kinship string

// The kinships. The zero value is a judge that is no kin, as far as names tell.
const (
	// SameModel is a judge that asks the very model, perhaps at another provider.
	SameModel Kinship = "same_model"
	// SameFamily is a judge that asks a model of the same makers; see
	// model.FamilyOf.
	SameFamily Kinship = "same_family"
)

// kinship tells from the names of the models.
func kinship(t Target, j judge.Judge) Kinship {
	asking, ok := j.(judge.ModelJudge)
	if !ok {
		return ""
	}
	var kin Kinship
	for _, m := range asking.Models() {
		switch {
		case model.BareName(m.Model) == model.BareName(t.Model):
			return SameModel
		case model.FamilyOf(m.Model) == model.FamilyOf(t.Model):
			kin = SameFamily
		}
	}
	return kin
}
