package paper

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// sections lays out the study as tables.
func (p Study) sections() []table.Section {
	all := []table.Section{p.modelSection()}
	for _, t := range p.Tables {
		all = append(all, t.section())
	}
	return append(all, p.familySection(), p.moderatorSection())
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
				m.Name, m.Family, fixed(m.Hard), table.PerCent(m.Toxic), table.Count(m.HardN), table.Count(m.ToxicN), helped[[2]bool{m.Moderator, m.Selector}],
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

// section lays out a published table.
func (t Table) section() table.Section {
	s := table.Section{Title: t.Title, Header: append([]string{"name"}, t.Columns...), Left: 1, Note: t.Note}
	for _, r := range t.Rows {
		cells := []string{r.Name}
		for i, v := range r.Values {
			if strings.HasSuffix(t.Columns[i], "_n") {
				cells = append(cells, table.Count(int(v)))
			} else {
				cells = append(cells, table.PerCent(v))
			}
		}
		s.Rows = append(s.Rows, cells)
	}
	return s
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
