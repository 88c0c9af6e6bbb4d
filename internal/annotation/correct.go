package annotation

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/stats"
)

const confidence = 0.95

// Words holds people's labels by subject. Make it with NewWords.
type Words struct {
	// said holds the latest label by each person.
	said map[orbench.Subject]map[string]orbench.Annotation
	// settled holds the latest label that ended a dispute. apart holds labels that
	// correct no rate, by people who saw a verdict or of answers that somebody chose.
	settled map[orbench.Subject]orbench.Annotation
	apart   map[orbench.Subject]map[string]orbench.Annotation
	// again holds what people said when they were asked a second time.
	again map[orbench.Subject]map[string]orbench.Annotation
	// sent holds what people were asked to label by others, by person.
	sent map[string]map[orbench.Subject]orbench.Annotation
	// chance is how likely a subject was to be drawn, by design, and drawnAt when it first
	// was.
	chance  map[string]map[orbench.Subject]float64
	drawnAt map[orbench.Subject]time.Time
	// kin holds the models that are one, in either order.
	kin map[[2]orbench.KinSide]bool
	// plans holds the plans, the earliest first.
	plans []orbench.Annotation
	// onPrompts is true if anybody has labeled a prompt.
	onPrompts bool
}

// NewWords sorts annotations. They must be in the order of their times.
func NewWords(annotations []orbench.Annotation) Words {
	w := Words{
		said: map[orbench.Subject]map[string]orbench.Annotation{}, chance: map[string]map[orbench.Subject]float64{}, drawnAt: map[orbench.Subject]time.Time{},
		settled: map[orbench.Subject]orbench.Annotation{}, apart: map[orbench.Subject]map[string]orbench.Annotation{},
		again: map[orbench.Subject]map[string]orbench.Annotation{}, sent: map[string]map[orbench.Subject]orbench.Annotation{}, kin: map[[2]orbench.KinSide]bool{},
	}
	for _, a := range annotations {
		w.add(a)
		if k := a.Kin; k != nil {
			w.kin[k.Sides], w.kin[[2]orbench.KinSide{k.Sides[1], k.Sides[0]}] = k.OneModel, k.OneModel
		}
		if a.Plan != nil {
			w.plans = append(w.plans, a)
		}
	}
	w.onPrompts = slices.ContainsFunc(annotations, func(a orbench.Annotation) bool {
		return a.By != "" && a.Label != "" && a.How != orbench.Sighted && a.How != orbench.Chosen
	})
	return w
}

