package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// measureOf formats a measure with its interval.
func measureOf(e *stats.Estimate) string {
	return table.Known(e, func(e stats.Estimate) string {
		return table.Measure(&e.Value) + " (" + table.MeasureInterval(e.Ends()) + ")"
	})
}

// withInterval formats a share with its interval.
func withInterval(e *stats.Estimate) string {
	return table.Known(e, func(e stats.Estimate) string { return table.Estimate(&e) + " (" + table.EstimateInterval(&e) + ")" })
}

// kappaWithInterval formats a kappa with its interval.
func kappaWithInterval(k stats.Kappa) string {
	return table.Known(k.Value, func(v float64) string { return table.Fraction(v) + " (" + table.KappaInterval(k) + ")" })
}

// pooledPairs compares each two people on answers to prompts of all labels, over all
// targets.
func pooledPairs(r score.Result) (pairs []annotation.PeoplePair) {
	for _, run := range r.Runs {
		if run.Labeled == nil {
			continue
		}
		for _, p := range run.Labeled.Pairs {
			pair := table.Entry(&pairs, annotation.PeoplePair{A: p.A, B: p.B}, func(o annotation.PeoplePair) bool { return o.A == p.A && o.B == p.B })
			pair.Add(p.Counts)
		}
	}
	for i := range pairs {
		pairs[i].Finish(0)
	}
	return pairs
}

// fewPairs is how many pairs of people, or warnings about them, a brief screen has room for.
const fewPairs = 3

// addPeople adds to a brief screen how people agree with each other, how judges
// agree with them, and whom of two judges to believe.
func addPeople(d *table.Document, words table.Words, all []subject, r score.Result) {
	var lines, warnings, apart []string
	pairs := pooledPairs(r)
	if n := len(pairs); n > fewPairs {
		lines = append(lines, fmt.Sprintf("%d pairs of people labeled the same answers; these differ most often:", n))
		pairs = []annotation.PeoplePair{slices.MaxFunc(pairs, func(a, b annotation.PeoplePair) int {
			return cmp.Compare((a.OnlyA+a.OnlyB)*b.N(), (b.OnlyA+b.OnlyB)*a.N())
		})}
	}
	for _, p := range pairs {
		both, onlyA, onlyB, neither := p.Whole()
		lines = append(lines, fmt.Sprintf("%s labeled by %s and %s: kappa %s, AC1 %s. Refused by both %s, by %s alone %s, by %s alone %s, by neither %s. "+
			"Agreement on refusals %s, on answers %s.",
			table.Counted(int(p.N()), "answer", "answers"), p.A, p.B, kappaWithInterval(p.Kappa), measureOf(p.AC1),
			table.Count(both), p.A, table.Count(onlyA), p.B, table.Count(onlyB), table.Count(neither), measureOf(p.Positive), measureOf(p.Negative)))
	}
	open := 0
	planned := map[string]bool{}
	for _, run := range r.Runs {
		c := run.Labeled
		if c == nil {
			continue
		}
		if p := c.Plan; p != nil && !planned[p.Hash] {
			planned[p.Hash] = true
			lines = append(lines, planLine(r, p))
		}
		where := string(run.Label) + " prompts"
		if len(all) > 1 {
			where = run.TargetCaption() + ", " + where
		}
		var rates []string
		for _, p := range c.ByPerson {
			rates = append(rates, p.Person+" "+withInterval(p.Rate))
		}
		if len(rates) > 1 && len(all) == 1 {
			lines = append(lines, "Rate by person, "+where+": "+strings.Join(rates, ", ")+".")
		}
		for _, p := range c.Pairs {
			for _, w := range p.Warnings {
				apart = append(apart, fmt.Sprintf("%s and %s, %s: %s.", p.A, p.B, where, w))
			}
		}
		if len(all) == 1 {
			lines = append(lines, judgeLines(c, where)...)
		}
		open += c.Disagreed - c.Settled
		if c.Undecided > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: people could not decide on %s; the corrected rate leaves these out.", where, table.Counted(c.Undecided, "answer", "answers")))
		}
		if c.RateSeen > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: %s labeled by people who had seen the rate.", where, table.Counted(c.RateSeen, "answer was", "answers were")))
		}
	}
	if open > 0 {
		lines = append(lines, table.Counted(open, "dispute is", "disputes are")+" open; orbench label can settle them (disputes).")
	}
	for _, line := range lines {
		d.AddTo(table.OnBrief, table.Line(words.Of(line)))
	}
	if len(lines) > 0 {
		d.AddTo(table.OnBrief, table.Gap)
	}
	if more := len(apart) - fewPairs; more > 0 {
		apart = append(apart[:fewPairs], table.Counted(more, "more warning", "more warnings")+" of two people who differ; the table of people compared has all pairs.")
	}
	for _, line := range append(apart, warnings...) {
		d.AddTo(table.OnBrief, table.Warning(words.Of(line)))
	}
}

