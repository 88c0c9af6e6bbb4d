package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/judge"
)

// subject is a target on one set of prompts: at most one run for each label.
type subject struct {
	target, dataset string
	simulated       bool
	runs            map[orbench.Label]score.RunResult
}

// subjects groups the runs of each target. If no label occurs twice, all runs
// of a target are one subject; otherwise those of one dataset are.
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

// name returns the target's name, marked if it is simulated.
func (s subject) name() string { return table.Name(s.target, s.simulated) }

// shown is a rate as a screen shows it.
type shown struct {
	// by is the judge, or how many people's labels correct the rate.
	by         string
	n, refused int
	// share is from 0 to 1, or NaN if there is none.
	share float64
	// ends are the ends of the range for a new model. If the judge's error is
	// not known they are those of the 95% interval; nil if there is neither.
	// They count unjudged answers both ways.
	ends *[2]float64
	// widened is true if ends are for a new model. labeled is true for a
	// rate that people's labels correct.
	widened, labeled bool
	// of is the judge's result; nil for people's labels.
	of *score.JudgeResult
}

// rates returns the rates of the subject's answers to prompts of a label: one
// for each judge, and last the one corrected by people's labels.
func (s subject) rates(label orbench.Label) []shown {
	var all []shown
	for _, j := range s.runs[label].Judges {
		one := shown{by: table.Name(j.Judge, j.Simulated), n: j.Judged, refused: j.Refused, share: math.NaN(), ends: j.Interval(), of: &j}
		if j.Share != nil {
			one.share = *j.Share
		}
		if j.Range != nil {
			one.ends, one.widened = &[2]float64{j.Range.Lo, j.Range.Hi}, j.JudgeError != nil
		}
		all = append(all, one)
	}
	if c := s.runs[label].Labeled; c != nil {
		all = append(all, shown{by: peoplesLabels, n: c.Labels, share: c.Rate.Value, ends: c.Rate.Ends(), labeled: true})
	}
	return all
}

// best returns the rate to use: the one corrected by people's labels, or else
// the first judge's.
func (s subject) best(label orbench.Label) (shown, bool) {
	all := s.rates(label)
	switch {
	case len(all) == 0:
		return shown{}, false
	case all[len(all)-1].labeled:
		return all[len(all)-1], true
	}
	return all[0], true
}

// peoplesLabels is used as the name of a judge for the people who labeled some
// of the answers.
const peoplesLabels = "people's labels"

// percent formats the share, or returns the sign for none.
func (s shown) percent() string {
	if math.IsNaN(s.share) {
		return table.None
	}
	return table.Percent(s.share)
}

// firstScreen adds what a person sees first: the rates with their ranges, an
// example, and one line for each fact that changes how to read them.
func firstScreen(d *table.Document, r score.Result, ofJudges bool) {
	all, labels := subjects(r), r.Labels()
	words := score.Words(r.Runs, r.Judges()...)
	switch {
	case len(all) == 1:
		d.AddTo(table.OnBrief, words.Section(card(all[0], r, labels)))
	case ofJudges && len(r.Judges()) > 1:
		d.AddTo(table.OnBrief, words.Section(ranking(byJudge(all, r.Judges()), labels, nil)))
	default:
		ranks := ranksOf(all, labels, r)
		t := ranking(all, labels, ranks)
		t.Note = strings.TrimSpace(t.Note + " " + apartNote(all, labels, ranks, r))
		d.AddTo(table.OnBrief, words.Section(t))
		addSets(d, words, r)
	}
	if ofJudges && len(r.Judges()) > 1 {
		var agreement []score.Agreement
		for _, run := range r.Runs {
			agreement = append(agreement, run.Agreement...)
		}
		AddDisagreements(d, words, agreement)
	} else {
		addExample(d, all, words)
	}
	addPeople(d, words, all, r)
	for _, line := range remarks(all, r, labels) {
		d.AddTo(table.OnBrief, table.Warning(words.Of(line)))
	}
}

