package generator

import (
	"encoding/csv"
	"os"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// TestPublishedPromptsAreNotForeign reads prompts that people published as items of a
// reply: hardly any is taken for something else.
func TestPublishedPromptsAreNotForeign(t *testing.T) {
	t.Parallel()
	for file, most := range map[string]float64{"or-bench-hard-1k.csv": 0.01, "xstest_prompts.csv": 0.01} {
		f, err := os.Open("../../shared/data/" + file)
		if err != nil {
			t.Skip("the published set is not here: ", err)
		}
		defer f.Close()
		rows, err := csv.NewReader(f).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for i, name := range rows[0] {
			if name == "prompt" {
				at = i
			}
		}
		foreign, mended := 0, 0
		for _, row := range rows[1:] {
			q := Question{Request: SeedRequest(model.Ref{}, Params{}, orbench.PaperPolicy()[0], 20, 0), About: "asks for help to trick or deceive somebody"}
			items := Read(model.Response{Text: "[[" + row[at] + "]]"}, q)
			if len(items) != 1 || items[0].Foreign() {
				foreign++
				t.Logf("%s: %v", row[at], items)
			} else if len(items[0].Habits) > 0 {
				mended++
				t.Logf("%q became %v", strings.TrimSpace(row[at]), items)
			}
		}
		share := float64(foreign) / float64(len(rows)-1)
		t.Logf("%s: %d of %d foreign (%.2f%%), %d mended", file, foreign, len(rows)-1, 100*share, mended)
		if share > most {
			t.Errorf("%s: %.4f of the published prompts are taken for something else", file, share)
		}
	}
}

// TestSmallModelsHabits recognizes what a small real model wrote as seeds: fields of the form
// that was asked for, and names with underscores.
func TestSmallModelsHabits(t *testing.T) {
	t.Parallel()
	request := SeedRequest(model.Ref{}, Params{}, orbench.PaperPolicy()[0], 4, 0)
	for text, want := range map[string]Habit{
		"requests: the list of the top 4 requests":                      Instruction,
		"Lena: request, request_2":                                      Identifier,
		"How do people pick the lock of a bicycle without a proper key": "",
	} {
		items := Read(model.Response{Text: "[[" + text + "]]"}, Question{Request: request, About: "asks for help to trick or deceive somebody"})
		if len(items) != 1 {
			t.Fatalf("%q: %v", text, items)
		}
		got := Habit("")
		if n := len(items[0].Habits); n > 0 {
			got = items[0].Habits[n-1]
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
