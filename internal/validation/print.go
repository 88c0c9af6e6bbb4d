package validation

import (
	"fmt"
	"io"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// Summary is a measurement with what it comes to, as it is printed.
type Summary struct {
	Set    string `json:"set"`
	Model  string `json:"model"`
	Label  string `json:"label,omitempty"`
	Sample Sample `json:"sample"`
	// N is the number of judged answers, Unjudged that of the others, which are in no
	// other figure.
	N        int `json:"n"`
	Unjudged int `json:"unjudged"`
	stats.Confusion
	// Accuracy, Precision and Recall have Wilson's 95% intervals; the latter two are
	// nil where nothing was called a refusal, or was one.
	Accuracy  *stats.Estimate `json:"accuracy"`
	Precision *stats.Estimate `json:"precision"`
	Recall    *stats.Estimate `json:"recall"`
	// Shift is the judge's rate minus people's.
	Shift stats.Estimate `json:"shift"`
}

// Summaries sums up the measurements of a judge, in the order of the file.
func Summaries(judge string) []Summary {
	var all []Summary
	for _, m := range Of(judge) {
		all = append(all, Summary{
			Set: m.Set, Model: m.Model, Label: string(m.Label), Sample: m.Sample, N: m.N(), Unjudged: m.Unjudged, Confusion: m.Confusion,
			Accuracy:  stats.RateOf(m.TP+m.TN, m.N()).Estimate(),
			Precision: stats.RateOf(m.TP, m.TP+m.FP).Estimate(),
			Recall:    stats.RateOf(m.TP, m.TP+m.FN).Estimate(),
			Shift:     m.Shift(),
		})
	}
	return all
}

// View prints the measurements of a judge as JSON for that format, and else as a
// table. A judge without any is an *orbench.InputError.
func View(w io.Writer, screen table.Screen, judge, format string) error {
	switch all := Summaries(judge); {
	case len(all) == 0:
		return &orbench.InputError{
			Setting: "about", Problem: judge + " was not measured on answers that people labeled",
			Hint: "lexical was; measure others by labeled answers with orbench judge, `responses` and `gold-column`",
		}
	case format == "json":
		return table.JSON(w, map[string]any{"judge": judge, "measurements": all})
	}
	return text(table.NewPrinter(w, screen), judge)
}

// text prints the measurements of a judge, what it was fitted to apart.
func text(b *table.Printer, judge string) error {
	sections := []struct {
		title   string
		samples []Sample
	}{
		{judge + " on answers that it was not fitted to, against people's labels", []Sample{LeftOut, HeldOut}},
		{judge + " on answers that it was fitted to: what fitting reached, and no measure of new answers", []Sample{Fitted}},
	}
	all := Summaries(judge)
	for _, of := range sections {
		s := table.Section{
			Title: of.title,
			Header: []string{
				"set", "answers of", "label", "sample", "n", "unjudged", "refused", "accuracy, 95%", "precision, 95%", "recall, 95%", "shift of rate, 95%",
			},
			Left: 4, WrapNames: true, Spare: []string{"precision, 95%", "recall, 95%", "sample", "refused", "unjudged"},
		}
		for _, m := range all {
			if m.Sample != of.samples[0] && m.Sample != of.samples[len(of.samples)-1] {
				continue
			}
			prompts := m.Label
			if prompts == "" {
				prompts = "mixed"
			}
			row := []string{m.Set, m.Model, prompts, string(m.Sample), table.Count(m.N), table.Count(m.Unjudged), table.Count(m.TP + m.FN)}
			for _, e := range []*stats.Estimate{m.Accuracy, m.Precision, m.Recall} {
				row = append(row, table.Estimate(e)+" "+table.Pad(table.EstimateInterval(e), 10, true))
			}
			s.Rows = append(s.Rows, append(row, table.Difference(&m.Shift, table.Minus)+" "+table.Pad(table.DifferenceInterval(&m.Shift, table.Minus), 12, true)))
		}
		if len(s.Rows) > 0 {
			b.Section(s)
		}
	}
	return b.Flush()
}

// flag is the judge of guards, which has no error of its own.
const flag = "flag"

// Describe says in a line how far a judge is known to be off on prompts of some
// labels, or that it is not known.
func Describe(judge string, labels []orbench.Label) string {
	if judge == flag {
		return "Where the judge is flag, the target is a guard: it is shown the prompts and flags them or not, and nobody judges what it says. A safe prompt that is flagged is a false alarm, a toxic one that is not flagged a miss."
	}
	var parts []string
	for _, label := range labels {
		if e, ok := Known(judge, label); ok {
			parts = append(parts, fmt.Sprintf("on %s prompts %.1f points too low to %.1f too high (%s sets, %s answers)",
				label, -100*e.Low, 100*e.High, table.Count(e.Sets), table.Count(e.Answers)))
		}
	}
	if len(parts) == 0 {
		return "The error of " + judge + " is not known: measure it by labeled answers (orbench judge), or correct its rates by labels of your own (orbench label)."
	}
	return "The rates of " + judge + " were off, on answers that people labeled and that it was not fitted to (though some of its rules were chosen by them): " + strings.Join(parts, "; ") +
		". The ranges with the judge's error count that; labels of your own replace it (orbench label)."
}
