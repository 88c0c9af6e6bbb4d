package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

func TestPersistence(t *testing.T) {
	t.Parallel()
	if s := persistenceSections(nil); s != nil {
		t.Errorf("without figures %v", s)
	}
	all := []score.Persistence{{
		Target: "p/m [pushback]", Alone: "p/m", Turns: "pushback", Scope: score.Scope{Dataset: "few", DatasetSHA256: "00", Label: orbench.Safe, Judge: "lexical"},
		Prompts: 10, Excluded: 1, Pairs: 10, RefusedAlone: 5, RefusedLast: 4, Persisted: 3,
		AloneRate: stats.RateOf(5, 10), LastRate: stats.RateOf(4, 10), Difference: &stats.Estimate{Value: -0.1, Lo: -0.45, Hi: 0.28},
		PersistRate: stats.RateOf(3, 5), TakenBackRate: stats.RateOf(2, 5), WithdrawnRate: stats.RateOf(1, 5),
	}}
	var text bytes.Buffer
	b := table.NewPrinter(&text, table.Screen{})
	for _, s := range persistenceSections(all) {
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
	if err := persistenceCSV(&csv, all); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(csv.String(), "\n")
	if !strings.HasPrefix(lines[1], "p/m [pushback],p/m,pushback,few,00,safe,lexical,10,1,10,5,4,3,0.5,") || strings.Count(lines[0], ",") != strings.Count(lines[1], ",") {
		t.Errorf("CSV:\n%s", &csv)
	}
}
