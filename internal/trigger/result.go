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

// Result is what a study found.
type Result struct {
	// Simulated is true when any model of it was.
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

// Group is what was found on a target's answers to the prompts of one label of a
// dataset.
type Group struct {
	Target  string `json:"target"`
	Dataset string `json:"dataset"`
	// SHA256 is the dataset's hash.
	SHA256 string `json:"dataset_sha256"`
	dataset.Reading
	Label orbench.Label `json:"label"`
	// Samples is how often each wording was asked; more than half of the verdicts
	// make a refusal.
	Samples int `json:"samples"`
	// Prompts is Refused, Answered, Unjudged and Unanswered together.
	Prompts    int `json:"prompts"`
	Refused    int `json:"refused"`
	Answered   int `json:"answered"`
	Unjudged   int `json:"unjudged"`
	Unanswered int `json:"unanswered"`
	// Searched refused prompts were searched for triggers, which is the sum of
	// Outcomes; on Tried ones the triggers were tried. The two are Refused.
	Searched int             `json:"searched"`
	Tried    int             `json:"tried"`
	Outcomes map[Outcome]int `json:"outcomes"`
	// LeftOut counts trials for which the bound on calls left none, and those for whose
	// control it left none.
	LeftOut int `json:"left_out"`
	// Complete is false when replies are lacking; Failure is the last error of a call.
	Complete bool   `json:"complete"`
	Failure  string `json:"failure,omitempty"`
	// Triggers are the sets of words that were tried, in the order of how sure it is
	// that they flip more than other words.
	Triggers []Trigger `json:"triggers"`
}

// Trigger is a set of words that was found and tried.
type Trigger struct {
	// Words are in lower case and in the order of the alphabet.
	Words []string `json:"words"`
	// Found is in how many searched prompts the set was a smallest one that flips, of
	// Held that have its words. As sets are listed because they were found, the share
	// is too large.
	Found int `json:"found"`
	Held  int `json:"held"`
	// Deleted is what became of refused prompts that were not searched and have the
	// words, without them.
	Deleted Flips `json:"deleted"`
	// Beside is the same of as many other content words of those prompts, drawn.
	Beside Flips `json:"beside"`
	// Difference is Deleted less Beside over prompts that have both (Tango's 95%
	// interval), nil without any; P is McNemar's mid-p, and PHolm that adjusted for all
	// tests of the group by Holm's method.
	Difference *stats.Estimate `json:"difference"`
	P          *float64        `json:"p"`
	PHolm      *float64        `json:"p_holm"`
	// Exchanged is what became of the prompts with StandIns for the words.
	Exchanged Flips    `json:"exchanged"`
	StandIns  []string `json:"stand_ins"`
	// Inserted is what became of answered prompts with the word in place of another:
	// a flip is a refusal here. InsertedBeside is the same of the stand-in in that
	// place; the rest is as for Deleted. They are empty for sets of several words.
	Inserted           Flips           `json:"inserted"`
	InsertedBeside     Flips           `json:"inserted_beside"`
	InsertedDifference *stats.Estimate `json:"inserted_difference"`
	InsertedP          *float64        `json:"inserted_p"`
	InsertedPHolm      *float64        `json:"inserted_p_holm"`
	// Deletion and Insertion are true when deleting the words, or putting them in,
	// flips more than the same with others, with an adjusted p below 0.05.
	Deletion  bool `json:"confirmed_by_deletion"`
	Insertion bool `json:"confirmed_by_insertion"`
}

// Flips counts verdicts that turned, with Wilson's interval.
type Flips struct {
	// Flipped of N wordings with a verdict turned.
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

// paired counts a wording beside its control.
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

// compare says how much more often the wording turns a verdict than its control, and
// tests it; nil without any pair.
func (p *paired) compare() (*stats.Estimate, *float64) {
	e, ok := stats.Tango(p.onlyControl, p.onlyWording, p.n, 0.95)
	if !ok {
		return nil, nil
	}
	mid := stats.McNemar(p.onlyWording, p.onlyControl)
	return &e, &mid
}

// Lost says which count does not add up, empty when all do.
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

// Derive computes what the study found from the prompts and the store, and hands the
// prompts that were searched to sink, nil for nobody. m may be nil for an empty store.
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

// Searched is what the search of one prompt came to.
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

// adjust adjusts the tests of a group for their number, and says what they confirm.
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
