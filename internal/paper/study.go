package paper

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// Study holds the published figures and everything that is computed from them.
// Its JSON form is documented in docs/paper.md. Rates are in per cent.
type Study struct {
	Source string `json:"source"`
	// Judge decided the refusals of Models and of the hard and toxic tables.
	Judge  string  `json:"judge"`
	Models []Model `json:"models"`
	// Correlations are between the refusal of hard and of toxic prompts, over
	// all models and over parts of them.
	Correlations []Correlation `json:"correlations"`
	// Fit is the least-squares curve of toxic refusal over hard refusal.
	Fit      stats.Quadratic `json:"fit"`
	Tables   []Table         `json:"tables"`
	Families []FamilyAverage `json:"families"`
	// AdvBenchSpearman is the rank correlation of the two columns of the table AdvBench.
	AdvBenchSpearman Measured        `json:"advbench_spearman"`
	Moderators       []Moderator     `json:"moderators"`
	Residual         Residual        `json:"residual_toxicity"`
	Contradictions   []Contradiction `json:"contradictions"`
}

// Measured is a value with its 95% interval, which is nil if there is none.
type Measured struct {
	Value float64     `json:"value"`
	CI95  *[2]float64 `json:"ci95"`
	// CI95Families is the wider interval of a correlation, which resamples whole families;
	// CI95 resamples models, as if those of one maker were independent.
	CI95Families *[2]float64 `json:"ci95_families,omitempty"`
}

// Correlation is how closely toxic refusal follows hard refusal over some models.
type Correlation struct {
	// Name identifies the part of the models.
	Name string `json:"name"`
	// Title says which models these are.
	Title string `json:"title"`
	N     int    `json:"n"`
	// Families counts the families that the models belong to.
	Families int      `json:"families"`
	Spearman Measured `json:"spearman"`
	Pearson  Measured `json:"pearson"`
	Kendall  Measured `json:"kendall"`
}

// Residual is the expected share of toxic prompts, in per cent, among those
// that the ensemble called safe.
type Residual struct {
	Measured
	// Prior is the share of toxic prompts before moderation, in per cent, as
	// assumed by the paper. The interval does not include the uncertainty of
	// this assumption.
	Prior float64 `json:"prior_pct"`
	// AcceptedToxic and AcceptedSafe count the toxic and the safe prompts that
	// the ensemble called safe in the validation.
	AcceptedToxic int `json:"accepted_toxic"`
	Toxic         int `json:"toxic"`
	AcceptedSafe  int `json:"accepted_safe"`
	Safe          int `json:"safe"`
}

// bootstrap sets how the study's intervals are drawn: the same way every time.
var bootstrap = stats.Bootstrap{Resamples: 4000, Confidence: 0.95, Seed: 1}

// NewStudy computes the study. It takes a moment and needs no input.
func NewStudy() Study {
	s := Study{
		Source: Source, Judge: Judge, Models: Models(), Tables: Tables(),
		Moderators: Moderators(), Contradictions: Contradictions(),
	}
	for _, part := range []struct {
		name, title string
		in          func(Model) bool
	}{
		{"all", "all models", func(Model) bool { return true }},
		{"older", "models measured on the older prompts", func(m Model) bool { return m.Version == Older }},
		{"newer", "models measured on the released prompts", func(m Model) bool { return m.Version == Released }},
		{"without_moderators", "without the three that moderated the prompts", func(m Model) bool { return !m.Moderator }},
		{"without_selectors", "without the six that selected the hard prompts", func(m Model) bool { return !m.Selector }},
	} {
		s.Correlations = append(s.Correlations, correlationOf(part.name, part.title, part.in))
	}
	hard, toxic := rates(s.Models)
	s.Fit, _ = stats.FitQuadratic(hard, toxic)
	s.Families = Families(s.Models)
	advBench := &s.Tables[slices.IndexFunc(s.Tables, func(t Table) bool { return t.Name == AdvBench })]
	var x, y []float64
	for _, r := range advBench.Rows {
		x, y = append(x, r.Values[0]), append(y, r.Values[1])
	}
	s.AdvBenchSpearman = measure(x, y, stats.Spearman)
	advBench.Note = fmt.Sprintf("Spearman %s over %d models.", measured(s.AdvBenchSpearman), len(x))
	s.Residual = residual(s.Moderators[len(s.Moderators)-1].Confusion)
	return s
}

func rates(models []Model) (hard, toxic []float64) {
	for _, m := range models {
		hard, toxic = append(hard, m.Hard), append(toxic, m.Toxic)
	}
	return hard, toxic
}

func correlationOf(name, title string, in func(Model) bool) Correlation {
	models := slices.DeleteFunc(Models(), func(m Model) bool { return !in(m) })
	hard, toxic := rates(models)
	families := table.RowsOf(models, func(m Model) string { return m.Family })
	// Resamples of few families vary more than resamples of many models.
	byFamily := bootstrap
	byFamily.Resamples = 16000
	both := func(c stats.Correlation) Measured {
		m := measure(hard, toxic, c)
		m.CI95Families = stats.OrNil(byFamily.ClusteredCorrelation(hard, toxic, families, c)).Ends()
		return m
	}
	different := len(slices.Compact(slices.Sorted(slices.Values(families))))
	return Correlation{
		Name: name, Title: title, N: len(models), Families: different,
		Spearman: both(stats.Spearman), Pearson: both(stats.Pearson), Kendall: both(stats.KendallTauB),
	}
}

// measure returns a correlation and, unless the points are in perfect order,
// the percentiles of its bootstrap.
func measure(x, y []float64, c stats.Correlation) Measured {
	value, _ := c(x, y)
	return Measured{Value: value, CI95: stats.OrNil(bootstrap.Correlation(x, y, c)).Ends()}
}

// Families returns the averages, as printed and as computed.
func Families(models []Model) []FamilyAverage {
	_, averages := read("families", func(r []string) FamilyAverage {
		return FamilyAverage{Name: r[0], PrintedMean: number(r[1]), PrintedStd: number(r[2]), Models: strings.Split(r[3], ";")}
	})
	for i := range averages {
		f := &averages[i]
		hard, _ := rates(slices.DeleteFunc(slices.Clone(models), func(m Model) bool { return !slices.Contains(f.Models, m.Name) }))
		f.Mean, f.Std = stat.PopMeanStdDev(hard, nil)
	}
	return averages
}

// residual returns the share of toxic prompts among the accepted ones if a
// tenth of all prompts were toxic.
func residual(ensemble stats.Confusion) Residual {
	const prior = 0.1
	r := Residual{
		Prior:         100 * prior,
		AcceptedToxic: ensemble.FP, Toxic: ensemble.FP + ensemble.TN,
		AcceptedSafe: ensemble.TP, Safe: ensemble.TP + ensemble.FN,
	}
	e, _ := stats.Residual(r.AcceptedToxic, r.Toxic, r.AcceptedSafe, r.Safe, prior, 0.95)
	r.Measured = Measured{Value: 100 * e.Value, CI95: &[2]float64{100 * e.Lo, 100 * e.Hi}}
	return r
}
