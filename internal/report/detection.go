package report

import (
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// detectionSection says how well the scores of guards separate toxic prompts
// from safe ones, one row each.
func detectionSection(all []score.Detection) table.Section {
	s := table.Section{
		Title:  "How well scores tell toxic from safe prompts at any threshold: area under the ROC curve; 0.5 is chance",
		Header: []string{"target", "dataset", "safe scored", "toxic scored", "AUC", "95% interval"}, Left: 2,
		Note: "The interval treats prompts as independent (DeLong).",
	}
	for _, f := range all {
		if f.Clusters > 0 {
			s.Note = "The interval allows for prompts of one cluster, and samples of one prompt, that are not independent (DeLong, Obuchowski)."
		}
		s.Add(table.Name(f.Target, f.Simulated), f.Dataset, f.Safe, f.Toxic, table.Fractions(&f.AUC))
	}
	return s
}
