package answers

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/page/pagetest"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/model"
)

// TestSearch finds words in lists of several files and parts, in a browser.
func TestSearch(t *testing.T) {
	t.Parallel()
	b := pagetest.Open(t)
	dir := filepath.Join(t.TempDir(), "report")
	files, err := folder.Create(dir, folder.Subject{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(files, "answers.html", "answers.jsonl", false)
	if err != nil {
		t.Fatal(err)
	}
	w.mostListed = 1 << 20
	const prompts = 1000
	for n := range prompts {
		var rows [][]score.AnswerRow
		p := orbench.NewPrompt(fmt.Sprintf("asked%04d of group%d Ünïcode 東%d", n, n%7, n%2), "c", orbench.Safe)
		for k := range 2 {
			text, said := fmt.Sprintf("target%d", k), orbench.Verdict{Class: orbench.FullAnswer}
			if n%7 == 3 || n%7 == 5 && k == 0 {
				said.Class = orbench.Refusal
			}
			for i := range 12 {
				text += fmt.Sprintf(" word%05d", (n*2+k)*12+i)
			}
			rows = append(rows, []score.AnswerRow{{Target: fmt.Sprintf("t%d", k), Dataset: "d", Status: score.Answered, Prompt: p, Response: model.Response{Text: text}, Verdicts: []score.JudgeVerdict{{Judge: "j", Verdict: said}}}})
		}
		if err := w.Add(score.Chunk{Prompts: []orbench.Prompt{p}, Rows: [][][]score.AnswerRow{rows}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(score.Result{Runs: []score.RunResult{{About: score.About{Dataset: "d", Label: orbench.Safe}, N: 2 * prompts}}}, "Answers", "", nil); err != nil {
		t.Fatal(err)
	}
	if err := files.Finish(); err != nil {
		t.Fatal(err)
	}
	if len(w.names.Words) < 2 || len(w.names.Words[0]) < 2 {
		t.Fatalf("the lists are in %d parts, the first of %d files", len(w.names.Words), len(w.names.Words[0]))
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	b.Goto(t, "file://"+path+"/answers.html", "#total b")
	pagetest.Eval[chromedp.Void](t, b, `window.views = 0; document.addEventListener("orbench:shown", () => views++)`)
	for query, want := range map[string]int{
		"word00017": 1, "word0001*": 2, "word01*": 84, "word*": 2 * prompts, "target1": prompts, "asked0500": 2, "asked0500 target1": 0,
		"word00012 TARGET1": 1, "word00012 target0": 0, "asked00* group3": 2 * 14, "ünïcode 1": prompts, "ÜNÏ*": 2 * prompts,
		"東": 2 * prompts, "word": 0, "wore*": 0, "zzz*": 0, "0*": prompts, "a*": 2 * prompts, "word23999": 1, "!": 0, "prompt:asked0500": 2, "prompt:asked*": 2 * prompts, "prompt:target1": 0, "prompt:group3 target1": 0,
	} {
		pagetest.Eval[chromedp.Void](t, b, fmt.Sprintf(`views = 0; location.hash = "by=answer&q=" + encodeURIComponent(%q)`, query))
		b.Until(t, "views > 0")
		if got := pagetest.Eval[int](t, b, `Number(document.querySelector("#total b").textContent.replaceAll(",", ""))`); got != want {
			t.Errorf("%q finds %d answers, want %d", query, got, want)
		}
	}
	links := pagetest.Eval[[]string](t, b, `[...document.querySelectorAll("a[href*=prompt]")].filter(a => a.textContent.startsWith("group")).map(a => a.textContent)`)
	if want := []string{"group3 286 of 286", "group5 143 of 286"}; !slices.Equal(links, want) {
		t.Errorf("refused most: %q, want %q", links, want)
	}
	for _, text := range links {
		pagetest.Eval[chromedp.Void](t, b, fmt.Sprintf(`views = 0; [...document.querySelectorAll("a")].find(a => a.textContent === %q).click()`, text))
		b.Until(t, "views > 0")
		if got := pagetest.Eval[string](t, b, `document.querySelector("#total b").textContent`); !strings.Contains(text, " "+got+" of ") {
			t.Errorf("%q opens %s answers", text, got)
		}
	}
	b.Quiet(t, "file://"+path+"/")
}
