package run

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/judge"
)

// Until is when a run ends by itself, and by which judge.
type Until struct {
	evaluate.Rule
	Judge Spec `json:"judge"`
}

// Ends reports whether the run ends by itself.
func (c EvalConfig) Ends() bool { return c.Until != nil }

// endedBy is the judge whose verdicts end the run, nil if it does not end by itself. These
// verdicts, and which targets cannot answer, decide which prompts were asked: known is
// false unless both are among what the rows lack.
func (r *Run) endedBy() (by judge.Judge, known bool) {
	u := r.Config.Until
	if u == nil {
		return nil, true
	}
	known = slices.ContainsFunc(r.Config.Judges, func(s Spec) bool { return s.Same(u.Judge) && maps.Equal(s.Rubrics, u.Judge.Rubrics) })
	return r.Until.Judge, known
}

// ending is when the run ends by itself, as a setting.
func (c EvalConfig) ending() provenance.Setting {
	s := provenance.Setting{Name: "until"}
	if u := c.Until; u != nil {
		s.Value = fmt.Sprintf("%s by %s, in the order of seed %d", u.Rule, u.Judge.Name, u.Seed)
		if u.Interval == evaluate.Wilson {
			s.Value += ", looked at from 200 prompts on"
		}
	}
	return s
}

// open has a run end so.
func (u *Until) open(r *evaluate.Run) error {
	if u == nil {
		return nil
	}
	j, err := u.Judge.Judge()
	if err != nil {
		return err
	}
	r.Until = &evaluate.Until{Rule: u.Rule, Targets: r.Targets, Judge: j}
	return nil
}

// addUntil has the run end by itself where the experiment says so, by what its first judge
// says.
func (o *opening) addUntil(context.Context) error {
	if o.x.Until == "" {
		return nil
	}
	rule, _, err := evaluate.ParseUntil(o.x.Until)
	if err != nil {
		return wrong(err, "$.until")
	}
	rule.Seed = o.sampleSeed()
	o.Until = &evaluate.Until{Rule: rule, Targets: o.Targets, Judge: o.Judges[0]}
	o.Config.Until = &Until{Rule: rule, Judge: o.Config.Judges[0]}
	return nil
}

// adopt is study.Study.Adopt: a run goes on by the revisions of its judges, by its own reading,
// and by the interval that it was asked by, unless the experiment names one.
func (o *opening) adopt(kept *study.Study) error {
	stored, err := Of(kept)
	if err == nil {
		err = Revise(o.Judges, o.Config.Judges, stored.Config.Judges, "")
	}
	if err != nil {
		return err
	}
	if until := stored.Config.Until; o.Until != nil && until != nil {
		if _, said, _ := evaluate.ParseUntil(o.x.Until); !said {
			o.Until.Interval, o.Config.Until.Interval = until.Interval, until.Interval
		}
		judges, specs := []judge.Judge{o.Until.Judge}, []Spec{o.Config.Until.Judge}
		if err := Revise(judges, specs, []Spec{until.Judge}, ""); err != nil {
			return err
		}
		o.Until.Judge, o.Config.Until.Judge = judges[0], specs[0]
	}
	o.Config.Reading = stored.Config.Reading
	o.Reading = o.Config.reading()
	return o.resolve()
}

// stopsOtherwise lists what is no longer asked because the run ends sooner or asks in
// another order.
func (r *Run) stopsOtherwise(stored EvalConfig) (changes []string) {
	was, now := stored.Until, r.Config.Until
	add := func(format string, args ...any) { changes = append(changes, fmt.Sprintf(format, args...)) }
	switch {
	case now == nil:
	case was == nil:
		add("it asked all prompts, but would now stop at %s", now.Rule)
	case was.HalfWidth < now.HalfWidth:
		add("until %s, now %s", was.Rule, now.Rule)
	case was.Interval != now.Interval:
		add("it stops by the interval %s, now %s, which changes the order of the prompts", cmp.Or(was.Interval, "sequence"), cmp.Or(now.Interval, "sequence"))
	case was.Seed != now.Seed:
		add("its prompts were asked in the order of seed %d, now of %d", was.Seed, now.Seed)
	case !was.Judge.Same(now.Judge):
		add("it stopped by what %s said, now by %s", was.Judge.Name, now.Judge.Name)
	case stored.Limit != r.Config.Limit:
		add("limit %s, now %s, which changes the order of the prompts", limitOf(stored.Limit), limitOf(r.Config.Limit))
	}
	return changes
}