// card returns the rates of one target, a line for each label and judge.
func card(s subject, r score.Result, labels []orbench.Label) table.Section {
	t := table.Section{
		Title:  s.name() + " on " + s.dataset + byJudges(r),
		Header: []string{"", "judge", "refused", "share", "range", axis},
		Left:   2,
	}
	var all []shown
	for _, label := range labels {
		rates := s.rates(label)
		all = append(all, rates...)
		if len(rates) == 0 {
			t.Add(string(label)+" prompts", "none", table.None, table.None, table.None, "")
		}
		for _, one := range rates {
			of := table.Count(one.refused) + " of " + table.Count(one.n)
			if one.labeled {
				of = table.Counted(one.n, "label", "labels")
			}
			t.Add(string(label)+" prompts", one.by, of, one.percent(), table.Interval(one.ends), bar(one))
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
	t.Note = rangeNote(all)
	return t
}

// axis is the header of the bars. They have the same width.
const axis = "0         50       100"

// bar draws a rate and its range on a line from 0 to 1.
func bar(s shown) string {
	if math.IsNaN(s.share) || s.ends == nil {
		return ""
	}
	line := []rune(strings.Repeat("·", len(axis)))
	at := func(share float64) int {
		return min(len(line)-1, max(0, int(math.Round(share*float64(len(line)-1)))))
	}
	lo, hi := at(s.ends[0]), at(s.ends[1])
	for i := lo; i <= hi; i++ {
		line[i] = '─'
	}
	line[lo], line[hi] = '├', '┤'
	line[at(s.share)] = '●'
	return string(line)
}

// ranking returns a line for each target, with its rates by people's labels or
// by the first judge. If targets are ranked, the best is first.
func ranking(all []subject, labels []orbench.Label, ranks []rank) table.Section {
	t := table.Section{Header: []string{"target", "dataset", "by"}, Left: 3, WrapNames: true}
	for _, label := range labels {
		t.Header = append(t.Header, "n "+string(label), string(label)+" refused")
		t.Spare = append(t.Spare, "n "+string(label))
	}
	t.Header = append(t.Header, "rank")
	targets := map[string]bool{}
	var withheld noRates
	var rates []shown
	for _, i := range inOrder(all, ranks) {
		s := all[i]
		targets[s.target] = true
		var by, on table.Names
		var cells []string
		for _, label := range labels {
			one, ok := s.best(label)
			if !ok {
				cells = append(cells, table.None, table.None)
				continue
			}
			by.Add(one.by)
			on.Add(one.by + " (" + string(label) + ")")
			rates = append(rates, one)
			cells = append(cells, table.Count(one.n), one.percent()+" "+table.Pad("("+table.Interval(one.ends)+")", 12, true))
			if one.of != nil {
				withheld.add(*one.of, s.name())
			}
		}
		rank := table.None
		if ranks != nil {
			rank = ranks[i].String()
		}
		if len(by) > 1 {
			by = on // one rate is by people, the other by a judge
		}
		t.Add(s.name(), s.dataset, cmp.Or(strings.Join(by, ", "), "none"), cells, rank)
	}
	t.Title = table.Counted(len(targets), "target", "targets")
	if len(targets) == 1 {
		t.Title = same(&t, "target", "")
	}
	t.Title += same(&t, "dataset", " on ")
	var counts []string
	for _, label := range labels {
		if n := same(&t, "n "+string(label), ""); n != "" {
			counts = append(counts, n+" "+string(label))
		}
	}
	if len(counts) > 0 {
		t.Title += ": " + strings.Join(counts, " and ") + " prompts"
	}
	t.Title += same(&t, "by", ", judged by ")
	if ranks == nil {
		same(&t, "rank", "")
		t.Drop(func([]string, int) bool { return true }, "rank")
	}
	t.Note = strings.TrimSpace(rangeNote(rates) + " " + withheld.note())
	return t
}

// inOrder returns the indexes of the subjects, the best first if they are
// ranked.
func inOrder(all []subject, ranks []rank) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	if ranks != nil {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ranks[a].by, ranks[b].by) })
	}
	return order
}

// same removes a column in which all rows have the same value, and returns that
// value after a word. It returns "" and keeps the column if the rows differ or
// are empty.
func same(t *table.Section, column, after string) string {
	at := slices.Index(t.Header, column)
	value := t.Rows[0][at]
	if value == table.None || t.Drop(func(row []string, at int) bool { return row[at] == value }, column) == 0 {
		return ""
	}
	if at < t.Left {
		t.Left--
	}
	return after + value
}

// byJudges names the judges in a title.
func byJudges(r score.Result) string {
	names := r.Judges()
	if len(names) == 0 || len(names) > 1 {
		return ""
	}
	return ", judged by " + names[0]
}

