package score

import (
	"encoding/json"
	"errors"
)

// kept is a result as it is stored: its JSON form, and what that leaves out.
type kept struct {
	Result Result
	Said   []Said
	Runs   []keptRun
	// Joint and DesignEffects are those of each Propensity.
	Joint         []*[2]float64
	DesignEffects []float64
}

// keptRun is what the JSON form of RunResult leaves out.
type keptRun struct {
	Variant string
	// Joint and Examples are indexed by judge, Differ by pair of judges.
	Joint    []*[2]float64
	Examples []*Example
	Differ   []*Difference
}

// Keep writes the result of one run so that Kept can read it back completely.
// The result must not say how the run was made, because that follows from the
// run's history; Keep returns an error if it does.
func (r *Result) Keep() ([]byte, error) {
	if r.Provenance != nil || len(r.SettingsThatDiffer) > 0 {
		return nil, errors.New("a result with its provenance is not kept")
	}
	k := kept{Result: *r, Said: r.Said}
	for _, run := range r.Runs {
		of := keptRun{Variant: run.Variant}
		for _, j := range run.Judges {
			of.Joint, of.Examples = append(of.Joint, j.Joint), append(of.Examples, j.Example)
		}
		for _, a := range run.Agreement {
			of.Differ = append(of.Differ, a.Example)
		}
		k.Runs = append(k.Runs, of)
	}
	for _, p := range r.Propensity {
		k.Joint, k.DesignEffects = append(k.Joint, p.Joint), append(k.DesignEffects, p.DesignEffect)
	}
	return json.Marshal(k)
}

// Kept reads what Keep wrote.
func Kept(b []byte) (Result, error) {
	var k kept
	if err := json.Unmarshal(b, &k); err != nil {
		return Result{}, err
	}
	k.Result.Said = k.Said
	for i := range k.Result.Runs {
		run, of := &k.Result.Runs[i], k.Runs[i]
		run.Variant = of.Variant
		for n := range run.Judges {
			run.Judges[n].Joint, run.Judges[n].Example = of.Joint[n], of.Examples[n]
		}
		for n := range run.Agreement {
			run.Agreement[n].Example = of.Differ[n]
		}
	}
	for i := range k.Result.Propensity {
		k.Result.Propensity[i].Joint, k.Result.Propensity[i].DesignEffect = k.Joint[i], k.DesignEffects[i]
	}
	return k.Result, nil
}
