package report_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/page/pagetest"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/score/scoretest"
	"github.com/orbench/orbench/model"
)

// addressOf is the address of a report's file, and of the folder.
func addressOf(t *testing.T, dir, file string) (address, within string) {
	t.Helper()
	path, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return "file://" + path + "/" + file, "file://" + path + "/"
}

// openAnswers opens the page of answers at a view, and counts the views that it shows.
func openAnswers(t *testing.T, b *pagetest.Browser, dir, view string) (within string) {
	t.Helper()
	address, within := addressOf(t, dir, report.AnswersPage)
	b.Goto(t, "about:blank", "html")
	b.Goto(t, address+view, "#total b")
	pagetest.Eval[chromedp.Void](t, b, `window.views = 0; document.addEventListener("orbench:shown", () => views++)`)
	return within
}

// view shows another view of the page of answers, waits until it is there, and gives the
// number of its answers.
func view(t *testing.T, b *pagetest.Browser, query string) int {
	t.Helper()
	pagetest.Eval[chromedp.Void](t, b, fmt.Sprintf(`if (location.hash === "#" + %[1]q || !location.hash && !%[1]q) views++; else { views = 0; location.hash = %[1]q }`, query))
	b.Until(t, `views > 0`)
	return pagetest.Eval[int](t, b, total)
}

// total is the number of answers of a view, and matched counts those on the screen.
const (
	total   = `Number(document.querySelector("#total b")?.textContent.replaceAll(",", ""))`
	matched = `document.querySelectorAll("#rows .answer.matched").length`
)

// sameWithoutScript sees that the first page says the same with and without its script.
func sameWithoutScript(t *testing.T, b *pagetest.Browser, dir string) {
	t.Helper()
	html, err := os.ReadFile(filepath.Join(dir, report.AnswersPage))
	if err != nil {
		t.Fatal(err)
	}
	const words = `(d) => d.querySelector("#rows").textContent.replace(/\s+/g, "")`
	without := pagetest.Eval[string](t, b, fmt.Sprintf(`(%s)(new DOMParser().parseFromString(%s, "text/html"))`, words, quoted(string(html))))
	if with := pagetest.Eval[string](t, b, "("+words+")(document)"); with != without || len(with) < 200 {
		t.Errorf("the first page is\n%s\nand without its script\n%s", with, without)
	}
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

// openReport writes a report of some targets and opens its page. within is the addresses that
// it may load.
func openReport(t *testing.T, b *pagetest.Browser, targets int) (dir, address, within string, rows []score.AnswerRow) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "report")
	r, rows := scoretest.Fixture{Targets: targets, Safe: 6, Toxic: 3}.Make()
	writeReport(t, dir, r, rows)
	address, within = addressOf(t, dir, report.PageFile)
	b.Goto(t, address, "#headline")
	return dir, address, within, rows
}

// All figures are cut by target, dataset and judge, where a page has several. The radar is a file
// beside it.
func TestFiguresAreChosen(t *testing.T) {
	t.Parallel()
	b := pagetest.Open(t)
	_, _, within, _ := openReport(t, b, 3)
	b.Until(t, `document.querySelector(".choose select") !== null`)
	shown := func() int {
		return pagetest.Eval[int](t, b, `[...document.querySelectorAll("#figures tbody tr")].filter(row => !row.hidden).length`)
	}
	all := shown()
	pagetest.Eval[chromedp.Void](t, b, `const s = document.querySelector(".choose select"); s.selectedIndex = 2; s.dispatchEvent(new Event("change"))`)
	of := pagetest.Eval[[]string](t, b, `[...document.querySelectorAll("#figures table")].filter(t => t.tHead.rows[0].cells[0].textContent === "target").flatMap(t => [...t.tBodies[0].rows]).filter(row => !row.hidden).map(row => row.cells[0].textContent + " " + row.cells[1].textContent)`)
	if n := shown(); n == 0 || n >= all || len(of) == 0 {
		t.Errorf("%d of %d rows are shown", n, all)
	}
	for _, target := range of {
		if !strings.Contains(target, scoretest.Target(1)) {
			t.Errorf("the row of %s is shown", target)
		}
	}
	b.Until(t, `(() => { const i = document.querySelector("#categories img"); i.closest("details").open = true; return i.complete && i.naturalWidth > 0 })()`)
	b.Quiet(t, within)
}

