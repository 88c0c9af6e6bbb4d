package report_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/score/scoretest"
)

func TestAnswersReadBack(t *testing.T) {
	t.Parallel()
	r, rows := scoretest.Fixture{Targets: 2, Safe: 5, Toxic: 3, Simulated: true}.Make()
	dir := filepath.Join(t.TempDir(), "report")
	writeReport(t, dir, r, rows)
	text, err := os.ReadFile(filepath.Join(dir, report.AnswersFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != len(rows) {
		t.Fatalf("%d lines for %d rows", len(lines), len(rows))
	}
	for i, line := range lines {
		var got score.AnswerRow
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		n := slices.IndexFunc(rows, func(r score.AnswerRow) bool {
			return r.Target == got.Target && r.Dataset == got.Dataset && r.Prompt.ID == got.Prompt.ID
		})
		if n < 0 {
			t.Fatalf("line %d is of no row: %s", i+1, line)
		}
		if diff := cmp.Diff(rows[n], got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("line %d: %s", i+1, diff)
		}
		rows = slices.Delete(rows, n, n+1)
	}
}
