package overlap

import (
	"context"

	"github.com/orbench/orbench/internal/dataset"
)

// Compare finds the prompts of a dataset that another one has. Prompts are
// compared by their text alone; for a conversation that is what Prompt.Said
// gives. The threshold is above 0 and at most 1; dataset.NearThreshold is the
// usual one. Compare holds the prompts of b in memory: 80,000 against 80,000 take
// about 4 seconds.
//
// Compare returns an *orbench.InputError for a threshold out of range or a file
// that has changed, the context's error, or an error of the file system.
func Compare(ctx context.Context, a, b *dataset.Dataset, threshold float64) (*Checked, error) {
	if err := checkThreshold(threshold, dataset.NearThreshold); err != nil {
		return nil, err
	}
	c := &Checked{
		Files: []CheckedFile{{Name: a.Name}}, Unread: []Unchecked{}, Findings: []Finding{},
		Evaluations: Evaluations{Threshold: threshold, Unchecked: []Unchecked{}, turns: NewTurns(threshold)},
	}
	if err := eachSaid(ctx, b, func(said []string) { c.Evaluations.keep(said) }); err != nil {
		return nil, err
	}
	c.Evaluations.Checked = []Evaluation{{b.Name, b.Source, b.SHA256, b.Count}}
	return c, eachSaid(ctx, a, func(said []string) {
		c.Files[0].Rows++
		c.compare(a.Name, c.Files[0].Rows, said, nil)
	})
}

// eachSaid passes what the user says in each prompt.
func eachSaid(ctx context.Context, d *dataset.Dataset, each func(said []string)) error {
	for p, err := range d.Prompts() {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		each([]string{p.Said()})
	}
	return nil
}
