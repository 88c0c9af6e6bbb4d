package judge

import (
	"context"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// Read gives the verdict that a reply of a judge's model stands for, whatever was judged. A judge
// made of others reads it as the part does that asks the model.
func Read(j Judge, of model.Ref, reply model.Response) orbench.Verdict {
	if c, ok := j.(composed); ok {
		for _, part := range c.parts() {
			if slices.Contains(ModelsOf(part), of) {
				return Read(part, of, reply)
			}
		}
	}
	c := Case{Prompt: orbench.Prompt{Messages: []orbench.Message{{Role: orbench.User, Content: "."}}}, Response: model.Response{Text: "."}}
	v, _ := j.Verdict(c, func(model.Request) (model.Response, bool) { return reply, true })
	return v
}

// Run judges one answer now and asks m for the replies that the judge needs. Judges
// without a model need none. Errors come from m.
func Run(ctx context.Context, j Judge, c Case, m model.Model) (v orbench.Verdict, err error) {
	err = model.Resolve(ctx, m, func(look model.Lookup) (missing []model.Request) {
		v, missing = j.Verdict(c, look)
		return missing
	})
	return v, err
}
