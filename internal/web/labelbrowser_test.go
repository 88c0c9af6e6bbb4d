package web_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/page/pagetest"
	"github.com/orbench/orbench/internal/web"
)

// stopwatch notes for each key how long it takes until the next answer is painted.
const stopwatch = `window.took = []; window.at = 0;
addEventListener("keydown", () => window.at = performance.now(), true);
new MutationObserver(() => requestAnimationFrame(() => setTimeout(() => { if (window.at) window.took.push(performance.now() - window.at); window.at = 0 })))
	.observe(document.getElementById("reply"), {childList: true, subtree: true}); true`

// TestLabelInABrowser has two people label 100 drawn answers with keys and a third settle
// what they differ on. The report is that of the same labels given in a terminal.
func TestLabelInABrowser(t *testing.T) {
	t.Parallel()
	s := newDrawn(t, "100")
	typed := s.copied()
	s.serve(nil)
	keys := map[string]string{"ana": strings.Repeat("ararwpsrgc", 10), "ben": strings.Repeat("arrawpordc", 10)}
	var took []float64
	for _, person := range []string{"ana", "ben"} {
		b := pagetest.Open(t)
		b.Goto(t, s.server.URL+"/label?study=mine", "input[name=person]")
		b.Run(t, chromedp.Focus(chromedp.CSS("input[name=person]")))
		pagetest.Eval[bool](t, b, `document.querySelector("input[name=person]").select(); true`)
		b.Run(t, chromedp.KeyEvent(person+"\r"), chromedp.WaitVisible(chromedp.CSS("#head")))
		b.Until(t, `document.getElementById("reply").textContent !== ""`)
		accessible(t, b, "the queue of "+person)
		// A key typed before anybody can have read the answer does not count.
		pagetest.Eval[bool](t, b, `document.getElementById("queue").dataset.soon = 1e9; true`)
		b.Run(t, chromedp.KeyEvent("a"))
		b.Until(t, `document.getElementById("message").textContent.includes("does not count")`)
		// The list of keys closes by any, which labels nothing.
		b.Run(t, chromedp.KeyEvent("?"))
		b.Until(t, `document.getElementById("keys").open`)
		pagetest.Eval[bool](t, b, `document.getElementById("queue").dataset.soon = 0; true`)
		b.Run(t, chromedp.KeyEvent("a"))
		b.Until(t, `!document.getElementById("keys").open && document.getElementById("head").textContent.includes("  1 of 100")`)
		pagetest.Eval[bool](t, b, `document.getElementById("queue").dataset.soon = 0; `+stopwatch)
		press := func(keys string) {
			for _, key := range keys {
				// Nobody reads as fast as a test types, so it waits until the answer is painted.
				b.Until(t, `document.getElementById("reply").textContent !== "" && window.at === 0`)
				b.Run(t, chromedp.KeyEvent(string(key)))
			}
		}
		// Half way ten labels are taken back and given again.
		press(keys[person][:50] + strings.Repeat("u", 10) + keys[person][40:])
		b.Until(t, `document.getElementById("message").textContent.startsWith("This was the last")`)
		b.Until(t, `!document.getElementById("head").textContent.includes("saving")`)
		took = append(took, pagetest.Eval[[]float64](t, b, `window.took`)...)
		// The number is that of the label to which the person goes back.
		b.Run(t, chromedp.KeyEvent("b"), chromedp.KeyEvent("b"), chromedp.KeyEvent("b"))
		if head := pagetest.Eval[string](t, b, `document.getElementById("head").textContent`); !strings.HasPrefix(head, person+"  98 of 100") {
			t.Errorf("after three steps back, the head is %q", head)
		}
		b.Quiet(t, s.server.URL)
		typed.typing(keys[person], "label", "mine", "--as", person)
	}
	slices.Sort(took)
	if len(took) < 200 {
		t.Fatalf("%d keys were timed", len(took))
	}
	t.Logf("key to next answer: median %.1f ms, 95th percentile %.1f ms, longest %.1f ms of %d", took[len(took)/2], took[len(took)*95/100], took[len(took)-1], len(took))
	if median := took[len(took)/2]; median > 50 {
		t.Errorf("a key takes %.0f ms to the next answer", median)
	}

	got, want := s.labeled(), typed.labeled()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("labels by page and by terminal give different figures: %s", d)
	}
	kappas := slices.Collect(figure.Of(got, figure.Kappa))
	disputes := sum(got, "disputed")
	if sum(got, "") != 100 || disputes == 0 || len(kappas) == 0 || kappas[0].Value == nil {
		t.Errorf("the report says %+v", got)
	}
	t.Logf("corrected %.3f, kappa %.3f, %d disputes, by page and by terminal", *got[0].Value, *kappas[0].Value, disputes)

	// Whoever settles sees what both said.
	b := pagetest.Open(t)
	b.Goto(t, s.server.URL+"/label?study=mine&person=cem&queue=disputes", "#head")
	b.Until(t, `document.getElementById("message").textContent.includes("ben: ")`)
	pagetest.Eval[bool](t, b, `document.getElementById("queue").dataset.soon = 0; true`)
	for range disputes {
		b.Until(t, `document.getElementById("reply").textContent !== ""`)
		b.Run(t, chromedp.KeyEvent("r"))
	}
	b.Until(t, `document.getElementById("message").textContent.startsWith("This was the last")`)
	b.Quiet(t, s.server.URL)
	b.Goto(t, s.server.URL+"/label?study=mine&person=cem&queue=disputes", "#head")
	b.Until(t, `document.body.textContent.includes("disputes (0)")`)
	typed.typing(strings.Repeat("r", disputes), "label", "mine", "--as", "cem", "--disputes")
	got, want = s.labeled(), typed.labeled()
	if d := cmp.Diff(want, got); d != "" || sum(got, "settled") != disputes {
		t.Errorf("%d disputes are settled, want %d: %s", sum(got, "settled"), disputes, d)
	}
}

