package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// section is one table of figures as text, for the outputs that are text.
type section struct {
	title  string
	header []string
	// left is how many leading columns are names; the rest are figures.
	left int
	rows [][]string
	note string
}

// gridWidth is how wide, in columns, a table by category grows before its
// targets are parted into several tables.
const gridWidth = 110

// gridName is the most columns that a target's name takes above its figures.
const gridName = 28

// sectionsOf lays out everything that Table and Markdown show: the figures by
// label, by category, and the agreement of the judges.
func sectionsOf(r score.Result) []section {
	var all []section
	for _, label := range labelsOf(r) {
		all = append(all, labelSection(r, label))
	}
	all = append(all, togetherSections(r)...)
	all = append(all, propensitySections(r)...)
	for _, h := range heatsOf(r, nil) {
		if h.named() {
			all = append(all, categorySections(h)...)
		}
	}
	if s := agreementSection(r); len(s.rows) > 0 {
		all = append(all, s)
	}
	return all
}

func labelSection(r score.Result, label orbench.Label) section {
	s := section{
		title: labelTitle(label),
		header: []string{
			"target", "dataset", "judge", "n", "answered", "blocked", "failed", "unanswered",
			"judged", "unjudged", "refused", "rate", "95% interval",
		},
		left: 3,
	}
	var withheld []string
	for _, run := range r.Runs {
		if run.Label != label {
			continue
		}
		target := simulatedName(runTarget(run), run.Simulated)
		fates := []string{
			count(run.N), count(run.Answered), count(run.Blocked), count(run.Failed), count(run.Unanswered),
		}
		if len(run.Judges) == 0 {
			row := append([]string{target, datasetName(run), "none"}, fates...)
			s.rows = append(s.rows, append(row, "–", "–", "–", "–", "–"))
		}
		for _, j := range run.Judges {
			judge := j.Judge
			if j.Simulated {
				judge += " (simulated)"
			}
			row := append([]string{target, datasetName(run), judge}, fates...)
			if j.Withheld {
				withheld = append(withheld, target+" by "+judge)
			}
			s.rows = append(s.rows, append(row,
				count(j.Judged), count(j.Unjudged), count(j.Refused), rate(j.Rate), interval(j.Interval())))
		}
	}
	if len(withheld) > 0 {
		s.note = "No rate, since too many answers are unjudged: " + strings.Join(withheld, ", ") + ". --most-unjudged 1 gives it all the same."
	}
	// Most runs lose no prompt, and then six columns say so in vain: the account
	// below the tables has it in a line.
	n := slices.Index(s.header, "n")
	if s.drop(func(row []string, at int) bool { return row[at] == "0" }, "blocked", "failed", "unanswered", "unjudged") == 4 {
		s.drop(func(row []string, at int) bool { return row[at] == row[n] }, "answered", "judged")
	}
	return s
}

// drop leaves out those of the columns that say nothing in any row, and gives
// their number.
func (s *section) drop(nothing func(row []string, at int) bool, columns ...string) (dropped int) {
	for _, name := range columns {
		at := slices.Index(s.header, name)
		if slices.ContainsFunc(s.rows, func(row []string) bool { return !nothing(row, at) }) {
			continue
		}
		dropped++
		s.header = slices.Delete(s.header, at, at+1)
		for i := range s.rows {
			s.rows[i] = slices.Delete(s.rows[i], at, at+1)
		}
	}
	return dropped
}

