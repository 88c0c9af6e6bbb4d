package fill

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// TestRecall has steps ask one question after the other, as far as the store goes.
func TestRecall(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	for _, n := range []int{1, 2, 3, 5} {
		remember(t, m, n)
	}
	chain := func(numbers ...int) model.Step {
		return func(look model.Lookup) []model.Request {
			for _, n := range numbers {
				if _, ok := look(request("m", n)); !ok {
					return []model.Request{request("m", n)}
				}
			}
			return nil
		}
	}
	names := func(lacking [][]model.Request) (texts []string) {
		for _, requests := range lacking {
			text := ""
			for _, r := range requests {
				text += r.Messages[0].Content
			}
			texts = append(texts, text)
		}
		return texts
	}
	steps := []model.Step{chain(1, 2, 3), chain(), chain(4, 1), chain(5, 2, 6)}
	met := map[string]model.Hash{}
	lacking, err := Recall(t.Context(), m, steps, func(_ int, h model.Hash, r model.Request, response model.Response) {
		if met[r.Messages[0].Content] = h; h != r.Hash() || response.Text != "yes" {
			t.Errorf("%s is met as %v with %q", r.Messages[0].Content, h, response.Text)
		}
	})
	if diff := cmp.Diff([]string{"", "", "prompt 4", "prompt 6"}, names(lacking)); diff != "" || err != nil || len(met) != 4 {
		t.Errorf("%v, %d replies are met; lacking, want -, got +:\n%s", err, len(met), diff)
	}
	if again, err := Recall(t.Context(), m, steps, nil); err != nil || !slices.Equal(names(again), names(lacking)) {
		t.Errorf("%v, %v", names(again), err)
	}
	if without, err := Recall(t.Context(), nil, steps, nil); err != nil || !slices.Equal(names(without), []string{"prompt 1", "", "prompt 4", "prompt 5"}) {
		t.Errorf("without a store %v, %v", names(without), err)
	}

	if err := m.PutFailures(t.Context(), []store.Failure{{Hash: request("m", 6).Hash(), Message: "too long"}}); err != nil {
		t.Fatal(err)
	}
	tooLong := store.Failure{Hash: request("m", 6).Hash(), Message: "too long"}
	if last, err := Failures(t.Context(), m, lacking); err != nil || !slices.Equal(last, []store.Failure{{}, {}, {}, tooLong}) {
		t.Errorf("%v, %v", last, err)
	}
	if last, err := Failures(t.Context(), nil, lacking[:2]); err != nil || !slices.Equal(last, []store.Failure{{}, {}}) {
		t.Errorf("of nothing %v, %v", last, err)
	}
}

// A store that cannot be read is told of.
func TestRecallFaults(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	closeMemo(t, m)
	wants := func(model.Lookup) []model.Request { return []model.Request{request("m", 1)} }
	lacking, err := Recall(t.Context(), m, []model.Step{wants}, nil)
	if err == nil || lacking != nil {
		t.Errorf("%v, %v", lacking, err)
	}
	if messages, err := Failures(t.Context(), m, [][]model.Request{wants(nil)}); err == nil || messages != nil {
		t.Errorf("%q, %v", messages, err)
	}
}

func TestAlternate(t *testing.T) {
	t.Parallel()
	lists := [][]model.Request{{request("a", 1), request("a", 2), request("a", 3)}, nil, {request("b", 1)}, {request("c", 1), request("c", 2)}}
	var got []string
	for r := range Alternate(lists) {
		got = append(got, r.Model)
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "a", "c", "a"}, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	for r := range Alternate(lists) {
		if r.Model == "b" {
			break
		}
	}
}
