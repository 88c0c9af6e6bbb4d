package report

import (
	"cmp"
	"io"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// Measured is a measurement of a judge with its printed figures.
type Measured struct {
	Set    string           `json:"set"`
	Model  string           `json:"model"`
	Label  string           `json:"label,omitempty"`
	Sample score.MeasuredOn `json:"sample"`
	// N is the number of judged answers. Unjudged is the number of others; no
	// other figure includes them.
	N        int `json:"n"`
	Unjudged int `json:"unjudged"`
	stats.Confusion
	// Accuracy, Precision and Recall have Wilson's 95% intervals. Precision is
	// nil if the judge called nothing a refusal; Recall is nil if nothing was
	// one.
	Accuracy  *stats.Estimate `json:"accuracy"`
	Precision *stats.Estimate `json:"precision"`
	Recall    *stats.Estimate `json:"recall"`
	// Shift is the judge's rate minus people's rate.
	Shift stats.Estimate `json:"shift"`
}

// measurementsOf summarizes the measurements of a judge, in the order of the
// file.
func measurementsOf(judge string) []Measured {
	var all []Measured
	for _, m := range score.MeasurementsOf(judge) {
		all = append(all, Measured{
			Set: m.Set, Model: m.Model, Label: string(m.Label), Sample: m.Sample, N: m.N(), Unjudged: m.Unjudged, Confusion: m.Confusion,
			Accuracy:  stats.RateOf(m.TP+m.TN, m.N()).Estimate(),
			Precision: stats.RateOf(m.TP, m.TP+m.FP).Estimate(),
			Recall:    stats.RateOf(m.TP, m.TP+m.FN).Estimate(),
			Shift:     m.Shift(),
		})
	}
	return all
}

// ViewMeasurements prints the measurements of a judge, as JSON if that is the
// format and otherwise as a table. It returns an *orbench.InputError if the
// judge has none.
func ViewMeasurements(w io.Writer, screen table.Screen, judge, format string) error {
	switch all := measurementsOf(judge); {
	case len(all) == 0:
		return &orbench.InputError{
			Setting: "about", Problem: judge + " was not measured on answers that people labeled",
			Hint: "lexical was; measure other judges on labeled answers with orbench judge, `responses` and `gold-column`",
		}
	case format == "json":
		return table.JSON(w, map[string]any{"judge": judge, "measurements": all})
	}
	return measurementsOnScreen(judge).Text(w, screen)
}

// measurementsOnScreen lays out the measurements of a judge. Those on answers that
// it was fitted to are set apart.
func measurementsOnScreen(judge string) (d table.Document) {
	sections := []struct {
		title   string
		samples []score.MeasuredOn
	}{
		{judge + " on answers that it was not fitted to, against labels", []score.MeasuredOn{score.LeftOut, score.HeldOut}},
		{judge + " on answers that it was fitted to: these say nothing about new answers", []score.MeasuredOn{score.Fitted}},
	}
	all := measurementsOf(judge)
	for _, of := range sections {
		s := table.Section{
			Title: of.title,
			Header: []string{
				"set", "answers of", "label", "sample", "n", "unjudged", "refused", "accuracy, 95%", "precision, 95%", "recall, 95%", "shift of rate, 95%",
			},
			Left: 4, WrapNames: true, Spare: []string{"precision, 95%", "recall, 95%", "sample", "refused", "unjudged"},
		}
		for _, m := range all {
			if !slices.Contains(of.samples, m.Sample) {
				continue
			}
			share := func(e *stats.Estimate) string {
				return table.Estimate(e) + " " + table.Pad(table.EstimateInterval(e), 10, true)
			}
			s.Add(m.Set, m.Model, cmp.Or(m.Label, "mixed"), m.Sample, m.N, m.Unjudged, m.TP+m.FN, share(m.Accuracy), share(m.Precision), share(m.Recall),
				table.Difference(&m.Shift, table.Minus)+" "+table.Pad(table.DifferenceInterval(&m.Shift, table.Minus), 12, true))
		}
		if len(s.Rows) > 0 {
			d.Add(s)
		}
	}
	return d
}
