package paper

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/orbench/orbench"
)

// TestContradictionsFollow computes from the embedded figures what contradicts the text.
func TestContradictionsFollow(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/contradictions.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := Contradictions()
	if len(rows) != len(all)+1 {
		t.Fatalf("%d rows for %d contradictions", len(rows)-1, len(all))
	}
	averages := Families(Models())
	byNumber := map[int]Table{2: TableOf(HardRefusal), 6: TableOf(ToxicAcceptance), 7: TableOf(KeywordRefusal)}
	found := template.New("found").Funcs(template.FuncMap{
		"rate": func(n int, model string, c orbench.Category) float64 {
			return byNumber[n].Of(model, string(c))
		},
		"sum": func(n int, model string) float64 { return categorySum(byNumber[n], model) },
		"gap": func(model string) float64 {
			t := TableOf(KeywordAgainstGPT4)
			return t.Of(model, "GPT-4") - t.Of(model, "opening words")
		},
		"mean": func(name string) float64 {
			return first(averages, func(f FamilyAverage) bool { return f.Name == name }).Mean
		},
		"percent": func(n, of int) float64 { return 100 * float64(n) / float64(of) },
	})
	figures := countFits()
	for i, row := range rows[1:] {
		var b strings.Builder
		if err := template.Must(found.Parse(row[2])).Execute(&b, figures); err != nil {
			t.Fatal(err)
		}
		if want := (Contradiction{row[0], row[1], b.String()}); all[i] != want {
			t.Errorf("%+v, want %+v", all[i], want)
		}
	}
}

// fitCount counts models and rates of table 2 by the version that they fit.
type fitCount struct {
	// Older and Newer count the models whose rows of both tables fit that
	// version better. Odd counts the rates that do not fit their own version in
	// the way that the rest of the row does.
	Older, Newer, Odd int
	// Cells counts the rates of the older models; Rounded and Cut count those
	// that can be rounded or cut values.
	Cells, Rounded, Cut int
	Sizes               []categorySize
}

// categorySize is how many prompts of a category the sets have, by version.
type categorySize struct {
	Category                                           orbench.Category
	HardOlder, HardReleased, ToxicOlder, ToxicReleased int
}

func categorySizes() []categorySize {
	var all []categorySize
	t := TableOf(Categories)
	for _, r := range t.Rows {
		n := func(column string) int { return int(t.Of(r.Name, column)) }
		all = append(all, categorySize{orbench.Category(r.Name), n("hard_older_n"), n("hard_released_n"), n("toxic_older_n"), n("toxic_released_n")})
	}
	return all
}

func countFits() fitCount {
	n := fitCount{Sizes: categorySizes()}
	for _, m := range Models() {
		hard, toxic := FitVersions(TableOf(HardRefusal), m.Name), FitVersions(TableOf(ToxicAcceptance), m.Name)
		// Two rows of the toxic table have so few answers that they fit both
		// versions.
		if hard[0].Version == Older && toxic[0].Best() == 10 {
			n.Older++
		}
		if hard[0].Version == Released && toxic[0].Version == Released {
			n.Newer++
		}
		n.Odd += len(orbench.PaperCategories) - hard[0].Best()
		if m.Version == Older {
			n.Rounded += hard[0].Rounded
			n.Cut += hard[0].Cut
			n.Cells += len(orbench.PaperCategories)
		}
	}
	return n
}

// categorySum returns the overall rate, in per cent, that follows from a row's
// categories on the released prompts: the sum of the whole numbers nearest to
// the printed rates.
func categorySum(t Table, model string) float64 {
	refused, n := 0, 0
	for _, size := range categorySizes() {
		released := t.sizes(size)[1]
		refused += int(t.Of(model, string(size.Category))*float64(released)/100 + 0.5)
		n += released
	}
	return 100 * float64(refused) / float64(n)
}

// Fit counts how many of the ten printed rates of a row can be a whole number
// of refusals among a version's prompts of that category, rounded to 0.1 per
// cent or cut to it. A row fits the version that it was measured on with all
// ten rates, and the other one with a few by chance. A fit with a single
// exception has one rate that was rounded among nine that were cut; table 2 has
// six such rows.
type Fit struct {
	Version Version `json:"version"`
	Rounded int     `json:"rounded"`
	Cut     int     `json:"cut"`
}

// Best returns how many rates fit in the better of the two ways.
func (f Fit) Best() int { return max(f.Rounded, f.Cut) }

// FitVersions compares one model's row of the hard or the toxic table with both
// versions of that set. The better fit comes first.
func FitVersions(t Table, model string) []Fit {
	fits := []Fit{{Version: Older}, {Version: Released}}
	for _, size := range categorySizes() {
		for k, n := range t.sizes(size) {
			rounded, cut := possible(t.Of(model, string(size.Category)), n)
			if rounded {
				fits[k].Rounded++
			}
			if cut {
				fits[k].Cut++
			}
		}
	}
	if fits[1].Best() > fits[0].Best() {
		slices.Reverse(fits)
	}
	return fits
}

// sizes returns the number of prompts of a category in the table's set: older,
// released.
func (t Table) sizes(s categorySize) [2]int {
	if t.Name == ToxicAcceptance {
		return [2]int{s.ToxicOlder, s.ToxicReleased}
	}
	return [2]int{s.HardOlder, s.HardReleased}
}

// possible reports whether k of n, for some k, is printed as this rate when
// rounded to 0.1 per cent, and when cut.
func possible(rate float64, n int) (rounded, cut bool) {
	// In thousandths, so that all values are whole numbers.
	printed := int(math.Round(10 * rate))
	for k := range n + 1 {
		rounded = rounded || (2000*k+n)/(2*n) == printed
		cut = cut || 1000*k/n == printed
	}
	return rounded, cut
}
