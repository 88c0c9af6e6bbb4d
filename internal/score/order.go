package score

import (
	"math"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// Order compares all pairs of targets on the prompts of one label of one
// dataset: by people's labels if these correct both rates, or else by the first
// judge.
type Order struct {
	Dataset       string        `json:"dataset"`
	DatasetSHA256 string        `json:"dataset_sha256"`
	Limit         int           `json:"limit,omitempty"`
	Label         orbench.Label `json:"label"`
	Pairs         []OrderedPair `json:"pairs"`
}

// OrderedPair is the rate of A minus that of B. By people's labels it combines the
// intervals of both rates, as if the prompts were not the same; see
// stats.RateDifference.
type OrderedPair struct {
	A string `json:"a"`
	B string `json:"b"`
	Versus
	// PHolm is the p-value with the judge's error, corrected by Holm's method
	// over all pairs. Below 0.05 the two targets are told apart.
	PHolm float64 `json:"p_holm"`
	// PHolmByVerdicts is the same without the judge's error. The error could
	// change the order of A and B if this alone is below 0.05.
	PHolmByVerdicts float64 `json:"p_holm_by_verdicts"`
}

// level is the level at which targets are told apart.
const level = 1 - Confidence

// Apart reports whether the two are told apart.
func (p OrderedPair) Apart() bool { return p.PHolm < level }

// Undone reports whether the judge's error could change an order that its
// verdicts alone show.
func (p OrderedPair) Undone() bool { return !p.Apart() && p.PHolmByVerdicts < level }

// Contender is a rate among those of other targets.
type Contender struct {
	Target string
	// Rate has the ends of the range for a new model, or of the interval of a
	// rate by people's labels. Verdicts has those by verdicts alone; it is the
	// same for people's labels, and where the judge's error is not known.
	Rate, Verdicts stats.Estimate
	run            *RunResult
}

// Contender returns the rate by which the run is compared: the one corrected by
// people's labels, or else the first judge's. It reports false if there is none.
func (r *RunResult) Contender() (Contender, bool) {
	c := Contender{Target: r.Target, run: r}
	if r.Labeled != nil {
		c.Rate, c.Verdicts = r.Labeled.Rate, r.Labeled.Rate
		return c, true
	}
	if len(r.Judges) == 0 || r.Judges[0].Estimate() == nil {
		return c, false
	}
	c.Verdicts = *r.Judges[0].Estimate()
	c.Rate = c.Verdicts
	if i := r.Judges[0].Range; i != nil {
		c.Rate.Lo, c.Rate.Hi = i.Lo, i.Hi
	}
	return c, true
}

// ComparePairs compares all pairs of rates, as known says or else by both rates alone.
func ComparePairs(all []Contender, known func(a, b Contender) *Versus) []OrderedPair {
	pairs := []OrderedPair{}
	var p, verdicts []float64
	for i, a := range all {
		for _, b := range all[i+1:] {
			v, with := known(a, b), pOf(a.Rate, b.Rate)
			if v == nil {
				v = &Versus{Difference: stats.RateDifference(inside(a.Rate), inside(b.Rate)), P: pOf(a.Verdicts, b.Verdicts)}
			} else {
				with = v.pWithError()
			}
			pairs = append(pairs, OrderedPair{A: a.Target, B: b.Target, Versus: *v})
			p, verdicts = append(p, with), append(verdicts, v.P)
		}
	}
	p, verdicts = stats.Holm(p), stats.Holm(verdicts)
	for i := range pairs {
		pairs[i].PHolm, pairs[i].PHolmByVerdicts = p[i], verdicts[i]
	}
	return pairs
}

// inside widens an interval to hold its rate: a range for a new model may lie
// beyond the judge's rate.
func inside(e stats.Estimate) stats.Estimate {
	e.Lo, e.Hi = math.Min(e.Lo, e.Value), math.Max(e.Hi, e.Value)
	return e
}

// pOf returns the two-sided p-value of the difference between two independent
// rates. The ends of the interval of stats.RateDifference that lie between the
// rates are taken to move in proportion to the normal quantile.
func pOf(a, b stats.Estimate) float64 {
	if a.Value < b.Value {
		a, b = b, a
	}
	a, b = inside(a), inside(b)
	d, reach := a.Value-b.Value, math.Hypot(a.Value-a.Lo, b.Hi-b.Value)
	if d == 0 {
		return 1
	}
	const z = 1.959964 // of Confidence
	return math.Erfc(z * d / reach / math.Sqrt2)
}

// orders compares the targets of a result, set by set. There is none for a
// single target.
func orders(r Result) []Order {
	type set struct {
		Scope
		rates []Contender
	}
	var sets []set
	for i := range r.Runs {
		run := &r.Runs[i]
		c, ok := run.Contender()
		if !ok || run.Label != orbench.Safe && run.Label != orbench.Toxic {
			continue
		}
		of := table.Entry(&sets, set{Scope: run.Scope("")}, func(s set) bool { return s.Scope == run.Scope("") })
		of.rates = append(of.rates, c)
	}
	var all []Order
	for _, s := range sets {
		if len(s.rates) > 1 {
			all = append(all, Order{s.Dataset, s.DatasetSHA256, s.Limit, s.Label, ComparePairs(s.rates, r.contend)})
		}
	}
	return all
}

// contend compares two contenders prompt by prompt; nil if people's labels correct both
// rates, or if no prompt has verdicts of one judge on both.
func (r *Result) contend(a, b Contender) *Versus {
	if a.run.Labeled != nil && b.run.Labeled != nil || len(a.run.Judges) == 0 || len(b.run.Judges) == 0 || a.run.Judges[0].Judge != b.run.Judges[0].Judge {
		return nil
	}
	return r.versus(a.run, b.run, a.run.Judges[0].Judge)
}

// SetPair compares the order of targets on two sets of prompts. A set is a
// dataset, asked in one way, such as in a framing.
type SetPair struct {
	Label orbench.Label `json:"label"`
	A     string        `json:"a"`
	B     string        `json:"b"`
	// Targets counts those that both sets have.
	Targets int `json:"targets"`
	// Kendall is tau-b between the rates on A and on B; nil if one set does not
	// order the targets. See stats.KendallTauB.
	Kendall *float64 `json:"kendall"`
	// Reversed lists the pairs of targets whose order differs.
	Reversed []Reversal `json:"reversed"`
}

// Reversal is a pair of targets: the first has the lower rate on A, and the
// higher one on B.
type Reversal struct {
	LowerOnA string `json:"lower_on_a"`
	LowerOnB string `json:"lower_on_b"`
	// Sure is true if the two are told apart on both sets; see OrderedPair.
	Sure bool `json:"sure,omitempty"`
}

// Set is the targets on one set of prompts.
type Set struct {
	Name  string
	Rates []Contender
}

// Sets returns the sets of a result's prompts of a label. Contenders have the
// names of the targets without what makes them variants.
func (r *Result) Sets(label orbench.Label) []Set {
	var sets []Set
	for i := range r.Runs {
		run := &r.Runs[i]
		c, ok := run.Contender()
		if !ok || run.Label != label {
			continue
		}
		name := run.DatasetCaption()
		if run.Base != "" {
			c.Target = run.Base
			name += " " + strings.TrimSpace(strings.TrimPrefix(run.Target, run.Base))
		}
		set := table.Entry(&sets, Set{Name: name}, func(s Set) bool { return s.Name == name })
		set.Rates = append(set.Rates, c)
	}
	return sets
}

// setPairs compares the order of targets between sets that share two or more.
func setPairs(r Result) []SetPair {
	var all []SetPair
	for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
		sets := r.Sets(label)
		for i, a := range sets {
			for _, b := range sets[i+1:] {
				if p := r.compareSets(a, b); p.Targets > 1 {
					p.Label = label
					all = append(all, p)
				}
			}
		}
	}
	return all
}

func (r *Result) compareSets(a, b Set) SetPair {
	p := SetPair{A: a.Name, B: b.Name, Reversed: []Reversal{}}
	var onA, onB []Contender
	var x, y []float64
	for _, c := range a.Rates {
		if i := slices.IndexFunc(b.Rates, func(o Contender) bool { return o.Target == c.Target }); i >= 0 {
			onA, onB = append(onA, c), append(onB, b.Rates[i])
			x, y = append(x, c.Rate.Value), append(y, b.Rates[i].Rate.Value)
		}
	}
	p.Targets = len(onA)
	p.Kendall = stats.OrNil(stats.KendallTauB(x, y))
	// Both lists have the targets in the same order, so their pairs agree.
	first, second := ComparePairs(onA, r.contend), ComparePairs(onB, r.contend)
	for i, pair := range first {
		sure := pair.Apart() && second[i].Apart()
		switch d, e := pair.Difference.Value, second[i].Difference.Value; {
		case d < 0 && e > 0:
			p.Reversed = append(p.Reversed, Reversal{pair.A, pair.B, sure})
		case d > 0 && e < 0:
			p.Reversed = append(p.Reversed, Reversal{pair.B, pair.A, sure})
		}
	}
	return p
}
