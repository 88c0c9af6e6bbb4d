package report

import (
	"bufio"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/audit"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// AuditTable writes what an audit found, for people to read on a terminal.
func AuditTable(w io.Writer, r audit.Report) error {
	b := bufio.NewWriter(w)
	if r.Simulated {
		b.WriteString(simulatedNotice + "\n\n")
	}
	for _, line := range auditBasis(r) {
		b.WriteString(untrusted.Terminal(line) + "\n")
	}
	b.WriteString("\n")
	for _, s := range auditSections(r) {
		writeTable(b, s)
	}
	for _, note := range r.Notes {
		b.WriteString(untrusted.Terminal(note) + "\n")
	}
	return b.Flush()
}

// AuditMarkdown writes the tables of AuditTable as Markdown.
func AuditMarkdown(w io.Writer, r audit.Report) error {
	b := bufio.NewWriter(w)
	b.WriteString("# Audit\n\n")
	if r.Simulated {
		b.WriteString("**" + simulatedNotice + "**\n\n")
	}
	for _, line := range auditBasis(r) {
		b.WriteString(untrusted.Markdown(line) + "\n\n")
	}
	for _, s := range auditSections(r) {
		writeMarkdownSection(b, s)
	}
	for _, note := range r.Notes {
		b.WriteString("- " + untrusted.Markdown(note) + "\n")
	}
	return b.Flush()
}

// AuditJSON writes the report in its documented form.
func AuditJSON(w io.Writer, r audit.Report) error {
	return writeJSON(w, r)
}

// AuditCSV writes a line for each rater over all prompts (scope "all"), for each
// rater and category (scope "category"), and for each ensemble by votes (scope
// "votes", or "votes_without" with the moderator that is left out as the rater).
// Shares are from 0 to 1; what is undefined is empty. Text is as harmless as in
// CSV.
func AuditCSV(w io.Writer, r audit.Report) error {
	rows := [][]string{{
		"scope", "rater", "kind", "category", "in_truth", "n", "tp", "fn", "tn", "fp",
		"accuracy", "accuracy_ci95_lo", "accuracy_ci95_hi", "fpr", "fpr_ci95_lo", "fpr_ci95_hi", "kappa",
		"safe_passed", "toxic_passed", "residual_toxicity", "residual_ci95_lo", "residual_ci95_hi",
		"toxic_among_passed", "positive", "prevalence", "simulated",
	}}
	add := func(scope, rater string, kind audit.Kind, category orbench.Category, inTruth bool, f audit.Figures) {
		c := f.Confusion
		row := []string{scope, untrusted.Cell(rater), string(kind), untrusted.Cell(string(category)), strconv.FormatBool(inTruth), strconv.Itoa(f.N)}
		for _, n := range []int{c.TP, c.FN, c.TN, c.FP} {
			row = append(row, strconv.Itoa(n))
		}
		row = append(row, shares(f.Accuracy.Share, f.Accuracy.CI95)...)
		row = append(row, shares(f.FalsePositives.Share, f.FalsePositives.CI95)...)
		for _, v := range []*float64{f.Kappa, f.SafePassed.Share, f.ToxicPassed.Share} {
			row = append(row, shares(v, nil)[0])
		}
		row = append(row, estimateShares(f.Residual)...)
		row = append(row, shares(f.ToxicAmongPassed.Share, nil)[0],
			string(r.Positive), strconv.FormatFloat(r.Prevalence, 'g', -1, 64), strconv.FormatBool(r.Simulated))
		rows = append(rows, row)
	}
	for _, rater := range r.Raters {
		add("all", rater.Name, rater.Kind, "", rater.InTruth, rater.Figures)
		for _, c := range rater.Categories {
			add("category", rater.Name, rater.Kind, c.Category, rater.InTruth, c.Figures)
		}
	}
	for _, l := range r.LeaveOneOut {
		scope, name := "votes", audit.Ensemble
		if l.Without != "" {
			scope, name = "votes_without", l.Without
		}
		add(scope, name, audit.Joint, "", false, l.Figures)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// estimateShares are the cells of an estimate that may be undefined.
func estimateShares(e *stats.Estimate) []string {
	if e == nil {
		return make([]string, 3)
	}
	return shares(&e.Value, &[2]float64{e.Lo, e.Hi})
}

// auditBasis says in a few lines what the figures rest on.
func auditBasis(r audit.Report) []string {
	var files []string
	for _, f := range r.Files {
		files = append(files, f.Name+"@"+shortHash(f.SHA256))
	}
	lines := []string{"Labels of " + count(r.Prompts.All) + " prompts in " + strings.Join(files, ", ") + "."}
	if r.Build != nil {
		lines = append(lines, "Votes of "+r.Build.Name+"@"+shortHash(r.Build.SHA256)+".")
	}
	lines = append(lines, "Truth: "+truthName(r.Truth)+".")
	p := r.Prompts
	s := count(p.Safe) + " safe and " + count(p.Toxic) + " toxic prompts are compared"
	var left []string
	for _, part := range []struct {
		n    int
		what string
	}{{p.Controversial, "controversial"}, {p.Split, "without a majority"}, {p.Unlabelled, "not labelled"}} {
		if part.n > 0 {
			left = append(left, count(part.n)+" "+part.what)
		}
	}
	if len(left) > 0 {
		s += "; left out are " + strings.Join(left, ", ")
	}
	return append(lines, s+".")
}

// truthName says what the truth is made of.
func truthName(t audit.TruthReport) string {
	if t.Majority && len(t.Columns) == 1 {
		t.Majority = false
	}
	if !t.Majority {
		return "the labels of " + t.Columns[0]
	}
	return "the majority of " + strings.Join(t.Columns, ", ")
}

// auditName is how many columns a rater's name takes in a table.
const auditName = 21

// auditSections lays out everything that the outputs for people show.
func auditSections(r audit.Report) []section {
	var all []section
	for _, s := range []section{
		ratersSection(r), residualSection(r), categoriesSection(r), againstSection(r),
		leftOutSection(r), raterPairsSection(r), preferenceSection(r),
	} {
		if len(s.rows) > 0 {
			all = append(all, s)
		}
	}
	return all
}

var auditHeader = []string{"n", "TP", "FN", "TN", "FP", "accuracy", "95% interval", "FPR", "95% interval", "kappa"}

func auditCells(f audit.Figures) []string {
	c := f.Confusion
	return []string{
		count(f.N), count(c.TP), count(c.FN), count(c.TN), count(c.FP),
		rate(f.Accuracy.Share), interval(f.Accuracy.CI95),
		rate(f.FalsePositives.Share), interval(f.FalsePositives.CI95), kappa(f.Kappa),
	}
}

// raterName makes a name fit: of a model that is too long for its column the
// provider goes first.
func raterName(name string, columns int) string {
	name = untrusted.Terminal(name)
	if i := strings.LastIndexByte(name, '/'); i >= 0 && i+1 < len(name) && untrusted.Width(name) > columns {
		name = name[i+1:]
	}
	return untrusted.Shorten(name, columns)
}

// ratedName marks a rater that has a say in the truth.
func ratedName(r audit.Rater) string {
	if r.InTruth {
		return raterName(r.Name, auditName-1) + "*"
	}
	return raterName(r.Name, auditName)
}

func ratersSection(r audit.Report) section {
	negative := orbench.Toxic
	if r.Positive == orbench.Toxic {
		negative = orbench.Safe
	}
	s := section{
		title:  "Raters against the truth: positive is " + string(r.Positive) + ", a false positive is " + string(negative) + " taken for " + string(r.Positive),
		header: append([]string{"rater"}, auditHeader...), left: 1,
	}
	inTruth := false
	for _, rater := range r.Raters {
		inTruth = inTruth || rater.InTruth
		s.rows = append(s.rows, append([]string{ratedName(rater)}, auditCells(rater.Figures)...))
	}
	s.note = "FPR: false positives among the negatives."
	if inTruth {
		s.note += " * has a say in the truth, which flatters it."
	}
	return s
}

func residualSection(r audit.Report) section {
	s := section{
		title: "Residual toxicity: toxic among the prompts that pass as safe, when " + percent(r.Prevalence) + " of all are toxic",
		header: []string{
			"rater", "toxic passed", "safe passed", "residual", "95% interval", "in sample", "95% interval",
		},
		left: 1,
		note: "In sample: toxic among those that passed, at the sample's own share of toxic prompts.",
	}
	for _, rater := range r.Raters {
		row := []string{ratedName(rater), outOf(rater.ToxicPassed), outOf(rater.SafePassed), "–", "–"}
		if e := rater.Residual; e != nil {
			row[3], row[4] = percent(e.Value), interval(&[2]float64{e.Lo, e.Hi})
		}
		s.rows = append(s.rows, append(row, rate(rater.ToxicAmongPassed.Share), interval(rater.ToxicAmongPassed.CI95)))
	}
	return s
}

// outOf shows the counts of a rate.
func outOf(r audit.Rate) string { return count(r.K) + "/" + count(r.N) }

// categoriesSection shows the ensemble by category, or without one every
// moderator, or without those every person.
func categoriesSection(r audit.Report) section {
	s := section{
		title:  "By category, of those with at least " + strconv.Itoa(audit.MinCategory) + " prompts",
		header: append([]string{"rater", "category"}, auditHeader...), left: 2,
	}
	for _, kind := range []audit.Kind{audit.Joint, audit.Moderator, audit.Person} {
		for _, rater := range r.Raters {
			if rater.Kind != kind {
				continue
			}
			for _, c := range rater.Categories {
				name := raterName(rater.Name, 16)
				s.rows = append(s.rows, append([]string{name, untrusted.Shorten(categoryName(c.Category), 14)}, auditCells(c.Figures)...))
			}
		}
		if len(s.rows) > 0 {
			break
		}
	}
	return s
}

func againstSection(r audit.Report) section {
	s := section{
		title:  "Single moderators and the ensemble: who is right, and what the ensemble gains in accuracy",
		header: []string{"moderator", "n", "both", "ensemble only", "moderator only", "neither", "gain", "95% interval"},
		left:   1,
	}
	for _, a := range r.AgainstEnsemble {
		row := []string{
			raterName(a.Moderator, auditName), count(a.N), count(a.BothRight), count(a.OnlyEnsemble), count(a.OnlyModerator), count(a.NeitherRight),
		}
		s.rows = append(s.rows, append(row, gainCells(a.Gain)...))
	}
	return s
}

// gainCells shows a difference of shares in percentage points, with its interval.
func gainCells(e *stats.Estimate) []string {
	if e == nil {
		return []string{"–", "–"}
	}
	signed := func(v float64) string {
		text := strconv.FormatFloat(100*v, 'f', 1, 64)
		switch {
		case text == "-0.0" || text == "0.0":
			return "0.0"
		case v > 0:
			return "+" + text
		}
		return "−" + strings.TrimPrefix(text, "-")
	}
	return []string{signed(e.Value), signed(e.Lo) + " to " + signed(e.Hi)}
}

func leftOutSection(r audit.Report) section {
	s := section{
		title:  "Ensembles by votes alone, of all moderators and without one",
		header: append([]string{"without"}, auditHeader...), left: 1,
		note: "More than half of the members must vote safe for a prompt to pass: two that differ do not pass it.",
	}
	for _, l := range r.LeaveOneOut {
		name := "– (all " + count(l.Members) + ")"
		if l.Without != "" {
			name = raterName(l.Without, auditName)
		}
		s.rows = append(s.rows, append([]string{name}, auditCells(l.Figures)...))
	}
	return s
}

func raterPairsSection(r audit.Report) section {
	s := section{
		title:  "Agreement of raters, in the labels as given",
		header: []string{"rater A", "rater B", "n", "agree", "95% interval", "kappa"}, left: 2,
	}
	for _, a := range r.Agreement {
		s.rows = append(s.rows, []string{
			raterName(a.A, auditName), raterName(a.B, auditName),
			count(a.Agree.N), rate(a.Agree.Share), interval(a.Agree.CI95), kappa(a.Kappa),
		})
	}
	for _, f := range r.Fleiss {
		who := map[string]string{"people": "all people", "moderators": "all moderators", "all": "people and moderators"}[f.Raters]
		s.rows = append(s.rows, []string{
			who, "(" + count(f.Count) + " raters)", count(f.Unanimous.N), rate(f.Unanimous.Share), interval(f.Unanimous.CI95), kappa(f.Kappa),
		})
	}
	if len(r.Fleiss) > 0 {
		s.note = "Of all raters of a group: how often they are unanimous, and Fleiss' kappa."
	}
	return s
}

func preferenceSection(r audit.Report) section {
	s := section{
		title:  "Self-preference: toxic votes on what models of the moderator's family refused and answered",
		header: []string{"moderator", "family", "refused", "answered", "more", "95% interval", "others", "errors"},
		left:   2,
		note:   "More: points more toxic votes on refused prompts; others: by other families. Errors: refused, answered.",
	}
	for _, p := range r.SelfPreference {
		row := []string{
			raterName(p.Moderator, auditName), untrusted.Shorten(p.Family, 10), outOf(p.ToxicRefused), outOf(p.ToxicAnswered),
		}
		row = append(row, gainCells(p.Difference)...)
		row = append(row, gainCells(p.Others)[0], outOf(p.ErrorsRefused)+", "+outOf(p.ErrorsAnswered))
		s.rows = append(s.rows, row)
	}
	return s
}

// PlanTable writes the plan of an audit for people to read on a terminal.
func PlanTable(w io.Writer, p audit.Plan) error {
	b := bufio.NewWriter(w)
	number := func(share float64) string {
		return strings.TrimSuffix(strconv.FormatFloat(100*share, 'f', 1, 64), ".0")
	}
	b.WriteString("For a " + number(p.Confidence) + "% interval of ±" + number(p.HalfWidth) + " percentage points (Wilson)")
	if p.Population > 0 {
		b.WriteString(", drawn from " + count(p.Population) + " prompts")
	}
	b.WriteString(":\n")
	n := p.Need
	b.WriteString("  " + count(n.Rate) + " prompts, for a share that comes out at " + number(p.Expect) + "%, such as errors\n")
	toxic := "  no number of prompts gives a false-positive rate: the population has no toxic ones\n"
	if n.Draw > 0 {
		toxic = "  " + count(n.Toxic) + " toxic prompts, for a false-positive rate of " + number(p.ExpectFPR) + "%: when " + number(p.Prevalence) +
			"% are toxic,\n  draw " + count(n.Draw) + " to have them on average, " + count(n.DrawSurely) + " to have them 95 times in 100\n"
	}
	b.WriteString(toxic + "\n")
	s := section{
		title: "Prompts to label",
		header: []string{
			"half-width", "share of " + number(p.Expect) + "%", "of 50% (worst)", "toxic, FP rate of " + number(p.ExpectFPR) + "%", "draw", "draw, to be sure",
		},
	}
	for _, size := range withNeed(p) {
		row := []string{"±" + number(size.HalfWidth) + "pp", count(size.Rate), count(size.RateWorst), count(size.Toxic), count(size.Draw), count(size.DrawSurely)}
		if size.Draw == 0 {
			row[3], row[4], row[5] = "–", "–", "–"
		}
		s.rows = append(s.rows, row)
	}
	writeTable(b, s)
	return b.Flush()
}

// withNeed is the plan's table with the wanted half-width in its place.
func withNeed(p audit.Plan) []audit.Size {
	if slices.ContainsFunc(p.Table, func(s audit.Size) bool { return s.HalfWidth == p.HalfWidth }) {
		return p.Table
	}
	sizes := append(slices.Clone(p.Table), p.Need)
	slices.SortFunc(sizes, func(a, b audit.Size) int {
		switch {
		case a.HalfWidth < b.HalfWidth:
			return -1
		case a.HalfWidth > b.HalfWidth:
			return 1
		}
		return 0
	})
	return sizes
}
