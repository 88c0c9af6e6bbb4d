package score

import "slices"

// Change is what a variant adds to the refusals of its base, on the prompts of one
// label of one dataset as one judge sees them.
type Change struct {
	// Target is the variant and Base its base target, both without the number
	// of a sample.
	Target string `json:"target"`
	Base   string `json:"base"`
	Scope
	Versus
	Simulated bool `json:"simulated,omitempty"`
}

// changes returns what the variants of a result change whose base is in the same run.
func changes(r Result) []Change {
	var all []Change
	for i := range r.Runs {
		run := &r.Runs[i]
		k := slices.IndexFunc(r.Runs, func(o RunResult) bool {
			return o.Target == run.Base && o.Run == run.Run && o.Scope("") == run.Scope("")
		})
		if run.Base == "" || k < 0 {
			continue
		}
		for _, j := range run.Judges {
			if v := r.versus(run, &r.Runs[k], j.Judge); v != nil {
				all = append(all, Change{run.Target, run.Base, run.Scope(j.Judge), *v, run.Simulated || r.Runs[k].Simulated || j.Simulated})
			}
		}
	}
	return all
}

// changeOf returns what a variant changes on one side; nil if that is not known.
func changeOf(changes []Change, s *Side, base string) *Versus {
	i := slices.IndexFunc(changes, func(c Change) bool {
		return c.Target == s.Run.Target && c.Base == base && c.Scope == s.Run.Scope(s.Judge.Judge)
	})
	if i < 0 {
		return nil
	}
	return &changes[i].Versus
}
