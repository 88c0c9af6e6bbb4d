package annotation

import (
	"bytes"
	"math"
	"slices"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/stats"
)

// Pair is the answers of two sides to one prompt, on both of which a judge has a
// verdict.
type Pair struct {
	Base, Candidate orbench.Subject
	// BaseRefused and CandidateRefused are the judge's verdicts.
	BaseRefused, CandidateRefused bool
	// BaseWithheld and CandidateWithheld say that there is no answer to label: it
	// was blocked or is empty, which is a refusal by definition.
	BaseWithheld, CandidateWithheld bool
	// Unsure says that the judge is not sure of a verdict on either answer (see
	// GroupOf).
	Unsure bool
}

// flipped reports whether the judge refuses one side only.
func (p Pair) flipped() bool { return p.BaseRefused != p.CandidateRefused }

// Settled reports whether nobody needs to look at the pair to know that it has
// not changed.
func (p Pair) Settled() bool {
	return p.Base == p.Candidate || p.BaseWithheld && p.CandidateWithheld
}

// subjects returns the answers to label.
func (p Pair) subjects() (s []orbench.Subject) {
	if !p.BaseWithheld {
		s = append(s, p.Base)
	}
	if !p.CandidateWithheld {
		s = append(s, p.Candidate)
	}
	return s
}

// Said returns the shares of people who call each answer a refusal. It reports
// false unless both are known. If half of the people or more contradict the judge on
// one answer of a flip, both are alike, unless the other has labels too.
func (p Pair) Said(w Words) (before, after float64, ok bool) {
	before, knownBefore := w.Refused(p.Base)
	after, knownAfter := w.Refused(p.Candidate)
	if p.BaseWithheld {
		before, knownBefore = 1, true
	}
	if p.CandidateWithheld {
		after, knownAfter = 1, true
	}
	contradicts := func(said float64, refused bool) bool { return math.Abs(said-share(refused)) >= 0.5 }
	switch {
	case p.flipped() && knownBefore && !knownAfter && contradicts(before, p.BaseRefused):
		return before, before, true
	case p.flipped() && knownAfter && !knownBefore && contradicts(after, p.CandidateRefused):
		return after, after, true
	}
	return before, after, knownBefore && knownAfter
}

// toLabel returns the answers of a drawn pair that people look at, and how many
// labels the pair may need. Of a flip they first see one answer, which does not
// depend on the verdicts. The other follows unless they contradict the judge.
func (p Pair) toLabel(w Words) (s []orbench.Subject, most int) {
	s = p.subjects()
	most = len(s)
	if !p.flipped() || most < 2 {
		return s, most
	}
	if bytes.Compare(s[1][:], s[0][:]) < 0 {
		s[0], s[1] = s[1], s[0]
	}
	_, first := w.Refused(s[0])
	_, second := w.Refused(s[1])
	switch _, _, known := p.Said(w); {
	case known && !second:
		return s[:1], 1
	case !first && !second:
		return s[:1], most
	}
	return s, most
}

// Paired is the pairs of two cells, from which pairs are drawn for people.
type Paired struct {
	Design string
	Pairs  []Pair
	// Judged is the difference by the judge's verdicts, with its interval by sampling. Error
	// is how far the judge's error is known to move it; nil if that is not known.
	Judged stats.Estimate
	Error  *versus.JudgeError
}

// Of the labels for the first pairs nearly all go to flips, as long as there are any:
// they decide whether anything changed. Of further ones a larger share audits pairs
// on which the judge says the same of both, since the interval is then as wide as what
// they may hide.
const (
	firstPairs   = 30
	flipsFirst   = 0.97
	flipsFurther = 0.6
)

// strata divides the pairs that people need to look at into flips and others,
// each in an order that depends on the seed and the answers alone.
func (p Paired) strata(seed uint64) (flips, others []Pair) {
	by := map[orbench.Subject]Pair{}
	var order []orbench.Subject
	for _, pair := range p.Pairs {
		if !pair.Settled() {
			by[pair.Base], order = pair, append(order, pair.Base)
		}
	}
	sortByLot(order, nil, seed)
	for _, s := range order {
		if by[s].flipped() {
			flips = append(flips, by[s])
		} else {
			others = append(others, by[s])
		}
	}
	return flips, others
}

