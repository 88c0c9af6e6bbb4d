package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/judge"
)

// firstScreen adds what a person sees first: the rates with their ranges, an
// example, and one line for each fact that changes how to read them.
func firstScreen(d *table.Document, v View) {
	r := v.Result
	words := score.Words(r.Runs, r.Judges()...)
	titles := strings.Join(table.RowsOf(r.Labels(), table.LabelTitle), ". ") + ". "
	if line := lead(r, words); line != "" && !v.Beside {
		d.AddTo(table.OnBrief, table.Line(line), table.Gap)
	}
	if alone(r) && !v.Beside {
		d.AddTo(table.OnBrief, words.Section(card(r, titles)))
	} else if t := matrix(r, v.OfJudges && len(r.Judges()) > 1, v.Beside); len(t.Rows) > 0 {
		if t.Note = strings.TrimSpace(words.Of(titles) + t.Note + " " + notApart(r)); t.Left == 1 && !v.Beside {
			t.Title += otherJudges(r)
		}
		d.AddTo(table.OnBrief, t.Section)
	}
	for _, t := range tablesOf(r, "sets", "recorded") {
		d.AddTo(table.OnBrief, t.Section)
	}
	if v.OfJudges && len(r.Judges()) > 1 {
		addDisagreements(d, words, r)
	} else {
		addExample(d, r, words)
	}
	addPeople(d, words, r)
	lines, alarms := remarks(r)
	for _, line := range alarms {
		d.AddTo(table.OnBrief, table.Warning(words.Of(line)))
	}
	for _, line := range lines {
		d.AddTo(table.OnBrief, table.Line(words.Of(line)))
	}
}

// lead is the sentence that is read first: the rates of a single target, or which of several
// refuses most. It may be empty.
func lead(r score.Result, words table.Words) string {
	if alone(r) {
		return plainly(r, words)
	}
	return worst(r, words)
}

// alone reports whether a result is of one target, with at most one run for each label.
func alone(r score.Result) bool {
	var targets table.Names
	for i := range r.Runs {
		targets.Add(r.Runs[i].TargetCaption())
	}
	return len(targets) == 1 && len(r.Labels()) == len(r.Runs)
}

// byLabel are the runs of a result in the order of their labels.
func byLabel(r score.Result) []score.RunResult {
	return slices.SortedStableFunc(slices.Values(r.Runs), func(a, b score.RunResult) int {
		return slices.Index(orbench.Labels, a.Label) - slices.Index(orbench.Labels, b.Label)
	})
}

// plainly says the rates of one target in a sentence; it is empty if there are none.
func plainly(r score.Result, words table.Words) string {
	var parts []string
	for _, run := range byLabel(r) {
		if f, ok := run.Best(); ok && f.Value != nil && !f.Rare() {
			parts = append(parts, inWords(*f.Value)+" "+string(run.Label)+" prompts")
		}
	}
	if len(parts) == 0 {
		return ""
	}
	does := "Refuses "
	if words.Flagging {
		does = "Flags "
	}
	return does + strings.Join(parts, ", and ") + "."
}

