package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/facet"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/internal/words"
)

// Chosen is the rows of a study that have wanted terms.
type Chosen struct {
	study  *Study
	choice *facet.Choice
	// some are those among which they are; nil for all.
	some  words.Set
	kinds []uint32
}

// Choose chooses rows by their terms, among some or, if that is nil, among all.
func (s *Study) Choose(ctx context.Context, wanted facet.Terms, some words.Set) (*Chosen, error) {
	kinds, err := s.kinds(ctx)
	return &Chosen{s, s.Table.Choose(wanted), some, kinds}, err
}

// OfPrompts gives the rows with some prompts.
func (s *Study) OfPrompts(ctx context.Context, prompts []string) (words.Set, error) {
	var ids []orbench.PromptID
	for _, id := range prompts {
		ids = append(ids, orbench.PromptID(id))
	}
	of := words.NewSet(s.Answers())
	for _, dataset := range s.Datasets {
		found, err := s.FindPrompts(ctx, dataset, ids)
		if err != nil {
			return nil, err
		}
		for _, at := range found {
			first, answers := s.Prompt(at)
			for i := range answers {
				of.Add(first + i)
			}
		}
	}
	return of, nil
}

// OfSubjects gives the rows whose answers are some subjects.
func (s *Study) OfSubjects(ctx context.Context, subjects map[orbench.Subject]bool) (words.Set, error) {
	of := words.NewSet(s.Answers())
	return of, s.items(ctx, func(position int, item annotation.Item) bool {
		if subjects[item.Subject] {
			of.Add(position)
		}
		return true
	})
}

// Differ gives the rows that a person, who labeled them without its verdict, and a judge do not
// both call a refusal. A line says how many there are; there is none where none can be compared.
func (s *Study) Differ(ctx context.Context, m store.Reader, person, judge string) (of words.Set, lines []string, err error) {
	all, err1 := m.Annotations(ctx)
	kinds, err2 := s.kinds(ctx)
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, err
	}
	said, differ, both := annotation.NewWords(all), 0, 0
	of = words.NewSet(s.Answers())
	err = s.items(ctx, func(position int, item annotation.Item) bool {
		for _, a := range said.All(item.Subject) {
			for _, v := range s.Kinds[kinds[position]].Verdicts {
				if a.By == person && v.Judge == judge && v.Class != orbench.Unjudged {
					if both++; a.Class.Refused() != v.Class.Refused() {
						of.Add(position)
						differ++
					}
				}
			}
		}
		return true
	})
	if both > 0 {
		lines = append(lines, fmt.Sprintf("You and %s differ on %d of %d", untrusted.Terminal(judge), differ, both))
	}
	return of, lines, err
}

// Has reports whether a row is chosen.
func (c *Chosen) Has(position int) bool {
	return (c.some == nil || c.some.Has(position)) && c.choice.Has(position%len(c.study.Samples), int(c.kinds[position]))
}

// Count is as that of facet.Choice.
func (c *Chosen) Count() (total int, facets map[string]map[string]int) {
	counts := c.study.Counts
	if c.some != nil {
		counts = make([]map[int]int, len(c.study.Samples))
		for n := range counts {
			counts[n] = map[int]int{}
		}
		for position, kind := range c.kinds {
			if c.some.Has(position) {
				counts[position%len(counts)][int(kind)]++
			}
		}
	}
	return c.choice.Count(counts)
}

// Order is what rows are sorted by: their position, or a column. Rows without a value come
// last. These and equal rows are in the order of their position.
type Order struct {
	// By is empty for the position, "length", or the name of a judge for its score.
	By         string
	Descending bool
}

// Page gives the positions of some rows in order: those after the first skipped ones, up to a
// number of rows.
func (c *Chosen) Page(ctx context.Context, o Order, skipped, most int) (positions []int, err error) {
	var column []uint32
	switch o.By {
	case "":
	case lengthColumn:
		column, err = c.study.column(ctx, lengthColumn)
	default:
		column, err = c.study.column(ctx, scoreColumn(slices.Index(c.study.Judges, o.By)))
	}
	if err != nil {
		return nil, err
	}
	// The best rows so far, in order. For most rows only the rank is looked at.
	type key struct {
		rank     uint32
		position int
	}
	var best []key
	for position := range c.kinds {
		rank := uint32(0)
		if column != nil {
			rank = column[position]
		}
		if o.Descending && rank != noRank {
			rank = noRank - 1 - rank
		}
		full := len(best) == skipped+most
		if full && column == nil {
			break // all others come later
		}
		if full && rank >= best[len(best)-1].rank || !c.Has(position) {
			continue
		}
		at := sort.Search(len(best), func(i int) bool { return best[i].rank > rank })
		best = slices.Insert(best, at, key{rank, position})
		best = best[:min(len(best), skipped+most)]
	}
	for _, k := range best[min(skipped, len(best)):] {
		positions = append(positions, k.position)
	}
	return positions, nil
}
