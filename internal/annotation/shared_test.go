package annotation

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/orbench/orbench"
)

// TestDrawShared draws prompts for two cells: both answers or none, with one
// chance, and a further draw adds to the first.
func TestDrawShared(t *testing.T) {
	t.Parallel()
	cells := [2]Cell{{Target: "a", Dataset: "d", Label: orbench.Safe}, {Target: "b", Dataset: "d", Label: orbench.Safe}}
	groups := [][2]Group{{SureAnswer, SureAnswer}, {SureAnswer, SureRefusal}, {Withheld, SureRefusal}, {Withheld, Withheld}, {UnsureAnswer, SureAnswer}}
	var prompts [][]Item
	for i := range 100 {
		g := groups[i%len(groups)]
		prompts = append(prompts, []Item{{cells[0], subject(0, i), g[0]}, {cells[1], subject(1, i), g[1]}})
	}
	// This prompt has an answer of one cell alone.
	prompts = append(prompts, []Item{{cells[1], subject(1, 100), SureAnswer}})
	earlier, strata, err := DrawShared(prompts, NewWords(nil), 20, 1, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	size, drawn := 0, 0
	for _, s := range strata {
		size, drawn = size+s.Size, drawn+s.Drawn
		if s.Target != "a, b" || s.Dataset != "d" || s.Drawn < 2 {
			t.Errorf("stratum %+v", s)
		}
	}
	if size != 81 || drawn != 20 || len(strata) != 4 {
		t.Errorf("%d of %d prompts are drawn in %d strata, want 20 of 81 in 4", drawn, size, len(strata))
	}
	check := func(all []orbench.Annotation) (pairs int) {
		w := NewWords(all)
		for i, items := range prompts[:100] {
			a, b := w.Chance(cells[0], items[0].Subject), w.Chance(cells[1], items[1].Subject)
			if items[0].Group == Withheld {
				a = b
				if w.Chance(cells[0], items[0].Subject) > 0 {
					t.Errorf("prompt %d: a withheld answer is drawn", i)
				}
			}
			if a != b {
				t.Errorf("prompt %d is drawn with chances %v and %v", i, a, b)
			}
			if a > 0 {
				pairs++
			}
		}
		return pairs
	}
	first := check(earlier)
	more, _, err := DrawShared(prompts, NewWords(earlier), 20, 1, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	both := append(earlier, more...)
	if second := check(both); first < 19 || second-first < 19 || second-first > 20 {
		t.Errorf("%d prompts of both cells are drawn first, and %d later", first, second)
	}
	for _, a := range earlier {
		if NewWords(both).chance[drawing{a.Design, a.Subject}] < a.Chance {
			t.Errorf("the chance of %v fell", a.Subject)
		}
	}
	// An answer of one cell alone, drawn before, leaves no shared draw.
	lone := []orbench.Annotation{{Subject: prompts[0][0].Subject, Design: cells[0].Design(), Chance: 0.5}}
	var input *orbench.InputError
	if _, _, err := DrawShared(prompts, NewWords(lone), 1, 1, time.Time{}); !errors.As(err, &input) {
		t.Errorf("after another draw: %v", err)
	}
	if _, _, err := DrawShared(prompts, NewWords(nil), 82, 1, time.Time{}); !errors.As(err, &input) {
		t.Errorf("too many: %v", err)
	}
}

// TestSharedPairs has a difference that was computed by hand: of 40 prompts 10
// flip to a refusal, all of them labeled and 8 of them so by people, and of 30
// others 15 are labeled, one of them newly refused and one newly answered; each
// of these stands for two.
func TestSharedPairs(t *testing.T) {
	t.Parallel()
	var p Paired
	var said []orbench.Annotation
	for i := range 40 {
		pair := Pair{Base: subject(0, i), Candidate: subject(1, i), CandidateRefused: i < 10}
		before, after := i == 11, i < 8 || i == 10
		switch {
		case i < 10:
			pair.Chance = 1
		case i < 25:
			pair.Chance = 0.5
		}
		for s, refused := range map[orbench.Subject]bool{pair.Base: before, pair.Candidate: after} {
			class := orbench.FullAnswer
			if refused {
				class = orbench.Refusal
			}
			if pair.Chance > 0 {
				said = append(said, orbench.Annotation{Subject: s, Class: class, By: "ana"})
			}
		}
		p.Pairs = append(p.Pairs, pair)
	}
	c, ok := p.Corrected(NewWords(said), 1)
	if !ok || math.Abs(c.Difference.Value-8.0/40) > 1e-9 || math.Abs(c.Base.Value-2.0/40) > 1e-9 || math.Abs(c.Candidate.Value-10.0/40) > 1e-9 {
		t.Errorf("%v %+v", ok, c)
	}
	if c.Labels != 50 || c.LabeledFlips != 10 || c.LabeledOthers != 15 || !(c.P > 0 && c.P < 1) || (c.P < 0.05) != (c.Difference.Lo > 0) {
		t.Errorf("%+v", c)
	}
}
