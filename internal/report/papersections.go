package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/stats"
)

// sections lays out the study as tables.
func (p Paper) sections() []section {
	all := []section{p.modelSection()}
	if own := p.own(); len(own) > 0 {
		all = append(all, ownSection(own))
	}
	all = append(all, p.correlationSection())
	for _, t := range p.Tables {
		all = append(all, p.categoryTable(t))
	}
	return append(all, p.againstSection(), p.familySection(), p.shareSection(), p.temperatureSection(),
		p.keywordSection(), p.advBenchSection(), p.moderatorSection())
}

// printedRate shows a rate in per cent to one decimal, a half rounded up as people do
// where its binary form lies a little below.
func printedRate(v float64) string { return strconv.FormatFloat(v+1e-9, 'f', 1, 64) }

// signedRate is printedRate of a difference.
func signedRate(v float64) string {
	if v < -0.05 {
		return "−" + printedRate(-v)
	}
	return printedRate(max(v, 0))
}

// measured shows a correlation with its interval.
func measured(m paper.Measured) string {
	s := strconv.FormatFloat(m.Value, 'f', 4, 64)
	if m.CI95 == nil {
		return s + " [–]"
	}
	return s + fmt.Sprintf(" [%.2f, %.2f]", m.CI95[0], m.CI95[1])
}

func (p Paper) modelSection() section {
	s := section{
		title:  "Trade-off: refusal of hard safe prompts and of toxic prompts, per cent",
		header: []string{"model", "family", "hard", "toxic", "hard n", "toxic n", "helped to"}, left: 2,
		note: "n is the size of the version of the prompts that the rates fit. A model that helped to moderate or to select " +
			"the prompts is scored on prompts that it helped to choose: read its rates with that in mind.",
	}
	for _, m := range p.Models {
		s.rows = append(s.rows, []string{
			m.Name, familyOf(m).Title, strconv.FormatFloat(m.Hard, 'f', 2, 64), printedRate(m.Toxic),
			count(m.HardN), count(m.ToxicN), helped(m),
		})
	}
	return s
}

// helped says which choice of prompts a model took part in.
func helped(m paper.Model) string {
	switch {
	case m.Moderator && m.Selector:
		return "moderate, select"
	case m.Moderator:
		return "moderate"
	case m.Selector:
		return "select"
	}
	return ""
}

func familyOf(m paper.Model) paper.Family {
	families := paper.Families()
	return families[slices.IndexFunc(families, func(f paper.Family) bool { return f.Name == m.Family })]
}

func ownSection(own []pair) section {
	s := section{
		title: "Your runs",
		header: []string{
			"target", "judge", "over-refusal", "95% interval", "n", "toxic refusal", "95% interval", "n", "Youden's J", "95% interval", "prompts",
		}, left: 2, note: comparabilityOfOwn,
	}
	for _, o := range own {
		name := o.name()
		if o.simulated() {
			name += " (simulated)"
		}
		row := []string{name, o.judge}
		for _, side := range []*side{o.safe, o.toxic} {
			if !side.defined() {
				row = append(row, "–", "–", "–")
				continue
			}
			row = append(row, rate(side.judge.Rate), interval(side.judge.Interval()), count(side.judge.Judged))
		}
		j := []string{"–", "–"}
		if o.safe.defined() && o.toxic.defined() {
			e := o.youdenJ()
			j = []string{fmt.Sprintf("%.3f", e.Value), fmt.Sprintf("%.3f–%.3f", e.Lo, e.Hi)}
		}
		s.rows = append(s.rows, append(append(row, j...), o.versions()))
	}
	return s
}

// youdenJ is toxic refusal minus over-refusal of a pair of which both are defined,
// from the intervals that are shown of them. Of Wilson's that is Newcombe's.
func (p pair) youdenJ() stats.Estimate {
	estimate := func(s *side) stats.Estimate {
		ci := s.judge.Interval()
		return stats.Estimate{Value: *s.judge.Rate, Lo: ci[0], Hi: ci[1]}
	}
	return stats.RateDifference(estimate(p.toxic), estimate(p.safe))
}

// versions names the datasets behind a pair with their hashes.
func (p pair) versions() string {
	var names []string
	for _, s := range []*side{p.safe, p.toxic} {
		if s != nil && !slices.Contains(names, datasetName(s.run)) {
			names = append(names, datasetName(s.run))
		}
	}
	return strings.Join(names, " × ")
}

const comparabilityOfOwn = "Other prompts and another judge move a rate by more than its interval: compare your own " +
	"runs with each other first, and one of them with the published row of the same model by orbench paper --check."

