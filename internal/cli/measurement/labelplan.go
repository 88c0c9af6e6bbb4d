package measurement

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
)

func (a app) labelPlanCommand() *cobra.Command {
	var at string
	var p orbench.LabelPlan
	c := &cobra.Command{
		Use:   "plan [RUN]",
		Short: "Store a plan before the first label, and draw by it",
		Long: `Store how the answers of a run will be labeled: the classes, how many answers, by whom, by
which seed, and when people stop. Then draw the answers as "orbench label draw" does. A
plan is stored before the first label and never changes. "orbench report" shows its hash,
and what was done of it.`,
		Example: `  orbench label plan main --size 20 --people ana,ben`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.ofStudy(c.Context(), at, args, nil, func(memory *store.Store, r *run.Run, kept *index.Index) error {
				return a.labelPlan(c.Context(), memory, at, r, kept, p)
			})
		},
	}
	flags := c.Flags()
	flags.IntVar(&p.Size, "size", 0, "`NUMBER` of answers to draw, in all")
	flags.Uint64Var(&p.Seed, "seed", 1, "`SEED` of the draw")
	flags.StringSliceVar(&p.People, "people", nil, "`NAMES` of those who label")
	flags.StringVar(&p.Stop, "stop", "each person has labeled every drawn answer", "`RULE`, in words, by which people stop")
	a.StoreFlag(c, &at)
	return c
}

// labelPlan keeps a plan and draws by it.
func (a app) labelPlan(ctx context.Context, memory *store.Store, at string, r *run.Run, kept *index.Index, p orbench.LabelPlan) error {
	if len(p.People) == 0 {
		return command.InputError("--people", "nobody is named who labels", "name them, such as ana,ben")
	}
	slices.Sort(p.People)
	all, err := memory.Annotations(ctx)
	if err != nil {
		return err
	}
	plan, err := annotation.NewPlan(p, a.items(ctx, memory, r, kept, "", ""), annotation.NewWords(all), time.Now().UTC())
	if err != nil {
		return err
	}
	if err := a.labelDraw(ctx, memory, r, kept, labelDrawFlags{size: p.Size, seed: p.Seed, store: at}); err != nil {
		return err
	}
	if err := memory.Annotate(ctx, []orbench.Annotation{plan}); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "plan %s is kept\n", plan.Subject)
	return nil
}
