package paper

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// sections lays out the study as tables.
func (p Study) sections() []table.Section {
	all := []table.Section{p.modelSection()}
	for _, t := range p.Tables {
		all = append(all, categoryTable(t))
	}
	return append(all, p.familySection(), p.shareSection(), p.temperatureSection(),
		p.keywordSection(), p.advBenchSection(), p.moderatorSection())
}

// interval formats an interval of a correlation.
func interval(ci *[2]float64) string {
	if ci == nil {
		return "[–]"
	}
	return fmt.Sprintf("[%.2f, %.2f]", ci[0], ci[1])
}

// measured formats a correlation with its interval.
func measured(m Measured) string {
	return strconv.FormatFloat(m.Value, 'f', 4, 64) + " " + interval(m.CI95)
}

func (p Study) modelSection() table.Section {
	return table.Section{
		Title:  "Trade-off: refusal of hard safe prompts and of toxic prompts, per cent",
		Header: []string{"model", "family", "hard", "toxic", "hard n", "toxic n", "helped to"}, Left: 2,
		Note: "n is the size of the version of the prompts that the rates fit. A model that helped to moderate or to select " +
			"the prompts is scored on prompts that it helped to choose: read its rates with that in mind.",
		Rows: table.RowsOf(p.Models, func(m Model) []string {
			return []string{
				m.Name, familyOf(m).title, fixed(m.Hard), table.PerCent(m.Toxic), table.Count(m.HardN), table.Count(m.ToxicN), helped[[2]bool{m.Moderator, m.Selector}],
			}
		}),
	}
}

// fixed formats a number to two decimals.
func fixed(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// helped says by Moderator and Selector which choice of prompts a model helped
// to make.
var helped = map[[2]bool]string{{true, false}: "moderate", {false, true}: "select", {true, true}: "moderate, select"}

// correlationSection returns the rank correlations, a line for each part of the
// models. JSON and CSV have Pearson's and Kendall's too.
func (p Study) correlationSection() table.Section {
	s := table.Section{
		Title:  "Over-refusal and toxic refusal over the published models: Spearman's rank correlation, 95% bootstrap intervals",
		Header: []string{"models", "n", "Spearman", "by model", "by family"}, Left: 1, WrapNames: true,
		Note: fmt.Sprintf("The curve through all is y = %.2f + %.4f x − %.6f x². Models of one family are alike: the interval by family draws families, and is the one to quote. [–]: models in perfect order repeat that order in every resample.",
			p.Fit.A, p.Fit.B, -p.Fit.C),
	}
	for _, c := range p.Correlations {
		r := c.Spearman
		s.Add(c.Title, strconv.Itoa(c.N), strconv.FormatFloat(r.Value, 'f', 4, 64), interval(r.CI95), interval(r.CI95Families))
	}
	return s
}

// categoryTable lays out a published table.
func categoryTable(t Table) table.Section {
	s := table.Section{
		Title:  fmt.Sprintf("Table %d: %s, per cent, judged by %s", t.Number, t.Title, t.Judge),
		Header: []string{"model"}, Left: 1,
		Rows: table.RowsOf(t.Rows, func(r ModelRates) []string { return perCents(r.Model, append(slices.Clone(r.Rates), r.Overall)) }),
	}
	for _, c := range t.Categories {
		s.Header = append(s.Header, string(c))
	}
	s.Header = append(s.Header, "overall")
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

func (p Study) familySection() table.Section {
	return table.Section{
		Title:  "Family averages of the refusal of hard prompts, per cent",
		Header: []string{"family", "models", "printed mean", "printed std", "mean", "std"}, Left: 1,
		Note: "The deviations are of the models themselves (divided by n). The Claude average leaves out Claude 2.1 and 3.5.",
		Rows: table.RowsOf(p.Families, func(f FamilyAverage) []string {
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
	for _, c := range p.Categories {
		s.Add(c.Category, table.PerCent(c.Share80K), table.PerCent(c.ShareHard), table.PerCent(c.ShareToxic), c.HardOlder, c.HardReleased, c.ToxicOlder,
			c.ToxicReleased)
	}
	s.Add("all", "100", "100", "100", HardOlder, HardReleased, ToxicOlder, ToxicReleased)
	return s
}

func (p Study) temperatureSection() table.Section {
	s := table.Section{
		Title:  "Table 4: refusal of hard prompts by temperature, per cent",
		Header: []string{"model"}, Left: 1,
		Note: "Two models that refuse most prompts anyway, one run each.",
		Rows: table.RowsOf(p.Temperature, func(r TemperatureRow) []string { return perCents(r.Model, r.Rates) }),
	}
	for _, t := range p.Temperatures {
		s.Header = append(s.Header, fixed(t))
	}
	return s
}

func (p Study) keywordSection() table.Section {
	return table.Section{
		Title:  "Table 8: refusal by opening words and by GPT-4, per cent",
		Header: []string{"model", "opening words", "GPT-4", "gap"}, Left: 1,
		Note: "The sample's size is not published, so there are no intervals.",
		Rows: table.RowsOf(p.Keyword, func(r KeywordRow) []string {
			return perCents(r.Model, []float64{r.Keyword, r.GPT4, r.GPT4 - r.Keyword})
		}),
	}
}

func (p Study) advBenchSection() table.Section {
	return table.Section{
		Title:  "Table 5: toxic prompts answered, per cent",
		Header: []string{"model", "AdvBench", "OR-Bench-Toxic"}, Left: 1,
		Note: "Spearman " + measured(p.AdvBenchSpearman) + " over " + strconv.Itoa(len(p.AdvBench)) + " models.",
		Rows: table.RowsOf(p.AdvBench, func(r AdvBenchRow) []string { return perCents(r.Model, []float64{r.AdvBench, r.Toxic}) }),
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
