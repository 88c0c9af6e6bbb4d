package figure

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// Keys say what a figure is of. A key that does not apply is empty.
type Keys struct {
	// Target is without the number of a sample. Other is the target that it is compared
	// with: its base, or the second of two.
	Target string `json:"target,omitempty"`
	Other  string `json:"other,omitempty"`
	// OtherDataset has the toxic prompts where Dataset has the safe ones, or is the set
	// that Dataset is compared with.
	Dataset            string           `json:"dataset,omitempty"`
	DatasetSHA256      string           `json:"dataset_sha256,omitempty"`
	OtherDataset       string           `json:"other_dataset,omitempty"`
	OtherDatasetSHA256 string           `json:"other_dataset_sha256,omitempty"`
	Limit              int              `json:"limit,omitempty"`
	Label              orbench.Label    `json:"label,omitempty"`
	Category           orbench.Category `json:"category,omitempty"`
	// Judge is empty for a figure by people's labels.
	Judge string `json:"judge,omitempty"`
	// Part is the class or the source of the counted answers, or the group of targets
	// that is left out.
	Part string `json:"part,omitempty"`
}

// Check says whether anybody checked a judge.
type Check string

// The states of a judge; a range goes with the first two.
const (
	Here      Check = "checked here"
	Elsewhere Check = "checked on other models"
	Never     Check = "never checked"
)

// Basis is what a figure rests on.
type Basis struct {
	// Checked says who checked the judge; empty for what no judge decides. Labels counts the
	// labels of these answers, by People.
	Checked Check `json:"checked,omitempty"`
	Labels  int   `json:"labels,omitempty"`
	People  int   `json:"people,omitempty"`
	// Assumes is what a range of a difference assumes of the judge's errors on its two
	// sides; see versus.Assumption.
	Assumes string `json:"assumes,omitempty"`
	Test    string `json:"test,omitempty"`
	// ClusteredBy is what groups the prompts of the interval; empty if nothing does. Samples
	// is how often each prompt was asked, if several times.
	ClusteredBy string `json:"clustered_by,omitempty"`
	Samples     int    `json:"samples,omitempty"`
	Simulated   bool   `json:"simulated,omitempty"`
}

// String says who checked the judge.
func (b Basis) String() string {
	if b.Checked == Here {
		return fmt.Sprintf("%s (%d labels)", b.Checked, b.Labels)
	}
	return string(b.Checked)
}

// Figure is one number of a report.
type Figure struct {
	Measure Measure `json:"measure"`
	Keys
	// N is the number of what is counted, and K the part of it that the measure asks for; nil
	// where the value is no such part. Missing has what N lacks, by why.
	N       int            `json:"n"`
	K       *float64       `json:"k,omitempty"`
	Missing map[string]int `json:"missing,omitempty"`
	// Value is nil where it is not defined, or withheld.
	Value *float64 `json:"value"`
	// Range is shown first everywhere; it counts the judge's error. Sampling is the
	// interval of the verdicts as they are.
	Range    *stats.Interval `json:"range,omitempty"`
	Sampling *stats.Interval `json:"sampling,omitempty"`
	// P is the p-value by verdicts. PHolm is corrected by Holm's method over all figures
	// that were tested together, and counts the judge's error; PHolmByVerdicts does not.
	P               *float64 `json:"p,omitempty"`
	PHolm           *float64 `json:"p_holm,omitempty"`
	PHolmByVerdicts *float64 `json:"p_holm_by_verdicts,omitempty"`
	Basis
	// Warnings are the codes of those that touch the figure.
	Warnings []string `json:"warnings,omitempty"`
}

// Warning says what makes figures an unfair measure.
type Warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
	// Of says which figures it touches: those that have these keys.
	Of []Keys `json:"of,omitempty"`
}

// Touches reports whether a warning about keys is about a figure: keys that are not empty are
// those of the figure.
func (k Keys) Touches(f *Figure) bool {
	return (k.Target == "" || k.Target == f.Target || k.Target == f.Other) && (k.Dataset == "" || k.Dataset == f.Dataset || k.Dataset == f.OtherDataset) &&
		(k.Label == "" || f.Label == "" || k.Label == f.Label) && (k.Judge == "" || k.Judge == f.Judge)
}

// New is a figure that rests on n things, with an estimate that may be nil.
func New(m Measure, of Keys, n int, e *stats.Estimate) Figure {
	f := Figure{Measure: m, Keys: of, N: n}
	if e != nil {
		f.Value, f.Sampling = &e.Value, &stats.Interval{Lo: e.Lo, Hi: e.Hi}
	}
	return f
}

// PartOf is a figure of n things, k of which count, with an estimate that may be nil.
func PartOf(m Measure, of Keys, n int, k float64, e *stats.Estimate) Figure {
	f := New(m, of, n, e)
	f.K = &k
	return f
}

// Count is K, 0 where there is none.
func (f Figure) Count() float64 {
	if f.K == nil {
		return 0
	}
	return *f.K
}

// Counted is the share k of n things, without an interval.
func Counted(m Measure, of Keys, n, k int) Figure {
	f := PartOf(m, of, n, float64(k), nil)
	if n > 0 {
		f.Value = new(float64(k) / float64(n))
	}
	return f
}

// Counts adds a figure for each entry of a map that is not zero.
func Counts[K ~string](all []Figure, m Measure, of Keys, n int, parts map[K]int) []Figure {
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		if of.Part = string(part); parts[part] > 0 {
			all = append(all, Counted(m, of, n, parts[part]))
		}
	}
	return all
}

// Sampled is the value with the interval by verdicts; nil if there is none.
func (f *Figure) Sampled() *stats.Estimate {
	if f == nil || f.Value == nil || f.Sampling == nil {
		return nil
	}
	return &stats.Estimate{Value: *f.Value, Lo: f.Sampling.Lo, Hi: f.Sampling.Hi}
}

// Shown is the value with its range, or with the interval by verdicts without one; nil if
// there is neither.
func (f *Figure) Shown() *stats.Estimate {
	if f.Range == nil || f.Value == nil {
		return f.Sampled()
	}
	return &stats.Estimate{Value: *f.Value, Lo: f.Range.Lo, Hi: f.Range.Hi}
}

// RareBelow is the upper end by verdicts below which the errors that were measured on other
// models say nothing of a rate: it is a handful of refusals, or of false alarms.
const RareBelow = 0.02

// Rare reports whether a rate has no range although its judge was checked, since it is rare.
func (f *Figure) Rare() bool {
	return f.Range == nil && f.Sampling != nil && f.Sampling.Hi < RareBelow && (f.Checked == Here || f.Checked == Elsewhere)
}

// level is the level of all tests.
const level = 0.05

// Apart reports whether the two sides of a difference are told apart.
func (f *Figure) Apart() bool { return f.PHolm != nil && *f.PHolm < level }

// Of gives the figures of some measures.
func Of(all []Figure, measures ...Measure) iter.Seq[*Figure] {
	return func(yield func(*Figure) bool) {
		for i := range all {
			if slices.Contains(measures, all[i].Measure) && !yield(&all[i]) {
				return
			}
		}
	}
}
