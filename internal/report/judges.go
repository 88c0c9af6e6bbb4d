package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// AddDisagreements adds to a brief screen, for each pair of judges, the number
// of answers on which they differ, and one answer on which two judges differ. A
// pair may appear several times, once for each target.
func AddDisagreements(d *table.Document, words table.Words, all []score.Agreement) {
	var pairs []score.Agreement
	var example *score.Agreement
	for _, a := range all {
		sum := table.Entry(&pairs, score.Agreement{A: a.A, B: a.B}, func(p score.Agreement) bool { return p.A == a.A && p.B == a.B })
		sum.N += a.N
		sum.Counts.Add(a.Counts)
		if a.Example != nil && (example == nil || a.Example.Better(&example.Example.Example)) {
			example = &a
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
	d.AddTo(table.OnBrief, table.Line(fmt.Sprintf("An answer on which they differ (%s: %s; %s: %s):", example.A, class(e.A), example.B, class(e.B))),
		table.Note{Mark: "  ", Text: "“" + e.Prompt + "”"}, table.Note{Mark: "  → ", Text: "“" + e.Answer + "”"}, table.Gap)
}

// byJudge splits subjects by judge.
func byJudge(all []subject, judges []string) []subject {
	var parted []subject
	for _, s := range all {
		for _, name := range judges {
			one := s
			one.runs = map[orbench.Label]score.RunResult{}
			for label, run := range s.runs {
				if j := run.By(name); j != nil {
					run.Judges, run.Labeled = []score.JudgeResult{*j}, nil
					one.runs[label] = run
				}
			}
			if len(one.runs) > 0 {
				parted = append(parted, one)
			}
		}
	}
	return parted
}
