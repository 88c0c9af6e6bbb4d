package evaluate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
)

func TestParseUntil(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"2pp": 0.02, "2 pp": 0.02, "0.5pp": 0.005, "50pp": 0.5, "0.1pp": 0.001,
		"": 0, "2": 0, "2%": 0, "0pp": 0, "0.01pp": 0, "51pp": 0, "-2pp": 0, "1e1pp": 0, "NaNpp": 0, "2pp,": 0, "2pp,exact": 0, ",wilson": 0,
	} {
		rule, _, err := ParseUntil(text)
		got := rule.HalfWidth
		if got != want || (err == nil) != (want > 0) || err != nil && !errors.Is(err, orbench.ErrInput) {
			t.Errorf("%q: got %g, %v, want %g", text, got, err, want)
		}
		if err == nil && (Rule{HalfWidth: got}).String() != strings.ReplaceAll(text, " ", "") {
			t.Errorf("%q is written as %s", text, Rule{HalfWidth: got})
		}
	}
	for text, want := range map[string]Interval{"2pp": Wilson, "2pp,wilson": Wilson, "2pp, sequence": Sequence} {
		if rule, said, err := ParseUntil(text); err != nil || rule.Interval != want || said != (text != "2pp") || rule.HalfWidth != 0.02 {
			t.Errorf("%q: %+v, said %v, %v", text, rule, said, err)
		}
	}
}

// newSet makes safe prompts in ten categories, and half as many toxic ones in
// one category.
func newSet(t *testing.T, safe int) *dataset.Dataset {
	t.Helper()
	var rows strings.Builder
	rows.WriteString("prompt,category,label\n")
	for n := range safe {
		fmt.Fprintf(&rows, "safe %d,c%d,safe\n", n, n%10)
		if n%2 == 0 {
			fmt.Fprintf(&rows, "toxic %d,hate,toxic\n", n)
		}
	}
	path := filepath.Join(t.TempDir(), "set.csv")
	if err := os.WriteFile(path, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Open(t.Context(), path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// textsOf lists the prompts of a dataset.
func textsOf(t *testing.T, set *dataset.Dataset) []string {
	t.Helper()
	var texts []string
	for p, err := range set.Prompts() {
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, p.Text())
	}
	if len(texts) != set.Count || set.Labels[orbench.Safe]+set.Labels[orbench.Toxic] != set.Count {
		t.Errorf("%d prompts of %d, %v", len(texts), set.Count, set.Labels)
	}
	return texts
}

// TestDraw checks that every prompt is drawn once, in an order that follows
// from the seed, and that each category has its share at any time.
func TestDraw(t *testing.T) {
	t.Parallel()
	set := newSet(t, 400)
	order := func(seed uint64, limit int) (rounds [][]string) {
		d, err := newDrawing(Rule{HalfWidth: 0.02, Seed: seed}, 1, limit, []*dataset.Dataset{set})
		if err != nil {
			t.Fatal(err)
		}
		for d.next() {
			parts, err := d.parts(d.newest, true)
			if err != nil {
				t.Fatal(err)
			}
			rounds = append(rounds, textsOf(t, parts[0]))
			// All rounds up to here, including the newest.
			all, err := d.askedPrompts("lexical")
			if err != nil {
				t.Fatal(err)
			}
			if s := all[0].Stopped; s == nil || s.Asked != len(slices.Concat(rounds...)) || s.Of != set.Size(limit) || all[0].SHA256 != set.SHA256 {
				t.Errorf("asked %+v", s)
			}
			n := all[0].Labels[orbench.Safe]
			for c, k := range all[0].Categories {
				if c != "hate" && (k < n/10-4 || k > n/10+4) {
					t.Errorf("after %d prompts %d are of %s", n, k, c)
				}
			}
		}
		return rounds
	}
	rounds := order(1, 0)
	all := slices.Concat(rounds...)
	slices.Sort(all)
	if len(rounds[0]) != 32 || len(all) != 600 || len(slices.Compact(all)) != 600 {
		t.Errorf("%d rounds of %d prompts, the first of %d", len(rounds), len(all), len(rounds[0]))
	}
	if again := order(1, 0); !slices.EqualFunc(rounds, again, slices.Equal) {
		t.Error("another order by the same seed")
	}
	if other := order(2, 0); slices.Equal(rounds[0], other[0]) {
		t.Error("the same order by another seed")
	}
	if first := slices.Concat(order(1, 30)...); len(first) != 30 || slices.Contains(first, "safe 20") {
		t.Errorf("of the first 30: %v", first)
	}
}

// TestCount checks that a label is closed once all of its figures are narrow,
// while the other stays open.
func TestCount(t *testing.T) {
	t.Parallel()
	d, err := newDrawing(Rule{HalfWidth: 0.1, Seed: 1}, 1, 0, []*dataset.Dataset{newSet(t, 400)})
	if err != nil {
		t.Fatal(err)
	}
	// The first figure refuses no safe prompts; the second refuses half of the
	// toxic ones.
	count := d.newCount(2)
	rounds := 0
	for d.next() {
		rounds++
		parts, err := d.parts(d.newest, true)
		if err != nil {
			t.Fatal(err)
		}
		count.walk(d.newest)
		for i, text := range textsOf(t, parts[0]) {
			add := count.add(0)
			add(0, 0)
			if strings.HasPrefix(text, "toxic") {
				add(1, float64(i%2))
			} else {
				add(1, 0)
			}
		}
		count.close()
	}
	parts, err := d.askedPrompts("lexical")
	if err != nil {
		t.Fatal(err)
	}
	safe, toxic := parts[0].Labels[orbench.Safe], parts[0].Labels[orbench.Toxic]
	if safe >= toxic || toxic >= 200 || safe < 16 {
		t.Errorf("%d safe and %d toxic prompts in %d rounds", safe, toxic, rounds)
	}
	lo, hi, of, stopped := count.interval(0, orbench.Toxic, 1)
	if !stopped || of != 200 || hi-lo > 0.2 || lo > 0.5 || hi < 0.5 {
		t.Errorf("%g to %g of %d, stopped %v", lo, hi, of, stopped)
	}
	if lo, hi, _, _ := count.interval(0, orbench.Safe, 0); lo != 0 || hi > 0.2 {
		t.Errorf("of none refused: %g to %g", lo, hi)
	}
	if _, _, _, stopped := count.interval(0, orbench.Controversial, 0); stopped {
		t.Error("a label without prompts has stopped")
	}
}

// TestAssume checks that a drawing ends as soon as it can, whatever the answers
// so far were.
func TestAssume(t *testing.T) {
	t.Parallel()
	d, err := newDrawing(Rule{HalfWidth: 0.1, Seed: 1}, 1, 0, []*dataset.Dataset{newSet(t, 400)})
	if err != nil {
		t.Fatal(err)
	}
	count := d.newCount(1)
	for d.next() {
		count.assume()
		count.close()
	}
	parts, err := d.askedPrompts("lexical")
	if err != nil || parts[0].Count > 100 {
		t.Errorf("%d prompts, %v", parts[0].Count, err)
	}
}