func (p Paper) correlationSection() section {
	s := section{
		title:  "Correlation of the two refusal rates over models, with 95% bootstrap intervals",
		header: []string{"models", "n", "Spearman", "Pearson", "Kendall's tau-b"}, left: 1,
		note: fmt.Sprintf("The least-squares curve over all models is y = %.4f + %.5f x − %.7f x². ", p.Fit.A, p.Fit.B, -p.Fit.C) +
			"[–]: models in perfect order repeat that order in every resample, and no interval can be had. " +
			"An interval supposes that the models were drawn independently; lines of one maker are not, so it is too narrow.",
	}
	for _, c := range p.Correlations {
		s.rows = append(s.rows, []string{c.Title, strconv.Itoa(c.N), measured(c.Spearman), measured(c.Pearson), measured(c.Kendall)})
	}
	return s
}

// categoryTable lays out a published table, and the reader's runs below it.
func (p Paper) categoryTable(t paper.Table) section {
	s := section{
		title:  fmt.Sprintf("Table %d: %s, per cent, judged by %s", t.Number, t.Title, t.Judge),
		header: []string{"model"}, left: 1,
	}
	for _, c := range t.Categories {
		s.header = append(s.header, string(c))
	}
	s.header = append(s.header, "overall")
	for _, r := range t.Rows {
		row := []string{r.Model}
		for _, v := range r.Rates {
			row = append(row, printedRate(v))
		}
		s.rows = append(s.rows, append(row, printedRate(r.Overall)))
	}
	own := p.ownRows(t)
	for _, r := range own {
		row := []string{r.label()}
		for _, v := range r.rates {
			row = append(row, possibly(v))
		}
		s.rows = append(s.rows, append(row, possibly(r.overall)))
	}
	s.note = ownNote(own)
	return s
}

// figure4 are the models of the paper's figure 4, in its order.
var figure4 = []string{
	"Claude-2.1", "Claude-3-haiku", "Claude-3-sonnet", "Claude-3-opus",
	"GPT-3.5-turbo-0301", "GPT-3.5-turbo-0613", "GPT-3.5-turbo-0125",
	"Llama-2-7b", "Llama-2-13b", "Llama-2-70b", "Llama-3-8b", "Llama-3-70b",
	"Mistral-small-latest", "Mistral-medium-latest", "Mistral-large-latest",
}

// against80K joins tables 2 and 7 for the models of figure 4.
func against80K() []bothSets {
	overall := func(t paper.Table, model string) float64 {
		return t.Rows[slices.IndexFunc(t.Rows, func(r paper.Row) bool { return r.Model == model })].Overall
	}
	broad, hard := paper.KeywordRefusal80K(), paper.HardRefusal()
	var rows []bothSets
	for _, m := range figure4 {
		rows = append(rows, bothSets{model: m, broad: overall(broad, m), hard: overall(hard, m)})
	}
	return rows
}

func (p Paper) againstSection() section {
	s := section{
		title:  "Figure 4: refusal of the 80K set and of the hard set, per cent",
		header: []string{"model", "80K, opening words", "hard, GPT-4", "times"}, left: 1,
		note: "Two judges: opening words find fewer refusals than GPT-4, so a part of the gap is theirs.",
	}
	own, rows := p.ownAgainst80K()
	for _, r := range append(against80K(), own...) {
		times := "–"
		if r.broad > 0 && r.hard != unknown {
			times = printedRate(r.hard / r.broad)
		}
		s.rows = append(s.rows, []string{r.model, possibly(r.broad), possibly(r.hard), times})
	}
	if note := ownNote(rows); note != "" {
		s.note += " " + note
	}
	return s
}

func (p Paper) familySection() section {
	s := section{
		title:  "Family averages of the refusal of hard prompts, per cent",
		header: []string{"family", "models", "printed mean", "printed std", "mean", "std"}, left: 1,
		note: "The deviations are of the models themselves (divided by n). The Claude average leaves out Claude 2.1 and 3.5.",
	}
	for _, f := range p.Families {
		s.rows = append(s.rows, []string{
			f.Name, strconv.Itoa(len(f.Models)), printedRate(f.PrintedMean), printedRate(f.PrintedStd),
			strconv.FormatFloat(f.Mean, 'f', 2, 64), strconv.FormatFloat(f.Std, 'f', 2, 64),
		})
	}
	return s
}

