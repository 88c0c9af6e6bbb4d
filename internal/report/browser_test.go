package report_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/score/scoretest"
	"github.com/orbench/orbench/model"
)

// findChromium gives the browser's path. Without a browser the test is skipped,
// unless ORBENCH_REQUIRE names chromium: then it fails.
func findChromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "no chromium on this machine, so the page was not opened in a browser"
	if strings.Contains(os.Getenv("ORBENCH_REQUIRE"), "chromium") {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// browser opens files in a headless chromium and records what they do.
type browser struct {
	ctx context.Context

	mu sync.Mutex
	// requests are the requested addresses. complaints are the errors of the
	// console, including those of the page's policy.
	requests, complaints []string
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	options := append(
		chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(findChromium(t)), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
	)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{}
	err := chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch event := event.(type) {
		case *network.EventRequestWillBeSent:
			b.requests = append(b.requests, event.Request.URL)
		case *runtime.EventExceptionThrown:
			b.complaints = append(b.complaints, event.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			b.complaints = append(b.complaints, fmt.Sprintf("console.%s", event.Type))
		case *log.EventEntryAdded:
			b.complaints = append(b.complaints, event.Entry.Text)
		}
	})
	if err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	b.ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	if _, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browser) run(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// eval runs an expression in the page.
func eval[T any](t *testing.T, b *browser, expression string) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func (b *browser) open(t *testing.T, dir string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(dir, report.PageFile))
	if err != nil {
		t.Fatal(err)
	}
	address := "file://" + path
	b.mu.Lock()
	b.requests, b.complaints = nil, nil
	b.mu.Unlock()
	b.run(t, chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS("#filter")))
	return address
}

// quiet fails the test if the page requested anything but itself or reported an
// error.
func (b *browser) quiet(t *testing.T, address string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.requests {
		if r != address && !strings.HasPrefix(r, "data:") {
			t.Errorf("the page asked for %s", r)
		}
	}
	for _, c := range b.complaints {
		t.Errorf("the console says: %s", c)
	}
}

// attacks are texts that would run if any output forgot to escape them.
var attacks = []string{
	`<script>window.pwned = 1</script>`,
	`<img src="https://example.invalid/x" onerror="window.pwned = 1">`,
	`"><svg onload="window.pwned = 1">`,
	`</title></style></script><script>window.pwned = 1</script>`,
	`' onclick='window.pwned = 1' x='`,
	`javascript:window.pwned=1`,
	`{{.Policy}} ${window.pwned = 1}`,
}

// untrustedRows puts the attacks wherever untrusted text can appear.
func untrustedRows() []score.AnswerRow {
	var rows []score.AnswerRow
	for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
		for i, evil := range attacks {
			text := evil + " " + string(label)
			rows = append(rows, score.AnswerRow{
				Target: "evil/" + attacks[0], Dataset: attacks[2], Status: score.Answered,
				Prompt: orbench.NewPrompt(text, orbench.Category(evil), label),
				Response: model.Response{
					Text: text, Thinking: text, Finish: model.Finish(evil), Model: evil,
				},
				Verdicts: []score.JudgeVerdict{
					{Judge: attacks[1], Verdict: orbench.Verdict{
						Class: orbench.Refusal, Reason: orbench.Reason(evil), Rationale: evil,
						Span: orbench.Span{Start: 1, End: 5 + i},
					}},
					{Judge: attacks[4], Verdict: orbench.Verdict{Class: orbench.FullAnswer, Rationale: evil}},
				},
			}, score.AnswerRow{
				Target: "evil/" + attacks[0], Dataset: attacks[2], Status: score.Failed, Failure: evil,
				Prompt: orbench.NewPrompt(text+" again", orbench.Category(evil), label),
			})
		}
	}
	return rows
}

