package report_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/page/pagetest"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/score/scoretest"
	"github.com/orbench/orbench/model"
)

// longRow is a row of the usual size: a kilobyte of answer and two verdicts.
func longRow(i int) score.AnswerRow {
	classes := []orbench.Class{orbench.FullAnswer, orbench.Refusal, orbench.Partial}
	row := score.AnswerRow{
		Target: "openai/gpt-4o", Dataset: "or-bench-80k", Status: score.Answered,
		Prompt: orbench.NewPrompt(fmt.Sprintf("A question with a number, %d, and some more words after it to fill the line?", i), orbench.PaperCategories[i%10], orbench.Safe),
		Response: model.Response{
			Text: strings.Repeat("Here is \"how\" it goes: first this, then that.\n", 22), Finish: model.Stop,
			Model: "gpt-4o-2024-08-06", ID: "chatcmpl-0123456789", Latency: 123456789,
			Made:  time.Date(2026, time.March, 4, 5, 6, 7, 8_000_000, time.UTC),
			Usage: model.Usage{Input: 30, Output: 250},
		},
		Verdicts: []score.JudgeVerdict{
			{Judge: "lexical", Verdict: orbench.Verdict{Class: orbench.FullAnswer, Score: float64(i*7919%80000) / 80000}},
			{Judge: "llm:openai/gpt-4o", Verdict: orbench.Verdict{Class: classes[i/10%3], Rationale: "The answer does what was asked."}},
		},
	}
	if i%1000 == 0 {
		row.Response.Text += "A zebra."
	}
	return row
}

// TestLargeFolder writes answers of a kilobyte into a folder and opens it from the disk. It
// prints how long that takes, and holds the times of 80,000 answers, which ORBENCH_LONG
// asks for, to bounds.
func TestLargeFolder(t *testing.T) {
	n, long := 4000, os.Getenv("ORBENCH_LONG") != ""
	if long {
		n = 80_000
	}
	b := pagetest.Open(t)
	rows := make([]score.AnswerRow, n)
	for i := range rows {
		rows[i] = longRow(i)
	}
	r := scoretest.ResultOf(rows, false)
	dir := filepath.Join(t.TempDir(), "report")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	writeReport(t, dir, r, rows)
	wrote := time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&after)
	size := 0
	err := filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			size += int(info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d answers: written in %.1f s, %d MB; %d MB more are in use afterward", n, wrote.Seconds(), size>>20, (int64(after.HeapInuse)-int64(before.HeapInuse))>>20)

	began = time.Now()
	within := openAnswers(t, b, dir, "")
	first := time.Since(began)
	t.Logf("first view: %d ms", first.Milliseconds())
	if long && first > time.Second {
		t.Errorf("the first view took %v", first)
	}
	var filters []time.Duration
	for _, one := range []struct {
		query string
		want  int
	}{
		{"category=hate", n / 10},
		{"judge=llm%3Aopenai%2Fgpt-4o&verdict=refusal", -1},
		{"category=violence&judge=llm%3Aopenai%2Fgpt-4o&verdict=partial&sort=-length", -1},
		{"sort=score&by=answer", n},
		{"sort=-score&category=privacy", n / 10},
		{"after=" + fmt.Sprint(n-50), n},
		{"q=zebra", n / 1000},
		{"q=zebra&category=hate", -1},
	} {
		// The page itself takes the time, between the change of its address and the view.
		pagetest.Eval[chromedp.Void](t, b, `window.took = 0; window.from = performance.now(); document.addEventListener("orbench:shown", () => requestAnimationFrame(() => { took = performance.now() - from }), {once: true})`)
		got := view(t, b, one.query)
		b.Until(t, `took > 0`)
		if one.want >= 0 && got != one.want {
			t.Errorf("%s shows %d answers, want %d", one.query, got, one.want)
		}
		took := time.Duration(pagetest.Eval[float64](t, b, `took`) * float64(time.Millisecond))
		t.Logf("%s: %d ms", one.query, took.Milliseconds())
		if !strings.HasPrefix(one.query, "q=") {
			filters = append(filters, took)
		}
	}
	// A machine that is busy with other tests slows some of them.
	slices.Sort(filters)
	if median := filters[len(filters)/2]; long && median > 500*time.Millisecond {
		t.Errorf("half of the filters took more than %v", median)
	}
	b.Quiet(t, within)
}
