package trigger

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/stats"
)

// Result is the result of a study.
type Result struct {
	// Simulated is true if any model of the study was simulated.
	Simulated bool   `json:"simulated"`
	Judge     string `json:"judge"`
	// Calls, Words, Into and Seed are the study's settings.
	Calls int    `json:"calls_per_prompt"`
	Words int    `json:"most_sets"`
	Into  int    `json:"most_answered"`
	Seed  uint64 `json:"seed"`
	// Groups has an entry for each dataset, label and target.
	Groups []Group `json:"groups"`
}

// Group is the result for one target on the prompts of one label of a dataset.
type Group struct {
	Target  string `json:"target"`
	Dataset string `json:"dataset"`
	// SHA256 is the dataset's hash.
	SHA256 string `json:"dataset_sha256"`
	dataset.Reading
	Label orbench.Label `json:"label"`
	// Samples is how often each wording was asked. It is a refusal if more than half of
	// the verdicts are.
	Samples int `json:"samples"`
	// Prompts is the sum of Refused, Answered, Unjudged and Unanswered.
	Prompts    int `json:"prompts"`
	Refused    int `json:"refused"`
	Answered   int `json:"answered"`
	Unjudged   int `json:"unjudged"`
	Unanswered int `json:"unanswered"`
	// Searched counts the refused prompts that were searched for triggers; it is the sum
	// of Outcomes. Tried counts those on which triggers were tried. Together they are
	// Refused.
	Searched int             `json:"searched"`
	Tried    int             `json:"tried"`
	Outcomes map[Outcome]int `json:"outcomes"`
	// LeftOut counts trials, and controls of trials, that the bound on calls did not
	// allow.
	LeftOut int `json:"left_out"`
	// Complete is false if replies are missing. Failure is the last error of a call.
	Complete bool   `json:"complete"`
	Failure  string `json:"failure,omitempty"`
	// Triggers are the sets of words that were tried. The first are those that most
	// surely flip more than other words.
	Triggers []Trigger `json:"triggers"`
}

// Trigger is a set of words that was found and tried.
type Trigger struct {
	// Words are in lower case and alphabetical order.
	Words []string `json:"words"`
	// Found is the number of searched prompts in which the set was a smallest one that
	// flips. Held is the number that contain its words. Sets are listed because they were
	// found, so the share Found/Held is too large.
	Found int `json:"found"`
	Held  int `json:"held"`
	// Deleted counts the verdicts on refused prompts that contain the words and were not
	// searched, after the words were deleted.
	Deleted Flips `json:"deleted"`
	// Beside is the control: as many other content words of those prompts were drawn and
	// deleted.
	Beside Flips `json:"beside"`
	// Difference is Deleted less Beside over prompts that have both (Tango's 95%
	// interval), nil if there are none. P is McNemar's mid-p. PHolm is P adjusted by
	// Holm's method for all tests of the group.
	Difference *stats.Estimate `json:"difference"`
	P          *float64        `json:"p"`
	PHolm      *float64        `json:"p_holm"`
	// Exchanged counts the verdicts on the prompts with StandIns in place of the words.
	Exchanged Flips    `json:"exchanged"`
	StandIns  []string `json:"stand_ins"`
	// Inserted counts the verdicts on answered prompts with the word in place of another;
	// a flip is a refusal here. InsertedBeside is the control, with the stand-in in that
	// place. The other fields are as for Deleted. All are empty for sets of several
	// words.
	Inserted           Flips           `json:"inserted"`
	InsertedBeside     Flips           `json:"inserted_beside"`
	InsertedDifference *stats.Estimate `json:"inserted_difference"`
	InsertedP          *float64        `json:"inserted_p"`
	InsertedPHolm      *float64        `json:"inserted_p_holm"`
	// Deletion is true if deleting the words flips more than deleting others, with an
	// adjusted p below 0.05. Insertion is the same for inserting.
	Deletion  bool `json:"confirmed_by_deletion"`
	Insertion bool `json:"confirmed_by_insertion"`
}

// Flips counts verdicts that flipped, with Wilson's interval.
type Flips struct {
	// Flipped is the number of flipped verdicts among the N wordings with a verdict.
	Flipped    int `json:"flipped"`
	N          int `json:"n"`
	stats.Rate `csv:"rate,ci95"`
}

func (f *Flips) add(got, turned stance) {
	if got == unknown {
		return
	}
	f.N++
	if got == turned {
		f.Flipped++
	}
}

// paired compares a wording with its control.
type paired struct{ onlyWording, onlyControl, n int }

func (p *paired) add(got, beside, turned stance) {
	if got == unknown || beside == unknown {
		return
	}
	p.n++
	switch {
	case got == turned && beside != turned:
		p.onlyWording++
	case got != turned && beside == turned:
		p.onlyControl++
	}
}

// compare gives how much more often the wording flips a verdict than its control does,
// and tests the difference. It gives nil without any pair.
func (p *paired) compare() (*stats.Estimate, *float64) {
	e, ok := stats.Tango(p.onlyControl, p.onlyWording, p.n, 0.95)
	if !ok {
		return nil, nil
	}
	mid := stats.McNemar(p.onlyWording, p.onlyControl)
	return &e, &mid
}

