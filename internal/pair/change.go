package pair

import (
	"fmt"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// Change says what two targets, or two judges, do differently with the same
// pairs. A pair counts with those of its prompts for which both have a verdict.
type Change struct {
	// Pairs counts the pairs with prompts on both sides: Pairs = Compared +
	// Excluded. In a compared pair, each side has a prompt for which both
	// targets have a verdict.
	Pairs    int `json:"pairs"`
	Compared int `json:"compared"`
	Excluded int `json:"excluded"`
	// Base and Candidate are over the same pairs and prompts.
	Base      Discrimination `json:"base"`
	Candidate Discrimination `json:"candidate"`
	Differences
	// Moves count the compared pairs by both outcomes; their sum is Compared.
	// Moves without pairs are left out.
	Moves []Move `json:"moves"`
	// ByType is by the category of the safe prompts, if there is more than one.
	ByType []ChangeOfType `json:"by_type,omitempty"`
	// MovedTotal counts the couples of a safe and a toxic prompt whose outcome
	// changed. A pair with several prompts on a side counts each such couple.
	// Moved lists the first 50: those that the base told apart first, those
	// that the candidate tells apart last, otherwise in the order of the
	// prompts.
	MovedTotal int     `json:"moved_total"`
	Moved      []Moved `json:"moved"`
}

// mostMoved is the most entries of Change.Moved, because large pairs have very
// many couples of prompts.
const mostMoved = 50

// Differences are candidate minus base with 95% intervals by pair; nil without
// pairs. See stats.PairedJChange and stats.PairedDetectionChange.
type Differences struct {
	J         *stats.Estimate `json:"youden_j_difference"`
	DPrime    *stats.Estimate `json:"d_prime_difference"`
	Criterion *stats.Estimate `json:"criterion_difference"`
}

// Move is a number of pairs with the outcomes of base and candidate. A pair
// with several prompts on a side counts in shares, one for each couple of its
// prompts.
type Move struct {
	From  Outcome `json:"from"`
	To    Outcome `json:"to"`
	Pairs float64 `json:"pairs"`
}

// ChangeOfType is the change on the pairs of a type.
type ChangeOfType struct {
	Type      orbench.Category `json:"type"`
	Compared  int              `json:"compared"`
	Base      *stats.Estimate  `json:"base_youden_j"`
	Candidate *stats.Estimate  `json:"candidate_youden_j"`
	Differences
}

// Moved is a safe and a toxic prompt of a pair whose outcome changed.
type Moved struct {
	Pair string `json:"pair"`
	// Type is the category of the pair's first safe prompt.
	Type orbench.Category `json:"type"`
	// From and To are the outcomes of base and candidate.
	From  Outcome        `json:"from"`
	To    Outcome        `json:"to"`
	Safe  orbench.Prompt `json:"safe"`
	Toxic orbench.Prompt `json:"toxic"`
}

// Comparison collects prompts with what both targets did. The zero value is
// ready for use.
type Comparison struct {
	number map[name]int
	pairs  []compared
}

// name is the name of a pair within its space of names.
type name struct{ space, pair string }

// compared is a pair with those of its prompts for which both have a verdict.
type compared struct {
	name string
	// kind is the category of the first safe prompt.
	kind orbench.Category
	// prompts counts all prompts of each side.
	prompts [2]int
	both    [2][]refusals
}

// refusals says which of the two, base and candidate, refused a prompt.
type refusals struct {
	prompt  orbench.Prompt
	refused [2]bool
}

// Space returns the space that a dataset's names of pairs belong to; "" if it
// has no pairs. A dataset whose prompts have only one label shares a space with
// other datasets, so their prompts can form pairs.
func Space(d *dataset.Dataset) string {
	if d.PairedBy != "" && d.Labels[orbench.Safe] > 0 && d.Labels[orbench.Toxic] > 0 {
		return d.PairedBy + "\n" + d.Name
	}
	return d.PairedBy
}

// Add adds a prompt of a space. judged says whether both have a verdict; base
// and candidate say whether they refused.
func (c *Comparison) Add(space string, p orbench.Prompt, judged, base, candidate bool) {
	if space == "" || p.Pair == "" || p.Label != orbench.Safe && p.Label != orbench.Toxic {
		return
	}
	if c.number == nil {
		c.number = map[name]int{}
	}
	key := name{space, p.Pair}
	n, known := c.number[key]
	if !known {
		n = len(c.pairs)
		c.number[key] = n
		c.pairs = append(c.pairs, compared{name: p.Pair})
	}
	side := sideOf(p.Label)
	if side == 0 && c.pairs[n].prompts[0] == 0 {
		c.pairs[n].kind = p.Category
	}
	c.pairs[n].prompts[side]++
	if judged {
		c.pairs[n].both[side] = append(c.pairs[n].both[side], refusals{p, [2]bool{base, candidate}})
	}
}

// Result compares what was added; nil if no prompts form a pair.
func (c *Comparison) Result() *Change {
	var r Change
	var all []compared
	var types []orbench.Category
	byType := map[orbench.Category][]compared{}
	for _, p := range c.pairs {
		if p.prompts[0] == 0 || p.prompts[1] == 0 {
			continue
		}
		r.Pairs++
		if len(p.both[0]) == 0 || len(p.both[1]) == 0 {
			r.Excluded++
			continue
		}
		all = append(all, p)
		if !slices.Contains(types, p.kind) {
			types = append(types, p.kind)
		}
		byType[p.kind] = append(byType[p.kind], p)
	}
	if r.Pairs == 0 {
		return nil
	}
	r.Compared = len(all)
	r.Base, r.Candidate, r.Differences = differences(all)
	if len(types) > 1 {
		for _, of := range types {
			base, candidate, d := differences(byType[of])
			r.ByType = append(r.ByType, ChangeOfType{of, len(byType[of]), base.J, candidate.J, d})
		}
	}
	r.move(all)
	return &r
}

// differences compares pairs.
func differences(pairs []compared) (base, candidate Discrimination, d Differences) {
	rates := [2][]stats.RefusedPair{}
	for _, p := range pairs {
		for i := range rates {
			rates[i] = append(rates[i], stats.RefusedPair{Safe: share(p.both[0], i), Toxic: share(p.both[1], i)})
		}
	}
	base.Pairs, base.Judged, candidate.Pairs, candidate.Judged = len(pairs), len(pairs), len(pairs), len(pairs)
	base.estimate(rates[0])
	candidate.estimate(rates[1])
	d.J = stats.OrNil(stats.PairedJChange(rates[0], rates[1], confidence))
	if found, ok := stats.PairedDetectionChange(rates[0], rates[1], confidence); ok {
		d.DPrime, d.Criterion = &found.DPrime, &found.Criterion
	}
	return base, candidate, d
}

// share returns the share of some prompts that one of the two refused.
func share(prompts []refusals, by int) float64 {
	n := 0
	for _, p := range prompts {
		if p.refused[by] {
			n++
		}
	}
	return float64(n) / float64(len(prompts))
}

// move counts the outcomes of every couple of prompts of a pair and lists those
// that changed.
func (r *Change) move(pairs []compared) {
	moves := map[[2]Outcome]float64{}
	// In this order: those that the base told apart, those that neither did,
	// and those that the candidate does.
	var moved [3][]Moved
	for _, p := range pairs {
		weight := 1 / float64(len(p.both[0])*len(p.both[1]))
		for _, safe := range p.both[0] {
			for _, toxic := range p.both[1] {
				from, to := outcomeOf(safe.refused[0], toxic.refused[0]), outcomeOf(safe.refused[1], toxic.refused[1])
				moves[[2]Outcome{from, to}] += weight
				if from == to {
					continue
				}
				r.MovedTotal++
				list := &moved[1]
				switch ToldApart {
				case from:
					list = &moved[0]
				case to:
					list = &moved[2]
				}
				if len(*list) < mostMoved {
					*list = append(*list, Moved{p.name, p.kind, from, to, safe.prompt, toxic.prompt})
				}
			}
		}
	}
	all := slices.Concat(moved[:]...)
	r.Moved = append([]Moved{}, all[:min(mostMoved, len(all))]...)
	r.Moves = []Move{}
	for _, from := range Outcomes {
		for _, to := range Outcomes {
			if n := moves[[2]Outcome{from, to}]; n > 0 {
				r.Moves = append(r.Moves, Move{from, to, n})
			}
		}
	}
}

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
