package compare

import (
	"fmt"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/versus"
)

// Comparison collects the rows of two sides. The zero value is not usable; see
// New.
type Comparison struct {
	judges [2]string
	// entries are in the order in which the prompts were first seen; at has the
	// place of each.
	entries []entry
	at      map[score.PromptKey]int
	sides   [2]Side
	// several is true if some prompt has several answers on a side.
	several bool
	// clusters numbers the clusters that prompts share, from 1, by dataset and name.
	clusters map[[2]string]int
	// keepsSubjects is true if labels may count.
	keepsSubjects bool
}

// The indexes of the two sides.
const (
	base = iota
	candidate
)

// entry is a prompt and its outcomes on both sides.
type entry struct {
	prompt   orbench.Prompt
	outcomes [2]outcome
	// said sums up the verdicts on each side's answers, of which samples are the
	// numbers of those that are shown, from 0. last is the number of the last
	// answer, from 1.
	said          [2]versus.Said
	samples, last [2]int
	classes       [2]orbench.Class
	datasets      [2]string
	// once is true if both sides' answers are one stored answer.
	once    bool
	endings [2]score.Ending
	noText  [2]bool
	// clusters holds the numbers of the prompt's clusters on both sides.
	clusters [2]int
	// subjects and cells are what labels of the answers are kept under. They are
	// set if the comparison keeps subjects.
	subjects [2]orbench.Subject
	cells    [2]annotation.Cell
	// unsure says where the judge is not sure; set with them.
	unsure [2]bool
}

// outcome is what became of a prompt on one side.
type outcome uint8

const (
	absent outcome = iota
	complied
	refused
	unjudged
	byOther
	failed
	unanswered
	outcomes // the number of outcomes
)

// judged reports whether a side has a verdict on the prompt.
func (f outcome) judged() bool { return f == complied || f == refused }

// New makes an empty comparison of both sides by the judge of that name.
func New(judge string) *Comparison { return NewOfJudges(judge, judge) }

// NewOfJudges makes an empty comparison of the base by one judge with the
// candidate by another. If both sides get the rows of the same target, it
// measures the judges' shift. Otherwise it confounds judges with models.
func NewOfJudges(ofBase, ofCandidate string) *Comparison {
	return &Comparison{judges: [2]string{ofBase, ofCandidate}, at: map[score.PromptKey]int{}, clusters: map[[2]string]int{}}
}

// AddBase adds a row of the base. All rows must be of one target. It returns an
// error if the row's answer has no verdict of the side's judge.
func (c *Comparison) AddBase(r score.AnswerRow) error { return c.add(base, r) }

// AddCandidate adds a row of the candidate, as AddBase does for the base.
func (c *Comparison) AddCandidate(r score.AnswerRow) error { return c.add(candidate, r) }

func (c *Comparison) add(side int, r score.AnswerRow) error {
	s := &c.sides[side]
	if r.Prompt.Label != orbench.Safe && r.Prompt.Label != orbench.Toxic {
		s.Other++
		return nil
	}
	f, class, simulated, err := c.fateOf(side, r)
	if err != nil {
		return err
	}
	k := score.PromptKey{ID: r.Prompt.ID, Label: r.Prompt.Label}
	i, known := c.at[k]
	if !known {
		i = len(c.entries)
		c.at[k] = i
		c.entries = append(c.entries, entry{prompt: r.Prompt})
	}
	e := &c.entries[i]
	sample := max(1, r.Sample)
	if sample <= e.last[side] {
		// The same request has the same answer. Counting it twice would make
		// two observations of one.
		if sample == 1 {
			s.Repeated++
		}
		return nil
	}
	first, before := e.last[side] == 0, e.said[side].Of > 0
	e.last[side], c.several = sample, c.several || sample > 1
	s.Simulated = s.Simulated || simulated
	if f.judged() {
		e.said[side].Of++
		e.said[side].Yes += versus.Once(f == refused).Yes
	}
	if first {
		s.Prompts++
	} else if before || !f.judged() {
		return nil
	}
	// The first answer with a verdict is the one that is shown and labeled.
	e.samples[side] = sample - 1
	e.outcomes[side], e.classes[side], e.datasets[side], e.clusters[side] = f, class, r.Dataset, c.cluster(r)
	e.endings[side], e.noText[side] = r.Ending, class == orbench.Empty && r.Status == score.Answered
	if c.keepsSubjects && f.judged() {
		e.subjects[side], e.cells[side] = r.Subject(), r.Cell
		e.unsure[side] = slices.ContainsFunc(r.Verdicts, func(v score.JudgeVerdict) bool { return v.Judge == c.judges[side] && annotation.Unsure(v.Verdict) })
	}
	return nil
}

// fateOf returns a row's outcome, and the class by the side's judge.
func (c *Comparison) fateOf(side int, r score.AnswerRow) (outcome, orbench.Class, bool, error) {
	if f, ok := map[score.Status]outcome{score.ServedByOther: byOther, score.Failed: failed, score.Unanswered: unanswered}[r.Status]; ok {
		return f, orbench.Unjudged, r.Simulated, nil
	}
	for _, v := range r.Verdicts {
		if v.Judge != c.judges[side] {
			continue
		}
		f := complied
		switch {
		case v.Class == orbench.Unjudged:
			f = unjudged
		case v.Class.Refused():
			f = refused
		}
		return f, v.Class, r.Simulated || v.Simulated, nil
	}
	return absent, orbench.Unjudged, false, fmt.Errorf("compare: the answer of %s to prompt %s has no verdict of the judge %s", r.Target, r.Prompt.ID, c.judges[side])
}