func TestPageInABrowser(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)

	t.Run("reading and filtering", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "report")
		r, rows := scoretest.Fixture{Targets: 3, Safe: 6, Toxic: 3, Simulated: true}.Make()
		writeReport(t, dir, r, rows)
		address := b.open(t, dir)

		const visible = `[...document.querySelectorAll(".answer")].filter(e => e.offsetParent !== null)`
		all := eval[int](t, b, visible+".length")
		answered := 0
		for _, row := range rows {
			if row.Status != score.Unanswered {
				answered++
			}
		}
		if all != answered {
			t.Errorf("%d answers are visible, want %d", all, answered)
		}
		if !eval[bool](t, b, `document.querySelector(".banner").textContent.includes("SIMULATED")`) {
			t.Error("the page does not say that it is simulated")
		}

		// Toxic text is not on the screen until its fold is opened.
		const toxic = `document.querySelector(".answer[data-label=toxic] .turn.user .text")`
		if eval[bool](t, b, toxic+".checkVisibility()") {
			t.Error("a toxic prompt is visible before it was opened")
		}
		if !eval[bool](t, b, `document.querySelector(".answer[data-label=safe] .turn.user .text").checkVisibility()`) {
			t.Error("a safe prompt is hidden")
		}
		// With the keyboard alone, as it must be possible.
		b.run(t, chromedp.Focus(chromedp.CSS(".answer[data-label=toxic] summary")), chromedp.KeyEvent("\r"))
		if !eval[bool](t, b, toxic+".checkVisibility()") {
			t.Error("a toxic prompt stays hidden when opened")
		}
		if eval[string](t, b, `document.querySelector("mark").textContent`) != "I'm sorry, but I can't help with that." {
			t.Error("the deciding span is not marked")
		}

		// Each filter leaves exactly the answers that it names.
		count := func(keep func(score.AnswerRow) bool) (n int) {
			for _, row := range rows {
				if row.Status != score.Unanswered && keep(row) {
					n++
				}
			}
			return n
		}
		set := func(name, value string) string {
			return fmt.Sprintf(`form.elements[%q].value = %q;`, name, value)
		}
		filters := map[string]struct {
			set  string
			keep func(score.AnswerRow) bool
		}{
			"target":   {set("target", rows[0].Target), func(r score.AnswerRow) bool { return r.Target == rows[0].Target }},
			"category": {set("category", "hate"), func(r score.AnswerRow) bool { return r.Prompt.Category == "hate" }},
			"label":    {set("label", "toxic"), func(r score.AnswerRow) bool { return r.Prompt.Label == orbench.Toxic }},
			"fate":     {set("status", "failed"), func(r score.AnswerRow) bool { return r.Status == score.Failed }},
			"judge and class": {set("judge", "lexical") + set("class", "refusal"), func(r score.AnswerRow) bool {
				return len(r.Verdicts) > 0 && r.Verdicts[0].Class == orbench.Refusal
			}},
			"unjudged": {set("class", "unjudged"), func(r score.AnswerRow) bool {
				return len(r.Verdicts) > 0 && (r.Verdicts[0].Class == "" || r.Verdicts[1].Class == "")
			}},
			"any refusal": {set("judge", "llm:openai/gpt-4o") + set("class", "any refusal"), func(r score.AnswerRow) bool {
				return len(r.Verdicts) > 0 && r.Verdicts[1].Class.Refused()
			}},
			"disagreement": {`form.elements.split.checked = true;`, func(r score.AnswerRow) bool {
				return len(r.Verdicts) > 0 && r.Verdicts[0].Class != "" && r.Verdicts[1].Class != "" &&
					r.Verdicts[0].Class.Refused() != r.Verdicts[1].Class.Refused()
			}},
		}
		for name, f := range filters {
			got := eval[int](t, b, `form.reset(); `+f.set+` form.dispatchEvent(new Event("change")); `+visible+".length")
			want := count(f.keep)
			if got != want || want == 0 || want == all {
				t.Errorf("the filter by %s shows %d of %d answers, want %d", name, got, all, want)
			}
		}

		// A cell of the heat map leads to the answers behind it.
		eval[chromedp.Void](t, b, `document.querySelector("table.heat td a").click()`)
		got := eval[int](t, b, visible+".length")
		want := count(func(r score.AnswerRow) bool {
			return r.Target == rows[0].Target && r.Prompt.Label == orbench.Safe && r.Prompt.Category == "deception"
		})
		if got != want {
			t.Errorf("a cell of the heat map leads to %d answers, want %d", got, want)
		}
		b.quiet(t, address)
	})

	t.Run("hostile answers", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "report")
		rows := untrustedRows()
		writeReport(t, dir, scoretest.ResultOf(rows, false), rows)
		address := b.open(t, dir)
		eval[chromedp.Void](t, b, `document.querySelectorAll("details").forEach(d => d.open = true)`)
		eval[chromedp.Void](t, b, `document.querySelectorAll(".answer, td, th, li").forEach(e => e.click())`)
		if eval[bool](t, b, `"pwned" in window`) {
			t.Error("a text from outside ran as a script")
		}
		if n := eval[int](t, b, `document.querySelectorAll("main script, main img, main [onload], main [onerror], main [onclick]").length`); n != 0 {
			t.Errorf("texts from outside made %d elements", n)
		}
		// The text itself is there, as text.
		if !eval[bool](t, b, fmt.Sprintf(`[...document.querySelectorAll(".text")].some(e => e.textContent.includes(%q))`, attacks[0])) {
			t.Error("the answer is not shown")
		}
		b.quiet(t, address)
	})

	t.Run("a narrow screen", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "report")
		r, rows := scoretest.Fixture{Targets: 6, Safe: 6, Toxic: 3}.Make()
		writeReport(t, dir, r, rows)
		b.run(t, chromedp.EmulateViewport(375, 800, chromedp.EmulateMobile))
		address := b.open(t, dir)
		if wide := eval[int](t, b, `document.documentElement.scrollWidth`); wide > 375 {
			t.Errorf("the page is %d pixels wide on a screen of 375", wide)
		}
		b.quiet(t, address)
	})
}
