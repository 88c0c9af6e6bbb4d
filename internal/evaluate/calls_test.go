package evaluate_test

import (
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// TestCalls compares the calls of a run with what filling it sends: before
// there is any answer, those of the targets; when it is done, all of them,
// including those of judges and of a defense.
func TestCalls(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	checked := target("a", "model")
	d, err := defense.Parse("response-check:judge/model", defense.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checked.Name, checked.Defense = "a/model [response-check]", d
	r := &evaluate.Run{
		Targets:  []evaluate.Target{target("a", "model"), checked},
		Datasets: []*dataset.Dataset{newDataset(t, "prompts", lines("one", 0, 5))},
		Judges:   newJudges(t, "lexical", "llm:judge/model"),
	}
	count := func(m store.Reader) (byJudge map[string]int, hashes map[model.Hash]bool, lacking int) {
		byJudge, hashes = map[string]int{}, map[model.Hash]bool{}
		for c, err := range r.Job().All(t.Context(), m) {
			if err != nil {
				t.Fatal(err)
			}
			if hashes[c.Hash] || c.Hash != c.Request.Hash() || c.Dataset != "prompts" {
				t.Errorf("%+v is there twice, or of nothing", c)
			}
			byJudge[c.Judge]++
			hashes[c.Hash] = true
			if !c.Remembered {
				lacking++
			}
		}
		return byJudge, hashes, lacking
	}
	// Both targets ask the same, once for each prompt.
	for _, memory := range []store.Reader{nil, m} {
		if by, _, lacking := count(memory); by[""] != 5 || len(by) != 1 || lacking != 5 {
			t.Errorf("before: %v, %d lacking; want 5 of targets, all lacking", by, lacking)
		}
	}
	asked := providers{"a": answers("Sure: here is how."), "judge": judging(orbench.DirectAnswer)}
	asked.mustFill(t, r, m)
	by, hashes, lacking := count(m)
	if lacking != 0 || by["llm:judge/model"] != 5 {
		t.Errorf("after: %v, %d lacking; want 5 of the judge and nothing lacking", by, lacking)
	}
	sent := 0
	for _, p := range asked {
		for _, request := range p.requests() {
			sent++
			if !hashes[request.Hash()] {
				t.Errorf("a request that was sent is no call: %+v", request)
			}
		}
	}
	if sent != len(hashes) {
		t.Errorf("%d calls, and %d requests were sent", len(hashes), sent)
	}
}
