package score

import (
	"encoding/json"
	"errors"
)

// kept is a result as it is stored: its JSON form, and what that leaves out.
type kept struct {
	Result Result
	// Variants is indexed by run; Joint and Examples by run and judge.
	Variants []string
	Joint    [][]*[2]float64
	Examples [][]*Example
	// Differ is indexed by run and pair of judges.
	Differ [][]*Difference
	Spread []keptSpread
}

// keptSpread is what the JSON form of Propensity leaves out.
type keptSpread struct {
	Joint        *[2]float64
	DesignEffect float64
}

// Keep writes the result of one run so that Kept can read it back completely.
// The result must not say how the run was made, because that follows from the
// run's history; Keep returns an error if it does.
func (r *Result) Keep() ([]byte, error) {
	if r.Provenance != nil || len(r.SettingsThatDiffer) > 0 {
		return nil, errors.New("a result with its provenance is not kept")
	}
	k := kept{Result: *r}
	for _, run := range r.Runs {
		k.Variants = append(k.Variants, run.Variant)
		var joint []*[2]float64
		var examples []*Example
		for _, j := range run.Judges {
			joint, examples = append(joint, j.Joint), append(examples, j.Example)
		}
		var differ []*Difference
		for _, a := range run.Agreement {
			differ = append(differ, a.Example)
		}
		k.Joint, k.Examples, k.Differ = append(k.Joint, joint), append(k.Examples, examples), append(k.Differ, differ)
	}
	for _, p := range r.Propensity {
		k.Spread = append(k.Spread, keptSpread{p.Joint, p.DesignEffect})
	}
	return json.Marshal(k)
}

// Kept reads what Keep wrote.
func Kept(b []byte) (Result, error) {
	var k kept
	if err := json.Unmarshal(b, &k); err != nil {
		return Result{}, err
	}
	for i := range k.Result.Runs {
		run := &k.Result.Runs[i]
		run.Variant = k.Variants[i]
		for n := range run.Judges {
			run.Judges[n].Joint, run.Judges[n].Example = k.Joint[i][n], k.Examples[i][n]
		}
		for n := range run.Agreement {
			run.Agreement[n].Example = k.Differ[i][n]
		}
	}
	for i := range k.Result.Propensity {
		k.Result.Propensity[i].Joint, k.Result.Propensity[i].DesignEffect = k.Spread[i].Joint, k.Spread[i].DesignEffect
	}
	return k.Result, nil
}
