package report

import (
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// fewRows is how many lines an overview has for every judge to have lines of its own.
const fewRows = 8

// subject is a target on what it was asked: at most one run for each label.
type subject struct {
	target, dataset string
	simulated       bool
	runs            map[orbench.Label]score.RunResult
}

// subjects puts the runs of a target together: all of them where no label comes twice,
// else those of one dataset.
func subjects(r score.Result) []subject {
	several := map[string]bool{}
	seen := map[string]map[orbench.Label]bool{}
	for _, run := range r.Runs {
		if seen[run.Target] == nil {
			seen[run.Target] = map[orbench.Label]bool{}
		}
		several[run.Target] = several[run.Target] || seen[run.Target][run.Label]
		seen[run.Target][run.Label] = true
	}
	var all []subject
	for _, run := range r.Runs {
		target, name := run.TargetCaption(), run.DatasetCaption()
		i := slices.IndexFunc(all, func(s subject) bool {
			_, taken := s.runs[run.Label]
			return s.target == target && !taken && (!several[run.Target] || s.dataset == name)
		})
		if i < 0 {
			i = len(all)
			all = append(all, subject{target: target, dataset: name, simulated: run.Simulated, runs: map[orbench.Label]score.RunResult{}})
		}
		if !slices.Contains(strings.Split(all[i].dataset, " × "), name) {
			all[i].dataset += " × " + name
		}
		all[i].runs[run.Label] = run
	}
	return all
}

// judged is what a judge made of the subject's answers to prompts of a label.
func (s subject) judged(label orbench.Label, judge string) (score.JudgeResult, bool) {
	for _, j := range s.runs[label].Judges {
		if j.Judge == judge {
			return j, true
		}
	}
	return score.JudgeResult{}, false
}

// judges are those of the subject's answers, in their order.
func (s subject) judges(labels []orbench.Label) []string {
	var names []string
	for _, label := range labels {
		for _, j := range s.runs[label].Judges {
			if !slices.Contains(names, j.Judge) {
				names = append(names, j.Judge)
			}
		}
	}
	if len(names) == 0 {
		return []string{"none"}
	}
	return names
}

// overview has a line for each target with both sides of it: by all its judges where
// that makes few lines, else by its first, beside which the rates by the others have
// columns of their own.
func overview(r score.Result) table.Section {
	all, labels := subjects(r), r.Labels()
	lines := 0
	for _, of := range all {
		lines += len(of.judges(labels))
	}
	var beside []string
	if lines > fewRows {
		for _, of := range all {
			for _, judge := range of.judges(labels)[1:] {
				if !slices.Contains(beside, judge) {
					beside = append(beside, judge)
				}
			}
		}
	}
	// One side without the other says little.
	s := table.Section{Header: []string{"target", "dataset", "judge"}, Left: 3, WrapNames: true}
	var numbers []string
	for _, label := range labels {
		numbers = append(numbers, "n "+string(label))
		s.Header = append(s.Header, "n "+string(label), rateName(label)+", 95%")
	}
	s.Header = append(s.Header, "J")
	s.Spare = []string{judgeErrorColumn}
	for _, judge := range beside {
		s.Header = append(s.Header, "by "+judge)
		s.Spare = append(s.Spare, "by "+judge)
	}
	s.Header = append(s.Header, judgeErrorColumn)
	s.Spare = append(append(s.Spare, "J"), numbers...)
	var withheld []string
	labeled := false
	for _, of := range all {
		judges := of.judges(labels)
		if lines > fewRows {
			judges = judges[:1]
		}
		for _, judge := range judges {
			row, held := of.row(r, judge, labels)
			if held {
				withheld = append(withheld, row[0]+" by "+judge)
			}
			for _, other := range beside {
				row = append(row, of.both(labels, other, func(j score.JudgeResult) string {
					if other == judge {
						return table.None
					}
					return table.Rate(j.Rate)
				}))
			}
			s.Rows = append(s.Rows, append(row, of.both(labels, judge, rangeCell)))
		}
		if row := of.corrected(r, labels); row != nil {
			labeled = true
			for range len(beside) + 1 {
				row = append(row, table.None)
			}
			s.Rows = append(s.Rows, row)
		}
	}
	s.Note = withheldNote(withheld)
	if labeled {
		s.Note = strings.TrimSpace(s.Note + " People's labels: rates corrected by them, unbiased whatever the judges' errors are. " + fewLabelsNote(r))
	}
	condense(&s, labels)
	return score.Words(r.Runs, r.Judges()...).Section(s)
}

// both shows something of a judge's verdicts on prompts of each label, in one cell.
func (s subject) both(labels []orbench.Label, judge string, show func(score.JudgeResult) string) string {
	var cells []string
	for _, label := range labels {
		if j, ok := s.judged(label, judge); ok {
			cells = append(cells, show(j))
		}
	}
	if !slices.ContainsFunc(cells, func(c string) bool { return c != table.None }) {
		return table.None
	}
	return strings.Join(cells, " / ")
}

// row is a line of the overview up to J. It reports whether a rate of it is withheld.
func (s subject) row(r score.Result, judge string, labels []orbench.Label) (row []string, withheld bool) {
	name := judge
	var cells []string
	for _, label := range labels {
		j, ok := s.judged(label, judge)
		if !ok {
			n := table.None
			if run, asked := s.runs[label]; asked && judge == "none" {
				n = table.Count(run.N)
			}
			cells = append(cells, n, table.None)
			continue
		}
		if j.Simulated {
			name = table.Name(judge, true)
		}
		withheld = withheld || j.Withheld
		cells = append(cells, table.Count(j.Judged), table.Rate(j.Rate)+" "+table.Pad(table.Interval(j.Interval()), 10, true))
	}
	youden := table.None
	if t := s.tradeOff(r, func(t score.TradeOff) bool { return t.Judge == judge }); t != nil {
		youden = table.Fraction(t.J().Value)
	}
	return append(append([]string{table.Name(s.target, s.simulated), s.dataset, name}, cells...), youden), withheld
}

// byLabels stands in place of a judge for the people who labeled some of the answers.
const byLabels = "people's labels"

// corrected is the line of the rates as people's labels correct them, which are the same
// by every judge, up to J; nil where there are none.
func (s subject) corrected(r score.Result, labels []orbench.Label) []string {
	var cells []string
	known := false
	for _, label := range labels {
		c := s.runs[label].Labeled
		if c == nil {
			cells = append(cells, table.None, table.None)
			continue
		}
		known = true
		cells = append(cells, table.Count(c.Labels), table.Percent(c.Rate.Value)+" "+table.Pad(table.Interval(c.Rate.Ends()), 10, true))
	}
	if !known {
		return nil
	}
	youden := table.None
	if t := s.tradeOff(r, func(t score.TradeOff) bool { return t.Labeled != nil }); t != nil {
		youden = table.Fraction(t.Labeled.YoudenJ.Value)
	}
	return append(append([]string{table.Name(s.target, s.simulated), s.dataset, byLabels}, cells...), youden)
}

// tradeOff is one that holds of those of the subject, nil for none.
func (s subject) tradeOff(r score.Result, holds func(score.TradeOff) bool) *score.TradeOff {
	safe, toxic := s.runs[orbench.Safe], s.runs[orbench.Toxic]
	for i, t := range r.TradeOffs {
		if t.Target == safe.Target && t.SafeDataset == safe.Dataset && t.ToxicDataset == toxic.Dataset && holds(t) {
			return &r.TradeOffs[i]
		}
	}
	return nil
}

// rateName is what the share of refused prompts of a label is called in a header.
func rateName(l orbench.Label) string {
	switch l {
	case orbench.Safe:
		return "over-refusal"
	case orbench.Toxic:
		return "toxic refusal"
	}
	return string(l) + " refused"
}

// condense moves what is the same in every line of the overview into its title, and
// leaves out columns without a figure.
func condense(s *table.Section, labels []orbench.Label) {
	var sides []string
	for _, label := range labels {
		side := rateName(label)
		switch label {
		case orbench.Safe:
			side = "over-refusal (safe prompts refused, lower is better)"
		case orbench.Toxic:
			side = "toxic refusal (higher is better)"
		}
		sides = append(sides, side)
	}
	s.Title = strings.Join(sides, " and ")
	s.Title = strings.ToUpper(s.Title[:1]) + s.Title[1:]
	// same gives what all lines have of a column, and leaves the column out.
	same := func(column string) string {
		at := slices.Index(s.Header, column)
		value := s.Rows[0][at]
		left := at < s.Left
		if s.Drop(func(row []string, at int) bool { return row[at] == value }, column) == 0 || value == table.None {
			return ""
		}
		if left {
			s.Left--
		}
		return value
	}
	if len(s.Rows) == 0 {
		return
	}
	if len(s.Rows) > 1 {
		if target := same("target"); target != "" {
			s.Title += " of " + target
		}
	}
	if dataset := same("dataset"); dataset != "" {
		s.Title += " on " + dataset
	}
	if judge := same("judge"); judge != "" {
		s.Title += ", judged by " + judge
	}
	var numbers []string
	for _, label := range labels {
		if n := same("n " + string(label)); n != "" {
			numbers = append(numbers, n+" "+string(label))
		}
	}
	if len(numbers) > 0 {
		s.Title += "; n: " + strings.Join(numbers, ", ")
	}
	nothing := func(row []string, at int) bool { return row[at] == table.None }
	s.Drop(nothing, slices.DeleteFunc(slices.Clone(s.Spare), func(name string) bool { return !slices.Contains(s.Header, name) })...)
}
