package paper

import (
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/orbench/orbench"
)

// Contradiction is a place where the publication contradicts itself.
type Contradiction struct {
	// Where names the tables, figures and sections.
	Where string `json:"where"`
	// Printed is what they say. Found is what follows when the figures are
	// computed again.
	Printed string `json:"printed"`
	Found   string `json:"found"`
}

// Contradictions lists where the publication contradicts itself. What follows
// from the embedded figures is computed; the rest is quoted as read.
func Contradictions() []Contradiction {
	averages := families(Models())
	found := template.New("found").Funcs(template.FuncMap{
		"rate": func(n int, model string, c orbench.Category) float64 {
			t := TableOf(n)
			if i := slices.Index(t.Categories, c); i >= 0 {
				return t.Rates(model).Rates[i]
			}
			return t.Rates(model).Overall
		},
		"sum": func(n int, model string) float64 { return categorySum(TableOf(n), model) },
		"gap": func(model string) float64 {
			r := first(KeywordAgainstGPT4(), func(r KeywordRow) bool { return r.Model == model })
			return r.GPT4 - r.Keyword
		},
		"mean": func(name string) float64 {
			return first(averages, func(f FamilyAverage) bool { return f.Name == name }).Mean
		},
		"percent": func(n, of int) float64 { return 100 * float64(n) / float64(of) },
	})
	figures := countFits()
	return read("contradictions.csv", func(r []string) Contradiction {
		var b strings.Builder
		if err := template.Must(found.Parse(r[2])).Execute(&b, figures); err != nil {
			panic(fmt.Sprintf("paper: contradictions.csv: %v", err))
		}
		return Contradiction{r[0], r[1], b.String()}
	}, "where", "printed", "found")
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
	Sizes               []CategorySize
}

func countFits() fitCount {
	n := fitCount{Sizes: CategorySizes()}
	for _, m := range Models() {
		hard, toxic := FitVersions(TableOf(2), m.Name), FitVersions(TableOf(6), m.Name)
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
	for i, size := range CategorySizes() {
		released := t.sizes(size)[1]
		refused += int(t.Rates(model).Rates[i]*float64(released)/100 + 0.5)
		n += released
	}
	return 100 * float64(refused) / float64(n)
}
