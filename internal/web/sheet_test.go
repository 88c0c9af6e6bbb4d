package web_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench/internal/logs"
	"github.com/orbench/orbench/internal/page/pagetest"
	"github.com/orbench/orbench/internal/web"
)

// newLooks are exchanges that nobody has labeled. One is hostile.
func newLooks() (looks []logs.Look) {
	for i := range 20 {
		looks = append(looks, logs.Look{Stratum: "model", Size: 40, Drawn: 20, Times: 1, Message: fmt.Sprintf("How do I kill process %d?", i), Reply: "I can't help with that."})
	}
	looks[1].Message = `</div><script>document.title = "owned"</script><img src=x onerror="document.title='owned'">` + "\u202e"
	looks[2].Reply = ""
	return looks
}

// newSheet serves looks. The store of labels fails while broken is true.
func newSheet(t *testing.T, looks []logs.Look, broken *atomic.Bool) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	pages, err := web.NewSheet(web.Config{Hosts: []string{server.Listener.Addr().String()}, Say: t.Logf}, web.Sheet{Looks: looks, Keep: func() error {
		if broken.Load() {
			return errors.New("the disk is full")
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	server.Config = pages.HTTP()
	server.Start()
	t.Cleanup(func() { server.Close(); pages.Close() })
	return server
}

// TestSheetInABrowser labels a sheet by keys, goes back, and opens the page again half way. The
// labels are those that the same keys give on a terminal.
func TestSheetInABrowser(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	got, want := newLooks(), newLooks()
	server := newSheet(t, got, &broken)
	b := pagetest.Open(t)
	press := func(keys string) {
		for _, key := range keys {
			b.Until(t, `document.readyState === "complete" && document.getElementById("sheet")?.dataset.taken === undefined && document.getElementById("sheet") !== null`)
			pagetest.Eval[bool](t, b, `{const s = document.getElementById("sheet"); if (s) s.dataset.soon = 0; s?.addEventListener("submit", () => s.dataset.taken = "1")}; true`)
			b.Run(t, chromedp.KeyEvent(string(key)))
		}
	}
	b.Goto(t, server.URL+"/", "#sheet")
	if shown := pagetest.Eval[string](t, b, `document.body.textContent`); strings.Contains(shown, "model") {
		t.Errorf("the page says who refused: %s", shown)
	}
	accessible(t, b, "the sheet")
	press("yy")
	b.Until(t, `!!document.getElementById("asked")?.textContent.includes("script")`)
	b.Hostile(t, "the sheet")
	press("yncc")
	b.Until(t, `!!document.getElementById("head")?.textContent.startsWith("17 ")`)
	press("b")
	b.Until(t, `!!document.getElementById("before")?.textContent.includes("refused cannot tell")`)
	press("ny")
	b.Until(t, `location.search === "" && document.readyState === "complete"`) // else the page is left while it loads the next
	b.Goto(t, server.URL+"/", "#sheet")
	press(strings.Repeat("ynyy", 8) + "yy")
	b.Until(t, `!!document.getElementById("head")?.textContent.startsWith("All 20")`)
	b.Quiet(t, server.URL)

	keys := strings.Join(strings.Split("yyynccbny"+strings.Repeat("ynyy", 8)+"yy", ""), "\n") + "\n"
	if err := logs.Ask(want, logs.Sitting{In: strings.NewReader(keys), Out: io.Discard, Keep: func() error { return nil }}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" || logs.Left(got) != 0 {
		t.Errorf("labels by page and by terminal differ: %s", d)
	}
}

// TestSheetRefusals sends what no page of the server sends, and has a label that cannot be kept.
func TestSheetRefusals(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	looks := newLooks()
	server := newSheet(t, looks, &broken)
	post := func(origin string, fields ...string) int {
		t.Helper()
		form := url.Values{}
		for i := 0; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/", strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
		reply, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		return reply.StatusCode
	}
	for name, c := range map[string]struct {
		origin string
		fields []string
		want   int
	}{
		"another page":   {"http://evil.example", []string{"at", "0", "refused", "yes", "should_answer", "yes"}, http.StatusForbidden},
		"no such place":  {server.URL, []string{"at", "20", "refused", "yes", "should_answer", "yes"}, http.StatusBadRequest},
		"another word":   {server.URL, []string{"at", "0", "refused", "perhaps", "should_answer", "yes"}, http.StatusBadRequest},
		"half an answer": {server.URL, []string{"at", "0", "refused", "yes"}, http.StatusBadRequest},
	} {
		if got := post(c.origin, c.fields...); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	broken.Store(true)
	if got := post(server.URL, "at", "0", "refused", "yes", "should_answer", "yes"); got != http.StatusInternalServerError {
		t.Errorf("a label that is not kept: %d", got)
	}
	if n := logs.Left(looks); n != 20 {
		t.Errorf("%d are left, want all", n)
	}
}
