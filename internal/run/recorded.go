package run

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/recorded"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
)

// OpenRecorded opens a file of recorded answers for judges; see
// dataset.OpenRecording. goldRefusal are the values of the gold column that mean a
// refusal, nil where columns names none; one that no row has is an
// *orbench.InputError.
func OpenRecorded(ctx context.Context, path string, columns dataset.RecordingOptions, goldRefusal []string, judges []judge.Judge) (*evaluate.Recorded, error) {
	recording, err := dataset.OpenRecording(ctx, path, columns)
	if err != nil {
		return nil, err
	}
	if err := checkGold(recording, columns.Gold, goldRefusal); err != nil {
		return nil, err
	}
	return &evaluate.Recorded{Recording: recording, Judges: judges, GoldRefusal: goldRefusal}, nil
}

// checkGold checks the gold values that mean a refusal against the file.
func checkGold(r *dataset.Recording, column string, refusal []string) error {
	switch {
	case column == "" && refusal == nil:
		return nil
	case column == "":
		return &orbench.InputError{Setting: "gold-refusal", Problem: "no gold column is named", Hint: "name it with `gold-column`"}
	case refusal == nil:
		return &orbench.InputError{
			Setting: "gold-column", Problem: "which of its values mean a refusal is not said",
			Hint: "list them with `gold-refusal`; the column holds " + valuesOf(r.GoldValues),
		}
	}
	for _, v := range refusal {
		if r.GoldValues[v] == 0 {
			return &orbench.InputError{
				Setting: "gold-refusal", Problem: "no row has the gold value " + v,
				Hint: "the column holds " + valuesOf(r.GoldValues) + "; where none of them means a refusal, give an empty list",
			}
		}
	}
	return nil
}

// valuesOf lists the values of a column with their counts, in their order.
func valuesOf(counts map[string]int) string {
	const most = 12
	var parts []string
	for i, v := range slices.Sorted(maps.Keys(counts)) {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(counts)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("%.40q (%d)", v, counts[v]))
	}
	return strings.Join(parts, ", ")
}

// Calibrate measures the judges of runs, each once, on answers that people labeled,
// with the replies that the store has. The arguments are those of OpenRecorded.
func Calibrate(ctx context.Context, m store.Reader, runs []*Run, path string, columns dataset.RecordingOptions, goldRefusal []string) (recorded.Result, error) {
	var judges []judge.Judge
	for _, r := range runs {
		for _, j := range r.Judges {
			if !slices.ContainsFunc(judges, func(o judge.Judge) bool { return o.Name() == j.Name() }) {
				judges = append(judges, j)
			}
		}
	}
	r, err := OpenRecorded(ctx, path, columns, goldRefusal, judges)
	if err != nil {
		return recorded.Result{}, err
	}
	return r.Derive(ctx, m, nil)
}
