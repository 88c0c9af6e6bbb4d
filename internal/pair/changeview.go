package pair

import (
	"fmt"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// Sections lays out the change: both sides with their differences, the outcomes
// of the pairs on both, the same by type, and up to moved of the pairs that
// changed. A nil Change has no sections.
func (r *Change) Sections(moved int) []table.Section {
	if r == nil {
		return nil
	}
	all := []table.Section{r.Measures(), r.matrix()}
	if len(r.ByType) > 0 {
		all = append(all, r.types())
	}
	if len(r.Moved) > 0 {
		all = append(all, r.movedSection(moved))
	}
	return all
}

// Measures lays out the figures of base and candidate and their differences.
func (r *Change) Measures() table.Section {
	s := table.Section{
		Title: "Pairs of a safe prompt and a similar toxic one", Left: 1,
		Header: []string{"", "pairs", "told apart", "over-refusal", "toxic refusal", "J", "95% interval", "d′", "95% interval", "c", "95% interval"},
		Note: fmt.Sprintf("%s pairs = %s compared + %s that lack a verdict. Differences are candidate minus base, pair by pair; rates in points.",
			table.Count(r.Pairs), table.Count(r.Compared), table.Count(r.Excluded)),
	}
	for i, d := range []*Discrimination{&r.Base, &r.Candidate} {
		s.Add([]string{"base", "candidate"}[i], r.Compared, table.Estimate(d.ToldApart.Share), measureCells(d))
	}
	points := func(before, after *stats.Estimate) string {
		if before == nil || after == nil {
			return table.None
		}
		return table.Signed(100*(after.Value-before.Value), table.Minus)
	}
	s.Add("difference", "", points(r.Base.ToldApart.Share, r.Candidate.ToldApart.Share),
		points(r.Base.OverRefusal, r.Candidate.OverRefusal), points(r.Base.ToxicRefusal, r.Candidate.ToxicRefusal),
		table.Fractions(r.Differences.J), table.Fractions(r.DPrime), table.Fractions(r.Criterion))
	return s
}

// matrix lays out the outcomes of the base against those of the candidate.
func (r *Change) matrix() table.Section {
	s := table.Section{Title: "Outcomes of the pairs: the base's down, the candidate's across", Left: 1, Header: []string{""}}
	digits := max(decimals(&r.Base), decimals(&r.Candidate))
	at := map[[2]Outcome]float64{}
	for _, m := range r.Moves {
		at[[2]Outcome{m.From, m.To}] = m.Pairs
	}
	for _, to := range Outcomes {
		s.Header = append(s.Header, to.String())
	}
	s.Header = append(s.Header, "all")
	var last []string
	for _, from := range Outcomes {
		var moved []string
		for _, to := range Outcomes {
			moved = append(moved, pairs(at[[2]Outcome{from, to}], digits))
		}
		s.Add(from.String(), moved, pairs(r.Base.Of(from).Pairs, digits))
		last = append(last, pairs(r.Candidate.Of(from).Pairs, digits))
	}
	s.Add("all", last, r.Compared)
	return s
}

// types lays out J by type.
func (r *Change) types() table.Section {
	s := table.Section{
		Title: "J by type of the pair", Left: 1,
		Header: []string{"type", "pairs", "J, base", "candidate", "difference", "95% interval", "difference of d′", "95% interval"},
		Note:   "Intervals are not corrected for the number of types.",
	}
	for _, t := range r.ByType[:min(mostTypes, len(r.ByType))] {
		s.Add(table.Category(t.Type), t.Compared, table.Fractions(t.Base)[0], table.Fractions(t.Candidate)[0], table.Fractions(t.J), table.Fractions(t.DPrime))
	}
	if more := len(r.ByType) - len(s.Rows); more > 0 {
		s.Note += " " + table.Count(more) + " more types are in JSON."
	}
	return s
}

// movedText is how many bytes of a prompt are shown.
const movedText = 60

func (r *Change) movedSection(most int) table.Section {
	s := table.Section{Left: 5, Header: []string{"base", "candidate", "type", "safe prompt", "toxic prompt"}}
	for _, m := range r.Moved[:min(most, len(r.Moved))] {
		text := func(t string) string { return untrusted.Ellipsis(untrusted.Terminal(t), movedText) }
		s.Add(m.From.String(), m.To.String(), table.Category(m.Type), text(m.Safe.Text()), text(m.Toxic.Text()))
	}
	s.Title = table.Count(r.MovedTotal) + " pairs of prompts moved"
	if r.MovedTotal > len(s.Rows) {
		s.Title += "; " + table.Count(len(s.Rows)) + " of them, those that the base told apart first"
	}
	return s
}
