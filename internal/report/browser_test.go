package report_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/page/pagetest"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/score/scoretest"
	"github.com/orbench/orbench/model"
)

func open(t *testing.T, b *pagetest.Browser, dir string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(dir, report.PageFile))
	if err != nil {
		t.Fatal(err)
	}
	address := "file://" + path
	b.Goto(t, address, "#filter")
	return address
}

// untrustedRows puts the attacks wherever untrusted text can appear.
func untrustedRows() []score.AnswerRow {
	var rows []score.AnswerRow
	for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
		for i, evil := range pagetest.Attacks {
			text := evil + " " + string(label)
			rows = append(rows, score.AnswerRow{
				Target: "evil/" + pagetest.Attacks[0], Dataset: pagetest.Attacks[2], Status: score.Answered,
				Prompt: orbench.NewPrompt(text, orbench.Category(evil), label),
				Response: model.Response{
					Text: text, Thinking: text, Finish: model.Finish(evil), Model: evil,
				},
				Verdicts: []score.JudgeVerdict{
					{Judge: pagetest.Attacks[1], Verdict: orbench.Verdict{
						Class: orbench.Refusal, Reason: orbench.Reason(evil), Rationale: evil,
						Span: orbench.Span{Start: 1, End: 5 + i},
					}},
					{Judge: pagetest.Attacks[4], Verdict: orbench.Verdict{Class: orbench.FullAnswer, Rationale: evil}},
				},
			}, score.AnswerRow{
				Target: "evil/" + pagetest.Attacks[0], Dataset: pagetest.Attacks[2], Status: score.Failed, Failure: evil,
				Prompt: orbench.NewPrompt(text+" again", orbench.Category(evil), label),
			})
		}
	}
	return rows
}

func TestPageInABrowser(t *testing.T) {
	t.Parallel()
	b := pagetest.Open(t)

	t.Run("reading and filtering", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "report")
		r, rows := scoretest.Fixture{Targets: 3, Safe: 6, Toxic: 3, Simulated: true}.Make()
		writeReport(t, dir, r, rows)
		address := open(t, b, dir)

		const visible = `[...document.querySelectorAll(".answer")].filter(e => e.offsetParent !== null)`
		all := pagetest.Eval[int](t, b, visible+".length")
		answered := 0
		for _, row := range rows {
			if row.Status != score.Unanswered {
				answered++
			}
		}
		if all != answered {
			t.Errorf("%d answers are visible, want %d", all, answered)
		}
		if !pagetest.Eval[bool](t, b, `document.querySelector(".banner").textContent.includes("SIMULATED")`) {
			t.Error("the page does not say that it is simulated")
		}

		// Toxic text is not on the screen until its fold is opened.
		const toxic = `document.querySelector(".answer[data-label=toxic] .turn.user .text")`
		if pagetest.Eval[bool](t, b, toxic+".checkVisibility()") {
			t.Error("a toxic prompt is visible before it was opened")
		}
		if !pagetest.Eval[bool](t, b, `document.querySelector(".answer[data-label=safe] .turn.user .text").checkVisibility()`) {
			t.Error("a safe prompt is hidden")
		}
		// With the keyboard alone, as it must be possible.
		b.Run(t, chromedp.Focus(chromedp.CSS(".answer[data-label=toxic] summary")), chromedp.KeyEvent("\r"))
		if !pagetest.Eval[bool](t, b, toxic+".checkVisibility()") {
			t.Error("a toxic prompt stays hidden when opened")
		}
		if pagetest.Eval[string](t, b, `document.querySelector("mark").textContent`) != "I'm sorry, but I can't help with that." {
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
			got := pagetest.Eval[int](t, b, `form.reset(); `+f.set+` form.dispatchEvent(new Event("change")); `+visible+".length")
			want := count(f.keep)
			if got != want || want == 0 || want == all {
				t.Errorf("the filter by %s shows %d of %d answers, want %d", name, got, all, want)
			}
		}

		// A cell of the heat map leads to the answers behind it.
		pagetest.Eval[chromedp.Void](t, b, `document.querySelector("table.heat td a").click()`)
		got := pagetest.Eval[int](t, b, visible+".length")
		want := count(func(r score.AnswerRow) bool {
			return r.Target == rows[0].Target && r.Prompt.Label == orbench.Safe && r.Prompt.Category == "deception"
		})
		if got != want {
			t.Errorf("a cell of the heat map leads to %d answers, want %d", got, want)
		}
		b.Quiet(t, address)
	})

	t.Run("hostile answers", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "report")
		rows := untrustedRows()
		writeReport(t, dir, scoretest.ResultOf(rows, false), rows)
		address := open(t, b, dir)
		pagetest.Eval[chromedp.Void](t, b, `document.querySelectorAll("details").forEach(d => d.open = true)`)
		pagetest.Eval[chromedp.Void](t, b, `document.querySelectorAll(".answer, td, th, li").forEach(e => e.click())`)
		if pagetest.Eval[bool](t, b, `"pwned" in window`) {
			t.Error("a text from outside ran as a script")
		}
		if n := pagetest.Eval[int](t, b, `document.querySelectorAll("main script, main img, main [onload], main [onerror], main [onclick]").length`); n != 0 {
			t.Errorf("texts from outside made %d elements", n)
		}
		// The text itself is there, as text.
		if !pagetest.Eval[bool](t, b, fmt.Sprintf(`[...document.querySelectorAll(".text")].some(e => e.textContent.includes(%q))`, pagetest.Attacks[0])) {
			t.Error("the answer is not shown")
		}
		b.Quiet(t, address)
	})

	t.Run("a narrow screen", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "report")
		r, rows := scoretest.Fixture{Targets: 6, Safe: 6, Toxic: 3}.Make()
		writeReport(t, dir, r, rows)
		b.Run(t, chromedp.EmulateViewport(375, 800, chromedp.EmulateMobile))
		address := open(t, b, dir)
		if wide := pagetest.Eval[int](t, b, `document.documentElement.scrollWidth`); wide > 375 {
			t.Errorf("the page is %d pixels wide on a screen of 375", wide)
		}
		b.Quiet(t, address)
	})
}