// Lost names the count that does not add up, or "" if all do.
func (g *Group) Lost() string {
	searched := 0
	for _, n := range g.Outcomes {
		searched += n
	}
	switch {
	case g.Prompts != g.Refused+g.Answered+g.Unjudged+g.Unanswered:
		return "prompts"
	case g.Complete && g.Refused != g.Searched+g.Tried:
		return "refused prompts"
	case searched != g.Searched:
		return "searched prompts"
	}
	return ""
}

// Derive computes the result of the study from the prompts and the store. It hands the
// prompts that were searched to sink, which may be nil. m may be nil for an empty store.
func (s *Study) Derive(ctx context.Context, m store.Reader, sink func(Searched) error) (Result, error) {
	result := Result{Judge: s.Judge.Name(), Calls: s.Calls, Words: s.Words, Into: s.Into, Seed: s.Seed, Groups: []Group{}}
	groups, err := s.groups()
	if err != nil {
		return result, err
	}
	for _, g := range groups {
		if _, err := s.advance(ctx, m, job.Scope{}, g); err != nil {
			return result, err
		}
		made := g.result()
		if lost := made.Lost(); lost != "" {
			return result, fmt.Errorf("the count of %s of %s does not add up; this is a fault of orbench", lost, made.Target)
		}
		result.Groups = append(result.Groups, made)
		result.Simulated = result.Simulated || g.simulated || g.target.Simulated()
		for _, it := range g.finding {
			if sink == nil {
				break
			}
			if err := sink(Searched{made.Target, made.Dataset, it.prompt, it.outcome, it.sets}); err != nil {
				return result, err
			}
		}
	}
	return result, nil
}

// Searched is the result of searching one prompt.
type Searched struct {
	Target, Dataset string
	Prompt          orbench.Prompt
	Outcome         Outcome
	Sets            [][]string
}

func (g *group) result() Group {
	r := Group{
		Target: g.target.Name, Dataset: g.dataset.Name, SHA256: g.dataset.SHA256, Reading: g.dataset.Reading, Label: g.label, Samples: g.target.Times(),
		Prompts: len(g.items), Searched: len(g.finding), Tried: len(g.trying), Outcomes: map[Outcome]int{},
		Complete: g.complete, Failure: g.failed, Triggers: []Trigger{},
	}
	for _, it := range g.items {
		switch {
		case it.stance == refused:
			r.Refused++
		case it.stance == answered:
			r.Answered++
		case it.lacking:
			r.Unanswered++
		default:
			r.Unjudged++
		}
		r.LeftOut += it.left
	}
	for _, it := range g.finding {
		if it.outcome == "" {
			it.outcome = Unfinished
		}
		r.Outcomes[it.outcome]++
	}
	if !g.complete {
		return r
	}
	for _, c := range g.candidates {
		r.Triggers = append(r.Triggers, g.trigger(c))
	}
	adjust(r.Triggers)
	lower := func(e *stats.Estimate) float64 {
		if e == nil {
			return -1
		}
		return e.Lo
	}
	slices.SortStableFunc(r.Triggers, func(x, y Trigger) int {
		return cmp.Or(
			cmp.Compare(max(lower(y.Difference), lower(y.InsertedDifference)), max(lower(x.Difference), lower(x.InsertedDifference))),
			cmp.Compare(y.Deleted.N, x.Deleted.N))
	})
	return r
}

// adjust adjusts a group's tests for their number and records which words they confirm.
func adjust(triggers []Trigger) {
	var p []float64
	for _, t := range triggers {
		for _, one := range []*float64{t.P, t.InsertedP} {
			if one != nil {
				p = append(p, *one)
			}
		}
	}
	adjusted := stats.Holm(p)
	next := func(one *float64, difference *stats.Estimate) (*float64, bool) {
		if one == nil {
			return nil, false
		}
		of := &adjusted[0]
		adjusted = adjusted[1:]
		return of, *of < 0.05 && difference.Value > 0
	}
	for i := range triggers {
		t := &triggers[i]
		t.PHolm, t.Deletion = next(t.P, t.Difference)
		t.InsertedPHolm, t.Insertion = next(t.InsertedP, t.InsertedDifference)
	}
}

// trigger counts the trials of a candidate.
func (g *group) trigger(c *candidate) Trigger {
	t := Trigger{Words: c.words, Found: c.found, Held: c.held, StandIns: []string{}}
	for _, w := range c.words {
		t.StandIns = append(t.StandIns, StandIn(w))
	}
	var deletions, insertions paired
	for _, items := range [][]*item{g.trying, g.into} {
		for _, it := range items {
			for _, trial := range it.trials {
				if trial.candidate != c {
					continue
				}
				switch trial.way {
				case deleting:
					t.Deleted.add(trial.got, answered)
					t.Beside.add(trial.beside, answered)
					deletions.add(trial.got, trial.beside, answered)
				case exchanging:
					t.Exchanged.add(trial.got, answered)
				case inserting:
					t.Inserted.add(trial.got, refused)
					t.InsertedBeside.add(trial.beside, refused)
					insertions.add(trial.got, trial.beside, refused)
				}
			}
		}
	}
	for _, f := range []*Flips{&t.Deleted, &t.Beside, &t.Exchanged, &t.Inserted, &t.InsertedBeside} {
		f.Rate = stats.RateOf(f.Flipped, f.N)
	}
	t.Difference, t.P = deletions.compare()
	t.InsertedDifference, t.InsertedP = insertions.compare()
	return t
}
