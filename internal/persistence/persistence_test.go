package persistence_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/persistence"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// counted is a counter of ten prompts: 3 refused both times, 2 alone only, 1 at the end
// only, 4 never; each with so many pairs alike.
func counted(clusteredBy string, pairs int) *persistence.Counter {
	c := persistence.NewCounter(persistence.Figures{
		Target: "p/m [pushback]", Alone: "p/m", Turns: "pushback", Dataset: "few", DatasetSHA256: "00", Label: orbench.Safe, Judge: "lexical", ClusteredBy: clusteredBy,
	})
	for i, both := range []string{"RR", "RR", "RR", "RA", "RA", "AR", "AA", "AA", "AA", "AA"} {
		var p persistence.Pairs
		for range pairs {
			p.Add(both[0] == 'R', both[1] == 'R')
		}
		c.Add(p, string(rune('a'+i/2)))
	}
	c.Add(persistence.Pairs{}, "z") // a prompt without verdicts
	return c
}

func TestCounter(t *testing.T) {
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
		f := counted(tt.clusteredBy, tt.pairs).Result()
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
		want, _ := stats.PairedDifference(2, 1, 10, 0.95)
		if d := f.Difference.Value - want.Value; d > 1e-12 || d < -1e-12 || !tt.clustered && *f.Difference != want {
			t.Errorf("%s: the difference is %v, want %v", name, f.Difference, want)
		}
		if diff := cmp.Diff(f, counted(tt.clusteredBy, tt.pairs).Result()); diff != "" {
			t.Errorf("%s: the same counts give other figures: %s", name, diff)
		}
	}
	// What was never refused alone has no share that persists.
	none := persistence.NewCounter(persistence.Figures{})
	none.Add(persistence.Pairs{N: 1}, "")
	if f := none.Result(); f.PersistRate.Share != nil || f.TakenBackRate.Share != nil || *f.WithdrawnRate.Share != 0 {
		t.Errorf("%+v", f)
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	if s := persistence.Sections(nil); s != nil {
		t.Errorf("without figures %v", s)
	}
	all := []persistence.Figures{counted("", 1).Result()}
	var text bytes.Buffer
	b := table.NewPrinter(&text, table.Screen{})
	for _, s := range persistence.Sections(all) {
		b.Section(s)
	}
	b.Flush()
	for _, want := range []string{
		"p/m     pushback  few      safe   lexical       10         1  50.0%       40.0%",
		"Excluded are prompts without a verdict",
		"2 of 5  40.0%     11.8–76.9   3 of 5  60.0%     23.1–88.2     1 of 5  20.0%      3.6–62.4",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	var csv bytes.Buffer
	if err := persistence.CSV(&csv, all); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(csv.String(), "\n")
	if !strings.HasPrefix(lines[1], "p/m [pushback],p/m,pushback,few,00,safe,lexical,10,1,10,5,4,3,0.5,") || strings.Count(lines[0], ",") != strings.Count(lines[1], ",") {
		t.Errorf("CSV:\n%s", &csv)
	}
}
