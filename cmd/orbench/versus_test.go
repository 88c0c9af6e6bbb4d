package main

import (
	"encoding/json"
	"html"
	"reflect"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/orbench/orbench/internal/compare"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// samePair holds what files show of two targets to what a comparison of them says, to the last
// digit: in the JSON of a report, as a pair of targets and, if they are, as a variant and its
// base; in texts, by the difference as they print it; in a page, likewise.
//
//	samepair COMPARISON.json REPORT.json TEXT...
func samePair(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: samepair COMPARISON.json REPORT.json TEXT...")
	}
	var c compare.Result
	var r report.Published
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &c))
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &r))
	checked := 0
	for _, m := range c.Metrics {
		if m.Difference == nil {
			continue
		}
		for f := range figure.Of(r.Figures, figure.Change, figure.Difference) {
			got, assumes, wide := *f.Sampled(), "", f.Range
			if f.Target == c.Base.Target && f.Other == c.Candidate.Target {
				got, wide = turned(got), nil
				if f.Range != nil {
					back := turned(stats.Estimate{Lo: f.Range.Lo, Hi: f.Range.Hi})
					wide = &stats.Interval{Lo: back.Lo, Hi: back.Hi}
				}
			} else if f.Target != c.Candidate.Target || f.Other != c.Base.Target {
				continue
			}
			want, p, wantWide := *m.Difference, *m.P, (*stats.Interval)(nil)
			if e := m.JudgeError; e != nil {
				assumes, wantWide = string(e.Assumes), &e.Difference
			}
			switch {
			case f.Label != m.Label || f.Judge != c.Base.Judge && f.Judge != "":
				continue
			case f.Judge == "" && m.Corrected != nil: // by people's labels
				want, p, assumes, wantWide = m.Corrected.Difference, *f.P, f.Assumes, wide
			}
			checked++
			if got != want || *f.P != p || f.Assumes != assumes || !reflect.DeepEqual(wide, wantWide) {
				ts.Fatalf("%s prompts: %+v (%v), and %+v (%v) in the comparison", m.Label, f, wide, want, wantWide)
			}
		}
		for _, g := range c.Gates {
			if g.Metric == m.Name && g.Labels == 0 && *g.Figure != *m.Difference {
				ts.Fatalf("the gate %s has %+v, and the comparison %+v", g.Gate, *g.Figure, *m.Difference)
			}
		}
		plain := strings.NewReplacer("\\", "", "+", "", "−", "-").Replace
		back := turned(*m.Difference)
		for _, file := range args[2:] {
			text := plain(html.UnescapeString(ts.ReadFile(file)))
			has := func(d stats.Estimate) bool {
				return !slices.ContainsFunc(table.Points(&d, table.Hyphen), func(cell string) bool { return !strings.Contains(text, plain(cell)) })
			}
			if !has(*m.Difference) && !has(back) {
				ts.Fatalf("%s lacks the difference on %s prompts, %q", file, m.Label, table.Points(m.Difference, table.Hyphen))
			}
		}
	}
	if checked == 0 {
		ts.Fatalf("%s has nothing of the two targets", args[1])
	}
}

// turned is a difference seen from the other side.
func turned(d stats.Estimate) stats.Estimate {
	return stats.Estimate{Value: -d.Value, Lo: -d.Hi, Hi: -d.Lo}
}
