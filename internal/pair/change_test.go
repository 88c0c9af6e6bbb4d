package pair_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/pair"
	"github.com/orbench/orbench/stats"
)

// add adds a pair of one prompt a side: what base and candidate do with the safe
// prompt and then with the toxic one, R, A, or U for no verdict.
func add(c *pair.Comparison, number int, kind orbench.Category, script string) {
	base, candidate, _ := strings.Cut(script, "→")
	for i, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
		p := orbench.NewPrompt(fmt.Sprintf("%s %d", label, number), kind, label)
		p.Pair = fmt.Sprint(number)
		c.Add("twin", p, base[i] != 'U' && candidate[i] != 'U', base[i] == 'R', candidate[i] == 'R')
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	var c pair.Comparison
	scripts := []string{"AR→AR", "AR→RR", "AR→RR", "AA→AR", "RR→AR", "RA→AA", "AA→AA", "AR→AU", "UR→AR"}
	for i, script := range scripts {
		add(&c, i, orbench.Category([]string{"first", "second"}[i%2]), script)
	}
	// Neither of these makes a pair.
	lone := orbench.NewPrompt("lone", "first", orbench.Safe)
	lone.Pair = "lone"
	c.Add("twin", lone, true, true, true)
	c.Add("twin", orbench.NewPrompt("none", "first", orbench.Safe), true, true, true)
	c.Add("", lone, true, true, true)

	r := c.Result()
	if r.Pairs != 9 || r.Compared != 7 || r.Excluded != 2 {
		t.Fatalf("%d pairs, %d compared, %d excluded", r.Pairs, r.Compared, r.Excluded)
	}
	var moves []string
	var sum float64
	for _, m := range r.Moves {
		moves = append(moves, fmt.Sprintf("%s to %s: %g", m.From, m.To, m.Pairs))
		sum += m.Pairs
	}
	want := "told apart to told apart: 1; told apart to over-refused: 2; over-refused to told apart: 1; " +
		"under-refused to told apart: 1; under-refused to under-refused: 1; reversed to under-refused: 1"
	if got := strings.Join(moves, "; "); got != want || sum != 7 {
		t.Errorf("the moves are %s, want %s", got, want)
	}
	var moved []string
	for _, m := range r.Moved {
		moved = append(moved, m.Pair)
	}
	if got := strings.Join(moved, " "); got != "1 2 5 3 4" || r.MovedTotal != 5 {
		t.Errorf("the pairs that moved are %s: those told apart before come first, those told apart now last", got)
	}
	base := []stats.RefusedPair{{Toxic: 1}, {Toxic: 1}, {Toxic: 1}, {}, {Safe: 1, Toxic: 1}, {Safe: 1}, {}}
	candidate := []stats.RefusedPair{{Toxic: 1}, {Safe: 1, Toxic: 1}, {Safe: 1, Toxic: 1}, {Toxic: 1}, {Toxic: 1}, {}, {}}
	j, _ := stats.PairedJChange(base, candidate, 0.95)
	d, _ := stats.PairedDetectionChange(base, candidate, 0.95)
	if *r.J != j || *r.DPrime != d.DPrime || *r.Criterion != d.Criterion {
		t.Errorf("the differences are %+v", r.Differences)
	}
	if r.Base.ToldApart.Pairs != 3 || r.Candidate.ToldApart.Pairs != 3 || r.Candidate.OverRefused.Pairs != 2 {
		t.Errorf("base %+v, candidate %+v", r.Base, r.Candidate)
	}
	if len(r.ByType) != 2 || r.ByType[0].Type != "first" || r.ByType[0].Compared != 4 || r.ByType[1].Compared != 3 {
		t.Errorf("by type %+v", r.ByType)
	}
}

// Where a side has several prompts, moves count by shares whose sums are those of the
// outcomes on both sides.
func TestChangeOfSeveralPrompts(t *testing.T) {
	t.Parallel()
	var c pair.Comparison
	for i, script := range []string{"A→A", "A→R", "R→R"} {
		p := orbench.NewPrompt(fmt.Sprint("safe ", i), "x", orbench.Safe)
		p.Pair = "1"
		c.Add("seed", p, true, script[0] == 'R', script[len(script)-1] == 'R')
	}
	for i, script := range []string{"R→R", "A→R"} {
		p := orbench.NewPrompt(fmt.Sprint("toxic ", i), "x", orbench.Toxic)
		p.Pair = "1"
		c.Add("seed", p, true, script[0] == 'R', true)
	}
	add(&c, 2, "x", "AR→AR")
	r := c.Result()
	from, to := map[pair.Outcome]float64{}, map[pair.Outcome]float64{}
	for _, m := range r.Moves {
		from[m.From] += m.Pairs
		to[m.To] += m.Pairs
	}
	for _, o := range pair.Outcomes {
		if math.Abs(from[o]-r.Base.Of(o).Pairs) > 1e-12 || math.Abs(to[o]-r.Candidate.Of(o).Pairs) > 1e-12 {
			t.Errorf("%s: %g and %g by the moves, %g and %g by the rates", o, from[o], to[o], r.Base.Of(o).Pairs, r.Candidate.Of(o).Pairs)
		}
	}
	if r.Compared != 2 || math.Abs(r.J.Value-(1./3-1./6)/2) > 1e-12 {
		t.Errorf("of %d pairs J changed by %v", r.Compared, r.J)
	}
	if none := (&pair.Comparison{}).Result(); none != nil || none.Sections(5) != nil {
		t.Errorf("nothing has %+v", none)
	}
}

// Of a pair of very many prompts the twos that moved are counted, and few are listed.
func TestChangeOfLargePair(t *testing.T) {
	t.Parallel()
	var c pair.Comparison
	for i := range 100 {
		for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
			p := orbench.NewPrompt(fmt.Sprintf("%s %d", label, i), orbench.Category([]string{"first", "later"}[min(i, 1)]), label)
			p.Pair = "1"
			// The first has no verdict, and the base tells the last apart from all.
			c.Add("twin", p, i > 0, label == orbench.Toxic && i == 99, true)
		}
	}
	r := c.Result()
	if r.MovedTotal != 99*99 || len(r.Moved) != 50 || len(r.Moves) != 2 {
		t.Fatalf("%d moved, %d listed, moves %v", r.MovedTotal, len(r.Moved), r.Moves)
	}
	for i, m := range r.Moved {
		if want := fmt.Sprint("safe ", i+1); m.From != pair.ToldApart || m.Safe.Text() != want || m.Type != "first" {
			t.Errorf("moved %d is %+v, want %s, which the base told apart, of the type of the first prompt", i, m, want)
		}
	}
}

// Names of pairs are those of one file where it has both labels, and of all files that
// are paired by the same where it has one.
func TestSpace(t *testing.T) {
	t.Parallel()
	one, other := newDataset(t, "one", "a,x,safe,1"), newDataset(t, "other", "b,x,toxic,1")
	both, again := newDataset(t, "both", "c,x,safe,1", "d,x,toxic,1"), newDataset(t, "again", "e,x,safe,1", "f,x,toxic,1")
	if pair.Space(one) != pair.Space(other) || pair.Space(one) == "" {
		t.Errorf("%q and %q", pair.Space(one), pair.Space(other))
	}
	if pair.Space(both) == pair.Space(again) || pair.Space(both) == pair.Space(one) {
		t.Errorf("%q and %q", pair.Space(both), pair.Space(again))
	}
}
