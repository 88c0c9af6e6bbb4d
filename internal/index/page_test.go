package index_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/score"
)

// value is what a row has in a dimension.
func value(row *score.AnswerRow, dimension string) string {
	switch dimension {
	case "target":
		return cmp.Or(row.Variant, row.Target)
	case "sample":
		return strconv.Itoa(row.Sample)
	case "cut":
		return map[score.Ending]string{score.WholeEnding: "no", score.CutEnding: "yes", score.UnknownEnding: "unknown"}[row.Ending]
	case "dataset":
		return row.Dataset
	case "label":
		return string(row.Prompt.Label)
	case "category":
		return string(row.Prompt.Category)
	case "status":
		return string(row.Status)
	case "simulated":
		return map[bool]string{true: "yes", false: "no"}[row.Simulated]
	}
	what, judge, _ := strings.Cut(dimension, " by ")
	for _, v := range row.Verdicts {
		switch {
		case v.Judge != judge:
		case what == "class":
			return string(v.Class)
		default:
			return string(v.Reason)
		}
	}
	return ""
}

// hasWords reports whether a text has all words, of which one that ends in * begins so.
func hasWords(text string, words []string) bool {
	has := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	for _, w := range words {
		if !slices.ContainsFunc(has, func(h string) bool {
			start, ok := strings.CutSuffix(w, "*")
			return h == w || ok && strings.HasPrefix(h, start)
		}) {
			return false
		}
	}
	return true
}

