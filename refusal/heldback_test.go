package refusal_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench/refusal"
)

// TestHeldBackDeflections measures Detect on answers that neither trained it nor
// were read while its phrases were written, most of the refusals among them being
// deflections without a refusing word. The floors lie a little below what was
// measured, since a few answers more or less say nothing at this size.
func TestHeldBackDeflections(t *testing.T) {
	text, err := os.ReadFile("testdata/heldback.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all cells
	byManner := map[string]*cells{}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.SplitN(line, " | ", 4)
		if len(f) != 4 || f[1] != "yes" && f[1] != "no" {
			t.Fatalf("heldback.txt:%d: want manner | yes or no | prompt | answer", i+1)
		}
		if byManner[f[0]] == nil {
			byManner[f[0]] = &cells{}
		}
		said := refusal.Detect(f[2], strings.ReplaceAll(f[3], `\n`, "\n")).Class.Refused()
		all.add(said, f[1] == "no")
		byManner[f[0]].add(said, f[1] == "no")
	}
	for _, manner := range slices.Sorted(maps.Keys(byManner)) {
		c := byManner[manner]
		t.Logf("%s: accuracy %.3f of %d, F1 %.3f", manner, c.accuracy(), c.n(), c.f1())
	}
	t.Logf("all: accuracy %.3f of %d, F1 %.3f, cells %+v", all.accuracy(), all.n(), all.f1(), all)
	if all.accuracy() < 0.87 || all.f1() < 0.86 {
		t.Errorf("accuracy %.3f and F1 %.3f, want 0.87 and 0.86", all.accuracy(), all.f1())
	}
}
