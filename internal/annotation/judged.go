package annotation

import (
	"cmp"
	"maps"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// JudgeAgreement says how one judge agrees with people about all answers of a
// cell that have a text and that it judged, by the labels of drawn answers. Each
// label counts for as many answers as its chance says. Intervals are 95%; a
// figure is nil if labels say nothing of it.
type JudgeAgreement struct {
	Judge string `json:"judge"`
	// Labels is the number of drawn answers with a label and a verdict.
	Labels int `json:"labels"`
	// Accuracy is the share of answers about which the judge and people agree.
	Accuracy *stats.Estimate `json:"accuracy"`
	// Specificity is that among what people call answers, Recall that among what
	// they call refusals.
	Specificity *stats.Estimate `json:"specificity"`
	Recall      *stats.Estimate `json:"recall"`
}

// JudgePreference says whom of two judges people side with where the two differ.
type JudgePreference struct {
	A string `json:"a"`
	B string `json:"b"`
	// Differ is the number of answers that one of them calls a refusal and the
	// other an answer. Labels is how many of them were drawn and labeled.
	Differ int `json:"differ"`
	Labels int `json:"labels"`
	// ForA is the share of these answers on which people side with A, with a 95%
	// interval; nil if labels do not tell.
	ForA *stats.Estimate `json:"for_a"`
}

// pattern is a group of answers with what each judge says: a byte each.
type pattern struct {
	group Group
	said  string
}

// What a judge says in a pattern.
const (
	saidRefused, saidAnswered, saidNothing = 'r', 'a', '-'
)

// labelCount counts answers and their labels.
type labelCount struct {
	size, labels              int
	weights, squares, refused float64
}

func (c *labelCount) add(o labelCount) {
	c.size, c.labels = c.size+o.size, c.labels+o.labels
	c.weights, c.squares, c.refused = c.weights+o.weights, c.squares+o.squares, c.refused+o.refused
}

// label counts the labels of an answer, of which a share says refusal. It weighs as much as
// one over its chance.
func (c *labelCount) label(weight, share float64) {
	c.add(labelCount{labels: 1, weights: weight, squares: weight * weight, refused: weight * share})
}

// stratum is the answers with the share that people call refusals, and how many labels with
// equal chances say as much. There must be labels.
func (c labelCount) stratum() stats.LabeledStratum {
	return stats.LabeledStratum{Size: c.size, Mean: min(1, c.refused/c.weights), Labels: c.weights * c.weights / c.squares}
}

// patternOf is what the judges say, in their order.
func patternOf(g Group, verdicts []orbench.Verdict) pattern {
	said := make([]byte, len(verdicts))
	for i, v := range verdicts {
		said[i] = saidAnswered
		if v.Class == orbench.Unjudged {
			said[i] = saidNothing
		} else if v.Class.Refused() {
			said[i] = saidRefused
		}
	}
	return pattern{g, string(said)}
}

// part is a number of answers about which some judges say the same, by group.
type part struct {
	labelCount
	group Group
	side  byte
}

// parts adds up the patterns by group and side. sideOf returns the side, or 0 to leave
// a pattern out. The answers of a part without labels are added to the nearest part of
// the same side that has labels; ok is false if no part has any.
func (t *Tally) parts(sideOf func(said string) byte) (parts []part, ok bool) {
	type key struct {
		side  byte
		group Group
	}
	sums := map[key]labelCount{}
	for p, n := range t.judged {
		if side := sideOf(p.said); side != 0 {
			sum := sums[key{side, p.group}]
			sum.add(n)
			sums[key{side, p.group}] = sum
		}
	}
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b key) int { return cmp.Or(cmp.Compare(a.side, b.side), cmp.Compare(a.group, b.group)) })
	for _, k := range keys {
		if sums[k].labels > 0 {
			parts = append(parts, part{sums[k], k.group, k.side})
		}
	}
	for _, k := range keys {
		if sums[k].labels > 0 {
			continue
		}
		nearest := -1
		for i, p := range parts {
			if p.side == k.side && (nearest < 0 || max(p.group-k.group, k.group-p.group) < max(parts[nearest].group-k.group, k.group-parts[nearest].group)) {
				nearest = i
			}
		}
		if nearest < 0 {
			return nil, false
		}
		parts[nearest].size += sums[k].size
	}
	return parts, len(parts) > 0
}

// Agreement compares each judge with people, and each pair of judges. names are
// the judges in the order of their classes. designEffect is as in Corrected.
func (t *Tally) Agreement(names []string, designEffect float64) (judges []JudgeAgreement, pairs []JudgePreference) {
	for i, name := range names {
		judges = append(judges, t.agreement(i, name, designEffect))
	}
	for i, a := range names {
		for j := i + 1; j < len(names); j++ {
			pairs = append(pairs, t.preference(i, j, a, names[j], designEffect))
		}
	}
	return judges, pairs
}

// agreement compares the i-th judge with people.
func (t *Tally) agreement(i int, name string, designEffect float64) JudgeAgreement {
	a := JudgeAgreement{Judge: name}
	parts, ok := t.parts(func(said string) byte {
		if said[i] == saidNothing {
			return 0
		}
		return said[i]
	})
	var right []stats.LabeledStratum
	var answers, refusals []stats.RatioStratum
	for _, p := range parts {
		a.Labels += p.labels
		agree := p.stratum()
		refused := agree.Mean
		answer := stats.RatioStratum{Size: agree.Size, Labels: agree.Labels}
		refusal := answer
		if p.side == saidRefused {
			refusal.Part, answer.Rest = refused, 1-refused
		} else {
			agree.Mean = 1 - refused
			refusal.Rest, answer.Part = refused, 1-refused
		}
		right = append(right, agree)
		answers, refusals = append(answers, answer), append(refusals, refusal)
	}
	if !ok {
		return a
	}
	a.Accuracy = stats.OrNil(stats.StratifiedRate(right, designEffect, confidence))
	a.Specificity = stats.OrNil(stats.StratifiedRatio(answers, designEffect, confidence))
	a.Recall = stats.OrNil(stats.StratifiedRatio(refusals, designEffect, confidence))
	return a
}

// preference says whom of two judges people side with.
func (t *Tally) preference(i, j int, a, b string, designEffect float64) JudgePreference {
	p := JudgePreference{A: a, B: b}
	differ := func(said string) byte {
		if said[i] == said[j] || said[i] == saidNothing || said[j] == saidNothing {
			return 0
		}
		return said[i]
	}
	for pattern, n := range t.judged {
		if differ(pattern.said) != 0 {
			p.Differ, p.Labels = p.Differ+n.size, p.Labels+n.labels
		}
	}
	parts, ok := t.parts(differ)
	var forA []stats.LabeledStratum
	for _, part := range parts {
		s := part.stratum()
		if part.side == saidAnswered {
			s.Mean = 1 - s.Mean
		}
		forA = append(forA, s)
	}
	if ok {
		p.ForA = stats.OrNil(stats.StratifiedRate(forA, designEffect, confidence))
	}
	return p
}
