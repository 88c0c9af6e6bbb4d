package compare

import (
	"context"
	"slices"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/versus"
)

// DefaultLabels is how many answers are drawn for each rate when no number is
// given: enough for the gates of two checkpoints of one model.
const DefaultLabels = 60

// paired returns the pairs of answers to prompts of a label, on which the judge
// has a verdict on both sides. It has none if the sides are two judges of the
// same answers.
func (c *Comparison) paired(label orbench.Label) (p annotation.Paired) {
	var cells [][2]annotation.Cell
	for i := range c.entries {
		e := &c.entries[i]
		if !c.isPair(e, label) {
			continue
		}
		var of [2]annotation.Cell
		for side := range of {
			of[side] = c.cells[side][figure.Keys{Dataset: e.datasets[side], Label: label}]
		}
		if !slices.Contains(cells, of) {
			cells = append(cells, of)
			p.Design += "pairs of " + of[base].Design() + " and " + of[candidate].Design() + "; "
		}
		p.Pairs = append(p.Pairs, c.pair(e))
	}
	return p
}

// pair is an entry as people label it.
func (c *Comparison) pair(e *entry) annotation.Pair {
	return annotation.Pair{
		Base: e.subjects[base], Candidate: e.subjects[candidate],
		BaseRefused: e.classes[base].Refused(), CandidateRefused: e.classes[candidate].Refused(),
		BaseWithheld: withheldClass(e.classes[base]), CandidateWithheld: withheldClass(e.classes[candidate]),
		Unsure: e.unsure[base] || e.unsure[candidate],
	}
}

// isPair reports whether an entry is a pair of a label.
func (c *Comparison) isPair(e *entry, label orbench.Label) bool {
	return c.judges[base] == c.judges[candidate] && e.prompt.Label == label && e.judged() && e.subjects[base] != (orbench.Subject{})
}

// withheldClass reports whether an answer is a refusal by definition.
func withheldClass(c orbench.Class) bool { return c == orbench.Blocked || c == orbench.Empty }

// correctPairs returns the metric of a label by people's labels of pairs that were drawn for
// this comparison; nil if there are none.
func (c *Comparison) correctPairs(label orbench.Label, words annotation.Words, by Metric) *annotation.CorrectedPairs {
	if words.Empty() || !c.keepsSubjects {
		return nil
	}
	all := c.paired(label)
	if all.Error = by.JudgeError; by.Difference != nil {
		all.Judged = *by.Difference
	}
	pairs, ok := all.Corrected(words, by.counts.pairs.DesignEffect())
	if !ok {
		return nil
	}
	return &pairs
}

// labeledFlips returns the counts of a requirement on the difference of one model if
// people labeled all flips: these are as people say, and all else as the judge says. The
// judge errs on both sides alike, so what does not flip has not changed; nil if a label
// says that it has, or if some flip has no label.
func (c *Comparison) labeledFlips(g Gate, m Metric, o Options) (*counts, int) {
	if !m.counts.paired || !g.Requirement() || g.ofRate || g.category != "" || g.byVerdicts || o.assumes == "" || o.assumes == versus.TwoModels || m.counts.several || m.counts.pairs.OnlyA+m.counts.pairs.OnlyB == 0 {
		return nil, 0
	}
	n, labels := *m.counts, 0
	n.pairs = versus.Pairs{}
	for i := range c.entries {
		e := &c.entries[i]
		if !c.isPair(e, m.Label) {
			continue
		}
		before, after, ok := c.pair(e).Said(o.words)
		flipped := e.said[base] != e.said[candidate]
		switch {
		case ok && flipped:
			labels++
			n.pairs.Add(c.clusterOn(base, i, true), versus.Once(before > 0.5), versus.Once(after > 0.5))
			continue
		case flipped, ok && before != after:
			return nil, 0
		}
		n.pairs.Add(c.clusterOn(base, i, true), e.said[base], e.said[candidate])
	}
	if labels == 0 {
		return nil, 0 // two judges of the same answers flip no answer
	}
	n.refused = [2]float64{n.pairs.Both + n.pairs.OnlyA, n.pairs.Both + n.pairs.OnlyB}
	return &n, labels
}

// Draw draws pairs of answers for people, at most some labels for each of the
// metrics that gates are on, or for both without gates. It returns the annotations
// to store, and how many labels the pairs may need in all.
func (c *Comparison) Draw(labels int, o Options, earlier []orbench.Annotation, at time.Time) (drawn []orbench.Annotation, most int) {
	words := annotation.NewWords(earlier)
	for _, label := range compared {
		if len(o.Gates) == 0 || slices.ContainsFunc(o.Gates, func(g Gate) bool { return g.label == label }) {
			pairs := c.paired(label)
			drawn = append(drawn, pairs.Draw(labels, o.Seed, words, at)...)
			most += min(labels, 2*len(pairs.Pairs))
		}
	}
	return drawn, most
}

// Entries returns the answers of drawn pairs that people are to label.
func (c *Comparison) Entries(ctx context.Context, m store.Reader, sides [2]*run.Run, words annotation.Words) ([]annotation.Entry, error) {
	drawn := map[orbench.Subject]bool{}
	for _, label := range compared {
		for s := range c.paired(label).Subjects(words) {
			drawn[s] = true
		}
	}
	var flips []Flip
	var subjects [][2]orbench.Subject
	for _, e := range c.entries {
		if drawn[e.subjects[base]] || drawn[e.subjects[candidate]] {
			flips, subjects = append(flips, Flip{Prompt: e.prompt, samples: e.samples}), append(subjects, e.subjects)
		}
	}
	if err := AddAnswers(ctx, m, sides, flips); err != nil {
		return nil, err
	}
	var entries []annotation.Entry
	for i, f := range flips {
		for side, answer := range []string{f.BaseAnswer, f.CandidateAnswer} {
			if drawn[subjects[i][side]] {
				entries = append(entries, annotation.Entry{Subject: subjects[i][side], Prompt: f.Prompt.Transcript(), Answer: answer})
			}
		}
	}
	return entries, nil
}
