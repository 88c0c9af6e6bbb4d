package judge

import (
	"context"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// Run judges one answer now, and asks m for what the judge lacks: nothing for
// judges that ask no model. The error is that of m.
func Run(ctx context.Context, j Judge, c Case, m model.Model) (orbench.Verdict, error) {
	var v orbench.Verdict
	err := model.Resolve(ctx, m, func(look model.Lookup) (missing []model.Request) {
		v, missing = j.Verdict(c, look)
		return missing
	})
	return v, err
}
