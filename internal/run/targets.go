package run

import (
	"encoding/json"

	"github.com/orbench/orbench/internal/evaluate"
)

// Targets are the targets of a run. Their JSON form, which the store keeps and a
// run is named by, lists a target that is asked several times once for each sample.
type Targets []evaluate.Target

// each lists every target once for each sample.
func (ts Targets) each() (all []evaluate.Target) {
	for _, t := range ts {
		all = append(all, t.Each()...)
	}
	return all
}

// MarshalJSON lists samples.
func (ts Targets) MarshalJSON() ([]byte, error) { return json.Marshal(ts.each()) }

// UnmarshalJSON makes one target of samples that follow each other.
func (ts *Targets) UnmarshalJSON(b []byte) error {
	var each []evaluate.Target
	if err := json.Unmarshal(b, &each); err != nil {
		return err
	}
	*ts = evaluate.Together(each)
	return nil
}
