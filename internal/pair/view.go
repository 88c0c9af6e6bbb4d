package pair

import (
	"math"
	"strconv"
	"strings"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// Sections lays out the figures: what targets do with both sides of a pair, how
// well they discriminate, and the same by type. Without figures it returns no
// sections.
func Sections(all []Figures) []table.Section {
	if len(all) == 0 {
		return nil
	}
	does := table.Section{
		Title: "Pairs: what targets do with a safe prompt and a similar toxic one",
		Left:  3, Header: []string{"target", "dataset", "judge", "pairs", "unjudged", "told apart", "95% interval", "over-refused", "under-refused", "reversed"},
		Note: "Told apart: safe answered, toxic refused. Over-refused: both refused. Under-refused: both answered. Reversed: safe refused, toxic answered.",
	}
	tells := table.Section{
		Title: "Discrimination over the judged pairs, 95% intervals by pair: are toxic prompts told from safe ones",
		Left:  3, Header: []string{"target", "dataset", "judge", "over-refusal", "toxic refusal", "J", "95% interval", "d′", "95% interval", "c", "95% interval"},
		Note: "J: toxic refusal minus over-refusal. d′: how far apart both are, in standard deviations; 0 is chance. c: below 0, the target refuses when in doubt; above 0, it answers.",
	}
	var withheld []string
	digits := 0
	for i := range all {
		digits = max(digits, decimals(&all[i].Discrimination))
	}
	for i := range all {
		f := &all[i]
		names := []string{table.Name(f.Target, f.Simulated), f.Datasets(), f.Judge}
		does.Add(names, outcomeCells(&f.Discrimination, digits))
		tells.Add(names, table.Estimate(f.OverRefusal), table.Estimate(f.ToxicRefusal), table.Fractions(f.J), table.Fractions(f.DPrime), table.Fractions(f.Criterion))
		if f.Withheld {
			withheld = append(withheld, f.Target+" by "+f.Judge)
		}
		if note := " " + f.account(); !strings.Contains(does.Note, note) {
			does.Note += note
		}
	}
	if len(withheld) > 0 {
		tells.Note += " No estimates, because too many pairs are unjudged: " + strings.Join(withheld, ", ") + ". To see them anyway, raise the share that may be unjudged (most_unjudged of orbench report)."
	}
	does.Drop(func(row []string, at int) bool { return row[at] == "0" }, "unjudged")
	sections := []table.Section{does, tells}
	for i := range all {
		if s := typeSection(&all[i]); len(s.Rows) > 0 {
			sections = append(sections, s)
		}
	}
	return sections
}

func outcomeCells(d *Discrimination, decimals int) []string {
	cells := []string{table.Count(d.Pairs), table.Count(d.Unjudged)}
	for _, o := range Outcomes {
		part := d.Of(o)
		cells = append(cells, pairs(part.Pairs, decimals)+inBrackets(part.Share))
		if o == ToldApart {
			cells = append(cells, table.EstimateInterval(part.Share))
		}
	}
	return cells
}

// inBrackets formats a share in brackets; it returns "" if there is none.
func inBrackets(e *stats.Estimate) string {
	if e == nil {
		return ""
	}
	return " (" + table.Percent(e.Value) + ")"
}

// pairs formats a number of pairs with the given number of decimals.
func pairs(n float64, decimals int) string {
	if decimals == 0 {
		return table.Count(int(math.Round(n)))
	}
	return strconv.FormatFloat(n, 'f', decimals, 64)
}

// decimals returns how many decimals to show for the pairs with an outcome:
// none if all are whole numbers.
func decimals(d *Discrimination) int {
	for _, o := range Outcomes {
		if n := d.Of(o).Pairs; math.Abs(n-math.Round(n)) > 1e-9 {
			return 1
		}
	}
	return 0
}

// account accounts for every prompt.
func (f *Figures) account() string {
	side := func(s Side, what string) string {
		return table.Count(s.Prompts) + " " + what + " prompts = " + table.Count(s.Paired) + " in pairs + " + table.Count(s.Unpaired) + " in none"
	}
	return f.Datasets() + ": " + side(f.Safe, "safe") + "; " + side(f.Toxic, "toxic") + "."
}

// mostTypes is the most types that tables show.
const mostTypes = 40

// typeSection lays out the pairs of one target by type.
func typeSection(f *Figures) table.Section {
	s := table.Section{
		Title: "Pairs by type: " + table.Name(f.Target, f.Simulated) + " on " + f.Datasets() + ", judge " + f.Judge,
		Left:  1, Header: []string{"type", "pairs", "unjudged", "told apart", "over-refused", "under-refused", "reversed", "J", "95% interval", "d′", "95% interval"},
		Note: "Intervals are not corrected for the number of types.",
	}
	digits := 0
	for i := range f.ByType {
		digits = max(digits, decimals(&f.ByType[i].Discrimination))
	}
	for i := range f.ByType[:min(mostTypes, len(f.ByType))] {
		d := &f.ByType[i].Discrimination
		var became []string
		for _, o := range Outcomes {
			became = append(became, pairs(d.Of(o).Pairs, digits))
		}
		s.Add(table.Category(f.ByType[i].Type), d.Pairs, d.Unjudged, became, table.Fractions(d.J), table.Fractions(d.DPrime))
	}
	if more := len(f.ByType) - len(s.Rows); more > 0 {
		s.Note += " " + table.Count(more) + " more types are in JSON and CSV."
	}
	s.Drop(func(row []string, at int) bool { return row[at] == "0" }, "unjudged")
	return s
}
