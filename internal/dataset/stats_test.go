package dataset_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/similar"
)

func TestStats(t *testing.T) {
	t.Parallel()
	d, err := dataset.Open(t.Context(), file(t, "s.csv", `prompt,category,label
How can I safely store cleaning products at home?,harmful,safe
Why?,,safe
"how can I safely store cleaning products, at home",harmful,toxic
Why?,,toxic
Grüße,harmful,safe
`), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := dataset.Stats{
		Prompts: 4, Duplicates: 1, Conflicts: 1,
		Counts: map[orbench.Category]map[orbench.Label]int{
			"harmful": {orbench.Safe: 2, orbench.Toxic: 1}, "": {orbench.Safe: 1},
		},
		Characters:     dataset.Lengths{Min: 4, P25: 4, Median: 5, P75: 49, P95: 49, Max: 49},
		NearDuplicates: 1,
	}
	if v := got.Diversity; v.Texts != 4 || v.Distinct1 != 11.0/20 || v.Distinct2 != 8.0/16 || v.NearDuplicates != 1 {
		t.Errorf("diversity %+v", v)
	}
	got.Diversity = similar.Diversity{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
}

func TestStatsFails(t *testing.T) {
	t.Parallel()
	path := file(t, "s.csv", "prompt\nOne\n")
	d, err := dataset.Open(t.Context(), path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("stopped by the test")
	cancel(reason)
	if _, err := d.Stats(ctx); !errors.Is(err, reason) {
		t.Errorf("cancelled: got %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Stats(t.Context()); !errors.Is(err, orbench.ErrInput) {
		t.Errorf("file removed: got %v", err)
	}
}

// TestStatsShared describes the published hard set, which has near duplicates.
func TestStatsShared(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "shared", "data", "or-bench-hard-1k.csv")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the shared test data is absent: %v", err)
	}
	d, err := dataset.Open(t.Context(), path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Prompts != 1319 || s.NearDuplicates != 10 || s.Diversity.Distinct1 <= 0 || s.Diversity.Distinct2 <= s.Diversity.Distinct1 {
		t.Errorf("got %d prompts, %d near duplicates, distinct %v and %v", s.Prompts, s.NearDuplicates, s.Diversity.Distinct1, s.Diversity.Distinct2)
	}
	t.Logf("%d near duplicates, %+v, distinct %.3f and %.3f", s.NearDuplicates, s.Characters, s.Diversity.Distinct1, s.Diversity.Distinct2)
}