// sizes returns how many flips and how many other pairs some labels suffice for if
// each pair needs two. More labels never give fewer of either.
func sizes(flips, others, labels int) (int, int) {
	pairs := float64(labels / 2)
	wanted := min(flips, int(flipsFirst*min(pairs, firstPairs)+flipsFurther*max(0, pairs-firstPairs)))
	audited := min(others, labels/2-wanted)
	return min(flips, labels/2-audited), audited
}

// Draw draws pairs for some labels, flips and others, each with the same chance
// among its kind. It returns the annotations to store, none if nothing is to be
// added. Where earlier labels left an answer out, the label goes to a further pair:
// draw again once all Subjects are labeled. More labels draw the same pairs and
// further ones. Pairs that were drawn earlier stay drawn.
func (p Paired) Draw(labels int, seed uint64, w Words, at time.Time) []orbench.Annotation {
	flips, others := p.strata(seed)
	before := 0
	for _, pair := range p.Pairs {
		if p.drawn(pair, w) {
			before++
		}
	}
	_, m := sizes(len(flips), len(others), labels)
	left := labels - 2*m
	n := 0
	for ; n < len(flips); n++ {
		_, most := flips[n].toLabel(w)
		if left < most {
			break
		}
		left -= most
	}
	if n == len(flips) {
		m = min(len(others), m+left/2)
	}
	if n+m <= before {
		return nil
	}
	var drawn []orbench.Annotation
	for i, some := range [][]Pair{flips[:n], others[:m]} {
		chance := float64(len(some)) / float64(max(1, len([][]Pair{flips, others}[i])))
		for _, pair := range some {
			for _, s := range pair.subjects() {
				drawn = append(drawn, orbench.Annotation{Subject: s, At: at, Design: p.Design, Chance: chance})
			}
		}
	}
	return drawn
}

// drawn reports whether a pair was drawn.
func (p Paired) drawn(pair Pair, w Words) bool {
	return !pair.Settled() && !slices.ContainsFunc(pair.subjects(), func(s orbench.Subject) bool { return w.ChanceIn(p.Design, s) == 0 })
}

// chance returns the chance of a drawn pair.
func (p Paired) chance(pair Pair, w Words) float64 {
	return w.ChanceIn(p.Design, pair.subjects()[0])
}

// Subjects returns the answers of drawn pairs that people look at. It has an
// answer more for each flip on whose first answer they agree with the judge.
func (p Paired) Subjects(w Words) map[orbench.Subject]bool {
	all := map[orbench.Subject]bool{}
	for _, pair := range p.Pairs {
		if !p.drawn(pair, w) {
			continue
		}
		subjects, _ := pair.toLabel(w)
		for _, s := range subjects {
			all[s] = true
		}
	}
	return all
}

// CorrectedPairs is a difference as people see it in drawn pairs.
type CorrectedPairs struct {
	// Base and Candidate are the rates over all pairs, and Difference is
	// candidate minus base, each with a 95% interval.
	Base       stats.Estimate `json:"base"`
	Candidate  stats.Estimate `json:"candidate"`
	Difference stats.Estimate `json:"difference"`
	// P is the two-sided p-value that nothing differs; see CorrectedPairs.test.
	P float64 `json:"p,omitempty"`
	// StandardError is that of the test.
	StandardError float64 `json:"-"`
	// Labels counts the labeled answers, and People who labeled them. Flips and
	// Others count the pairs of each kind; the other two count those labeled.
	Labels        int `json:"labels,omitempty"`
	People        int `json:"people,omitempty"`
	Flips         int `json:"flips,omitempty"`
	LabeledFlips  int `json:"labeled_flips,omitempty"`
	Others        int `json:"others,omitempty"`
	LabeledOthers int `json:"labeled_others,omitempty"`
	// Agree is true if every label agrees with the judge, for pairs drawn for a comparison.
	Agree bool `json:"agree,omitempty"`
	// Bounded is true if what labels leave open is bounded by the judge's known error.
	Bounded bool `json:"bounded,omitempty"`
}

