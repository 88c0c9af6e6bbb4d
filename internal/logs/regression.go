package logs

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/similar"
)

// sameMessage is the similarity from which two messages are one of a regression set.
const sameMessage = 0.8

// Regression is a message that was wrongly refused: a row of a dataset of safe prompts. With its
// response it is also a recorded answer, so that it can be a rejected one without asking again.
type Regression struct {
	// Prompt is a text or, where something was said before, a list of messages.
	Prompt   any           `json:"prompt"`
	Label    orbench.Label `json:"label"`
	Source   Source        `json:"category"`
	Count    string        `json:"count"`
	Response string        `json:"response,omitempty"`
	count    float64
}

// Regressions are the messages of looks that were refused and should have been answered,
// each once, with near duplicates under the first; those that stand for most come first.
// Category is who refused, and count about how many exchanges of the log a row stands for. Masks
// become plausible values; left counts the looks that have none for a mask.
func Regressions(looks []Look) (all []Regression, left int) {
	index := similar.NewIndex(sameMessage)
	for _, l := range looks {
		if l.Refused != Yes || l.Answerable != Yes {
			continue
		}
		asked := l.Asked()
		whole := true
		for i, m := range asked.Messages {
			asked.Messages[i].Content = plausible(m.Content, &whole)
		}
		r := Regression{Prompt: asked.Messages, Label: orbench.Safe, Source: Model, Response: plausible(l.Reply, &whole), count: l.weight()}
		if !whole {
			left++
			continue
		}
		// Texts of the index have the numbers of all.
		if n, _, duplicate := index.Add(l.Message); duplicate {
			all[n].count += r.count
			continue
		}
		if source, refused := sourceOf(l.Stratum); refused {
			r.Source = source
		}
		if len(asked.Messages) == 1 {
			r.Prompt = asked.Text()
		}
		all = append(all, r)
	}
	for i := range all {
		all[i].Count = strconv.Itoa(int(math.Round(all[i].count)))
	}
	slices.SortStableFunc(all, func(a, b Regression) int {
		return cmp.Or(cmp.Compare(math.Round(b.count), math.Round(a.count)), cmp.Compare(fmt.Sprint(a.Prompt), fmt.Sprint(b.Prompt)))
	})
	return all, left
}

// maskForm finds what a Masker writes.
var maskForm = regexp.MustCompile(`\[(key|mail|IBAN|card|IP|phone|name) (\d+)\]`)

// values are plausible ones of nobody: of the ranges for examples of RFC 2606 and 5737, of numbers
// that are never given, and of cards and accounts for tests.
var values = map[string]func(n int) string{
	"mail":  func(n int) string { return fmt.Sprintf("person%d@example.com", n) },
	"IBAN":  func(int) string { return "DE89 3704 0044 0532 0130 00" },
	"card":  func(int) string { return "4111 1111 1111 1111" },
	"IP":    func(n int) string { return fmt.Sprintf("192.0.2.%d", n%254+1) },
	"phone": func(n int) string { return fmt.Sprintf("+1 202 555 %04d", 100+n%100) },
	"name":  func(n int) string { return []string{"Alex", "Sam", "Robin", "Kim", "Toni", "Jo"}[n%6] },
}

// Plausible is a text with values of nobody in place of people's, and whether there is one for
// each.
func (m *Masker) Plausible(text string) (masked string, whole bool) {
	whole = true
	return plausible(m.Text(text), &whole), whole
}

// plausible is a text with values in place of masks. whole becomes false for one without, such as
// a key.
func plausible(text string, whole *bool) string {
	return maskForm.ReplaceAllStringFunc(text, func(mask string) string {
		m := maskForm.FindStringSubmatch(mask)
		of, n := values[m[1]], 0
		if _, err := fmt.Sscan(m[2], &n); err != nil || of == nil {
			*whole = false
			return mask
		}
		return of(n)
	})
}
