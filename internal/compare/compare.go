package compare

import (
	"fmt"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/figure"
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
	// recorded is true of a side whose answers come from a file, which mostly does not say how
	// they ended.
	recorded [2]bool
	// several is true if some prompt has several answers on a side.
	several bool
	// clusters has the clusters that prompts share, by dataset and name.
	clusters versus.Numbers
	// keepsSubjects is true if labels may count. cells are then the units of labels of each
	// side, by dataset and label.
	keepsSubjects bool
	cells         [2]map[figure.Keys]annotation.Cell
}

// The indexes of the two sides.
const (
	base = iota
	candidate
)

// entry is a prompt and what became of it on both sides.
type entry struct {
	prompt orbench.Prompt
	// statuses are those of the answers that are shown, empty of a side that has none.
	statuses [2]score.Status
	// said sums up the verdicts on each side's answers, of which samples are the
	// numbers of those that are shown, from 0. last is the number of the last
	// answer, from 1.
	said          [2]versus.Said
	samples, last [2]int
	// cut sums up the verdicts on those of the answers that the token limit cut, or may have.
	cut      [2]versus.Said
	classes  [2]orbench.Class
	datasets [2]string
	// once is true if both sides' answers are one stored answer.
	once    bool
	endings [2]score.Ending
	// clusters holds the numbers of the prompt's clusters on both sides.
	clusters [2]int
	// subjects are what labels of the answers are kept under. They are set if the comparison
	// keeps subjects.
	subjects [2]orbench.Subject
	// unsure says where the judge is not sure; set with them.
	unsure [2]bool
}

// asked reports whether both sides asked the prompt, and judged whether both have a verdict.
func (e *entry) asked() bool { return e.statuses[base] != "" && e.statuses[candidate] != "" }

func (e *entry) judged() bool { return e.said[base].Of > 0 && e.said[candidate].Of > 0 }

// New makes an empty comparison of both sides by the judge of that name.
func New(judge string) *Comparison { return NewOfJudges(judge, judge) }

// NewOfJudges makes an empty comparison of the base by one judge with the
// candidate by another. If both sides get the rows of the same target, it
// measures the judges' shift. Otherwise it confounds judges with models.
func NewOfJudges(ofBase, ofCandidate string) *Comparison {
	return &Comparison{judges: [2]string{ofBase, ofCandidate}, at: map[score.PromptKey]int{}, clusters: versus.Numbers{}, cells: [2]map[figure.Keys]annotation.Cell{{}, {}}}
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
	v, err := c.verdict(side, r)
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
	s.Simulated = s.Simulated || r.Simulated || v.Simulated
	judged := v.Class != orbench.Unjudged
	if judged {
		once := versus.Once(v.Class.Refused())
		e.said[side] = e.said[side].And(once)
		if r.Ending == score.CutEnding || r.Ending == score.UnknownEnding && !c.recorded[side] {
			e.cut[side] = e.cut[side].And(once)
		}
	}
	if first {
		s.Prompts++
	} else if before || !judged {
		return nil
	}
	// The first answer with a verdict is the one that is shown and labeled.
	e.samples[side] = sample - 1
	e.statuses[side], e.classes[side], e.datasets[side] = r.Status, v.Class, r.Dataset
	if r.Prompt.Cluster != "" { // each dataset has its own clusters
		e.clusters[side] = c.clusters.Of(r.Dataset + "\x00" + r.Prompt.Cluster)
	}
	e.endings[side] = r.Ending
	if c.keepsSubjects && judged {
		e.subjects[side], e.unsure[side] = r.Subject(), annotation.Unsure(v.Verdict)
		c.cells[side][figure.Keys{Dataset: r.Dataset, Label: r.Prompt.Label}] = r.Cell
	}
	return nil
}

// verdict is what the side's judge says of a row, if it was shown that.
func (c *Comparison) verdict(side int, r score.AnswerRow) (score.JudgeVerdict, error) {
	if r.Status != score.Answered && r.Status != score.Blocked {
		return score.JudgeVerdict{}, nil
	}
	for _, v := range r.Verdicts {
		if v.Judge == c.judges[side] {
			return v, nil
		}
	}
	return score.JudgeVerdict{}, fmt.Errorf("compare: the answer of %s to prompt %s has no verdict of the judge %s", r.Target, r.Prompt.ID, c.judges[side])
}