// changes are the labeled pairs of a stratum.
type changes struct {
	size            int
	n               float64
	newly, nolonger float64
	squares         float64
	flipped         bool
	// settled is true for pairs that nobody needs to look at.
	settled bool
	// off is how far people's change is from the judge's, and offBase and offCandidate how
	// far their refusals are; offSquares sums up the squares.
	off, offBase, offCandidate, offSquares float64
	// weights is the sum of the squared weights of the pairs.
	weights float64
}

// Corrected estimates the difference from people's labels of drawn pairs. What
// the judge says of both answers, and whether it is sure of both, divides them into
// strata; if one has no labels, it joins others of its kind. The difference is the
// judge's, corrected by the labels (see byJudge). designEffect is that of prompts that share
// clusters. It reports false if a kind has no labeled pair and the judge's error is not known.
func (p Paired) Corrected(w Words, designEffect float64) (c CorrectedPairs, ok bool) {
	settled := changes{settled: true}
	var flips, others kind
	people := map[string]bool{}
	for _, pair := range p.Pairs {
		if pair.Settled() {
			// Nothing changed, whatever the answer is. The judge says what it is.
			settled.add(share(pair.BaseRefused), share(pair.BaseRefused), 1)
			continue
		}
		of, all, labeled := &others, &c.Others, &c.LabeledOthers
		if pair.flipped() {
			of, all, labeled = &flips, &c.Flips, &c.LabeledFlips
		}
		stratum := of.stratum(pair)
		stratum.size++
		stratum.flipped = pair.flipped()
		*all++
		before, after, ok := pair.Said(w)
		if !ok || !p.drawn(pair, w) {
			continue
		}
		stratum.add(before, after, 1/p.chance(pair, w))
		stratum.differ(pair, before, after, 1/p.chance(pair, w))
		*labeled++
		for _, s := range pair.subjects() {
			said := w.All(s)
			c.Labels += min(1, len(said))
			for _, a := range said {
				people[a.By] = true
			}
		}
	}
	settled.size, c.People = int(settled.n), len(people)
	if c.Labels == 0 {
		return c, false
	}
	strata := slices.Concat(flips.parts(), others.parts(), []changes{settled})
	whole := !slices.ContainsFunc(strata, func(s changes) bool { return s.size > 0 && s.n == 0 })
	if !whole && (p.Error == nil || c.LabeledFlips+c.LabeledOthers == 0) {
		return c, false
	}
	p.byJudge(&c, strata, whole)
	c.P = c.test(strata, designEffect)
	return c, true
}

