package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// sections lays out the study as tables.
func (p Study) sections() []table.Section {
	all := []table.Section{p.modelSection()}
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

// measured formats a correlation with its interval.
func measured(m paper.Measured) string {
	s := strconv.FormatFloat(m.Value, 'f', 4, 64)
	if m.CI95 == nil {
		return s + " [–]"
	}
	return s + fmt.Sprintf(" [%.2f, %.2f]", m.CI95[0], m.CI95[1])
}

// byFamily formats the interval of a correlation that resamples families.
func byFamily(m paper.MeasuredCorrelation) string {
	if m.CI95Families == nil {
		return "[–]"
	}
	return fmt.Sprintf("[%.2f, %.2f]", m.CI95Families[0], m.CI95Families[1])
}

func (p Study) modelSection() table.Section {
	return table.Section{
		Title:  "Trade-off: refusal of hard safe prompts and of toxic prompts, per cent",
		Header: []string{"model", "family", "hard", "toxic", "hard n", "toxic n", "helped to"}, Left: 2,
		Note: "n is the size of the version of the prompts that the rates fit. A model that helped to moderate or to select " +
			"the prompts is scored on prompts that it helped to choose: read its rates with that in mind.",
		Rows: table.RowsOf(p.Models, func(m paper.Model) []string {
			return []string{
				m.Name, familyOf(m).title, fixed(m.Hard), table.PerCent(m.Toxic), table.Count(m.HardN), table.Count(m.ToxicN), helped(m),
			}
		}),
	}
}

// fixed formats a number to two decimals.
func fixed(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// helped says which choice of prompts a model helped to make.
func helped(m paper.Model) string {
	var with []string
	if m.Moderator {
		with = append(with, "moderate")
	}
	if m.Selector {
		with = append(with, "select")
	}
	return strings.Join(with, ", ")
}

func ownSection(own []score.Pair) table.Section {
	s := table.Section{
		Title: "Your runs",
		Header: []string{
			"target", "judge", "over-refusal", "95% interval", "n", "toxic refusal", "95% interval", "n", "Youden's J", "95% interval", "prompts",
		}, Left: 2, Note: comparabilityOfOwn,
	}
	for _, o := range own {
		cells := func(side *score.Side) []string {
			if !side.Defined() {
				return []string{table.None, table.None, table.None}
			}
			return table.Cells(side.Judge.Rate, side.Judge.Judged)
		}
		j := []string{table.None, table.None}
		if o.Safe.Defined() && o.Toxic.Defined() {
			e := youdenJ(o)
			j = []string{fmt.Sprintf("%.3f", e.Value), fmt.Sprintf("%.3f–%.3f", e.Lo, e.Hi)}
		}
		s.Add(table.Name(o.Name(), o.Simulated()), o.Judge, cells(o.Safe), cells(o.Toxic), j, o.Versions())
	}
	return s
}

// ownInBrief returns a line for each of the reader's own pairs, with both
// rates.
func ownInBrief(own []score.Pair) table.Section {
	s := table.Section{
		Title: "Your runs", Left: 2, WrapNames: true,
		Header: []string{"target", "judge", "over-refusal, 95%", "toxic refusal, 95%", "J"}, Note: comparabilityOfOwn,
	}
	for _, o := range own {
		cell := func(side *score.Side) string {
			if !side.Defined() {
				return table.None
			}
			return table.Rate(side.Judge.Rate) + " " + table.Pad(table.Interval(side.Judge.Interval()), 10, true)
		}
		j := table.None
		if o.Safe.Defined() && o.Toxic.Defined() {
			j = table.Fraction(youdenJ(o).Value)
		}
		s.Add(table.Name(o.Name(), o.Simulated()), o.Judge, cell(o.Safe), cell(o.Toxic), j)
	}
	return s
}

// youdenJ returns toxic refusal minus over-refusal of a pair with both rates
// defined, from their shown intervals. With Wilson's intervals the result is
// Newcombe's.
func youdenJ(p score.Pair) stats.Estimate {
	return stats.RateDifference(*p.Toxic.Judge.Estimate(), *p.Safe.Judge.Estimate())
}

const comparabilityOfOwn = "Other prompts and another judge move a rate by more than its interval: compare your own " +
	"runs with each other first, and check one of them against the published row of the same model (see orbench report)."

func (p Study) correlationSection() table.Section {
	s := table.Section{
		Title:  "Correlation of the two refusal rates over models, with 95% bootstrap intervals",
		Header: []string{"models", "n", "families", "", "Spearman", "Pearson", "Kendall's tau-b"}, Left: 1,
		Note: fmt.Sprintf("The least-squares curve over all models is y = %.4f + %.5f x − %.7f x². ", p.Fit.A, p.Fit.B, -p.Fit.C) +
			"[–]: models in perfect order repeat that order in every resample, and no interval can be had. " +
			"Drawn by model, an interval supposes that the models are independent; those of one family are not, so it is too narrow. " +
			"Drawn by family, it is of whole families, of which there are few.",
	}
	for _, c := range p.Correlations {
		s.Add(c.Title, c.N, c.Families, "by model", measured(c.Spearman.Measured), measured(c.Pearson.Measured), measured(c.Kendall.Measured))
		s.Add("", "", "", "by family", byFamily(c.Spearman), byFamily(c.Pearson), byFamily(c.Kendall))
	}
	return s
}

// correlationInBrief returns only the rank correlations, a line for each part
// of the models.
func (p Study) correlationInBrief() table.Section {
	s := table.Section{
		Title:  "Over-refusal and toxic refusal over the published models: Spearman's rank correlation, 95% bootstrap intervals",
		Header: []string{"models", "n", "Spearman", "by model", "by family"}, Left: 1, WrapNames: true,
		Note: fmt.Sprintf("The curve through all is y = %.2f + %.4f x − %.6f x². Models of one family are alike: the interval by family draws families, and is the one to quote.",
			p.Fit.A, p.Fit.B, -p.Fit.C),
	}
	for _, c := range p.Correlations {
		value, interval, _ := strings.Cut(measured(c.Spearman.Measured), " ")
		s.Add(c.Title, strconv.Itoa(c.N), value, interval, byFamily(c.Spearman))
	}
	return s
}

// categoryTable lays out a published table, with the reader's runs below it.
func (p Study) categoryTable(t paper.Table) table.Section {
	s := table.Section{
		Title:  fmt.Sprintf("Table %d: %s, per cent, judged by %s", t.Number, t.Title, t.Judge),
		Header: []string{"model"}, Left: 1,
	}
	for _, c := range t.Categories {
		s.Header = append(s.Header, string(c))
	}
	s.Header = append(s.Header, "overall")
	for _, r := range t.Rows {
		s.Rows = append(s.Rows, perCents(r.Model, append(slices.Clone(r.Rates), r.Overall)))
	}
	own := p.ownRows(t)
	for _, r := range own {
		s.Rows = append(s.Rows, perCents(r.label(), append(slices.Clone(r.rates), r.overall)))
	}
	s.Note = ownNote(own)
	return s
}

// perCents returns a line of rates.
func perCents(name string, rates []float64) []string {
	row := []string{name}
	for _, v := range rates {
		row = append(row, table.PerCent(v))
	}
	return row
}

// figure4 lists the models of the paper's figure 4, in its order.
var figure4 = []string{
	"Claude-2.1", "Claude-3-haiku", "Claude-3-sonnet", "Claude-3-opus",
	"GPT-3.5-turbo-0301", "GPT-3.5-turbo-0613", "GPT-3.5-turbo-0125",
	"Llama-2-7b", "Llama-2-13b", "Llama-2-70b", "Llama-3-8b", "Llama-3-70b",
	"Mistral-small-latest", "Mistral-medium-latest", "Mistral-large-latest",
}

// against80K joins tables 2 and 7 for the models of figure 4.
func against80K() []bothSets {
	broad, hard := paper.KeywordRefusal80K(), paper.HardRefusal()
	var rows []bothSets
	for _, m := range figure4 {
		rows = append(rows, bothSets{model: m, broad: broad.Rates(m).Overall, hard: hard.Rates(m).Overall})
	}
	return rows
}

func (p Study) againstSection() table.Section {
	s := table.Section{
		Title:  "Figure 4: refusal of the 80K set and of the hard set, per cent",
		Header: []string{"model", "80K, opening words", "hard, GPT-4", "times"}, Left: 1,
		Note: "Two judges: opening words find fewer refusals than GPT-4, so a part of the gap is theirs.",
	}
	own, rows := p.ownAgainst80K()
	for _, r := range append(against80K(), own...) {
		times := "–"
		if r.broad > 0 && r.hard != table.Unknown {
			times = table.PerCent(r.hard / r.broad)
		}
		s.Add(r.model, table.PerCent(r.broad), table.PerCent(r.hard), times)
	}
	if note := ownNote(rows); note != "" {
		s.Note += " " + note
	}
	return s
}

func (p Study) familySection() table.Section {
	return table.Section{
		Title:  "Family averages of the refusal of hard prompts, per cent",
		Header: []string{"family", "models", "printed mean", "printed std", "mean", "std"}, Left: 1,
		Note: "The deviations are of the models themselves (divided by n). The Claude average leaves out Claude 2.1 and 3.5.",
		Rows: table.RowsOf(p.Families, func(f paper.FamilyAverage) []string {
			return []string{f.Name, strconv.Itoa(len(f.Models)), table.PerCent(f.PrintedMean), table.PerCent(f.PrintedStd), fixed(f.Mean), fixed(f.Std)}
		}),
	}
}

func (p Study) shareSection() table.Section {
	s := table.Section{
		Title: "Figure 7: categories of the three sets, per cent, and numbers of prompts",
		Header: []string{
			"category", "80K", "hard", "toxic", "hard n, older", "hard n, released", "toxic n, older", "toxic n, released",
		}, Left: 1,
		Note: "The printed shares of the hard and the toxic set are those of the older version.",
	}
	var sum paper.CategorySize
	for _, c := range p.Categories {
		s.Add(c.Category, table.PerCent(c.Share80K), table.PerCent(c.ShareHard), table.PerCent(c.ShareToxic), c.HardOlder, c.HardReleased, c.ToxicOlder,
			c.ToxicReleased)
		sum.HardOlder += c.HardOlder
		sum.HardReleased += c.HardReleased
		sum.ToxicOlder += c.ToxicOlder
		sum.ToxicReleased += c.ToxicReleased
	}
	s.Add("all", "100", "100", "100", sum.HardOlder, sum.HardReleased, sum.ToxicOlder, sum.ToxicReleased)
	return s
}

func (p Study) temperatureSection() table.Section {
	s := table.Section{
		Title:  "Table 4: refusal of hard prompts by temperature, per cent",
		Header: []string{"model"}, Left: 1,
		Note: "Two models that refuse most prompts anyway, one run each.",
	}
	for _, t := range p.Temperatures {
		s.Header = append(s.Header, fixed(t))
	}
	for _, r := range p.Temperature {
		s.Rows = append(s.Rows, perCents(r.Model, r.Rates))
	}
	return s
}

// nudged makes a half round away from zero even if its binary form is slightly
// smaller, as table.PerCent does.
func nudged(v float64) float64 { return v + math.Copysign(1e-9, v) }

func (p Study) keywordSection() table.Section {
	s := table.Section{
		Title:  "Table 8: refusal by opening words and by GPT-4, per cent",
		Header: []string{"model", "opening words", "GPT-4", "gap"}, Left: 1,
		Note: "The sample's size is not published, so there are no intervals.",
	}
	for _, r := range p.Keyword {
		s.Rows = append(s.Rows, perCents(r.Model, []float64{r.Keyword, r.GPT4, r.GPT4 - r.Keyword}))
	}
	own, rows := p.ownKeywords(), []ownRow(nil)
	for _, r := range own {
		rows = append(rows, r.ownRow)
		s.Add(r.label(), table.PerCent(r.keyword), table.PerCent(r.other), table.Signed(nudged(r.other-r.keyword), table.MinusOnly))
	}
	if note := ownNote(rows); note != "" {
		s.Note += " " + note + " Your other judge is in the place of GPT-4."
	}
	return s
}

func (p Study) advBenchSection() table.Section {
	return table.Section{
		Title:  "Table 5: toxic prompts answered, per cent",
		Header: []string{"model", "AdvBench", "OR-Bench-Toxic"}, Left: 1,
		Note: "Spearman " + measured(p.AdvBenchSpearman) + " over " + strconv.Itoa(len(p.AdvBench)) + " models.",
		Rows: table.RowsOf(p.AdvBench, func(r paper.AdvBenchRow) []string { return perCents(r.Model, []float64{r.AdvBench, r.Toxic}) }),
	}
}

func (p Study) moderatorSection() table.Section {
	s := table.Section{
		Title: "Tables 1 and 12: moderators and people on 100 prompts",
		Header: []string{
			"rater", "safe called safe", "95% interval", "toxic called safe", "95% interval", "accuracy", "95% interval", "kappa", "95%",
		}, Left: 1,
	}
	for _, m := range p.Moderators {
		share := func(n, of int) []string {
			r := stats.RateOf(n, of)
			return []string{fmt.Sprintf("%d/%d = %s", n, of, table.Rate(r)), table.Interval(r.CI95)}
		}
		s.Add(m.Name, share(m.TP, m.TP+m.FN), share(m.FP, m.FP+m.TN), share(m.TP+m.TN, m.N()), m.Kappa())
	}
	r := p.Residual
	s.Note = fmt.Sprintf("If %.0f%% of the prompts were toxic before moderation, %.1f%% [%.1f–%.1f] of those that the ensemble "+
		"accepted still are: it called %d of %d toxic and %d of %d safe prompts safe. The interval is of the validation's size alone, "+
		"not of the supposed %.0f%%. The truth is the majority of the five raters themselves.",
		r.Prior, r.Value, r.CI95[0], r.CI95[1], r.AcceptedToxic, r.Toxic, r.AcceptedSafe, r.Safe, r.Prior)
	return s
}