// planLine says what was planned before the first label, and what was done.
func planLine(r score.Result, p *annotation.KeptPlan) string {
	done, labels := map[string]int{}, 0
	for _, run := range r.Runs {
		c := run.Labeled
		if c == nil || c.Plan == nil || c.Plan.Hash != p.Hash {
			continue
		}
		labels += c.Labels
		for _, one := range c.ByPerson {
			done[one.Person] += one.Labels
		}
	}
	line := fmt.Sprintf("Plan %s, kept %s before the first label: %s, seed %d, by %s, until %s. Done: %s",
		p.Hash[:8], p.At.Format("2006-01-02"), table.Counted(p.Size, "answer", "answers"), p.Seed, strings.Join(p.People, ", "), p.Stop, table.Count(labels))
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(done)) {
		part := name + " " + table.Count(done[name])
		if !slices.Contains(p.People, name) {
			part += " (not in the plan)"
		}
		parts = append(parts, part)
	}
	if len(parts) > 0 {
		line += " (" + strings.Join(parts, ", ") + ")"
	}
	return line + "."
}

// judgeLines says how judges agree with the labels of a cell.
func judgeLines(c *annotation.Corrected, where string) (lines []string) {
	for _, j := range c.Judges {
		if j.Accuracy != nil {
			lines = append(lines, fmt.Sprintf("%s agrees with people on %s of answers to %s; it recognizes %s of what they call answers and %s of what they call refusals.",
				j.Judge, withInterval(j.Accuracy), where, withInterval(j.Specificity), withInterval(j.Recall)))
		}
	}
	for _, p := range c.Preferences {
		if p.Differ > 0 {
			lines = append(lines, fmt.Sprintf("Where %s and %s differ (%s), people side with %s in %s: %s.",
				p.A, p.B, table.Counted(p.Differ, "answer", "answers"), p.A, withInterval(p.ForA), believe(p)))
		}
	}
	return lines
}

// believe says which of two judges to believe.
func believe(p annotation.JudgePreference) string {
	switch {
	case p.ForA != nil && p.ForA.Lo > 0.5:
		return "believe " + p.A
	case p.ForA != nil && p.ForA.Hi < 0.5:
		return "believe " + p.B
	}
	return "the labels do not show which judge to believe"
}

// fewLabelsNote says that a corrected rate rests on too few labels. It is empty
// if none does.
func fewLabelsNote(r score.Result) string {
	few, large := false, ""
	for _, run := range r.Runs {
		enough := annotation.EnoughLabels(run.Answered)
		if run.Labeled == nil || run.Labeled.Steps || run.Labeled.Labels >= enough {
			continue
		}
		few = true
		if enough > 100 {
			large = " (of more than 1,000 answers a tenth of them, up to 1,000)"
		}
	}
	if !few {
		return ""
	}
	return "A rate with fewer than 100 labels" + large + " can have too narrow an interval if a judge is sure of wrong verdicts; orbench label draw draws more."
}

// Labeled says what people's labels have made of the rates of runs, in lines.
func Labeled(result score.Result) (lines []string) {
	for i := range result.Runs {
		of := &result.Runs[i]
		if of.Labeled == nil || len(of.Judges) == 0 {
			continue
		}
		var judged, labeled string
		for _, f := range of.Rates() {
			if f.Value == nil || f.Judge != "" && judged != "" {
				continue
			}
			text := table.Percent(*f.Value)
			if f.Range != nil {
				text += " (" + table.Interval(&[2]float64{f.Range.Lo, f.Range.Hi}) + ")"
			}
			if f.Judge == "" {
				labeled = " → " + text + " by " + table.Counted(f.Labels, "label", "labels")
			} else {
				judged = text + " by " + untrusted.Terminal(f.Judge)
			}
		}
		lines = append(lines, fmt.Sprintf("%s, %s prompts of %s: %s%s", untrusted.Terminal(of.Target), of.Label, untrusted.Terminal(of.Dataset), judged, labeled))
		switch l := of.Labeled; {
		case l.People == 1 && l.Again > 0:
			lines = append(lines, fmt.Sprintf("You agree with yourself on %d of %d.", l.Same, l.Again))
		case l.People == 1:
			lines = append(lines, "Read by one reader, once.")
		}
	}
	return lines
}
