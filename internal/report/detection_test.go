package report

import (
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

func TestDetection(t *testing.T) {
	t.Parallel()
	if s := detectionSection(nil); s.Rows != nil {
		t.Errorf("of nothing: %+v", s)
	}
	f := score.Detection{Target: "b", Dataset: "set", Safe: 2, Toxic: 3, AUC: stats.Estimate{Value: 0.75, Lo: 0.4, Hi: 0.9}, Simulated: true}
	var text strings.Builder
	b := table.NewPrinter(&text, table.Screen{})
	b.Section(detectionSection([]score.Detection{f}))
	b.Flush()
	for _, want := range []string{"b (simulated)", "0.75", "AUC"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in %s", want, text.String())
		}
	}
	f.Clusters = 2
	if note := detectionSection([]score.Detection{f}).Note; !strings.Contains(note, "not independent") {
		t.Error(note)
	}
}