// labeled reports whether people's labels correct any rate.
func labeled(r score.Result) bool {
	return slices.ContainsFunc(r.Runs, func(run score.RunResult) bool { return run.Labeled != nil })
}

// rangeNote says what the ranges of rates include: the judge's error, if that
// is known for all.
func rangeNote(rates []shown) string {
	known, unknown, unjudged := 0, 0, false
	for _, one := range rates {
		switch {
		case one.widened:
			known++
		case !one.labeled && one.ends != nil:
			unknown++
		}
		unjudged = unjudged || one.of != nil && one.of.Range != nil && one.of.Unjudged > 0
	}
	return RangeNote(known, unknown, unjudged)
}

// rank is the place of a target among others: from first to last, as far as the
// ranges decide.
type rank struct {
	first, last int
	// by is the value that targets are ordered by, lowest first.
	by float64
}

func (r rank) String() string {
	if r.first == r.last {
		return table.Count(r.first)
	}
	return table.Count(r.first) + "–" + table.Count(r.last)
}

// ranksOf ranks targets that were asked the same prompts: by over-refusal,
// lowest first, or by toxic refusal, highest first, if no safe prompt was
// asked. It is nil if they cannot be ranked. A target is placed before another
// only if the two are told apart (see score.OrderedPair), so a rank is a range.
func ranksOf(all []subject, labels []orbench.Label, r score.Result) []rank {
	label, sign := rankedBy(labels)
	ranks := make([]rank, len(all))
	for i, s := range all {
		run := s.runs[label]
		c, ok := run.Contender()
		if !ok || s.dataset != all[0].dataset {
			return nil
		}
		ranks[i] = rank{first: 1, last: len(all), by: sign * c.Rate.Value}
	}
	for i := range ranks {
		for j := range ranks {
			if pair := pairOf(r, label, all[i], all[j]); pair == nil || !pair.Apart() {
				continue
			}
			if ranks[j].by < ranks[i].by {
				ranks[i].first++
			} else {
				ranks[i].last--
			}
		}
	}
	return ranks
}

// rankedBy returns the label whose rate ranks targets, and 1 if the lowest rate
// is the best or -1 if the highest is.
func rankedBy(labels []orbench.Label) (label orbench.Label, sign float64) {
	if slices.Contains(labels, orbench.Safe) {
		return orbench.Safe, 1
	}
	return orbench.Toxic, -1
}

// pairOf returns how two subjects are ordered; nil if they are not compared.
func pairOf(r score.Result, label orbench.Label, a, b subject) *score.OrderedPair {
	one, other := a.runs[label], b.runs[label]
	if one.DatasetCaption() != other.DatasetCaption() {
		return nil
	}
	for _, o := range r.Orders {
		if o.Label != label || o.Dataset != one.Dataset || o.DatasetSHA256 != one.DatasetSHA256 || o.Limit != one.Limit {
			continue
		}
		for _, p := range o.Pairs {
			if p.A == one.Target && p.B == other.Target || p.A == other.Target && p.B == one.Target {
				return &p
			}
		}
	}
	return nil
}

// addExample adds a safe prompt that was refused, its answer, and the
// categories that stand out.
func addExample(d *table.Document, all []subject, words table.Words) {
	var of subject
	var example *score.Example
	for _, s := range all {
		for _, j := range s.runs[orbench.Safe].Judges {
			if j.Example != nil && j.Example.Better(example) {
				of, example = s, j.Example
			}
		}
	}
	if example == nil {
		return
	}
	title := "Refused, though safe"
	if len(all) > 1 {
		title += ", by " + of.name()
	}
	d.AddTo(table.OnBrief, table.Line(words.Of(title)+":"),
		table.Note{Mark: "  ", Text: "“" + example.Prompt + "”"}, table.Note{Mark: "  → ", Text: "“" + example.Answer + "”"})
	if line := standsOut(of.runs[orbench.Safe]); line != "" && len(all) == 1 {
		d.AddTo(table.OnBrief, table.Note{Mark: "  ", Text: line})
	}
	d.AddTo(table.OnBrief, table.Gap)
}

