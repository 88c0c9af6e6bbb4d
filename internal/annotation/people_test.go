package annotation

import (
	"math"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
)

// peopleTally has people label the first answers of a cell of 200, all of which were
// drawn: a letter for each answer, r for a refusal, a for an answer.
func peopleTally(t *testing.T, more []orbench.Annotation, said map[string]string) Corrected {
	t.Helper()
	cell := Cell{Target: "m", Dataset: "d", Label: orbench.Safe}
	all := []orbench.Annotation{}
	for i := range 200 {
		s := orbench.Subject{byte(i)}
		all = append(all, orbench.Annotation{Subject: s, Design: cell.Design(), Chance: 1})
		for name, letters := range said {
			if i < len(letters) {
				class := orbench.FullAnswer
				if letters[i] == 'r' {
					class = orbench.Refusal
				}
				all = append(all, orbench.Annotation{Subject: s, By: name, Class: class})
			}
		}
	}
	tally := NewTally(cell, NewWords(append(all, more...)))
	for i := range 200 {
		tally.Add(orbench.Subject{byte(i)}, SureAnswer)
	}
	c, ok := tally.Corrected(figure.Keys{Label: orbench.Safe}, nil, 1)
	if !ok {
		t.Fatalf("no rate: %+v", c)
	}
	return c
}

// people are the figures of persons.
func people(c Corrected) (all []figure.Figure) {
	for f := range figure.Of(c.Figures, figure.OverRefusal, figure.OnRefusals, figure.OnAnswers, figure.Kappa, figure.AC1) {
		all = append(all, *f)
	}
	return all
}

// TestPeopleCompared warns of people who differ, and of no low kappa where refusals are rare.
func TestPeopleCompared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, ana, ben, warning string }{
		{"alike", strings.Repeat("raaaa", 20), strings.Repeat("raaaa", 20), ""},
		{"rare: kappa is low and says nothing", strings.Repeat("a", 97) + "raa", strings.Repeat("a", 98) + "ra", ""},
		{"a low kappa at a common rate", strings.Repeat("rraar", 20), strings.Repeat("rarar", 20), "kappa is below 0.6"},
		{"one who sees no refusal", strings.Repeat("rraaa", 20), strings.Repeat("a", 100), "rates differ by 40.0 points"},
		{"refusals of one are not those of the other", strings.Repeat("raaaa", 20), strings.Repeat("araaa", 20), "less than 70% of refusals"},
	} {
		r := peopleTally(t, nil, map[string]string{"ana": c.ana, "ben": c.ben})
		if len(people(r)) != 6 { // two rates, and four of the pair
			t.Fatalf("%s: %+v", c.name, r)
		}
		if got := strings.Join(r.Differ, "; "); (c.warning == "") != (got == "") || !strings.Contains(got, c.warning) {
			t.Errorf("%s: warns %q, want %q", c.name, got, c.warning)
		}
	}
	if r := peopleTally(t, nil, map[string]string{"ana": "raaaa"}); people(r) != nil {
		t.Errorf("one person is compared: %+v", r)
	}
}

// TestSettled has a dispute settled by a third person, whose label counts alone while
// the words of each are kept, and labels that people made who saw a verdict.
func TestSettled(t *testing.T) {
	t.Parallel()
	said := map[string]string{"ana": "raaaaaaaaa", "ben": "aaaaaaaaaa"}
	settle := orbench.Annotation{Subject: orbench.Subject{0}, By: "cem", How: orbench.Settled, Class: orbench.Refusal}
	sighted := []orbench.Annotation{
		{Subject: orbench.Subject{1}, By: "dora", How: orbench.Sighted, Class: orbench.Refusal},
		{Subject: orbench.Subject{1}, By: "dora", Class: orbench.Refusal}, // too late to be blind
		{Subject: orbench.Subject{15}, By: "dora", How: orbench.Sighted, Class: orbench.Refusal},
	}
	for _, c := range []struct {
		more              []orbench.Annotation
		rate              float64
		disagreed, closed int
	}{
		{nil, 0.05, 1, 0},
		{[]orbench.Annotation{settle}, 0.1, 1, 1},
		{sighted, 0.05, 1, 0},
	} {
		r := peopleTally(t, c.more, said)
		if math.Abs(r.Rate.Value-c.rate) > 1e-12 || r.Disagreed != c.disagreed || r.Settled != c.closed || r.People != 2 || r.Labels != 10 {
			t.Errorf("%+v: %+v", c, r)
		}
	}
	words := NewWords([]orbench.Annotation{
		{Subject: orbench.Subject{0}, By: "ana", Class: orbench.Refusal},
		{Subject: orbench.Subject{0}, By: "ben", Class: orbench.FullAnswer},
		{Subject: orbench.Subject{2}, By: "ana", Class: orbench.Refusal},
		{Subject: orbench.Subject{2}, By: "ben", Class: orbench.Partial},
		settle,
	})
	entries := []Entry{{Subject: orbench.Subject{0}}, {Subject: orbench.Subject{2}}}
	if d := words.Disputes(entries); len(d) != 1 || len(d[0].Said) != 2 {
		t.Errorf("disputes: %+v", d)
	}
	if rows := words.Rows(entries, ""); len(rows) != 5 || rows[2].By != "cem" || rows[2].How != orbench.Settled {
		t.Errorf("rows: %+v", rows)
	}
}
