package refusal_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench/refusal"
	"github.com/orbench/orbench/refusal/internal/corpus"
)

// TestHeldBack measures Detect on answers that neither trained it nor were read while
// its phrases were written. In heldback.txt most of the refusals are deflections without
// a refusing word; those in imitated.txt were written to be hard. The floors lie a
// little below what was measured, since a few answers more or less say nothing at this
// size.
func TestHeldBack(t *testing.T) {
	for _, c := range []struct {
		file         string
		accuracy, f1 float64
	}{
		{"heldback.txt", 0.87, 0.86},
		{"imitated.txt", 0.79, 0.67},
	} {
		t.Run(c.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			all, byManner := &cells{}, map[string]*cells{}
			for i, line := range strings.Split(string(text), "\n") {
				if line == "" || line[0] == '#' {
					continue
				}
				f := strings.SplitN(line, " | ", 4)
				if len(f) != 4 || f[1] != "yes" && f[1] != "no" {
					t.Fatalf("%s:%d: want manner | yes or no | prompt | answer", c.file, i+1)
				}
				if byManner[f[0]] == nil {
					byManner[f[0]] = &cells{}
				}
				v := refusal.Detect(f[2], strings.ReplaceAll(f[3], `\n`, "\n"))
				for _, of := range []*cells{all, byManner[f[0]]} {
					of.judged(v, corpus.Row{Refused: f[1] == "no"})
				}
			}
			for _, manner := range slices.Sorted(maps.Keys(byManner)) {
				t.Logf("%-20s %s", manner, byManner[manner])
			}
			t.Logf("%-20s %s F1 %.3f", "all", all, all.f1())
			if all.accuracy() < c.accuracy || all.f1() < c.f1 {
				t.Errorf("accuracy %.3f and F1 %.3f, want %v and %v", all.accuracy(), all.f1(), c.accuracy, c.f1)
			}
		})
	}
}