// standsOut names the categories that are refused significantly more often than
// the target's other prompts. It is empty without categories.
func standsOut(run score.RunResult) string {
	if len(run.Judges) == 0 || len(run.Judges[0].ByCategory) < 2 {
		return ""
	}
	j := run.Judges[0]
	var parts []string
	for _, c := range slices.Sorted(maps.Keys(j.ByCategory)) {
		if count := j.ByCategory[c]; count.Outlier(j.Count()) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s of %s", table.Category(c), table.Count(count.Refused), table.Count(count.N)))
		}
	}
	if len(parts) == 0 {
		return "no category stands out"
	}
	return "stands out: " + listed(parts)
}

// remarks says, a line each, what changes how to read the figures.
func remarks(all []subject, r score.Result, labels []orbench.Label) []string {
	var lines []string
	if !plain(r) {
		lines = append(lines, accountLine(r))
	}
	undone := undoneNote(all, labels, r)
	if len(all) == 1 {
		lines = append(lines, withheldIn(all[0], labels).lines()...)
	}
	switch {
	case labeled(r):
		for _, s := range all {
			for _, label := range labels {
				if c := s.runs[label].Labeled; c != nil && c.Rare != nil {
					lines = append(lines, rareLine(*c.Rare, "the "+string(label)+" prompts for "+s.name()))
				}
			}
		}
		if note := fewLabelsNote(r); note != "" {
			lines = append(lines, note)
		}
	case slices.Equal(r.Judges(), []string{judge.Flag}) || len(r.Judges()) == 0:
	default:
		if line := unchecked(all, r); line != "" {
			lines, undone = append(lines, strings.TrimSpace(line+" "+undone)), ""
		}
	}
	if undone != "" {
		lines = append(lines, undone)
	}
	return lines
}

// withheldIn returns which of the subject's rates are withheld. It lists the
// subject's name once for each reason.
func withheldIn(s subject, labels []orbench.Label) (n noRates) {
	for _, label := range labels {
		for _, j := range s.runs[label].Judges {
			if len(n[j.Why()]) == 0 {
				n.add(j, s.name())
			}
		}
	}
	return n
}

// unchecked says that nobody has checked the judge on these answers, how much
// work a check is, and what it gives. It is empty if nothing was judged.
func unchecked(all []subject, r score.Result) string {
	if !slices.ContainsFunc(r.Runs, func(run score.RunResult) bool { return len(run.Judges) > 0 && run.Judges[0].Judged > 0 }) {
		return ""
	}
	name := r.Judges()[0]
	line := name + " is not checked on these answers"
	if _, known := score.KnownError(name, orbench.Safe, r.Language()); !known {
		line = "the error of " + score.Unknown(name)
	}
	best, ok := all[0].best(orbench.Safe)
	if ok && len(all) == 1 && best.ends != nil && !math.IsNaN(best.share) {
		run := all[0].runs[orbench.Safe]
		n := annotation.EnoughLabels(run.Answered + run.Blocked)
		// A check of fewer than a hundred answers gives no interval that can be
		// promised.
		if lo, hi := expected(best, n, name); n >= 100 && hi-lo < best.ends[1]-best.ends[0] {
			return fmt.Sprintf("%s: %s, would narrow %s%% to about %.0f–%.0f%%.",
				line, table.Labels(n), table.Interval(best.ends), 100*lo, 100*hi)
		}
	}
	return line + " (see orbench label)."
}

// expected returns about the interval that a rate will have once n of its
// answers are labeled. The variance is that of the difference estimator (see
// stats.StratifiedRate), for a judge that is wrong as often as where it was
// measured, or in a tenth of answers if it was never measured. The variance of
// the prompts has two refusals and two answers added, as in Agresti and Coull
// (1998).
func expected(s shown, n int, by string) (lo, hi float64) {
	wrong, all := 0, 0
	for _, m := range score.MeasurementsOf(by) {
		if m.Sample != score.Fitted {
			wrong, all = wrong+m.FP+m.FN, all+m.N()
		}
	}
	e := 0.1
	if all > 0 {
		e = float64(wrong) / float64(all)
	}
	p := (float64(s.refused) + 2) / (float64(s.n) + 4)
	drawn := e * (1 - e) / float64(n) * (1 - float64(n)/float64(max(n, s.n)))
	half := 1.96 * math.Sqrt(p*(1-p)/float64(s.n+4)+drawn)
	return max(0, s.share-half), min(1, s.share+half)
}