func (p Paper) shareSection() section {
	s := section{
		title: "Figure 7: categories of the three sets, per cent, and numbers of prompts",
		header: []string{
			"category", "80K", "hard", "toxic", "hard n, older", "hard n, released", "toxic n, older", "toxic n, released",
		}, left: 1,
		note: "The printed shares of the hard and the toxic set are those of the older version.",
	}
	var sum paper.CategorySize
	for _, c := range p.Categories {
		s.rows = append(s.rows, []string{
			string(c.Category), printedRate(c.Share80K), printedRate(c.ShareHard), printedRate(c.ShareToxic),
			count(c.HardOlder), count(c.HardReleased), count(c.ToxicOlder), count(c.ToxicReleased),
		})
		sum.HardOlder += c.HardOlder
		sum.HardReleased += c.HardReleased
		sum.ToxicOlder += c.ToxicOlder
		sum.ToxicReleased += c.ToxicReleased
	}
	s.rows = append(s.rows, []string{
		"all", "100", "100", "100", count(sum.HardOlder), count(sum.HardReleased), count(sum.ToxicOlder), count(sum.ToxicReleased),
	})
	return s
}

func (p Paper) temperatureSection() section {
	s := section{
		title:  "Table 4: refusal of hard prompts by temperature, per cent",
		header: []string{"model"}, left: 1,
		note: "Two models that refuse most prompts anyway, one run each.",
	}
	for _, t := range p.Temperatures {
		s.header = append(s.header, strconv.FormatFloat(t, 'f', 2, 64))
	}
	for _, r := range p.Temperature {
		row := []string{r.Model}
		for _, v := range r.Rates {
			row = append(row, printedRate(v))
		}
		s.rows = append(s.rows, row)
	}
	return s
}

func (p Paper) keywordSection() section {
	s := section{
		title:  "Table 8: refusal by opening words and by GPT-4, per cent",
		header: []string{"model", "opening words", "GPT-4", "gap"}, left: 1,
		note: "The sample's size is not published, so there are no intervals.",
	}
	for _, r := range p.Keyword {
		s.rows = append(s.rows, []string{r.Model, printedRate(r.Keyword), printedRate(r.GPT4), printedRate(r.GPT4 - r.Keyword)})
	}
	own, rows := p.ownKeywords(), []ownRow(nil)
	for _, r := range own {
		rows = append(rows, r.ownRow)
		s.rows = append(s.rows, []string{r.label(), printedRate(r.keyword), printedRate(r.other), signedRate(r.other - r.keyword)})
	}
	if note := ownNote(rows); note != "" {
		s.note += " " + note + " Your other judge is in the place of GPT-4."
	}
	return s
}

func (p Paper) advBenchSection() section {
	s := section{
		title:  "Table 5: toxic prompts answered, per cent",
		header: []string{"model", "AdvBench", "OR-Bench-Toxic"}, left: 1,
		note: "Spearman " + measured(p.AdvBenchSpearman) + " over " + strconv.Itoa(len(p.AdvBench)) + " models.",
	}
	for _, r := range p.AdvBench {
		s.rows = append(s.rows, []string{r.Model, printedRate(r.AdvBench), printedRate(r.Toxic)})
	}
	return s
}

// moderatorCounts gives, each of how many, the safe prompts that were called
// safe, the toxic ones called so, and the prompts that were called right.
func moderatorCounts(m paper.Moderator) [3][2]int {
	return [3][2]int{{m.TP, m.TP + m.FN}, {m.FP, m.FP + m.TN}, {m.TP + m.TN, m.N()}}
}

func (p Paper) moderatorSection() section {
	s := section{
		title: "Tables 1 and 12: moderators and people on 100 prompts",
		header: []string{
			"rater", "safe called safe", "95% interval", "toxic called safe", "95% interval", "accuracy", "95% interval", "kappa",
		}, left: 1,
	}
	for _, m := range p.Moderators {
		row := []string{m.Name}
		for _, n := range moderatorCounts(m) {
			lo, hi := stats.Wilson(n[0], n[1], 0.95)
			row = append(row, fmt.Sprintf("%d/%d = %s", n[0], n[1], percent(float64(n[0])/float64(n[1]))), interval(&[2]float64{lo, hi}))
		}
		k, _ := m.Kappa()
		s.rows = append(s.rows, append(row, strconv.FormatFloat(k, 'f', 2, 64)))
	}
	r := p.Residual
	s.note = fmt.Sprintf("If %.0f%% of the prompts were toxic before moderation, %.1f%% [%.1f–%.1f] of those that the ensemble "+
		"accepted still are: it called %d of %d toxic and %d of %d safe prompts safe. The interval is of the validation's size alone, "+
		"not of the supposed %.0f%%. The truth is the majority of the five raters themselves.",
		r.Prior, r.Value, r.CI95[0], r.CI95[1], r.AcceptedToxic, r.Toxic, r.AcceptedSafe, r.Safe, r.Prior)
	return s
}
