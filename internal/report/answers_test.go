package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/orbench/orbench/internal/report/answers"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/score/scoretest"
)

func TestAnswersReadBack(t *testing.T) {
	t.Parallel()
	_, rows := scoretest.Fixture{Targets: 2, Safe: 5, Toxic: 3, Simulated: true}.Make()
	var b bytes.Buffer
	l := answers.NewLines(&b)
	for _, row := range rows {
		if _, err := l.Add(&row); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != len(rows) {
		t.Fatalf("%d lines for %d rows", len(lines), len(rows))
	}
	for i, line := range lines {
		var got score.AnswerRow
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if diff := cmp.Diff(rows[i], got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("line %d: %s", i+1, diff)
		}
	}
}