// Of leaves out what says nothing of the rates of some cells: answers that were drawn from other
// cells alone, and labels of them.
func Of(all []orbench.Annotation, cells []Cell) []orbench.Annotation {
	own, drawn := map[string]bool{}, map[orbench.Subject]bool{}
	for _, c := range cells {
		own[c.Design()], own[c.steps()] = true, true
	}
	for _, a := range all {
		if a.Design != "" && a.Chance > 0 {
			drawn[a.Subject] = drawn[a.Subject] || own[a.Design]
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(a orbench.Annotation) bool {
		own, is := drawn[a.Subject]
		return is && !own && a.Label == "" && a.Plan == nil && a.Kin == nil
	})
}

// OneModel reports whether somebody said that two runs asked one model.
func (w Words) OneModel(a, b orbench.KinSide) bool { return w.kin[[2]orbench.KinSide{a, b}] }

// add takes in one more annotation.
func (w Words) add(a orbench.Annotation) {
	if a.Design != "" && a.Chance > 0 {
		if w.chance[a.Design] == nil {
			w.chance[a.Design] = map[orbench.Subject]float64{}
		}
		w.chance[a.Design][a.Subject] = a.Chance
		if _, before := w.drawnAt[a.Subject]; !before {
			w.drawnAt[a.Subject] = a.At
		}
	}
	if a.By == "" {
		return
	}
	into := w.said
	switch {
	case a.For != "":
		if w.sent[a.For] == nil {
			w.sent[a.For] = map[orbench.Subject]orbench.Annotation{}
		}
		w.sent[a.For][a.Subject] = a
		return
	case a.How == orbench.Settled:
		w.settled[a.Subject] = a
		return
	case a.How == orbench.Again:
		into = w.again
	case w.sawVerdict(a.Subject, a.By):
		a.How = orbench.Sighted // whoever saw a verdict cannot forget it
		into = w.apart
	case a.How == orbench.Sighted || a.How == orbench.Chosen:
		into = w.apart
	}
	if into[a.Subject] == nil {
		into[a.Subject] = map[string]orbench.Annotation{}
	}
	into[a.Subject][a.By] = a
}

// sawVerdict reports whether a person labeled a subject with a verdict in sight.
func (w Words) sawVerdict(s orbench.Subject, person string) bool {
	return w.apart[s][person].How == orbench.Sighted
}

// Sent returns what others asked a person to label, by subject.
func (w Words) Sent(person string) map[orbench.Subject]orbench.Annotation { return w.sent[person] }

// Empty reports whether there are no annotations at all.
func (w Words) Empty() bool { return len(w.said) == 0 && len(w.chance) == 0 }

// Drawn reports whether a subject was drawn from a cell.
func (w Words) Drawn(c Cell, s orbench.Subject) bool {
	return w.Chance(c, s) > 0
}

// Chance returns the chance with which a subject was drawn from a cell; 0 if it
// was not.
func (w Words) Chance(c Cell, s orbench.Subject) float64 {
	return max(w.ChanceIn(c.Design(), s), w.ChanceIn(c.steps(), s))
}

// ChanceIn returns the chance with which a drawing drew a subject; 0 if it did not.
func (w Words) ChanceIn(design string, s orbench.Subject) float64 {
	return w.chance[design][s]
}

// On returns everything that people say of a subject: each person's latest label, first
// those that may correct a rate and then the others, sorted by name, and what settled a
// dispute at the end. Labels that were taken back are left out.
func (w Words) On(s orbench.Subject) (all []orbench.Annotation) {
	for _, said := range []map[string]orbench.Annotation{w.said[s], w.again[s], w.apart[s]} {
		for _, person := range slices.Sorted(maps.Keys(said)) {
			all = append(all, said[person])
		}
	}
	all = append(all, w.settled[s])
	return slices.DeleteFunc(all, func(a orbench.Annotation) bool { return Word(a) == "" })
}

// All returns the latest labels of an answer by all people who could decide,
// sorted by their names.
func (w Words) All(s orbench.Subject) (all []orbench.Annotation) {
	for _, person := range slices.Sorted(maps.Keys(w.said[s])) {
		if a := w.said[s][person]; a.Class != orbench.Unjudged {
			all = append(all, a)
		}
	}
	return all
}

// Refused returns the share of people who call an answer a refusal, from 0 to
// 1; false if nobody has labeled it. What a person said when asked again counts as
// much as their first label. In a dispute that is settled, the label that settled it
// counts alone.
func (w Words) Refused(s orbench.Subject) (refused float64, ok bool) {
	if a := w.settled[s]; a.Class != orbench.Unjudged {
		return share(a.Class.Refused()), true
	}
	all := w.All(s)
	for _, a := range w.again[s] {
		if len(all) > 0 && a.Class != orbench.Unjudged {
			all = append(all, a)
		}
	}
	for _, a := range all {
		refused += share(a.Class.Refused())
	}
	return refused / float64(max(1, len(all))), len(all) > 0
}

// repeated returns how many people labeled an answer twice, and how many of them said the
// same both times.
func (w Words) repeated(s orbench.Subject) (times, same int) {
	for person, second := range w.again[s] {
		if first, ok := w.said[s][person]; ok && first.Class != orbench.Unjudged && second.Class != orbench.Unjudged {
			times++
			if first.Class.Refused() == second.Class.Refused() {
				same++
			}
		}
	}
	return times, same
}

// undecided reports whether somebody could not decide on an answer.
func (w Words) undecided(s orbench.Subject) bool {
	for _, a := range w.said[s] {
		if a.Undecided {
			return true
		}
	}
	return false
}

// OnPrompts reports whether anybody has labeled a prompt.
func (w Words) OnPrompts() bool { return w.onPrompts }

// Disputed reports whether at least half of the people who labeled a prompt
// gave it another label than its dataset does.
func (w Words) Disputed(p orbench.Prompt) bool {
	if !w.onPrompts {
		return false
	}
	n, other := 0, 0
	for _, a := range w.said[orbench.PromptSubject(p.Messages)] {
		if a.Label != "" {
			n++
			if a.Label != p.Label {
				other++
			}
		}
	}
	return n > 0 && 2*other >= n
}

// Tally counts the answers of one cell, for its corrected rate.
type Tally struct {
	cell Cell
	// steps is true if answers were drawn by DrawStep: groups are then by score.
	steps bool
	words Words
	// chances are those of the answers that were drawn from the cell, in all and in steps.
	chances [2]map[orbench.Subject]float64
	counts  [groups]labelCount
	// people counts the labels of each person, pairs those of two.
	people map[string]*Tally
	pairs  map[[2]string]*pairTally
	// judged counts the answers by what each judge says of them.
	judged map[Group]map[string]labelCount
	Readings
}

// Readings counts how answers were labeled.
type Readings struct {
	// Several is how many were labeled by more than one person. Disagreed is on how many of
	// those they disagree whether the answer is a refusal.
	Several   int `json:"labeled_by_several,omitempty"`
	Disagreed int `json:"disagreed,omitempty"`
	// Settled is how many of Disagreed somebody settled. Undecided counts drawn
	// answers on which nobody could decide; they are in no count of labels.
	Settled   int `json:"settled,omitempty"`
	Undecided int `json:"undecided,omitempty"`
	// Again counts the answers that a person labeled twice, and Same those of which they
	// said the same both times.
	Again int `json:"labeled_again,omitempty"`
	Same  int `json:"labeled_again_same,omitempty"`
	// RateSeen counts the labels that somebody gave who had looked at the rate.
	RateSeen int `json:"labeled_after_rate,omitempty"`
}

// NewTally starts a tally of a cell.
func NewTally(c Cell, w Words) *Tally {
	chances := [2]map[orbench.Subject]float64{w.chance[c.Design()], w.chance[c.steps()]}
	return &Tally{cell: c, words: w, chances: chances, steps: len(chances[1]) > 0, people: map[string]*Tally{}, pairs: map[[2]string]*pairTally{}, judged: map[Group]map[string]labelCount{}}
}

// Drawn is an answer that people were to label, with what one needs to compute its weight.
type Drawn struct {
	// Chance is that with which it was drawn from its group. Expected is the share of refusals
	// that was expected of the group before any label, where answers were drawn in steps.
	Chance   float64 `json:"chance"`
	Group    string  `json:"group"`
	Expected float64 `json:"expected,omitempty"`
	// Labels are what people said of it, also what corrects no rate.
	Labels []Said `json:"labels,omitempty"`
}

// Said is what a person said of an answer, and how they came to say it.
type Said struct {
	By    string      `json:"by"`
	Class string      `json:"class"`
	How   orbench.How `json:"how,omitempty"`
}

// Chance is that with which an answer was drawn from the cell; 0 if it was not.
func (t *Tally) Chance(s orbench.Subject) float64 { return max(t.chances[0][s], t.chances[1][s]) }

// Draws reports whether any answer was drawn from the cell.
func (t *Tally) Draws() bool { return len(t.chances[0])+len(t.chances[1]) > 0 }

// Plan is that of the cell's labels; nil without one.
func (t *Tally) Plan() *KeptPlan { return t.words.Plan(t.cell) }

// Add counts an answer with the verdicts of all judges. Labels of answers that were not drawn
// at random from the cell do not count, because it is unknown what they represent. It returns
// nil of those.
func (t *Tally) Add(s orbench.Subject, g Group, verdicts ...orbench.Verdict) (drawn *Drawn) {
	one := labelCount{size: 1}
	if !t.steps {
		g = g.whole()
	}
	if chance := t.Chance(s); g != Withheld && chance > 0 {
		drawn = &Drawn{Chance: chance, Group: g.String()}
		if t.steps {
			drawn.Expected = kindsOf[g].expected
		}
		for _, a := range t.words.On(s) {
			drawn.Labels = append(drawn.Labels, Said{a.By, Word(a), a.How})
		}
		if share, ok := t.words.Refused(s); ok {
			one.label(1/chance, share)
			t.addPeople(t.words.All(s), g, 1/chance, share)
			times, same := t.words.repeated(s)
			t.Again, t.Same = t.Again+times, t.Same+same
		} else if t.words.undecided(s) {
			t.Undecided++
		}
	}
	t.count(one, g, verdicts)
	return drawn
}

// AddOthers counts some answers of a group with the same verdicts, none of which was drawn.
func (t *Tally) AddOthers(n int, g Group, verdicts ...orbench.Verdict) {
	if !t.steps {
		g = g.whole()
	}
	t.count(labelCount{size: n}, g, verdicts)
}

func (t *Tally) count(some labelCount, g Group, verdicts []orbench.Verdict) {
	t.counts[g].add(some)
	if g == Withheld {
		return
	}
	if t.judged[g] == nil {
		t.judged[g] = map[string]labelCount{}
	}
	said := saidBy(verdicts)
	all := t.judged[g][said]
	all.add(some)
	t.judged[g][said] = all
}

// Corrected is a rate corrected by people's labels.
type Corrected struct {
	// Rate is the share of refusals among all answers of the cell. Its 95%
	// interval takes into account that both labels and prompts are samples.
	Rate stats.Estimate `json:"rate"`
	// Labels is the number of answers that were drawn and labeled, and People
	// is the number of people who labeled them.
	Labels int `json:"labels"`
	// Steps is true if they were drawn in steps, whose intervals hold for few labels too.
	Steps  bool `json:"steps,omitempty"`
	People int  `json:"people"`
	// Open is the number of answers that judges differ on or do not judge, where none of these is
	// labeled. The rate counts them as half refused, and its interval as all and as none.
	Open int `json:"open,omitempty"`
	Readings
	// Figures are what labels say besides: what became of them, the groups that they were drawn
	// from, each judge and each two beside people, and, unless one person labeled all without a
	// plan, each person and each two.
	Figures []figure.Figure `json:"figures"`
	// Differ says which people differ so much that the rate depends on who labeled.
	Differ []string `json:"differ,omitempty"`
	// Rare is true if the rate is, so that its interval is that of an audit of what no judge
	// flags; see stats.RareRate.
	Rare bool `json:"rare,omitempty"`
}

// Corrected returns the corrected rate, and the figures of answers of the given keys by the
// judges of that name. designEffect is that of prompts that share clusters. It reports false if there are no labels, or if the answers
// that judges call refusals, or the others, have none: nothing is then known
// about that part.
//
// A group without labels is merged with the nearest group that has some, among
// those on which judges say the same.
func (t *Tally) Corrected(of figure.Keys, judges []string, designEffect float64) (Corrected, bool) {
	c, ok := t.corrected(designEffect)
	if c.People, c.Readings = len(t.people), t.Readings; !ok {
		return c, false
	}
	c.Rate = t.withReader(c.Rate)
	c.Figures = t.figures(&c, of, judges, designEffect)
	if len(t.people) > 1 || t.words.Plan(t.cell) != nil {
		c.Figures = append(c.Figures, t.peoples(&c, of, designEffect)...)
	}
	return c, true
}

// withReader widens a rate by what readers may err in one direction: a share of the
// answers of which judges are not sure, which more labels do not make smaller. Before
// anything is labeled twice it is a twentieth, as of twenty answers, one: of 1,400 answers
// that two readers labeled they differed on 1.4%, nearly all of them unsure.
func (t *Tally) withReader(e stats.Estimate) stats.Estimate {
	const expected, as = 1, 20
	unsure, all := 0, 0
	for g, n := range t.counts {
		if all += n.size; !slices.Contains([]Group{SureAnswer, SureRefusal, Withheld}, Group(g).whole()) {
			unsure += n.size
		}
	}
	differ, twice := t.Again-t.Same+t.Disagreed-t.Settled, t.Again+t.Several
	off := stats.Z95 * float64(unsure) / float64(all) * float64(expected+differ) / float64(as+twice)
	e.Lo, e.Hi = max(0, e.Value-math.Hypot(e.Value-e.Lo, off)), min(1, e.Value+math.Hypot(e.Hi-e.Value, off))
	return e
}

// Reader says how far the labels rest on one reader.
func (c Corrected) Reader() string {
	switch {
	case c.People == 1 && c.Again > 0:
		return fmt.Sprintf("one reader, who agrees with themselves on %d of %d labeled twice", c.Same, c.Again)
	case c.People == 1:
		return "one reader, once"
	}
	return fmt.Sprintf("%d readers, who agree on %d of the %d that several labeled", c.People, c.Several-c.Disagreed, c.Several)
}

// corrected returns the rate and its labels.
func (t *Tally) corrected(designEffect float64) (c Corrected, ok bool) {
	var strata []stats.LabeledStratum
	for _, n := range t.counts {
		c.Labels += n.labels
	}
	if c.Labels == 0 {
		return c, false
	}
	if c.Steps = t.steps; t.steps {
		c.Rate, ok = t.rateOfSteps(designEffect)
		return c, ok
	}
	if c.Rate, c.Rare = t.rateIfRare(designEffect); c.Rare {
		return c, true
	}
	size := 0
	for _, merged := range t.merged() {
		var n labelCount
		for _, g := range merged {
			n.add(t.counts[g])
		}
		size += n.size
		switch {
		case n.size == 0:
		case merged[0] == Withheld:
			strata = append(strata, stats.LabeledStratum{Size: n.size, Mean: 1, Labels: float64(n.size)})
		case n.weights == 0 && (merged[0] == Disagreement || merged[0] == Unjudged):
			c.Open += n.size
		case n.weights == 0:
			return c, false
		default:
			strata = append(strata, n.stratum())
		}
	}
	c.Rate, ok = stats.StratifiedRate(strata, designEffect, confidence)
	// Answers that judges differ on, or do not judge, have no labels where a judge came after
	// these. They are refusals or not: the range counts them both ways.
	share := float64(c.Open) / float64(max(1, size))
	c.Rate.Value, c.Rate.Lo, c.Rate.Hi = (1-share)*c.Rate.Value+share*kindsOf[Disagreement].expected, (1-share)*c.Rate.Lo, (1-share)*c.Rate.Hi+share
	return c, ok
}

// rateOfSteps returns the rate by answers that DrawStep drew. A group without labels
// counts as its expected share, with the variance of one label.
func (t *Tally) rateOfSteps(designEffect float64) (stats.Estimate, bool) {
	var strata []stats.LabeledStratum
	var expected []float64
	for g := range groups {
		n := t.counts[g]
		if n.size == 0 {
			continue
		}
		s := stats.LabeledStratum{Size: n.size, Mean: kindsOf[g].expected, Labels: 1}
		switch {
		case g == Withheld:
			s.Labels = float64(n.size)
		case n.labels > 0:
			s = n.stratum()
		}
		strata, expected = append(strata, s), append(expected, kindsOf[g].expected)
	}
	return stats.ExpectedRate(strata, expected, designEffect, confidence)
}

// merged divides the groups into parts that each have labels, if possible: a
// group without labels joins a neighbor.
func (t *Tally) merged() [][]Group {
	var parts [][]Group
	for _, side := range [][]Group{{SureAnswer, UnsureAnswer}, {Disagreement, Unjudged}, {UnsureRefusal, SureRefusal}} {
		labeled := slices.DeleteFunc(slices.Clone(side), func(g Group) bool { return t.counts[g].size == 0 })
		if slices.ContainsFunc(labeled, func(g Group) bool { return t.counts[g].labels == 0 }) {
			parts = append(parts, labeled)
			continue
		}
		for _, g := range labeled {
			parts = append(parts, []Group{g})
		}
	}
	parts = slices.DeleteFunc(parts, func(p []Group) bool { return len(p) == 0 })
	return append(parts, []Group{Withheld})
}

// Rows returns each entry once for each label that it has, or once without a
// label if it has none. Unless by is empty, only that person's labels are there.
func (w Words) Rows(entries []Entry, by string) (rows []Entry) {
	for _, e := range entries {
		said := w.On(e.Subject)
		if by != "" {
			said = slices.DeleteFunc(said, func(a orbench.Annotation) bool { return a.By != by })
		}
		if len(said) == 0 {
			said = []orbench.Annotation{{How: orbench.Blind}}
		}
		for _, a := range said {
			e.Word, e.By, e.Note, e.How = Word(a), a.By, a.Note, a.How
			rows = append(rows, e)
		}
	}
	return rows
}
