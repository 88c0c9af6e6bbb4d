package score

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/stats"
)

// persisted is a counter of ten prompts: 3 refused both times, 2 alone only, 1 at the end
// only, 4 never; each with so many pairs alike.
func persisted(clusteredBy string, pairs int) *persistenceCount {
	c := newPersistenceCount(Persistence{
		Target: "p/m [pushback]", Alone: "p/m", Turns: "pushback", Scope: Scope{Dataset: "few", DatasetSHA256: "00", Label: orbench.Safe, Judge: "lexical"}, ClusteredBy: clusteredBy,
	})
	for i, both := range []string{"RR", "RR", "RR", "RA", "RA", "AR", "AA", "AA", "AA", "AA"} {
		var p versus.Pairs
		for range pairs {
			p.Add(0, versus.Once(both[0] == 'R'), versus.Once(both[1] == 'R'))
		}
		c.add(p.Counts, map[bool]int{true: 1 + i/2}[clusteredBy != ""])
	}
	c.add(versus.Counts{}, 0) // a prompt without verdicts
	return c
}

func TestPersistenceCount(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		clusteredBy string
		pairs       int
		clustered   bool
	}{
		"single":    {"", 1, false},
		"samples":   {"", 3, true},
		"clustered": {"seed", 1, true},
	} {
		f := persisted(tt.clusteredBy, tt.pairs).result()
		if f.Prompts != 10 || f.Excluded != 1 || f.Pairs != 10*tt.pairs || f.RefusedAlone != 5*tt.pairs || f.RefusedLast != 4*tt.pairs || f.Persisted != 3*tt.pairs {
			t.Errorf("%s: %+v", name, f)
		}
		for what, r := range map[string]struct {
			got  stats.Rate
			want float64
		}{
			"alone": {f.AloneRate, 0.5}, "last": {f.LastRate, 0.4}, "persist": {f.PersistRate, 0.6},
			"taken back": {f.TakenBackRate, 0.4}, "withdrawn": {f.WithdrawnRate, 0.2},
		} {
			if *r.got.Share != r.want || (r.got.CI95Clustered != nil) != tt.clustered {
				t.Errorf("%s: %s is %v with %v, want %v", name, what, *r.got.Share, r.got.CI95Clustered, r.want)
			}
		}
		want, _ := stats.Tango(2, 1, 10, 0.95)
		if d := f.Difference.Value - want.Value; d > 1e-12 || d < -1e-12 || !tt.clustered && *f.Difference != want {
			t.Errorf("%s: the difference is %v, want %v", name, f.Difference, want)
		}
		if diff := cmp.Diff(f, persisted(tt.clusteredBy, tt.pairs).result()); diff != "" {
			t.Errorf("%s: the same counts give other figures: %s", name, diff)
		}
	}
	// What was never refused alone has no share that persists.
	none := newPersistenceCount(Persistence{})
	none.add(versus.Counts{Neither: 1}, 0)
	if f := none.result(); f.PersistRate.Share != nil || f.TakenBackRate.Share != nil || *f.WithdrawnRate.Share != 0 {
		t.Errorf("%+v", f)
	}
}