// TestPages filters, counts, sorts and searches the rows of a run in many ways, and holds
// what comes to a look at every row.
func TestPages(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "m.db"))
	r := p.open(rich)
	p.fill(r, 360)
	rows, s := p.walk(r), p.study(r)
	if _, err := s.Search(t.Context(), "knife"); err == nil {
		t.Error("texts are found that were not indexed")
	}
	if ok, err := s.Texts(t.Context(), p.store, nil); !ok || err != nil {
		t.Fatalf("the texts are not indexed: %v, %q", err, p.said)
	}
	s = p.study(p.find(r.Name)) // as another process has it
	p.reads.Store(0)
	if ok, err := s.Texts(t.Context(), p.counted(), nil); !ok || err != nil || p.reads.Load() > 0 {
		t.Errorf("the texts are indexed again: %v", err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "", "", "sorry", "how do", "HOW do*", "i can't", "s* help", "zebra", "i"}
	orders := []index.Order{{}, {Descending: true}, {By: "length"}, {By: "length", Descending: true}, {By: "lexical"}, {By: "lexical", Descending: true}, {By: "llm:sim/judge"}}
	matched := 0
	for range 150 {
		f := index.Filter{Values: map[string][]string{}, Text: texts[random.IntN(len(texts))]}
		for _, d := range s.Facets() {
			if random.IntN(6) == 0 {
				for range 1 + random.IntN(3) {
					f.Values[d] = append(f.Values[d], value(&rows[random.IntN(len(rows))], d))
				}
			}
		}
		words := strings.Fields(strings.ToLower(strings.ReplaceAll(f.Text, "'", " ")))
		facets := map[string]map[string]int{}
		var want []int
		for at := range rows {
			row := &rows[at]
			var other []string
			for d, values := range f.Values {
				if !slices.Contains(values, value(row, d)) {
					other = append(other, d)
				}
			}
			if len(other) > 1 || f.Text != "" && !hasWords(row.Prompt.Said(), words) && !hasWords(row.Response.Text, words) {
				continue
			}
			for _, d := range s.Facets() {
				if len(other) == 0 || other[0] == d {
					if facets[d] == nil {
						facets[d] = map[string]int{}
					}
					facets[d][value(row, d)]++
				}
			}
			if len(other) == 0 {
				want = append(want, at)
			}
		}
		matched += len(want)
		total, got, err := s.Count(t.Context(), f)
		if err != nil || total != len(want) {
			t.Fatalf("%v: %d rows, %v, want %d", f, total, err, len(want))
		}
		for _, d := range s.Facets() {
			for v, n := range facets[d] {
				if got[d][v] != n {
					t.Fatalf("%v: %s %q has %d rows, want %d", f, d, v, got[d][v], n)
				}
			}
			if sum(got[d]) != sum(facets[d]) {
				t.Fatalf("%v: %s has %v, want %v", f, d, got[d], facets[d])
			}
		}
		some := random.Perm(len(rows))[:50]
		chosen, err := s.Chosen(t.Context(), f, some)
		if some = slices.DeleteFunc(some, func(at int) bool { return !slices.Contains(want, at) }); err != nil || !slices.Equal(chosen, some) {
			t.Fatalf("%v: of some rows %v are chosen, %v, want %v", f, chosen, err, some)
		}
		o := orders[random.IntN(len(orders))]
		slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(sortValue(rows, a, o), sortValue(rows, b, o)) })
		var all []int
		var after *index.Key
		for {
			page, next, err := s.Page(t.Context(), f, o, after, 50)
			if err != nil || len(page) > 50 || next != nil && len(page) < 50 {
				t.Fatalf("%v: a page of %d, %v, %v", f, len(page), next, err)
			}
			all = append(all, page...)
			if after = next; next == nil {
				break
			}
		}
		if !slices.Equal(all, want) {
			t.Fatalf("%v by %v: rows %v, want %v", f, o, all, want)
		}
	}
	if matched == 0 {
		t.Error("no filter chose any row")
	}
	for _, f := range []index.Filter{{Values: map[string][]string{"color": {"red"}}}, {Text: "?!"}} {
		if _, _, err := s.Count(t.Context(), f); err == nil {
			t.Errorf("%v is taken", f)
		}
	}
	if _, _, err := s.Page(t.Context(), index.Filter{}, index.Order{By: "color"}, nil, 50); err == nil {
		t.Error("rows are sorted by a color")
	}
	p.fill(r, everything)
	p.study(r)
	if _, err := s.Search(t.Context(), "hello"); err == nil {
		t.Error("rows that were made anew are read")
	}
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// sortValue is the value of a row in an order.
func sortValue(rows []score.AnswerRow, at int, o index.Order) float64 {
	v := float64(at)
	switch o.By {
	case "":
	case "length":
		v = float64(len(rows[at].Response.Text))
	default:
		v = math.Inf(1)
		if o.Descending {
			v = math.Inf(-1)
		}
		for _, j := range rows[at].Verdicts {
			if j.Judge == o.By && j.Class != orbench.Unjudged {
				v = float64(float32(j.Score))
			}
		}
	}
	if o.Descending {
		return -v
	}
	return v
}

// TestManyWords has more lists than one block and prefixes that go over blocks.
func TestManyWords(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "m.db"))
	file := filepath.Join(t.TempDir(), "words.csv")
	var b strings.Builder
	b.WriteString("prompt\n")
	for n := range 3000 {
		fmt.Fprintf(&b, "word%05d other%d Ünïcode%d 東京都%d\n", n, n%7, n%2, n)
	}
	write(t, file, b.String())
	r := p.open(fmt.Sprintf("name: words\ntargets: [sim/balanced]\ndatasets: [{dataset: %q, label: safe}]\njudges: [lexical]\n", file))
	s := p.study(r)
	if ok, err := s.Texts(t.Context(), p.store, nil); !ok || err != nil {
		t.Fatal(err, p.said)
	}
	for query, want := range map[string]int{
		"word00017": 1, "word0001*": 10, "word*": 3000, "other3 word00*": 143, "ünïcode1": 1500, "ÜNÏCODE1 word00001": 1,
		"京": 3000, "word": 0, "wore*": 0, "zzz*": 0, "0*": 1, "a*": 0, "word02999 other3": 1,
	} {
		total, _, err := s.Count(t.Context(), index.Filter{Text: query})
		if err != nil || total != want {
			t.Errorf("%q finds %d, %v, want %d", query, total, err, want)
		}
	}
}
