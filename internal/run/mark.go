package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// Marking says whose answers a run counts. Those of a provider or a gateway are everybody's.
// Those of a server that runs weights belong to the run that asked for them, since other
// weights may be behind the server's address the next day.
type Marking struct {
	// Fresh asks all targets again. Reuse names the run whose answers are counted; empty for the
	// run's own.
	Fresh bool
	Reuse string
	// Replace lets the run give up its own answers for those of Reuse.
	Replace bool
	// Now is the time of Fresh.
	Now time.Time
	// Runs reports whether the server of a model runs weights; known is false where it does not
	// answer.
	Runs func(model.Ref) (runs, known bool)
}

// Mark gives each target the revision of its answers: that of the kept run which goes on or is
// reused, else the run's mark. m is nil for a store that is not there yet. The error is an
// *orbench.InputError where the run that is reused is not there.
func (r *Run) Mark(ctx context.Context, m store.Reader, by Marking) error {
	kept, err := undamaged(ctx, m)
	if err != nil {
		return err
	}
	named := func(name string) int { return slices.IndexFunc(kept, func(s Stored) bool { return s.Name == name }) }
	from := named(r.Name)
	if by.Reuse != "" {
		own := from
		if from = named(by.Reuse); from < 0 {
			return &orbench.InputError{Setting: "reuse", Problem: fmt.Sprintf("the store holds no run named %q", by.Reuse), Hint: "name a run that is in the store, or leave `reuse` out to ask the targets"}
		}
		if own >= 0 && !by.Replace && kept[own].Config.Mark != kept[from].Config.Mark {
			return &orbench.InputError{Setting: "reuse", Problem: "run " + r.Name + " has answers of its own", Hint: "choose another `name`, or give them up with `replace`"}
		}
	}
	if err := r.follow(kept); err != nil {
		return err
	}
	if r.Until != nil {
		r.Until.Judge, r.Config.Until.Judge = r.Judges[0], r.Config.Judges[0]
	}
	if from >= 0 {
		r.Config.Mark = kept[from].Config.Mark
	}
	if by.Fresh {
		r.Config.Mark = r.Name + " " + by.Now.UTC().Format(time.RFC3339)
	}
	for i, t := range r.Targets {
		switch was := answersOf(kept, from, t); {
		case t.Provider == model.Replay && from >= 0:
			// Another path to the same answers, whose hash is the endpoint, is no other model.
			for _, was := range kept[from].Config.Targets {
				if was.Name == t.Name && was.Endpoint == t.Endpoint {
					r.Targets[i].Model = was.Model
				}
			}
		case t.Provider == model.Replay:
		case by.Fresh:
			r.Targets[i].Revision = r.Config.Mark
		case was != nil:
			r.Targets[i].Revision = was.Revision
		case r.Config.Mark != "" && runsWeights(kept, t, by.Runs):
			r.Targets[i].Revision = r.Config.Mark
		}
	}
	r.Config.Targets = r.Targets
	return r.resolve()
}

// answersOf is the target of a kept run that has a target's answers: the one of its name, else
// another of its model; nil for none.
func answersOf(kept []Stored, from int, t evaluate.Target) *evaluate.Target {
	if from < 0 {
		return nil
	}
	all := kept[from].Config.Targets
	i := slices.IndexFunc(all, func(was evaluate.Target) bool { return was.Name == t.Name && was.Ref() == t.Ref() })
	if i < 0 {
		i = slices.IndexFunc(all, func(was evaluate.Target) bool { return was.Ref() == t.Ref() })
	}
	if i < 0 {
		return nil
	}
	return &all[i]
}

// runsWeights reports whether the server of a target runs weights. One that does not answer is
// what the run saved last took it for; one that nobody asked yet is taken to run some, so that
// nobody counts what it never said.
func runsWeights(kept []Stored, t evaluate.Target, runs func(model.Ref) (runs, known bool)) bool {
	does, known := runs(t.Ref())
	if known {
		return does
	}
	for from, s := range kept {
		// One that was asked again has a mark for all of its targets.
		if was := answersOf(kept, from, t); was != nil && s.Config.Mark == s.Name {
			return was.Revision != ""
		}
	}
	return true
}

// KeptExperiment is what the run of that name was made of; nil where the store has no such run,
// or an older one. m may be nil.
func KeptExperiment(ctx context.Context, m store.Reader, name string) (*experiment.Experiment, error) {
	kept, err := undamaged(ctx, m)
	for _, s := range kept {
		if s.Name == name {
			return s.Config.Experiment, err
		}
	}
	return nil, err
}
