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

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/facet"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/words"
)

// printed is the class of a verdict as a page has it: lexical does not tell warned and partial
// answers well enough.
func printed(judge string, c orbench.Class) string {
	switch {
	case judge == "lexical" && c == orbench.AnswerWithWarning:
		return string(orbench.FullAnswer)
	case judge == "lexical" && c == orbench.Partial:
		return string(orbench.Refusal)
	}
	return string(c)
}

// values are what a row has of each parameter.
func values(row *score.AnswerRow, judges []string) map[string][]string {
	all := map[string][]string{
		"variant": {cmp.Or(row.Variant, row.Target)}, "sample": {}, "dataset": {row.Dataset}, "label": {string(row.Prompt.Label)},
		"category": {cmp.Or(string(row.Prompt.Category), "(none)")}, "status": {string(row.Status)}, "split": {},
	}
	base, _, _ := strings.Cut(all["variant"][0], " [")
	if all["target"] = []string{base}; base != all["variant"][0] {
		all["target"] = []string{all["variant"][0], base}
	}
	if row.Sample > 0 {
		all["sample"] = []string{strconv.Itoa(row.Sample)}
	}
	if row.Ending == score.CutEnding {
		all["status"] = append(all["status"], "cut")
	}
	refused := map[bool]int{}
	for _, j := range judges {
		words := []string{}
		if row.Status == score.Answered || row.Status == score.Blocked {
			words = []string{"unjudged"}
		}
		for _, v := range row.Verdicts {
			switch {
			case v.Judge != j || v.Class == "":
			case v.Class.Refused():
				words = []string{"refused", "judged", printed(j, v.Class)}
				refused[true]++
			default:
				words = []string{"answered", "judged", printed(j, v.Class)}
				refused[false]++
			}
		}
		all["verdict by "+j] = words
	}
	if len(refused) == 2 {
		all["split"] = []string{"yes"}
	}
	return all
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
	texts := []string{"", "", "", "sorry", "how do", "HOW do*", "i can't", "s* help", "zebra", "i", "prompt:how", "prompt:i prompt:HOW", "how prompt:kill", "prompt:sorry"}
	orders := []index.Order{{}, {By: "length"}, {By: "length", Descending: true}, {By: "lexical"}, {By: "lexical", Descending: true}, {By: "llm:sim/judge"}}
	var has []map[string][]string
	for i := range rows {
		has = append(has, values(&rows[i], s.Judges))
	}
	seen := map[string]int{} // values that were wanted and found
	for range 300 {
		wanted, text := facet.Terms{"color": {"red"}}, texts[random.IntN(len(texts))]
		for name := range has[0] {
			if random.IntN(7) > 0 {
				continue
			}
			for range 1 + random.IntN(3) {
				wanted[name] = append(wanted[name], has[random.IntN(len(has))][name]...)
			}
			if len(wanted[name]) == 0 {
				delete(wanted, name)
			}
		}
		var some words.Set
		if text != "" {
			var err error
			if some, err = s.Search(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		ofPrompt := strings.Contains(text, "prompt:")
		query := strings.Fields(strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(text, "prompt:", ""), "'", " ")))
		facets := map[string]map[string]int{}
		var want []int
		for at := range rows {
			row := &rows[at]
			var other []string
			for name, values := range wanted {
				if of, ok := has[at][name]; ok && !slices.ContainsFunc(of, func(v string) bool { return slices.Contains(values, v) }) {
					other = append(other, name)
				}
			}
			if len(other) > 1 || text != "" && !hasWords(row.Prompt.Said(), query) && (ofPrompt || !hasWords(row.Response.Text, query)) {
				continue
			}
			for name, values := range has[at] {
				if len(other) == 0 || other[0] == name {
					if facets[name] == nil {
						facets[name] = map[string]int{}
					}
					for _, v := range values {
						facets[name][v]++
					}
				}
			}
			if len(other) == 0 {
				want = append(want, at)
				for name := range wanted {
					seen[name]++
				}
			}
		}
		chosen, err := s.Choose(t.Context(), wanted, some)
		if err != nil {
			t.Fatal(err)
		}
		total, got := chosen.Count()
		if total != len(want) {
			t.Fatalf("%v: %d rows, want %d", wanted, total, len(want))
		}
		if diff := gocmp.Diff(facets, got); diff != "" {
			t.Fatalf("%v, %q: %s", wanted, text, diff)
		}
		for at := range rows {
			if chosen.Has(at) != slices.Contains(want, at) {
				t.Fatalf("%v: row %d is chosen: %t", wanted, at, chosen.Has(at))
			}
		}
		o := orders[random.IntN(len(orders))]
		slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(sortValue(rows, a, o), sortValue(rows, b, o)) })
		var all []int
		for {
			page, err := chosen.Page(t.Context(), o, len(all), 50)
			if err != nil || len(page) > 50 {
				t.Fatalf("%v: a page of %d, %v", wanted, len(page), err)
			}
			if len(page) == 0 {
				break
			}
			all = append(all, page...)
		}
		if !slices.Equal(all, want) {
			t.Fatalf("%v by %v: rows %v, want %v", wanted, o, all, want)
		}
	}
	for name := range has[0] {
		if seen[name] == 0 {
			t.Errorf("no filter by %s chose any row", name)
		}
	}
	if _, err := s.Search(t.Context(), "?!"); err == nil {
		t.Error("a search without a word is taken")
	}
	p.fill(r, everything)
	p.study(r)
	if _, err := s.Search(t.Context(), "hello"); err == nil {
		t.Error("rows that were made anew are read")
	}
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
		found, err := s.Search(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		chosen, err := s.Choose(t.Context(), nil, found)
		if err != nil {
			t.Fatal(err)
		}
		if total, _ := chosen.Count(); total != want {
			t.Errorf("%q finds %d, want %d", query, total, want)
		}
	}
}