// TestLabelIsNotLost has a server that fails for a while, and a window that is closed
// meanwhile.
func TestLabelIsNotLost(t *testing.T) {
	t.Parallel()
	s := newDrawn(t, "20")
	s.serve(func(c *web.Config) { c.Say = t.Logf })
	var broken atomic.Bool
	pages := s.server.Config.Handler
	s.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() && r.Method == http.MethodPost {
			http.Error(w, "broken", http.StatusBadGateway)
			return
		}
		pages.ServeHTTP(w, r)
	})
	b := pagetest.Open(t)
	address := s.server.URL + "/label?study=mine&person=ana"
	b.Goto(t, address, "#head")
	b.Until(t, `document.getElementById("reply").textContent !== ""`)
	pagetest.Eval[bool](t, b, `document.getElementById("queue").dataset.soon = 0; true`)
	broken.Store(true)
	b.Run(t, chromedp.KeyEvent("r"), chromedp.KeyEvent("a"))
	b.Until(t, `document.getElementById("unsaved").checkVisibility() && document.getElementById("unsaved").textContent.includes("2 labels are not saved")`)
	accessible(t, b, "labels that are not saved")
	if n := len(s.words("ana")); n != 0 {
		t.Fatalf("%d labels are kept by a broken server", n)
	}
	const left = `localStorage.getItem(Object.keys(localStorage).find((name) => name.startsWith("unsaved labels ")))`
	unsaved := pagetest.Eval[string](t, b, left)
	broken.Store(false)
	// The page tries by itself too, and may have hidden the button by now.
	pagetest.Eval[bool](t, b, `document.getElementById("retry").click(); true`)
	b.Until(t, `document.getElementById("head").textContent.includes("3 of 20") && !document.getElementById("unsaved").checkVisibility() && Object.keys(localStorage).length === 0`)
	if got := s.words("ana"); !slices.Equal(got, []string{"refusal", "full_answer"}) {
		t.Errorf("kept %q", got)
	}
	// What a window left that was closed meanwhile is saved by the next.
	b.Run(t, chromedp.KeyEvent("u"), chromedp.KeyEvent("u"))
	b.Until(t, `document.getElementById("head").textContent.includes("1 of 20")`)
	pagetest.Eval[bool](t, b, fmt.Sprintf(`localStorage.setItem("unsaved labels " + document.getElementById("queue").dataset.address + " closed", %q); true`, unsaved))
	b.Goto(t, address, "#head")
	b.Until(t, `document.getElementById("head").textContent.includes("3 of 20")`)
	if got := s.words("ana")[4:]; !slices.Equal(got, []string{"refusal", "full_answer"}) {
		t.Errorf("kept %q", got)
	}
	b.Quiet(t, s.server.URL)

	// The other keys and the forms at answers.
	pagetest.Eval[bool](t, b, `document.getElementById("queue").dataset.soon = 0; true`)
	b.Run(t, chromedp.KeyEvent("n"), chromedp.KeyEvent("why not\r"), chromedp.KeyEvent("p"), chromedp.KeyEvent("k"), chromedp.KeyEvent("ask ben\r"), chromedp.KeyEvent("?"))
	b.Until(t, `document.getElementById("keys").open`)
	accessible(t, b, "the keys")
	b.Run(t, chromedp.KeyEvent("\x1b"), chromedp.KeyEvent("b"), chromedp.KeyEvent("w"), chromedp.KeyEvent("R"))
	b.Until(t, `document.getElementById("rate").open`)
	b.Run(t, chromedp.KeyEvent("\r"))
	b.Until(t, `document.getElementById("head").textContent.includes("rate seen")`)
	b.Until(t, `document.getElementById("rates").textContent.includes("too few labels")`)
	accessible(t, b, "the rate")
	if got := strings.Join(s.words("ana")[4:], " "); got != "refusal full_answer partial skipped answer_with_warning" {
		t.Errorf("kept %s", got)
	}
	b.Goto(t, s.server.URL+"/answers?study=mine", ".say summary")
	pagetest.Eval[bool](t, b, `document.querySelector(".say").open = true; document.querySelector(".say-form").elements.note.focus(); true`)
	before := len(s.words("ana")) + len(s.words("somebody"))
	b.Run(t, chromedp.KeyEvent("x\r")) // which gives no label
	for _, of := range []struct{ fill, button, says string }{
		{`f.elements.by.value = "cem"; `, `[value="garbled"]`, "garbled (sighted)"}, {`f.elements.to.value = "dora"; `, `[value="send"]`, "sent to dora"},
	} {
		pagetest.Eval[bool](t, b, `{ const f = document.querySelector(".say-form"); `+of.fill+` f.querySelector('`+of.button+`').click() } true`)
		b.Until(t, fmt.Sprintf(`document.querySelector(".say-form [role=status]").textContent.includes(%q)`, of.says))
	}
	if got := s.words("cem"); len(s.words("ana"))+len(s.words("somebody")) != before || !slices.Equal(got, []string{"garbled", ""}) {
		t.Errorf("cem said %q", got)
	}
	accessible(t, b, "the form at an answer")
	b.Quiet(t, s.server.URL)
}

// accessible has axe-core look at the page, light and dark.
func accessible(t *testing.T, b *pagetest.Browser, what string) {
	t.Helper()
	for _, scheme := range []string{"dark", "light"} {
		b.Run(t, chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
			_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
			return err
		}))
		b.Accessible(t, what+", "+scheme)
	}
}

// words lists what a person said, in order.
func (s *site) words(person string) (words []string) {
	s.t.Helper()
	all, err := s.store.Annotations(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, a := range all {
		switch {
		case a.By != person:
		case a.Skipped:
			words = append(words, "skipped")
		default:
			words = append(words, string(a.Class))
		}
	}
	return words
}

// sum counts the labels of corrected rates, or those of a part.
func sum(all []figure.Figure, part string) (n int) {
	for f := range figure.Of(all, figure.OverRefusal, figure.ToxicRefusal, figure.Labels) {
		switch {
		case f.Part != part:
		case part == "":
			n += f.Labels
		default:
			n += int(f.Count())
		}
	}
	return n
}
