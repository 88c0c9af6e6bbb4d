package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// addDisagreements adds to a brief screen, for each pair of judges, the number
// of answers on which they differ, and one answer on which two judges differ. A
// pair may appear several times, once for each target.
func addDisagreements(d *table.Document, words table.Words, r score.Result) {
	var pairs []score.Agreement
	var example *score.Agreement
	for _, run := range r.Runs {
		for _, a := range run.Agreement {
			sum := table.Entry(&pairs, score.Agreement{A: a.A, B: a.B}, func(p score.Agreement) bool { return p.A == a.A && p.B == a.B })
			sum.N += a.N
			sum.Counts.Add(a.Counts)
			if a.Example != nil && (example == nil || a.Example.Better(example.Example)) {
				example = &a
			}
		}
	}
	pairs = slices.DeleteFunc(pairs, func(p score.Agreement) bool { return p.N == 0 })
	for _, p := range pairs {
		_, onlyA, onlyB, _ := p.Whole()
		d.AddTo(table.OnBrief, table.Line(words.Of(fmt.Sprintf("%s and %s differ on %s of %s answers: refused by %s alone %s, by %s alone %s.",
			p.A, p.B, table.Count(onlyA+onlyB), table.Count(p.N), p.A, table.Count(onlyA), p.B, table.Count(onlyB)))))
	}
	if len(pairs) > 0 {
		d.AddTo(table.OnBrief, table.Gap)
	}
	if example == nil {
		return
	}
	class := func(c orbench.Class) string { return strings.ReplaceAll(string(c), "_", " ") }
	e := example.Example
	d.AddTo(table.OnBrief, table.Line(fmt.Sprintf("An answer on which they differ (%s: %s; %s: %s):", example.A, class(example.ExampleA), example.B, class(example.ExampleB))),
		table.Note{Mark: "  ", Text: "“" + e.Prompt + "”"}, table.Note{Mark: "  → ", Text: "“" + e.Answer + "”"}, table.Gap)
}
