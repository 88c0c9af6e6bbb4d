package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// ofLabels are the tables of one target on how its judges agree with people, and people with
// each other.
func ofLabels(r score.Result) (all []laidOut) {
	for _, l := range layoutsOf(r) {
		if l.name != "labels" || l.people && !slices.Contains(l.rows, "person") {
			continue // the card has the rates
		}
		l.rows = slices.DeleteFunc(l.rows, func(key string) bool { return key == "target" || key == "dataset" })
		l.note = ""
		all = append(all, l.tables(r, r.All())...)
	}
	return all
}

// addPeople adds to a brief screen what people said of the answers, and how they agree.
func addPeople(d *table.Document, words table.Words, r score.Result) {
	lines := append(planLines(r), disputeLines(r)...)
	if alone(r) {
		for _, t := range ofLabels(r) {
			d.AddTo(table.OnBrief, t.Section)
		}
	}
	for _, line := range lines {
		d.AddTo(table.OnBrief, table.Line(words.Of(line)))
	}
	if len(lines) > 0 {
		d.AddTo(table.OnBrief, table.Gap)
	}
}

// disputeLines say of how many answers people or judges differ, and what settles that.
func disputeLines(r score.Result) (lines []string) {
	disputes, open := 0, 0
	for _, run := range r.Runs {
		if c := run.Labeled; c != nil {
			disputes, open = disputes+c.Disagreed-c.Settled, open+c.Open
		}
	}
	if disputes > 0 {
		lines = append(lines, table.Counted(disputes, "dispute is", "disputes are")+" open, and each answer counts as the share of people who call it a refusal; orbench label RUN settles them, with its flag disputes.")
	}
	if open > 0 {
		lines = append(lines, "Judges differ on "+table.Counted(open, "answer", "answers")+" that nobody labeled: these count as half refused, and both ways in the range; orbench label RUN draws them.")
	}
	return lines
}

// planLines say what was planned before the first label, and what was done.
func planLines(r score.Result) (lines table.Names) {
	for _, run := range r.Runs {
		if run.Plan != nil {
			lines.Add(planLine(r, run.Plan))
		}
	}
	return lines
}

func planLine(r score.Result, p *annotation.KeptPlan) string {
	done, labels := map[string]int{}, 0
	for _, run := range r.Runs {
		if run.Labeled == nil || run.Plan == nil || run.Plan.Hash != p.Hash {
			continue
		}
		labels += run.Labeled.Labels
		for f := range figure.Of(run.Labeled.Figures, rates...) {
			done[f.Part] += f.N
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

// fewLabelsNote says that a corrected rate rests on too few labels. It is empty
// if none does.
func fewLabelsNote(r score.Result) string {
	for _, run := range r.Runs {
		if l := run.Labeled; l != nil && !l.Steps && l.Labels < annotation.EnoughLabels(run.Answered) {
			return "A rate with fewer than 100 labels (of more than 1,000 answers a tenth of them, up to 1,000) can have too narrow an interval if a judge is sure of wrong verdicts; orbench label draw draws more."
		}
	}
	return ""
}

// Labeled says what people's labels have made of the rates of runs, in lines.
func Labeled(result score.Result) (lines []string) {
	for i := range result.Runs {
		of := &result.Runs[i]
		if of.Labeled == nil || len(of.Judges) == 0 {
			continue
		}
		judged := of.Rate(&of.Judges[0])
		text := fmt.Sprintf("%s (%s) by %s", value(&judged), rangeOf(&judged), judged.Judge)
		for _, f := range of.Rates() {
			if f.Judge == "" {
				text += fmt.Sprintf(" → %s (%s) by %s", value(&f), rangeOf(&f), table.Counted(f.Labels, "label", "labels"))
			}
		}
		lines = append(lines, untrusted.Terminal(fmt.Sprintf("%s, %s prompts of %s: %s", of.Target, of.Label, of.Dataset, text)))
		lines = append(lines, "Read by "+of.Labeled.Reader()+".")
	}
	return lines
}
