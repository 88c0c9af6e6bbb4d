package report

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/score"
)

// Published is the JSON of a result.
type Published struct {
	// Runs say what the figures are of, and how it was asked.
	Runs []score.About `json:"runs"`
	// Figures name the SHA-256 of a dataset where two have its name.
	Figures []figure.Figure `json:"figures"`
	// Measures says what the measures of Figures are.
	Measures map[figure.Measure]figure.Meaning `json:"measures"`
	// Warnings say which figures are not a fair measure.
	Warnings []figure.Warning `json:"warnings"`
	Cost     score.Cost       `json:"cost"`
	// Simulated is true if any target or judge is a simulated model.
	Simulated bool `json:"simulated"`
	// OneModel names the models that are one, as somebody said, though several runs asked
	// them.
	OneModel [][2]orbench.KinSide `json:"one_model,omitempty"`
	// SettingsThatDiffer lists the settings in which runs that are shown together differ.
	SettingsThatDiffer []provenance.Difference `json:"settings_that_differ,omitempty"`
	// LeftOut names what of older runs is not shown: targets that were asked in translation,
	// and judges that counted more classes as refusals.
	LeftOut []string `json:"left_out,omitempty"`
	// Provenance says how the runs were made; nil if that is not known.
	Provenance *provenance.Record `json:"provenance,omitempty"`
}

// Data returns the result in its documented form. Empty lists are written as such, never as
// null.
func (v View) Data() any {
	r := v.Result
	p := Published{
		Runs: []score.About{}, Figures: append([]figure.Figure{}, r.All()...), Measures: map[figure.Measure]figure.Meaning{}, Warnings: append([]figure.Warning{}, warningsOf(r)...),
		Cost: r.Cost, Simulated: r.Simulated, OneModel: r.OneModel, SettingsThatDiffer: r.SettingsThatDiffer, LeftOut: r.LeftOut, Provenance: r.Provenance,
	}
	for _, run := range r.Runs {
		p.Runs = append(p.Runs, run.About)
	}
	p.Figures = published(r, p.Figures, p.Warnings)
	for i := range p.Figures {
		p.Measures[p.Figures[i].Measure] = figure.Meanings[p.Figures[i].Measure]
	}
	return p
}

// published gives figures the codes of the warnings that touch them, and takes the SHA-256 of
// datasets out but where two have one name.
func published(r score.Result, all []figure.Figure, warnings []figure.Warning) []figure.Figure {
	sums := map[string]string{}
	for _, run := range r.Runs {
		if sum, known := sums[run.Dataset]; known && sum != run.DatasetSHA256 {
			sums[run.Dataset] = "" // two of one name
		} else {
			sums[run.Dataset] = run.DatasetSHA256
		}
	}
	for i := range all {
		f := &all[i]
		if f.DatasetSHA256 == sums[f.Dataset] {
			f.DatasetSHA256 = ""
		}
		if f.OtherDatasetSHA256 == sums[f.OtherDataset] {
			f.OtherDatasetSHA256 = ""
		}
		for _, w := range warnings {
			if !slices.Contains(f.Warnings, w.Code) && slices.ContainsFunc(w.Of, func(k figure.Keys) bool { return k.Touches(f) }) {
				f.Warnings = append(f.Warnings, w.Code)
			}
		}
	}
	return all
}

// Rows returns all figures, a line each, or those of the table that is shown.
func (v View) Rows() any {
	if v.Table == "" {
		return v.Data().(Published).Figures
	}
	var all []figure.Figure
	for _, t := range v.tables() {
		all = append(all, t.figures()...)
	}
	return published(v.Result, all, warningsOf(v.Result))
}

// Warnings says, a line each, what a reader must know before using figures of
// the result.
func (v View) Warnings() (lines []string) {
	for _, w := range warningsOf(v.Result) {
		lines = append(lines, w.Text)
	}
	return lines
}