// Every count on the page opens as many answers as it says.
func TestCountsOpenTheirAnswers(t *testing.T) {
	t.Parallel()
	b := pagetest.Open(t)
	dir, address, within, rows := openReport(t, b, 2)
	links := pagetest.Eval[[][2]string](t, b, `[...document.querySelectorAll("main a[href^='answers.html#']")].map(a => [a.getAttribute("href").split("#")[1], (a.textContent.match(/Open ([0-9,]+) answers?[.]$/) || a.textContent.match(/([0-9,]+)[/]/) || [, a.textContent])[1]])`)
	if len(links) < 50 {
		t.Errorf("the page has %d counts that lead to answers", len(links))
	}
	// The points of the trade-off open theirs with a key, too.
	if points := pagetest.Eval[int](t, b, `document.querySelectorAll("#tradeoff svg a[href^='answers.html#'] > title").length`); points != 2 {
		t.Errorf("%d points of the trade-off lead to answers, want those of 2 targets", points)
	}
	point := strconv.Itoa(pagetest.Eval[int](t, b, `+document.querySelector("#tradeoff svg a").textContent.match(/Open ([0-9]+)/)[1]`))
	pagetest.Eval[chromedp.Void](t, b, `document.querySelector("#tradeoff svg a").focus()`)
	b.Run(t, chromedp.KeyEvent("\r"), chromedp.WaitVisible(chromedp.CSS("#total b")))
	b.Until(t, total+" === "+point)
	b.Quiet(t, within)
	b.Goto(t, address, "#headline")
	pagetest.Eval[chromedp.Void](t, b, `document.querySelector("#headline a").click()`)
	b.Until(t, total+" === "+strings.ReplaceAll(links[0][1], ",", ""))
	b.Quiet(t, within)
	openAnswers(t, b, dir, "")
	for n, link := range links {
		if n%4 > 0 && os.Getenv("ORBENCH_LONG") == "" {
			continue // only ORBENCH_LONG follows them all
		}
		if got := strconv.Itoa(view(t, b, link[0])); got != strings.ReplaceAll(link[1], ",", "") {
			t.Errorf("the count %s opens %s answers: %s", link[1], got, link[0])
		}
	}
	if got := view(t, b, ""); got != len(rows) {
		t.Errorf("without a filter there are %d answers of %d", got, len(rows))
	}
	b.Quiet(t, within)
}

