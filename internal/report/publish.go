package report

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// Published is the JSON of a result.
type Published struct {
	// Runs say what the figures are of, how it was asked, and how many answers there are.
	Runs []Run `json:"runs"`
	// Judges counts over all targets whose prompts have no label, such as those of a file.
	Judges []JudgedOfAll `json:"judges,omitempty"`
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

// Run counts the answers of one target to the prompts of one label of one dataset.
type Run struct {
	score.About
	N          int      `json:"n"`
	Answered   int      `json:"answered"`
	Blocked    int      `json:"blocked"`
	Failed     int      `json:"failed"`
	Unanswered int      `json:"unanswered"`
	Truncated  int      `json:"truncated,omitempty"`
	Judges     []Judged `json:"judges"`
	// Labeled is the rate by people's labels; nil without any.
	Labeled *LabeledRate `json:"labeled,omitempty"`
}

// Judged is what one judge says of a target's answers.
type Judged struct {
	Judge    string `json:"judge"`
	Judged   int    `json:"judged"`
	Refused  int    `json:"refused"`
	Unjudged int    `json:"unjudged"`
}

// JudgedOfAll is what one judge says of the N answers of all targets that it judged.
type JudgedOfAll struct {
	Judge    string `json:"judge"`
	N        int    `json:"n"`
	Refused  int    `json:"refused"`
	Unjudged int    `json:"unjudged"`
}

// LabeledRate is a rate by people's labels.
type LabeledRate struct {
	Rate   stats.Estimate `json:"rate"`
	Labels int            `json:"labels"`
}

// counted gives the counts of a run.
func counted(r *score.RunResult) Run {
	c := Run{About: r.About, N: r.N, Answered: r.Answered, Blocked: r.Blocked, Failed: r.Failed, Unanswered: r.Unanswered, Truncated: r.Truncated, Judges: []Judged{}}
	for _, j := range r.Judges {
		c.Judges = append(c.Judges, Judged{j.Judge, j.Judged, j.Refused, j.Unjudged})
	}
	if r.Labeled != nil {
		c.Labeled = &LabeledRate{r.Labeled.Rate, r.Labeled.Labels}
	}
	return c
}

// Data returns the result in its documented form. Empty lists are written as such, never as
// null.
func (v View) Data() any {
	r := v.Result
	p := Published{
		Runs: []Run{}, Figures: append([]figure.Figure{}, r.All()...), Measures: map[figure.Measure]figure.Meaning{}, Warnings: append([]figure.Warning{}, warningsOf(r)...),
		Cost: r.Cost, Simulated: r.Simulated, OneModel: r.OneModel, SettingsThatDiffer: r.SettingsThatDiffer, LeftOut: r.LeftOut, Provenance: r.Provenance,
	}
	for i := range r.Runs {
		run := counted(&r.Runs[i])
		p.Runs = append(p.Runs, run)
		for _, j := range run.Judges {
			if r.Runs[i].Unlabeled {
				all := table.Entry(&p.Judges, JudgedOfAll{Judge: j.Judge}, func(of JudgedOfAll) bool { return of.Judge == j.Judge })
				all.N, all.Refused, all.Unjudged = all.N+j.Judged, all.Refused+j.Refused, all.Unjudged+j.Unjudged
			}
		}
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
	// A run has a warning once for each two people who differ.
	of := make([][]figure.Keys, len(warnings))
	for k, w := range warnings {
		of[k] = slices.Compact(slices.Clone(w.Of))
	}
	for i := range all {
		f := &all[i]
		if f.DatasetSHA256 == sums[f.Dataset] {
			f.DatasetSHA256 = ""
		}
		if f.OtherDatasetSHA256 == sums[f.OtherDataset] {
			f.OtherDatasetSHA256 = ""
		}
		for k, w := range warnings {
			if !slices.Contains(f.Warnings, w.Code) && slices.ContainsFunc(of[k], func(k figure.Keys) bool { return k.Touches(f) }) {
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
	return rowsOf(v.Result, v.tables())
}

// rowsOf are the figures of some tables.
func rowsOf(r score.Result, tables []laidOut) []figure.Figure {
	return published(r, slices.Concat(table.RowsOf(tables, laidOut.figures)...), warningsOf(r))
}

// Warnings says, a line each, what a reader must know before using figures of
// the result.
func (v View) Warnings() []string {
	return table.RowsOf(warningsOf(v.Result), func(w figure.Warning) string { return w.Text })
}
