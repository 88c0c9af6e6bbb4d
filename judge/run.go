package judge

import (
	"context"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// Run judges one answer now and asks m for the replies that the judge needs. Judges
// without a model need none. Errors come from m.
func Run(ctx context.Context, j Judge, c Case, m model.Model) (orbench.Verdict, error) {
	var v orbench.Verdict
	err := model.Resolve(ctx, m, func(look model.Lookup) (missing []model.Request) {
		v, missing = j.Verdict(c, look)
		return missing
	})
	return v, err
}