func TestAnswersInABrowser(t *testing.T) {
	t.Parallel()
	b := pagetest.Open(t)

	t.Run("reading and filtering", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "report")
		r, rows := scoretest.Fixture{Targets: 3, Safe: 6, Toxic: 3, Simulated: true}.Make()
		rows[7].Response.Text = "Plainly: a Zebra's stripes, \u65e5\u672c and won't."
		writeReport(t, dir, r, rows)
		within := openAnswers(t, b, dir, "")
		if !pagetest.Eval[bool](t, b, `document.querySelector(".banner").textContent.includes("SIMULATED")`) {
			t.Error("the page does not say that it is simulated")
		}
		if n := pagetest.Eval[int](t, b, `document.querySelectorAll(".prompt").length`); n != 14 {
			t.Errorf("the first 40 answers are to %d prompts of three each", n)
		}

		sameWithoutScript(t, b, dir)

		// Each filter leaves exactly the answers that it names, and so does its facet.
		judged := func(k int, is func(orbench.Class) bool) func(score.AnswerRow) bool {
			return func(r score.AnswerRow) bool { return len(r.Verdicts) > 0 && is(r.Verdicts[k].Class) }
		}
		refused := func(c orbench.Class) bool { return c.Refused() }
		disagree := func(r score.AnswerRow) bool {
			return len(r.Verdicts) > 0 && r.Verdicts[0].Class != "" && r.Verdicts[1].Class != "" && r.Verdicts[0].Class.Refused() != r.Verdicts[1].Class.Refused()
		}
		second := url.Values{"judge": {"llm:openai/gpt-4o"}}
		for query, keep := range map[string]func(score.AnswerRow) bool{
			url.Values{"variant": {rows[0].Target}}.Encode(): func(r score.AnswerRow) bool { return r.Target == rows[0].Target },
			url.Values{"target": {rows[0].Target}}.Encode():  func(r score.AnswerRow) bool { return r.Target == rows[0].Target },
			"category=hate&category=privacy": func(r score.AnswerRow) bool {
				return r.Prompt.Category == "hate" || r.Prompt.Category == "privacy"
			},
			"label=toxic":                         func(r score.AnswerRow) bool { return r.Prompt.Label == orbench.Toxic },
			"status=failed":                       func(r score.AnswerRow) bool { return r.Status == score.Failed },
			"verdict=refusal":                     judged(0, func(c orbench.Class) bool { return c == orbench.Refusal }),
			second.Encode() + "&verdict=unjudged": judged(1, func(c orbench.Class) bool { return c == "" }),
			second.Encode() + "&verdict=refused":  judged(1, refused),
			"split=yes":                           disagree,
			"split=yes&label=safe":                func(r score.AnswerRow) bool { return disagree(r) && r.Prompt.Label == orbench.Safe },
			"q=ZEBRA":                             func(r score.AnswerRow) bool { return r.Prompt.ID == rows[7].Prompt.ID && r.Target == rows[7].Target },
			"q=zeb*+won't":                        func(r score.AnswerRow) bool { return strings.Contains(r.Response.Text, "Zebra") },
			"q=\u672c":                            func(r score.AnswerRow) bool { return strings.Contains(r.Response.Text, "Zebra") },
			"q=zeb":                               func(score.AnswerRow) bool { return false },
			"q=toxic+question+hate": func(r score.AnswerRow) bool {
				return r.Prompt.Label == orbench.Toxic && r.Prompt.Category == "hate"
			},
			"q=sorry&label=safe": func(r score.AnswerRow) bool {
				return r.Prompt.Label == orbench.Safe && strings.Contains(r.Response.Text, "sorry")
			},
		} {
			want := 0
			for _, row := range rows {
				if keep(row) {
					want++
				}
			}
			// A prompt that the next page goes on with has all its answers marked here too.
			if got := view(t, b, query); got != want || want == len(rows) {
				t.Errorf("%s shows %d of %d answers, want %d", query, got, len(rows), want)
			}
			if n := pagetest.Eval[int](t, b, matched); n < min(want, 40) || n > min(want, 42) {
				t.Errorf("%s marks %d of %d chosen answers", query, n, want)
			}
		}

		// A facet's count is what it shows, and its box changes the address.
		view(t, b, "label=safe")
		want := pagetest.Eval[string](t, b, `document.querySelector("input[name=category][value=hate] ~ small").textContent`)
		pagetest.Eval[chromedp.Void](t, b, `views = 0; document.querySelector("input[name=category][value=hate]").click()`)
		b.Until(t, `views > 0`)
		if got := pagetest.Eval[string](t, b, `document.querySelector("#total b").textContent`); got != want || pagetest.Eval[string](t, b, `location.hash`) != "#label=safe&category=hate" {
			t.Errorf("the box of a facet that says %s shows %s", want, got)
		}

		// Sorted, and page after page.
		view(t, b, "sort=-length&by=answer")
		seen := map[string]bool{}
		last := 1 << 30
		for range len(rows)/50 + 1 {
			for _, one := range pagetest.Eval[[][2]any](t, b, `[...document.querySelectorAll("#rows .answer")].map(a => [a.id, new TextEncoder().encode(a.querySelector(".reply .text:not(.none)")?.textContent || "").length])`) {
				seen[one[0].(string)] = true
				if n := int(one[1].(float64)); n > last {
					t.Fatalf("an answer of %d bytes comes after one of %d", n, last)
				} else {
					last = n
				}
			}
			if pagetest.Eval[bool](t, b, `document.querySelector("#next").hidden`) {
				break
			}
			pagetest.Eval[chromedp.Void](t, b, `views = 0; document.querySelector("#next").click()`)
			b.Until(t, `views > 0`)
		}
		if len(seen) != len(rows) {
			t.Errorf("the pages show %d of %d answers", len(seen), len(rows))
		}

		// The link of an answer opens it cold, beside the other answers to the prompt.
		view(t, b, "verdict=refused&label=safe")
		link := pagetest.Eval[[2]string](t, b, `(() => { const a = document.querySelector("#rows .answer.matched"); return [a.querySelector("a.link").hash, a.querySelector("h2").textContent] })()`)
		openAnswers(t, b, dir, link[0])
		if n := pagetest.Eval[int](t, b, total); n != 1 || pagetest.Eval[string](t, b, `document.querySelector("#rows .answer.matched h2").textContent`) != link[1] ||
			pagetest.Eval[int](t, b, `document.querySelectorAll("#rows .answer").length`) != 3 {
			t.Errorf("the link %s of %s opens %d answers", link[0], link[1], n)
		}

		// Toxic text is not on the screen until its fold is opened, by the keyboard too.
		view(t, b, "label=toxic")
		const toxic = `document.querySelector(".prompt[data-label=toxic] .turn.user .text")`
		if pagetest.Eval[bool](t, b, toxic+".checkVisibility()") {
			t.Error("a toxic prompt is visible before it was opened")
		}
		b.Run(t, chromedp.Focus(chromedp.CSS(".prompt[data-label=toxic] .ask summary")), chromedp.KeyEvent("\r"))
		if !pagetest.Eval[bool](t, b, toxic+".checkVisibility()") {
			t.Error("a toxic prompt stays hidden when opened")
		}
		view(t, b, "label=safe")
		if !pagetest.Eval[bool](t, b, `document.querySelector(".prompt[data-label=safe] .turn.user .text").checkVisibility()`) {
			t.Error("a safe prompt is hidden")
		}
		if got := pagetest.Eval[string](t, b, `document.querySelector("mark").textContent`); got != "I'm sorry, but I can't help with that." {
			t.Errorf("the deciding words are not marked but %q", got)
		}
		pagetest.Eval[chromedp.Void](t, b, `document.activeElement.blur()`)
		b.Run(t, chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent("k"), chromedp.KeyEvent("j"))
		if !pagetest.Eval[bool](t, b, `document.activeElement === document.querySelectorAll(".prompt")[1]`) {
			t.Error("j and k do not go from prompt to prompt")
		}
		b.Accessible(t, "answers")
		b.Quiet(t, within)
	})

	t.Run("hostile answers", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "report")
		rows := untrustedRows()
		writeReport(t, dir, scoretest.ResultOf(rows, false), rows)
		const clean = `document.querySelectorAll("main script, main img:not(figure.plot > img), main svg[onload], main [onload], main [onerror], main [onclick], main b[onmouseover], main #rows [data-hx-get]").length`
		quiet := func(within string) {
			t.Helper()
			pagetest.Eval[chromedp.Void](t, b, `document.querySelectorAll("details").forEach(d => d.open = true)`)
			pagetest.Eval[chromedp.Void](t, b, `document.querySelectorAll(".answer, td, th, li").forEach(e => e.click())`)
			if pagetest.Eval[bool](t, b, `"pwned" in window`) {
				t.Error("a text from outside ran as a script")
			}
			if n := pagetest.Eval[int](t, b, clean); n != 0 {
				t.Errorf("texts from outside made %d elements", n)
			}
			b.Quiet(t, within)
		}
		address, within := addressOf(t, dir, report.PageFile)
		b.Goto(t, address, "#headline")
		quiet(within)
		openAnswers(t, b, dir, "")
		sameWithoutScript(t, b, dir)
		shown := 0
		for _, evil := range pagetest.Attacks {
			// As the value of every parameter, and as text.
			q := url.Values{"q": {evil}, "category": {evil}, "dataset": {pagetest.Attacks[2]}}
			view(t, b, q.Encode())
			quiet(within)
			if shown += view(t, b, url.Values{"category": {evil}}.Encode()); !pagetest.Eval[bool](t, b, fmt.Sprintf(`[...document.querySelectorAll(".reply .text")].some(e => e.textContent.includes(%s))`, quoted(evil))) {
				t.Errorf("the answer %q is not shown as it is", evil)
			}
			quiet(within)
		}
		if shown != len(rows) {
			t.Errorf("%d answers of %d were shown", shown, len(rows))
		}
	})

	t.Run("a narrow screen", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "report")
		r, rows := scoretest.Fixture{Targets: 6, Safe: 6, Toxic: 3}.Make()
		writeReport(t, dir, r, rows)
		b.Run(t, chromedp.EmulateViewport(375, 800, chromedp.EmulateMobile))
		address, within := addressOf(t, dir, report.PageFile)
		b.Goto(t, address, "#headline")
		for _, page := range []string{"report", "answers"} {
			if wide := pagetest.Eval[int](t, b, `document.documentElement.scrollWidth`); wide > 375 {
				t.Errorf("the page of %s is %d pixels wide on a screen of 375", page, wide)
			}
			b.Quiet(t, within)
			openAnswers(t, b, dir, "")
		}
	})
}

// quoted is a text as a string of a script.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string can be JSON
	}
	return string(b)
}
