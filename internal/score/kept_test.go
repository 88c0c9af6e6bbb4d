package score_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/score"
)

// TestKept keeps a result with all that its JSON form leaves out, which is not more than
// that.
func TestKept(t *testing.T) {
	t.Parallel()
	zero, joint := 0.0, &[2]float64{0, 0.25}
	want := score.Result{
		Runs: []score.RunResult{
			{Target: "a", Variant: "b", Judges: []score.JudgeResult{{Joint: joint}, {}}},
			{Target: "c", Judges: []score.JudgeResult{}, Agreement: []score.Agreement{{N: 1, Example: &score.Difference{Example: score.Example{Prompt: "p"}, A: "refusal"}}, {}}},
		},
		Propensity: []score.Propensity{{Joint: joint, DesignEffect: 1.5}, {}},
		Said:       []score.Said{{Dataset: "d", IDs: []orbench.PromptID{"p0"}, Labels: []orbench.Label{orbench.Safe}, Clusters: []int{0}, Columns: []score.Column{{Target: "a", Judge: "lexical", Samples: [][]byte{{2}}}}}},
		Cost:       score.Cost{USD: &zero},
	}
	b, err := want.Keep()
	if err != nil {
		t.Fatal(err)
	}
	got, err := score.Kept(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := score.Kept(b[:len(b)-1]); err == nil {
		t.Error("a cut one is read")
	}

	made := score.Result{Provenance: &provenance.Record{}}
	if _, err := made.Keep(); err == nil {
		t.Error("a result with its provenance is kept")
	}

	var left []string
	seen := map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			look(of.Elem())
		case reflect.Struct:
			if seen[of] || of.PkgPath() == "time" || of == reflect.TypeFor[provenance.Setting]() {
				return
			}
			seen[of] = true
			for i := range of.NumField() {
				f := of.Field(i)
				if f.Tag.Get("json") == "-" || !f.IsExported() {
					left = append(left, of.String()+"."+f.Name)
				}
				look(f.Type)
			}
		}
	}
	look(reflect.TypeFor[score.Result]())
	slices.Sort(left)
	known := []string{"score.Agreement.Example", "score.JudgeResult.Example", "score.JudgeResult.Joint", "score.Propensity.DesignEffect", "score.Propensity.Joint", "score.Result.Said", "score.RunResult.Variant"}
	if diff := cmp.Diff(known, left); diff != "" {
		t.Errorf("fields that no JSON has, and Keep must keep (-known +found):\n%s", diff)
	}
}
