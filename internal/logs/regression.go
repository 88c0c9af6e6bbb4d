package logs

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/sheet"
	"github.com/orbench/orbench/similar"
)

// sameMessage is the similarity from which two messages are one of a regression set.
const sameMessage = 0.8

// Regression is a message that was wrongly refused.
type Regression struct {
	Prompt string
	// Source is who refused it. Count is about how many exchanges of the log it stands for.
	Source Source
	Count  int
}

// Regressions are the messages of looks that were refused and should have been answered,
// each once, with near duplicates under the first; those that stand for most come first.
func Regressions(looks []Look) []Regression {
	index := similar.NewIndex(sameMessage)
	var all []Regression
	var counts []float64
	for _, l := range looks {
		if l.Refused != Yes || l.Answerable != Yes {
			continue
		}
		count := l.weight()
		// Texts of the index have the numbers of all.
		if n, _, duplicate := index.Add(l.Message); duplicate {
			counts[n] += count
			continue
		}
		source, refused := sourceOf(l.Stratum)
		if !refused {
			source = Model
		}
		all = append(all, Regression{Prompt: l.Message, Source: source})
		counts = append(counts, count)
	}
	for i := range all {
		all[i].Count = int(math.Round(counts[i]))
	}
	slices.SortStableFunc(all, func(a, b Regression) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Prompt, b.Prompt))
	})
	return all
}

// WriteRegressions writes a dataset of safe prompts as JSON Lines.
func WriteRegressions(w io.Writer, all []Regression) error {
	var rows [][]string
	for _, r := range all {
		rows = append(rows, []string{r.Prompt, string(orbench.Safe), string(r.Source), strconv.Itoa(r.Count)})
	}
	return sheet.Write(w, true, []string{"prompt", "label", "category", "count"}, rows)
}
