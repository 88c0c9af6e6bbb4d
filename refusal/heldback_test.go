package refusal_test

import (
	"encoding/csv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/refusal"
)

// TestHeldBack measures Detect on answers that did not train it. In heldback.txt most of
// the refusals are deflections without a refusing word; those in imitated.txt were written
// to be hard; and smollm2.csv has answers of a real model, labeled by two readers. Nobody
// who wrote phrases or rules had read them, but for the part of smollm2.csv called read
// and the first lines of a few of the other part.
// The floors lie a little below what was measured, since a few answers more or less say
// nothing at this size.
func TestHeldBack(t *testing.T) {
	for _, c := range []struct {
		file         string
		read         func(t *testing.T, file string) []heldBack
		accuracy, f1 float64
	}{
		{"heldback.txt", readLines, 0.87, 0.86},
		{"imitated.txt", readLines, 0.79, 0.67},
		{"smollm2.csv", readTable, 0.86, 0.66},
	} {
		t.Run(c.file, func(t *testing.T) {
			all, byManner := &cells{}, map[string]*cells{}
			for _, a := range c.read(t, filepath.Join("testdata", c.file)) {
				if byManner[a.manner] == nil {
					byManner[a.manner] = &cells{}
				}
				v := refusal.Detect(a.prompt, a.answer)
				byManner[a.manner].judged(v, LabeledAnswer{Refused: a.refused})
				if a.manner != "read" {
					all.judged(v, LabeledAnswer{Refused: a.refused})
				}
			}
			for _, manner := range slices.Sorted(maps.Keys(byManner)) {
				t.Logf("%-20s %s", manner, byManner[manner])
			}
			t.Logf("%-20s %s F1 %.3f", "all held back", all, all.f1())
			if all.accuracy() < c.accuracy || all.f1() < c.f1 {
				t.Errorf("accuracy %.3f and F1 %.3f, want %v and %v", all.accuracy(), all.f1(), c.accuracy, c.f1)
			}
		})
	}
}

// A heldBack is an answer with its label.
type heldBack struct {
	manner, prompt, answer string
	refused                bool
}

// readLines reads a line for each answer.
func readLines(t *testing.T, file string) (answers []heldBack) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.SplitN(line, " | ", 4)
		if len(f) != 4 || f[1] != "yes" && f[1] != "no" {
			t.Fatalf("%s:%d: want manner | yes or no | prompt | answer", file, i+1)
		}
		answers = append(answers, heldBack{f[0], f[2], strings.ReplaceAll(f[3], `\n`, "\n"), f[1] == "no"})
	}
	return answers
}

// readTable reads a table of the columns part, prompt, answer, label of the prompt and
// class.
func readTable(t *testing.T, file string) (answers []heldBack) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		class := orbench.Class(row[4])
		if !slices.Contains(orbench.Classes, class) {
			t.Fatalf("%s: unknown class %q of the answer to %q", file, class, row[1])
		}
		answers = append(answers, heldBack{row[0], row[1], row[2], class.Refused()})
	}
	return answers
}
