package pagetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// chromium gives the browser's path. Without a browser the test is skipped, unless
// ORBENCH_REQUIRE names chromium: then it fails.
func chromium(t *testing.T) string {
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

// Browser is a tab of a headless Chromium. It records what its pages do.
type Browser struct {
	ctx context.Context

	mu sync.Mutex
	// requests are the requested addresses. complaints are the errors of the console,
	// including those of a page's policy.
	requests, complaints []string
}

// Open starts a browser, which ends with the test.
func Open(t *testing.T) *Browser {
	t.Helper()
	options := append(
		chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(t)), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
	)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &Browser{}
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
	b.ctx, cancel = context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(cancel)
	if _, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	return b
}

// Run takes steps, one after another.
func (b *Browser) Run(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// Goto opens an address and waits until an element is visible, by its CSS selector. What
// earlier pages did is forgotten.
func (b *Browser) Goto(t *testing.T, address, visible string) {
	t.Helper()
	b.mu.Lock()
	b.requests, b.complaints = nil, nil
	b.mu.Unlock()
	b.Run(t, chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS(visible)))
}

// Eval runs an expression in the page.
func Eval[T any](t *testing.T, b *Browser, expression string) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Until waits until an expression is true, for at most half a minute. The page may go to
// another meanwhile, where the expression cannot be looked at.
func (b *Browser) Until(t *testing.T, expression string) {
	t.Helper()
	var err error
	for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(10 * time.Millisecond) {
		var is bool
		if is, err = chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression)); is && err == nil {
			return
		}
	}
	t.Fatalf("after half a minute it is not true that %s (%v)", expression, err)
}

// Quiet fails the test if the page requested anything outside an address, or the console
// reported an error.
func (b *Browser) Quiet(t *testing.T, within string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.requests {
		if !strings.HasPrefix(r, within) && !strings.HasPrefix(r, "data:") {
			t.Errorf("the page asked for %s", r)
		}
	}
	for _, c := range b.complaints {
		t.Errorf("the console says: %s", c)
	}
}

// Accessible fails the test if axe-core finds a serious fault of accessibility in the page.
// ORBENCH_AXE names its script, axe.min.js; without it nothing is looked for.
func (b *Browser) Accessible(t *testing.T, what string) {
	t.Helper()
	path := os.Getenv("ORBENCH_AXE")
	if path == "" {
		t.Logf("%s: axe-core did not look at it, since ORBENCH_AXE names no script", what)
		return
	}
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	Eval[bool](t, b, string(script)+"; true")
	// What is off the screen has its place only once it is drawn, and axe-core would take it
	// for the ground of something else.
	Eval[bool](t, b, `document.querySelectorAll(".answer").forEach(a => a.style.contentVisibility = "visible"); true`)
	Eval[bool](t, b, `window.axeFound = null; axe.run(document, {resultTypes: ["violations"]}).then(r => { window.axeFound = r.violations
		.filter(v => v.impact === "serious" || v.impact === "critical").map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + " [" + (n.failureSummary||"").replace(/\s+/g," ").slice(0,300) + "]").join(" | ")) }); true`)
	b.Until(t, `window.axeFound !== null`)
	for _, found := range Eval[[]string](t, b, `window.axeFound`) {
		t.Errorf("%s: axe-core: %s", what, found)
	}
}

// Hostile fails the test if a text from outside ran as a script or made an element, also when
// all texts are open and the mouse goes over them.
func (b *Browser) Hostile(t *testing.T, what string) {
	t.Helper()
	Eval[bool](t, b, `document.querySelectorAll("details").forEach(d => d.open = true); document.querySelectorAll("td, th, li, bdi").forEach(e => e.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}))); true`)
	if Eval[bool](t, b, `"pwned" in window`) {
		t.Errorf("%s: a text from outside ran as a script", what)
	}
	if n := Eval[int](t, b, `document.querySelectorAll("main script, main img:not(figure.plot > img), main [onload], main [onerror], main [onclick], main [onmouseover], .text [data-hx-get], bdi [data-hx-get]").length`); n != 0 {
		t.Errorf("%s: texts from outside made %d elements", what, n)
	}
}

// Attacks are texts that would run, or show as something else, if any output forgot to
// escape them.
var Attacks = []string{
	`<script>window.pwned = 1</script>`,
	`<img src="https://example.invalid/x" onerror="window.pwned = 1">`,
	`"><svg onload="window.pwned = 1">`,
	`</title></style></script><script>window.pwned = 1</script>`,
	`' onclick='window.pwned = 1' x='`,
	`javascript:window.pwned=1`,
	`{{.Policy}} ${window.pwned = 1}`,
	"<!--\u2028\u2029--><script>window.pwned = 1</script>",
	"url(https://example.invalid/y) ; background: url('//example.invalid/z')",
	"\x1b[31m\u202e<b onmouseover=window.pwned=1>",
	`<a href="https://example.invalid/" data-hx-get="https://example.invalid/" data-hx-trigger="load" hx-on:load="window.pwned = 1">`,
}