// togetherSections lays out what rests on several of the figures by label: both
// sides of a target, all targets, and all sources of refusals. Those without rows
// are left out.
func togetherSections(r score.Result) []section {
	var all []section
	for _, s := range []section{tradeOffSection(r), ladderSection(r), correlationSection(r), correctedSection(r), sourceSection(r)} {
		if len(s.rows) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// tradeOffSection holds both sides of each target together.
func tradeOffSection(r score.Result) section {
	s := section{
		title: "Both sides together: Youden's J is toxic refusal minus over-refusal, 1 is perfect and 0 is blind",
		header: []string{
			"target", "judge", "datasets", "outdone by", "over-refusal", "toxic refusal", "J", "95% interval", "balanced accuracy",
		},
		left: 4,
	}
	for _, t := range r.TradeOffs {
		outdone := "–"
		if len(t.DominatedBy) > 0 {
			outdone = shortenTarget(untrusted.Terminal(t.DominatedBy[0]), gridName)
			if more := len(t.DominatedBy) - 1; more > 0 {
				outdone += " and " + count(more) + " more"
			}
		}
		over, _ := shareOf(t.Safe)
		toxic, _ := shareOf(t.Toxic)
		j := t.YoudenJ
		if t.Clustered != nil {
			j = t.Clustered.YoudenJ
		}
		s.rows = append(s.rows, []string{
			t.Target, t.Judge, bothDatasets(t.SafeDataset, t.ToxicDataset), outdone, rate(over), rate(toxic),
			fraction(j.Value), fraction(j.Lo) + " to " + fraction(j.Hi), percent(t.BalancedAccuracy.Value),
		})
	}
	if len(s.rows) > 1 {
		s.note = "Outdone by: targets that refuse no more safe prompts and no fewer toxic ones, of the same datasets."
	}
	return s
}

// bothDatasets names what two sides were measured on.
func bothDatasets(safe, toxic string) string {
	if safe == toxic {
		return safe
	}
	return safe + " × " + toxic
}

// ladderSection says what each variant of a target costs and gains.
func ladderSection(r score.Result) section {
	s := section{
		title: "What variants cost on safe prompts and gain on toxic ones, in points against the target as it is",
		header: []string{
			"target", "variant", "judge", "datasets", "over-refusal", "cost", "95% interval", "toxic refusal", "gain", "95% interval",
		},
		left: 4,
		note: "Differences are prompt by prompt. orbench compare lists the prompts that changed.",
	}
	points := func(v float64) string {
		return strings.Replace(strconv.FormatFloat(100*v, 'f', 1, 64), "-", "−", 1)
	}
	for _, t := range r.TradeOffs {
		if t.Cost == nil || t.Gain == nil {
			continue
		}
		over, _ := shareOf(t.Safe)
		toxic, _ := shareOf(t.Toxic)
		s.rows = append(s.rows, []string{
			t.Base, strings.TrimPrefix(t.Target, t.Base+" "), t.Judge, bothDatasets(t.SafeDataset, t.ToxicDataset),
			rate(over), points(t.Cost.Value), points(t.Cost.Lo) + " to " + points(t.Cost.Hi),
			rate(toxic), points(t.Gain.Value), points(t.Gain.Lo) + " to " + points(t.Gain.Hi),
		})
	}
	return s
}

// correlationSection says how the two sides go together over the targets.
func correlationSection(r score.Result) section {
	s := section{
		title:  "Over-refusal against toxic refusal over the targets (95% intervals by bootstrap)",
		header: []string{"judge", "datasets", "left out", "targets", "Spearman", "Pearson", "Kendall"},
		left:   3,
	}
	if !slices.ContainsFunc(r.Correlations, func(c score.Correlation) bool { return len(c.Without) > 0 }) {
		s.header, s.left = slices.Delete(s.header, 2, 3), 2
	}
	show := func(e *stats.Estimate) string {
		if e == nil {
			return "–"
		}
		return fraction(e.Value) + " (" + fraction(e.Lo) + " to " + fraction(e.Hi) + ")"
	}
	row := func(c score.Correlation, leftOut string, targets int, of score.Coefficients) {
		names := []string{c.Judge, bothDatasets(c.SafeDataset, c.ToxicDataset), leftOut}[:s.left]
		s.rows = append(s.rows, append(names, count(targets), show(of.Spearman), show(of.Pearson), show(of.Kendall)))
	}
	var notes []string
	for _, c := range r.Correlations {
		row(c, "–", c.Targets, c.Coefficients)
		for _, w := range c.Without {
			row(c, string(w.LeftOut), c.Targets-len(w.Targets), w.Coefficients)
			note := interestNote(w.LeftOut) + ": " + listed(w.Targets)
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	if len(notes) > 0 {
		s.note = "Left out: " + strings.Join(notes, "; ") + "."
	}
	return s
}

// interestNote says who is left out.
func interestNote(i score.Interest) string {
	switch i {
	case score.Judges:
		return "judges, whose models are among the targets"
	case score.Moderators:
		return "moderators, which voted on what the prompts are"
	}
	return "selectors, whose refusals chose the prompts"
}

// correctedSection gives rates corrected for the judge's own error.
func correctedSection(r score.Result) section {
	if r.Calibration == nil {
		return section{}
	}
	s := section{
		title: "Corrected for the judge's own error, as measured on " + r.Calibration.Responses + "@" + shortHash(r.Calibration.SHA256),
		header: []string{
			"target", "dataset", "label", "judge", "labelled", "judge finds", "judge lets pass", "rate", "corrected", "95% interval",
		},
		left: 4,
		note: "Judge finds: of the labelled refusals; lets pass: of the labelled answers. The interval counts how few were labelled.",
	}
	for _, run := range r.Runs {
		for _, j := range run.Judges {
			confusion, ok := r.Calibration.Judges[j.Judge]
			if !ok {
				continue
			}
			found, _ := shareOf(score.Count{N: confusion.TP + confusion.FN, Refused: confusion.TP})
			passed, _ := shareOf(score.Count{N: confusion.TN + confusion.FP, Refused: confusion.TN})
			row := []string{run.Target, datasetName(run), string(run.Label), j.Judge, count(confusion.N()), rate(found), rate(passed), rate(j.Rate)}
			if j.Corrected == nil {
				row = append(row, "–", "–")
			} else {
				row = append(row, percent(j.Corrected.Value), interval(&[2]float64{j.Corrected.Lo, j.Corrected.Hi}))
			}
			s.rows = append(s.rows, row)
		}
	}
	return s
}

// sourceSection says where refusals came from, for targets of which not all are
// the model's own words.
func sourceSection(r score.Result) section {
	// Sources that no target has take no column.
	var sources []score.Source
	for _, source := range score.Sources {
		if slices.ContainsFunc(r.Runs, func(run score.RunResult) bool {
			return slices.ContainsFunc(run.Judges, func(j score.JudgeResult) bool { return j.BySource[source] > 0 })
		}) {
			sources = append(sources, source)
		}
	}
	s := section{
		title:  "Where refusals came from, and the rate without what the provider's filters withheld",
		header: []string{"target", "dataset", "label", "judge", "refused"},
		left:   4,
	}
	for _, source := range sources {
		s.header = append(s.header, strings.ReplaceAll(string(source), "_", " "))
	}
	s.header = append(s.header, "unjudged: cut", "rate", "without filters")
	for _, run := range r.Runs {
		for _, j := range run.Judges {
			if j.BySource[score.Direct]+j.BySource[score.Indirect] == j.Refused && j.Cut == 0 {
				continue
			}
			row := []string{run.Target, datasetName(run), string(run.Label), j.Judge, count(j.Refused)}
			for _, source := range sources {
				row = append(row, count(j.BySource[source]))
			}
			s.rows = append(s.rows, append(row, count(j.Cut), rate(j.Rate), rate(j.Unfiltered.Rate)))
		}
	}
	return s
}

// fraction shows a number from -1 to 1.
func fraction(v float64) string {
	return strings.Replace(strconv.FormatFloat(v, 'f', 2, 64), "-", "−", 1)
}

// categorySections turns a heat on its side: a line for each category, a column
// for each target, in as many tables as keep within gridWidth.
func categorySections(h heat) []section {
	names := make([]string, len(h.categories))
	widest := len("category")
	for i, c := range h.categories {
		names[i] = categoryName(c)
		widest = max(widest, untrusted.Width(untrusted.Terminal(names[i])))
	}
	var sections []section
	for first := 0; first < len(h.rows); {
		s := section{
			title:  "By category (refused/judged, rate, 95% interval): " + string(h.label) + " prompts of " + h.dataset + ", judge " + h.judge,
			header: []string{"category"},
			left:   1,
			rows:   make([][]string, len(names)+1),
		}
		if h.dropped > 0 {
			s.note = count(h.dropped) + " smaller categories are left out here; JSON and CSV have all."
		}
		s.note = strings.TrimSpace(s.note + " " + h.variantsNote())
		if h.marked() {
			s.note = strings.TrimSpace(s.note + " " + markNote)
		}
		for i, name := range append(names, "all") {
			s.rows[i] = []string{name}
		}
		used := widest
		for ; first < len(h.rows); first++ {
			row := h.rows[first]
			name := shortenTarget(untrusted.Terminal(row.target), gridName)
			column := []string{name}
			for _, c := range h.categories {
				column = append(column, strings.TrimSpace(row.mark(c)+" "+cell(row.counts[c])))
			}
			column = append(column, cell(row.all))
			need := 0
			for _, text := range column {
				need = max(need, untrusted.Width(text))
			}
			if len(s.header) > 1 && used+2+need > gridWidth {
				break
			}
			used += 2 + need
			s.header = append(s.header, column[0])
			for i, text := range column[1:] {
				s.rows[i] = append(s.rows[i], text)
			}
		}
		sections = append(sections, s)
	}
	return sections
}

// cell shows the counts behind a rate, the rate and its interval.
func cell(c score.Count) string {
	r, ci := shareOf(c)
	if r == nil {
		return "–"
	}
	return strconv.Itoa(c.Refused) + "/" + strconv.Itoa(c.N) + " " + pad(percent(*r), 6, true) + " " + pad(interval(ci), 10, true)
}

func agreementSection(r score.Result) section {
	s := section{
		title:  "Where judges disagree, among the answers that both judged",
		header: append([]string{"target", "dataset", "label", "judge A", "judge B"}, agreementHeader...),
		left:   5,
	}
	for _, run := range r.Runs {
		for _, a := range run.Agreement {
			s.rows = append(s.rows, append([]string{run.Target, datasetName(run), string(run.Label), a.A, a.B}, agreementCells(a)...))
		}
	}
	return s
}

// agreementHeader names the figures of an Agreement, and agreementCells shows
// them.
var agreementHeader = []string{"n", "agree", "95% interval", "both refused", "only A", "only B", "neither", "kappa"}

func agreementCells(a score.Agreement) []string {
	share, ci := shareOf(score.Count{N: a.N, Refused: a.Both + a.Neither})
	return []string{
		count(a.N), rate(share), interval(ci), count(a.Both), count(a.OnlyA), count(a.OnlyB), count(a.Neither), kappa(a.Kappa),
	}
}

// kappa shows Cohen's kappa, which is undefined when judges see one class only.
func kappa(k *float64) string {
	if k == nil {
		return "–"
	}
	return strconv.FormatFloat(*k, 'f', 2, 64)
}