// numbers are those that a share is said with.
var numbers = []string{"none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}

// inWords says about what part of prompts a share is.
func inWords(share float64) string {
	switch tenths := int(math.Round(10 * share)); {
	case share == 0:
		return "none of the"
	case share == 1:
		return "all"
	case share < 0.01:
		return "fewer than one in a hundred"
	case share < 0.36:
		if of := int(math.Round(1 / share)); of < len(numbers) {
			return "about one in " + numbers[of]
		}
		return fmt.Sprintf("about one in %.0f", 1/share)
	case tenths == 5:
		return "about half of the"
	case tenths == 10:
		return "nearly all"
	default:
		return "about " + numbers[tenths] + " in ten"
	}
}

// card returns the rates of one target, a line for each label and judge. Its note begins with
// the titles of the labels.
func card(r score.Result, titles string) table.Section {
	t := table.Section{Header: []string{"", "judge", "refused", "share", "range", axis}, Left: 2}
	var all []figure.Figure
	var sets table.Names
	for _, run := range byLabel(r) {
		prompts, rates := string(run.Label)+" prompts", run.Rates()
		if run.Samples > 0 {
			prompts = "answers to " + prompts
		}
		sets.Add(run.DatasetCaption())
		all = append(all, rates...)
		if len(rates) == 0 {
			t.Add(prompts, "none", table.None, table.None, table.None, "")
		}
		for _, one := range rates {
			of := ofBoth.cells(&one)[0]
			if one.Judge == "" {
				of = table.Counted(one.Labels, "label", "labels")
			}
			t.Add(prompts, cmp.Or(one.Judge, peoplesLabels), of, value(&one), rangeOf(&one), bar(one))
		}
	}
	// With one judge, no column names it. With several, there is no room for
	// bars.
	spare := axis
	if len(r.Judges()) < 2 && !labeled(r) {
		spare = "judge"
		t.Left--
	}
	t.Drop(func([]string, int) bool { return true }, spare)
	t.Title, t.Note = nameOf(&r.Runs[0])+" on "+strings.Join(sets, " × "), strings.TrimSpace(titles+rangeNote(all)+" "+characters(r))
	if judges := r.Judges(); len(judges) == 1 {
		t.Title += ", judged by " + judges[0]
	}
	return t
}

// axis is the header of the bars. They have the same width.
const axis = "0         50       100"

// bar draws a rate and its range on a line from 0 to 1.
func bar(f figure.Figure) string {
	if f.Value == nil || f.Range == nil {
		return ""
	}
	line := []rune(strings.Repeat("·", len(axis)))
	at := func(share float64) int {
		return min(len(line)-1, max(0, int(math.Round(share*float64(len(line)-1)))))
	}
	lo, hi := at(f.Range.Lo), at(f.Range.Hi)
	for i := lo; i <= hi; i++ {
		line[i] = '─'
	}
	line[lo], line[hi] = '├', '┤'
	line[at(*f.Value)] = '●'
	return string(line)
}

// otherJudges says whose rates a table by the first judges leaves out, and how far apart they are.
func otherJudges(r score.Result) string {
	var names table.Names
	off := 0.0
	for run, j := range r.Judged() {
		if a, b := j.Rate.Value, run.Judges[0].Rate.Value; j.Judge != run.Judges[0].Judge && a != nil && b != nil {
			names.Add(j.Judge)
			off = math.Max(off, 100*math.Abs(*a-*b))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("; also by %s, up to %.1f points apart", listed(names), off)
}

// labeled reports whether people's labels correct any rate.
func labeled(r score.Result) bool {
	return slices.ContainsFunc(r.Runs, func(run score.RunResult) bool { return run.Labeled != nil })
}

// rangeNote says what the ranges of rates include, and what checked their judges.
func rangeNote(rates []figure.Figure) string {
	known, unknown, unjudged := false, false, false
	for i := range rates {
		f := &rates[i]
		checked := f.Judge != "" && f.Checked != ""
		known = known || checked && f.Range != nil
		unknown = unknown || checked && f.Range == nil && f.Value != nil && f.Checked == figure.Never
		unjudged = unjudged || f.Judge != "" && f.Range != nil && (f.Value == nil || f.Missing["unjudged"] > 0)
	}
	note := ""
	if known {
		note = "Ranges: 95% certain, with the judge's own error."
	}
	if unknown {
		note += " Not checked: nobody knows the judge's error, so there is no range."
	}
	if unjudged {
		note += " The range counts what is not judged as all refused and as all answered."
	}
	return strings.TrimSpace(note)
}

// judgeErrorLines says, a line for each judge, how far it is known to be off.
func judgeErrorLines(r score.Result) []string {
	labels := slices.DeleteFunc(r.Labels(), func(l orbench.Label) bool { return l != orbench.Safe && l != orbench.Toxic })
	return table.RowsOf(r.Judges(), func(name string) string { return score.DescribeJudge(name, labels, r.Language()) })
}

// addExample adds a safe prompt that was refused, its answer, and the
// categories that stand out.
func addExample(d *table.Document, r score.Result, words table.Words) {
	example, title, concentrated := exampleOf(r)
	if example == nil {
		return
	}
	d.AddTo(table.OnBrief, table.Line(words.Of(title)+":"),
		table.Note{Mark: "  ", Text: "“" + example.Prompt + "”"}, table.Note{Mark: "  → ", Text: "“" + example.Answer + "”"})
	if concentrated != "" {
		d.AddTo(table.OnBrief, table.Note{Mark: "  ", Text: concentrated})
	}
	d.AddTo(table.OnBrief, table.Gap)
}

// exampleOf returns a safe prompt that was refused and its title, by the target that is said to
// refuse most; of a single target also the categories that stand out. The example is nil if there
// is none.
func exampleOf(r score.Result) (example *score.Example, title, concentrated string) {
	var of score.RunResult
	named := lastOf(contests(r))
	for run, j := range r.Judged() {
		if run.Label == orbench.Safe && (named == nil || run.Target == named.Target) && j.Example != nil && j.Example.Better(example) {
			of, example = *run, j.Example
		}
	}
	title = "Refused, though safe"
	if !alone(r) {
		return example, title + ", by " + nameOf(&of), ""
	}
	return example, title, standsOut(r, of)
}

// standsOut names the categories that are refused significantly more often than
// the target's other prompts. It is empty without categories.
func standsOut(r score.Result, run score.RunResult) string {
	if len(run.Judges) == 0 || len(run.Judges[0].ByCategory) < 2 {
		return ""
	}
	var parts []string
	marked := marks(r)
	for f := range figure.Of(run.Judges[0].Figures, rates...) {
		if marked(f) == "▲" {
			parts = append(parts, fmt.Sprintf("%s %s of %s", f.Category, table.Count(int(f.Count())), table.Count(f.N)))
		}
	}
	if len(parts) == 0 {
		return "no category stands out"
	}
	return "stands out: " + listed(parts)
}

// remarks says, a line each, what changes how to read the figures, and which of them cannot
// be used. A line may be empty.
func remarks(r score.Result) (lines, alarms []string) {
	switch some, many := lacks(r); {
	case many:
		alarms = []string{accountLine(r)}
	case some:
		lines = append(lines, accountLine(r))
	}
	lines = append(lines, rareLines(r)...)
	if labeled(r) {
		lines = append(lines, fewLabelsNote(r))
	} else {
		lines = append(lines, unchecked(r))
	}
	return lines, alarms
}

// rareLines says what is not known of rare rates without labels, and how to find out.
func rareLines(r score.Result) (lines []string) {
	name := "RUN"
	if r.Provenance != nil && len(r.Provenance.Runs) == 1 {
		name = untrusted.Shell(r.Provenance.Runs[0].Run)
	}
	for _, run := range byLabel(r) {
		if run.Labeled != nil || len(run.Judges) == 0 {
			continue
		}
		j := &run.Judges[0]
		f := run.Rate(j)
		if !f.Rare() {
			continue
		}
		if !alone(r) {
			return []string{"Not known: below 2%, neither how much of what is flagged is refusal nor what was missed; labels tell (orbench label draw)."}
		}
		e := f.Sampled()
		line := fmt.Sprintf("%s prompts: flagged %.2f%% (%.2f–%.2f by sampling); how much of it is refusal, and what was missed, is not known.", run.Label, 100*e.Value, 100*e.Lo, 100*e.Hi)
		draw := strings.Join([]string{"orbench label draw", name, "--label", string(run.Label), "--size"}, " ")
		switch some := min(annotation.StepLabels, j.Refused); {
		case run.N < annotation.LeastRare:
			line += " Labels tell: orbench label " + name + "."
		case some > 0:
			line += fmt.Sprintf(" %s %d: labels of %d of the %s flagged give the lower end.", draw, 2*some, some, table.Count(j.Refused))
			fallthrough
		default:
			line += fmt.Sprintf(" %s %d: an audit of 300 others tells what was missed to 1 point, one of 1,500 to 0.2.", draw, 300+min(300, j.Refused))
		}
		lines = append(lines, line)
	}
	return lines
}

// unchecked says that nobody has checked the judge on these answers, how much
// work a check is, and what it gives. It is empty if nothing was judged, and of the flags of a guard.
func unchecked(r score.Result) string {
	if slices.Equal(r.Judges(), []string{judge.Flag}) || !slices.ContainsFunc(r.Runs, func(run score.RunResult) bool { return len(run.Judges) > 0 && run.Judges[0].Judged > 0 }) {
		return ""
	}
	name := r.Judges()[0]
	if name == judge.Lexical.Name() {
		name += " finds phrases of refusal"
	}
	line := strings.TrimSpace(name + ": " + string(figure.Never) + " " + r.Runs[0].Unmeasured())
	if slices.ContainsFunc(r.Runs, func(run score.RunResult) bool { return len(run.Judges) > 0 && run.Judges[0].Known() }) {
		line = name + ": " + string(figure.Elsewhere)
	}
	run := &byLabel(r)[0]
	if best, ok := run.Best(); ok && alone(r) && run.Label == orbench.Safe && best.Range != nil && best.Value != nil {
		n := min(annotation.StepLabels, run.Answered+run.Blocked)
		if lo, hi := expected(best, n); n == annotation.StepLabels && hi-lo < best.Range.Hi-best.Range.Lo {
			return fmt.Sprintf("%s; %s answers labeled by a person, %s (orbench label), would narrow %s%% to about %.0f–%.0f%%.",
				line, table.Count(n), table.LabelTime(n), rangeOf(&best), 100*lo, 100*hi)
		}
	}
	return line + " (here: orbench label)."
}

// expected returns about the interval that a rate will have once n of its
// answers are labeled. The variance is that of the difference estimator (see
// stats.StratifiedRate), for a judge that is wrong as often as where it was
// measured, or in a tenth of answers if it was never measured. The variance of
// the prompts has two refusals and two answers added, as in Agresti and Coull
// (1998).
func expected(f figure.Figure, n int) (lo, hi float64) {
	wrong, all := 0, 0
	for _, m := range score.MeasurementsOf(f.Judge) {
		if m.Sample != score.Fitted {
			wrong, all = wrong+m.FP+m.FN, all+m.N()
		}
	}
	e := 0.1
	if all > 0 {
		e = float64(wrong) / float64(all)
	}
	p := (*f.Value*float64(f.N) + 2) / (float64(f.N) + 4)
	drawn := e * (1 - e) / float64(n) * (1 - float64(n)/float64(max(n, f.N)))
	half := 1.96 * math.Sqrt(p*(1-p)/float64(f.N+4)+drawn)
	return max(0, *f.Value-half), min(1, *f.Value+half)
}