// byJudge sets the estimates to the judge's, corrected by what labels say of flips and of
// others. What the few labels of a kind leave open is bounded by how far the judge is
// known to be off: both are weighed by their variances, unless labels surely contradict
// what is known. The squares of the distances by sampling and by what is left open are
// added. Where every label agrees with the judge, the interval lies within the range that
// the judge's error gave without labels.
func (p Paired) byJudge(c *CorrectedPairs, strata []changes, whole bool) {
	total := 0.0
	c.Agree, c.Bounded = true, p.Error != nil
	var refused, only, corrected [2]float64
	sizes := map[bool]float64{} // by whether they are flips
	for _, s := range strata {
		total += float64(s.size)
		c.Agree = c.Agree && s.offSquares == 0
		if !s.settled {
			sizes[s.flipped] += float64(s.size)
		}
		if s.n > 0 {
			corrected[0], corrected[1] = corrected[0]+float64(s.size)*s.nolonger/s.n, corrected[1]+float64(s.size)*s.newly/s.n
		}
	}
	for _, pair := range p.Pairs {
		before, after := share(pair.BaseRefused), share(pair.CandidateRefused)
		refused[0], refused[1] = refused[0]+before, refused[1]+after
		only[0], only[1] = only[0]+math.Max(0, before-after), only[1]+math.Max(0, after-before)
	}
	judged, _ := stats.Tango(only[0], only[1], total, confidence)
	if p.Judged == (stats.Estimate{}) {
		p.Judged = judged
	}
	// Prompts differ as much as people's changes do, not as the judge's.
	if now, ok := stats.Tango(corrected[0], corrected[1], total, confidence); ok && whole {
		by := (now.Hi - now.Lo) / (judged.Hi - judged.Lo)
		p.Judged.Lo, p.Judged.Hi = p.Judged.Value-by*(p.Judged.Value-p.Judged.Lo), p.Judged.Value+by*(p.Judged.Hi-p.Judged.Value)
	}
	// end returns an estimate with the interval that labels leave of one. of is how far
	// people are off the judge in a stratum, and below and above the judge's known error.
	end := func(e stats.Estimate, of func(changes) float64, below, above float64) stats.Estimate {
		var moved float64
		var open [2]float64
		for _, flipped := range []bool{true, false} {
			mean, variance := 0.0, 0.0
			for _, s := range strata {
				if s.size == 0 || s.flipped != flipped || s.settled {
					continue
				}
				share, off := float64(s.size)/total, 0.0
				if s.n > 0 {
					off = of(s) / s.n
					mean += share * off
				}
				added := float64(s.size) / sizes[flipped]
				variance += share * share * ((s.offSquares+added)/(s.n+added) - off*off*s.n/(s.n+added)) / math.Max(s.n, 0.5) * math.Max(0, 1-s.n/float64(s.size))
			}
			// Two sides of what is known, and the wider for the figure itself.
			weight := 0.0
			for i, side := range []float64{below, above} {
				known := math.Max(side*side/stats.Z95/stats.Z95, mean*mean-4*variance)
				of := 1.0
				if p.Error != nil && variance > 0 {
					of = known / (known + variance)
				}
				weight = math.Max(weight, of)
				open[i] += of * variance
			}
			moved += weight * mean
		}
		return stats.Estimate{
			Value: e.Value + moved,
			Lo:    e.Value + moved - math.Hypot(e.Value-e.Lo, stats.Z95*math.Sqrt(open[0])),
			Hi:    e.Value + moved + math.Hypot(e.Hi-e.Value, stats.Z95*math.Sqrt(open[1])),
		}
	}
	var below, above float64
	var rate versus.Moves
	if p.Error != nil {
		rate = p.Error.Rate
		below, above = apart(p.Judged.Value-p.Error.Difference.Lo, p.Judged.Value-p.Judged.Lo), apart(p.Error.Difference.Hi-p.Judged.Value, p.Judged.Hi-p.Judged.Value)
	}
	c.Difference = within(end(p.Judged, func(s changes) float64 { return s.off }, below, above), -1)
	if c.Agree && p.Error != nil {
		c.Difference.Lo, c.Difference.Hi = math.Max(c.Difference.Lo, p.Error.Difference.Lo), math.Min(c.Difference.Hi, p.Error.Difference.Hi)
	}
	for side, of := range []func(changes) float64{func(s changes) float64 { return s.offBase }, func(s changes) float64 { return s.offCandidate }} {
		lo, hi := stats.WilsonShare(refused[side]/total, total, confidence)
		*[]*stats.Estimate{&c.Base, &c.Candidate}[side] = within(end(stats.Estimate{Value: refused[side] / total, Lo: lo, Hi: hi}, of, rate.Below, rate.Above), 0)
	}
	// Each is shrunk on its own, and the difference is what is asked for: the rates move alike
	// until they differ by it. Their intervals stay, and hold them.
	d := c.Difference.Value
	value := min(1-max(0, d), max(-min(0, d), (c.Base.Value+c.Candidate.Value-d)/2))
	for side, e := range []*stats.Estimate{&c.Base, &c.Candidate} {
		v := value + float64(side)*d
		*e = stats.Estimate{Value: v, Lo: min(e.Lo, v), Hi: max(e.Hi, v)}
	}
}

// apart is what is left of a distance without a part of it, of which the squares add up.
func apart(all, part float64) float64 { return math.Sqrt(math.Max(0, all*all-part*part)) }

// within keeps an estimate between a least value and 1.
func within(e stats.Estimate, least float64) stats.Estimate {
	for _, v := range []*float64{&e.Value, &e.Lo, &e.Hi} {
		*v = min(1, max(least, *v))
		if math.Abs(*v) < 1e-12 {
			*v = 0 // without a sign
		}
	}
	return e
}

