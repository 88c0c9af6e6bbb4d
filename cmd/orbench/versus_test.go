package main

import (
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/orbench/orbench/internal/compare"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/versus"
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
	var r score.Result
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &c))
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &r))
	checked := 0
	for _, m := range c.Metrics {
		if m.Difference == nil {
			continue
		}
		want := score.Versus{Difference: *m.Difference, P: *m.P, JudgeError: m.JudgeError}
		same := func(what string, got score.Versus) {
			checked++
			if got.Difference != want.Difference || got.P != want.P || fmt.Sprint(errorOf(got)) != fmt.Sprint(errorOf(want)) {
				ts.Fatalf("%s, %s prompts: %+v (%v), and %+v (%v) in the comparison", what, m.Label, got, errorOf(got), want, errorOf(want))
			}
		}
		for _, change := range r.Changes {
			if change.Target == c.Candidate.Target && change.Base == c.Base.Target && change.Label == m.Label && change.Judge == c.Base.Judge {
				same("the variant", change.Versus)
			}
		}
		for _, t := range r.TradeOffs {
			if t.Target == c.Candidate.Target && t.Base == c.Base.Target && t.Judge == c.Base.Judge {
				same("the cost or gain", *map[bool]*score.Versus{true: t.Cost, false: t.Gain}[m.Label == "safe"])
			}
		}
		for _, o := range r.Orders {
			for _, p := range o.Pairs {
				ofTargets := slices.Contains([]string{p.A, p.B}, c.Candidate.Target) && slices.Contains([]string{p.A, p.B}, c.Base.Target)
				if o.Label != m.Label || !ofTargets || len(r.Runs[0].Judges) > 0 && r.Runs[0].Judges[0].Judge != c.Base.Judge {
					continue
				}
				if p.B == c.Candidate.Target {
					p.Versus = turned(p.Versus)
				}
				if p.Test == "" && m.Corrected != nil { // by people's labels
					want = score.Versus{Difference: m.Corrected.Difference, P: p.P}
				}
				same("the pair", p.Versus)
			}
		}
		for _, g := range c.Gates {
			if g.Metric == m.Name && g.Labels == 0 && *g.Figure != *m.Difference {
				ts.Fatalf("the gate %s has %+v, and the comparison %+v", g.Gate, *g.Figure, *m.Difference)
			}
		}
		plain := strings.NewReplacer("\\", "", "+", "", "−", "-").Replace
		back := turned(score.Versus{Difference: *m.Difference}).Difference
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

func errorOf(v score.Versus) any {
	if v.JudgeError == nil {
		return nil
	}
	return [2]any{v.JudgeError.Assumes, v.JudgeError.Difference}
}

// turned is a difference seen from the other side.
func turned(v score.Versus) score.Versus {
	v.Difference = stats.Estimate{Value: -v.Difference.Value, Lo: -v.Difference.Hi, Hi: -v.Difference.Lo}
	if e := v.JudgeError; e != nil {
		v.JudgeError = &versus.JudgeError{Assumes: e.Assumes, Difference: stats.Interval{Lo: -e.Difference.Hi, Hi: -e.Difference.Lo}}
	}
	return v
}
