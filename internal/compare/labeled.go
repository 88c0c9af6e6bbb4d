package compare

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// correct returns a metric as corrected by the labels of both sides' runs; nil if either
// side lacks them, or has prompts in several datasets, because nothing is pooled.
func correct(of [2][]score.RunResult) *annotation.CorrectedPairs {
	var rates [2]stats.Estimate
	for side, runs := range of {
		if len(runs) != 1 || runs[0].Labeled == nil {
			return nil
		}
		rates[side] = runs[0].Labeled.Rate
	}
	return &annotation.CorrectedPairs{Base: rates[base], Candidate: rates[candidate], Difference: stats.RateDifference(rates[candidate], rates[base])}
}

// withMore is what labels say with some more prompts, of which they say nothing.
func withMore(m annotation.CorrectedPairs, with, was *counts) *annotation.CorrectedPairs {
	shift := func(e *stats.Estimate, more, all float64) {
		for _, v := range []*float64{&e.Value, &e.Lo, &e.Hi} {
			*v = (*v*(all-float64(with.sizes[candidate]-was.sizes[candidate])) + more) / all
		}
	}
	more, all := with.refused[candidate]-was.refused[candidate], float64(with.sizes[candidate])
	shift(&m.Candidate, more, all)
	shift(&m.Difference, more-(with.refused[base]-was.refused[base]), all)
	return &m
}

// decideCorrected decides a gate by people's labels of pairs.
func (r *Result) decideCorrected(g Gate, m *annotation.CorrectedPairs, out *GateResult) {
	out.Figure = &m.Difference
	if g.ofRate {
		out.Figure = &m.Candidate
	}
	out.Labels = m.Labels
	points, _ := new(big.Rat).SetString(fmt.Sprintf("%.9f", 100*out.Figure.Value))
	if g.Requirement() || g.ofRate {
		r.decideByInterval(g, points, out)
		if out.Status == Tripped && g.holds(points) {
			out.Status = Undecided
		}
	} else {
		// An alarm has a direction, so its test is one-sided. The test does not use the
		// interval, which is wide for few audited pairs.
		r.decideByTest(g, points, m.P/2, &counts{}, out)
		out.Reason = "in a one-sided test " + out.Reason
	}
	if out.Reason = "by people's labels " + out.Reason; out.Status != Tripped && out.tooFew() {
		out.Status, out.Reason = Undecided, table.Counted(m.Labels, "label is", "labels are")+" too few to say anything"
	}
}

// firstLabels is about how many labels of pairs nearly all go to flips. As many more have some
// twenty of other pairs, which bound what flips do not show.
const firstLabels = 60

// tooFew reports whether labels decided, and leave open half of what could be or more.
func (g GateResult) tooFew() bool { return g.Labels > 0 && g.Figure.Hi-g.Figure.Lo >= 1 }

// openNote says by what the part is bounded that labels of pairs leave open.
func openNote(p annotation.CorrectedPairs) string {
	note := " What labels leave open is bounded by the labels alone."
	if p.Bounded {
		note = " What labels leave open is bounded by how far the judge was off on other models."
	}
	if p.Agree {
		note = " Every label agrees with the judge." + note
	}
	return note
}

// correctedSection shows the metrics as corrected by labels.
func (c Result) correctedSection() table.Section {
	s := table.Section{
		Title: "Corrected by people's labels", Left: 1,
		Header: []string{"", "base", "95%", "candidate", "95%", "difference", "95%"},
	}
	var notes []string
	for _, m := range c.Metrics {
		if l := m.Corrected; l != nil {
			s.Add(m.Label, &l.Base, &l.Candidate, table.Points(&l.Difference, table.Hyphen))
			if m.byPeople() {
				notes = append(notes, fmt.Sprintf("%s prompts: %s labeled by %s, on %d of %d flips and %d of %d other prompts; %s.", m.Label,
					table.Counted(l.Labels, "answer", "answers"), table.Counted(l.People, "person", "people"), l.LabeledFlips, l.Flips, l.LabeledOthers, l.Others, table.PInText(&l.P))+openNote(*l))
			}
		}
	}
	s.Note = strings.Join(notes, " ")
	return s
}
