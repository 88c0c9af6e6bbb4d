package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/logs"
	"github.com/orbench/orbench/internal/page/pagetest"
	"github.com/orbench/orbench/internal/web"
)

// newSheet writes exchanges that nobody has labeled, one of them hostile.
func newSheet(t *testing.T) (path string) {
	t.Helper()
	var looks []logs.Look
	for i := range 20 {
		looks = append(looks, logs.Look{Stratum: "model", Size: 40, Drawn: 20, Times: 1, Message: fmt.Sprintf("How do I kill process %d?", i), Reply: "I can't help with that."})
	}
	looks[1].Message = `</div><script>document.title = "owned"</script><img src=x onerror="document.title='owned'">` + "\u202e"
	looks[2].Reply = ""
	path = filepath.Join(t.TempDir(), "sheet.csv")
	if err := folder.WritePrivate(path, false, func(w io.Writer) error { return logs.WriteLooks(w, path, looks) }); err != nil {
		t.Fatal(err)
	}
	return path
}

// open opens a sheet.
func open(t *testing.T, path string) *logs.Sheet {
	t.Helper()
	s, err := logs.OpenSheet(path, "ana")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// serveSheet serves a sheet.
func serveSheet(t *testing.T, path string) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	pages, err := web.New(web.Config{Hosts: []string{server.Listener.Addr().String()}, Say: t.Logf, Sheet: open(t, path)})
	if err != nil {
		t.Fatal(err)
	}
	server.Config = pages.HTTP()
	server.Start()
	t.Cleanup(func() { server.Close(); pages.Close() })
	return server
}

// left counts the exchanges of a sheet without a label.
func left(t *testing.T, path string) int {
	t.Helper()
	looks, err := logs.ReadSheet(path)
	if err != nil {
		t.Fatal(err)
	}
	return logs.Left(looks)
}

// TestSheetInABrowser labels a sheet by keys, goes back, and opens the page again half way. The
// sheet is then that of the same keys on a terminal.
func TestSheetInABrowser(t *testing.T) {
	t.Parallel()
	got, want := newSheet(t), newSheet(t)
	server := serveSheet(t, got)
	b := pagetest.Open(t)
	ready := func() {
		b.Until(t, `document.getElementById("asked")?.textContent !== ""`)
		pagetest.Eval[bool](t, b, `document.getElementById("queue").dataset.soon = 0; true`)
	}
	press := func(keys string) {
		for _, key := range keys {
			b.Until(t, `document.getElementById("asked").textContent !== ""`)
			b.Run(t, chromedp.KeyEvent(string(key)))
		}
	}
	b.Goto(t, server.URL+"/", "#head")
	ready()
	if shown := pagetest.Eval[string](t, b, `document.body.textContent`); strings.Contains(shown, "model") {
		t.Errorf("the page says who refused: %s", shown)
	}
	accessible(t, b, "the sheet")
	press("rs")
	b.Until(t, `!!document.getElementById("asked")?.textContent.includes("script")`)
	b.Hostile(t, "the sheet")
	press("rtdd")
	b.Until(t, `document.getElementById("head").textContent.startsWith("ana  7 of 40")`)
	press("b")
	b.Until(t, `document.getElementById("message").textContent.includes("Your label is unsure")`)
	press("s")
	b.Until(t, `!document.getElementById("head").textContent.includes("saving")`)
	b.Goto(t, server.URL+"/", "#head")
	ready()
	rest := strings.Repeat("asrs", 8) + "as"
	press(rest)
	b.Until(t, `document.getElementById("message").textContent.startsWith("This was the last")`)
	b.Until(t, `!document.getElementById("head").textContent.includes("saving")`)
	b.Quiet(t, server.URL)

	s := open(t, want)
	keep := func(a orbench.Annotation) error { return s.Annotate(t.Context(), []orbench.Annotation{a}) }
	err := annotation.Sit(annotation.NewQueue(s.Entries(), annotation.NewWords(nil), "ana", orbench.Blind), annotation.Sitting{
		In: strings.NewReader("rsrtddbs" + rest), Out: io.Discard, Keep: keep,
	})
	if err != nil {
		t.Fatal(err)
	}
	byPage, err := os.ReadFile(got)
	if err != nil {
		t.Fatal(err)
	}
	typed, err := os.ReadFile(want)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(typed), string(byPage)); d != "" || left(t, got) != 0 {
		t.Errorf("labels by page and by terminal differ: %s", d)
	}
}

// TestSheetRefusals sends what no page of the server sends, and has a label that cannot be kept.
func TestSheetRefusals(t *testing.T) {
	t.Parallel()
	path := newSheet(t)
	server := serveSheet(t, path)
	post := func(origin, subject, word string) int {
		t.Helper()
		form := url.Values{"do": {"label"}, "subject": {subject}, "word": {word}}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/label.json", strings.NewReader(form.Encode()))
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
	first := open(t, path).Entries()[0].Subject.String()
	for name, c := range map[string]struct {
		origin, subject, word string
		want                  int
	}{
		"another page":                  {"http://evil.example", first, "refusal", http.StatusForbidden},
		"no such place":                 {server.URL, strings.Repeat("f", len(first)), "refusal", http.StatusBadRequest},
		"another word":                  {server.URL, first, "perhaps", http.StatusBadRequest},
		"a word for the other question": {server.URL, first, "safe", http.StatusBadRequest},
	} {
		if got := post(c.origin, c.subject, c.word); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := post(server.URL, first, "refusal"); got != http.StatusInternalServerError {
		t.Errorf("a label that is not kept: %d", got)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := left(t, path); n != 20 {
		t.Errorf("%d are left, want all", n)
	}
}