// differ adds how far people are off the judge on a pair.
func (s *changes) differ(pair Pair, before, after, weight float64) {
	base, candidate := before-share(pair.BaseRefused), after-share(pair.CandidateRefused)
	s.off, s.offBase, s.offCandidate = s.off+weight*(candidate-base), s.offBase+weight*base, s.offCandidate+weight*candidate
	s.offSquares += weight * math.Max((candidate-base)*(candidate-base), math.Max(base*base, candidate*candidate))
}

// sums are the weighted sums over the pairs.
func (s *changes) sums() []*float64 {
	return []*float64{&s.n, &s.newly, &s.nolonger, &s.squares, &s.off, &s.offBase, &s.offCandidate, &s.offSquares}
}

// A kind is the flips or the others. Its strata are the pairs of which the judge
// calls the candidate's answer answered or refused, each sure or not.
type kind [4]changes

func (k *kind) stratum(pair Pair) *changes {
	return &k[2*int(share(pair.CandidateRefused))+int(share(pair.Unsure))]
}

// parts returns the strata, each with a label if possible: one that has none joins
// that of the same verdicts, or else all join.
func (k *kind) parts() []changes {
	parts := joined(slices.Concat(joined(k[:2]), joined(k[2:])))
	for i := range parts {
		parts[i].count()
	}
	return parts
}

// joined makes one of strata if any has pairs but no labels.
func joined(strata []changes) []changes {
	if !slices.ContainsFunc(strata, func(s changes) bool { return s.size > 0 && s.n == 0 }) {
		return strata
	}
	all := strata[0]
	for _, s := range strata[1:] {
		all.size, all.weights, all.flipped = all.size+s.size, all.weights+s.weights, all.flipped || s.flipped
		for i, sum := range all.sums() {
			*sum += *s.sums()[i]
		}
	}
	return []changes{all}
}

func share(refused bool) float64 {
	if refused {
		return 1
	}
	return 0
}

// add adds a pair, which counts for as many as its weight says.
func (s *changes) add(before, after, weight float64) {
	s.n += weight
	s.weights += weight * weight
	s.newly += weight * math.Max(0, after-before)
	s.nolonger += weight * math.Max(0, before-after)
	s.squares += weight * (after - before) * (after - before)
}

// count scales the sums of weighted pairs to as many pairs of equal weights as
// say as much (Kish 1965, Survey Sampling, section 11.7).
func (s *changes) count() {
	if s.n == 0 {
		return
	}
	by := s.n / s.weights
	for _, sum := range s.sums() {
		*sum *= by
	}
}

// test sets the standard error and returns the two-sided p-value of the normal test that nothing differs.
// The variance of the difference is that of the prompts, plus that of the labels
// in each stratum (Cochran 1977, Sampling Techniques, section 12.2). Two changes,
// one each way, are added to the prompts, as Bonett and Price (2012) do, and
// one to the labels of each stratum: a single label says nothing of the variance.
//
// A change in one of the few audited pairs stands for many. So the audit counts
// only if it points the other way than the flips: one that agrees with them
// takes no significance away. TestCheckpoints has the level.
func (c *CorrectedPairs) test(strata []changes, designEffect float64) float64 {
	total := 0.0
	for _, s := range strata {
		total += float64(s.size)
	}
	part := func(ofFlips bool) (d, changed, variance float64) {
		for _, s := range strata {
			if s.flipped != ofFlips || s.n == 0 {
				continue
			}
			share := float64(s.size) / total
			d += share * (s.newly - s.nolonger) / s.n
			changed += share * s.squares / s.n
			n := s.n + 1
			mean := (s.newly - s.nolonger) / n
			variance += share * share * ((s.squares+1)/n - mean*mean) / n * (1 - s.n/float64(s.size))
		}
		return d, changed, variance
	}
	d, changed, variance := part(true)
	if audit, also, more := part(false); audit*d < 0 {
		d, changed, variance = d+audit, changed+also, variance+more
	}
	variance += designEffect * (changed + 2/total - d*d) / total
	c.StandardError = math.Sqrt(variance)
	return math.Erfc(math.Abs(d) / (math.Sqrt2 * c.StandardError))
}
