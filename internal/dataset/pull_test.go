package dataset_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
)

const token = "hf_averysecrettokenfortests"

// hubServer serves the route of the Hugging Face hub that a download uses:
// GET /datasets/OWNER/NAME/resolve/REVISION/FILE.
//
// Small files are served as they are, with the name that git gives them as the
// ETag; large ones by a redirect to a store on another host.
type hubServer struct {
	repo, file, commit string
	content            []byte
	// files are further files, by path. Those of GitHub are served without a word
	// on their commit and with an ETag that is no checksum.
	files map[string][]byte
	// large redirects to the store; cut breaks the body off; wrongETag and
	// wrongCommit make the server lie; status answers everything with an error.
	large, cut, wrongETag, wrongCommit bool
	status                             int
	// storeStatus is the store's error.
	storeStatus int
	// hold, when not nil, keeps a GET of the file until it is closed; onHold is
	// called first.
	hold   chan struct{}
	onHold func()

	store *httptest.Server
	mu    sync.Mutex
	seen  []string
	// storeAuth is what the store saw in the Authorization header.
	storeAuth []string
}

func (h *hubServer) start(t *testing.T) string {
	t.Helper()
	h.store = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.note(r, true)
		if h.storeStatus != 0 {
			http.Error(w, "no", h.storeStatus)
			return
		}
		w.Header().Set("ETag", `"multipart-7"`)
		h.send(w, r)
	}))
	t.Cleanup(h.store.Close)
	s := httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(s.Close)
	return s.URL
}

func (h *hubServer) note(r *http.Request, store bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if store {
		h.storeAuth = append(h.storeAuth, r.Header.Get("Authorization"))
		return
	}
	h.seen = append(h.seen, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
}

func (h *hubServer) send(w http.ResponseWriter, r *http.Request) {
	if h.hold != nil {
		h.onHold()
		select {
		case <-h.hold:
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(h.content)))
	if h.cut {
		// The declared length is not reached: the connection breaks.
		w.Write(h.content[:len(h.content)-5])
		return
	}
	w.Write(h.content)
}

func (h *hubServer) serve(w http.ResponseWriter, r *http.Request) {
	h.note(r, false)
	if h.status != 0 {
		http.Error(w, "no", h.status)
		return
	}
	commit := h.commit
	if h.wrongCommit {
		commit = strings.Repeat("b", 40)
	}
	if rest, ok := strings.CutPrefix(r.URL.Path, "/"+h.repo+"/"+h.commit+"/"); ok && h.files[rest] != nil {
		w.Header().Set("ETag", `W/"`+strings.Repeat("0", 64)+`"`)
		w.Write(h.files[rest])
		return
	}
	if rest, ok := strings.CutPrefix(r.URL.Path, "/datasets/"+h.repo+"/resolve/"+h.commit+"/"); ok && h.files[rest] != nil {
		w.Header().Set("X-Repo-Commit", commit)
		w.Write(h.files[rest])
		return
	}
	switch path := r.URL.Path; {
	case path == "/datasets/"+h.repo+"/resolve/"+h.commit+"/"+h.file, path == "/datasets/"+h.repo+"/resolve/main/"+h.file:
		w.Header().Set("X-Repo-Commit", commit)
		content := h.content
		if h.wrongETag {
			content = append([]byte("x"), content...)
		}
		if !h.large {
			sum := sha1.Sum(append([]byte(fmt.Sprintf("blob %d\x00", len(content))), content...))
			w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:])+`"`)
			h.send(w, r)
			return
		}
		sum := sha256.Sum256(content)
		w.Header().Set("X-Linked-Etag", `"`+hex.EncodeToString(sum[:])+`"`)
		w.Header().Set("X-Linked-Size", fmt.Sprint(len(h.content)))
		// Another name of the same address: a client must not carry the token there.
		http.Redirect(w, r, strings.Replace(h.store.URL, "127.0.0.1", "localhost", 1)+"/blob?sig=1", http.StatusFound)
	default:
		http.NotFound(w, r)
	}
}

// rowsCSV makes a file of n distinct prompts.
func rowsCSV(header string, n int, rest ...string) []byte {
	var b bytes.Buffer
	b.WriteString(header + "\n")
	for i := range n {
		fmt.Fprintf(&b, "How do people usually handle situation number %d?,%s\n", i, rest[i%len(rest)])
	}
	return b.Bytes()
}

const orBenchCommit = "e36d8b80e81837c8a8f264bbb2a49f1b32c7e272"

// bench80k is a hub with a file like the published one. Its checksum is not in
// the table, so that a stand-in will do.
func bench80k() *hubServer {
	return &hubServer{
		repo: "bench-llm/or-bench", file: "or-bench-80k.csv", commit: orBenchCommit, large: true,
		content: rowsCSV("prompt,category", 80359, "hate", "privacy"),
	}
}

func TestPull(t *testing.T) {
	t.Parallel()
	h := bench80k()
	cache := filepath.Join(t.TempDir(), "deep", "cache")
	var said []string
	d, err := dataset.Pull(t.Context(), "or-bench-80k", dataset.PullOptions{
		Cache: cache, Endpoint: h.start(t) + "/", Token: token, Progress: func(s string) { said = append(said, s) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if d.Name != "or-bench-80k" || d.Count != 80359 || d.Labels[orbench.Safe] != 80359 {
		t.Errorf("got %+v", d)
	}
	again, err := dataset.Open(t.Context(), "or-bench-80k", dataset.Options{Cache: cache, Prompt: "ignored"})
	if err != nil || again.SHA256 != d.SHA256 {
		t.Errorf("opened again: %+v, %v", again, err)
	}
	for _, e := range dataset.List(cache) {
		present := e.Name == "or-bench-80k"
		if e.BuiltIn {
			continue
		}
		if e.Present != present || (e.HowToGet() == "") != present || present && (e.Commit != orBenchCommit || e.Path != d.Source) {
			t.Errorf("listed %+v", e)
		}
	}
	record, err := os.ReadFile(filepath.Join(cache, "or-bench-80k.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(record, &got); err != nil {
		t.Fatal(err)
	}
	if got["commit"] != orBenchCommit || got["sha256"] != d.SHA256 || got["rows"] != 80359.0 || got["repo"] != "bench-llm/or-bench" {
		t.Errorf("record %s", record)
	}
	if len(said) == 0 || strings.Contains(strings.Join(said, "\n")+string(record), token) {
		t.Errorf("said %q", said)
	}
	for _, r := range h.seen {
		if !strings.HasSuffix(r, " Bearer "+token) {
			t.Errorf("asked without the token: %s", strings.ReplaceAll(r, token, "[key]"))
		}
	}
	if len(h.storeAuth) == 0 {
		t.Error("the store was never asked")
	}
	for _, a := range h.storeAuth {
		if a != "" {
			t.Error("the token went to the store of large files, which is another host")
		}
	}
	wantFiles(t, cache, "or-bench-80k.csv", "or-bench-80k.json")
}

// wantFiles checks what a folder holds.
func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var have []string
	for _, e := range entries {
		have = append(have, e.Name())
	}
	if strings.Join(have, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", dir, have, want)
	}
}

// TestPullUnpinned follows a branch: the commit is what the hub says it is.
func TestPullUnpinned(t *testing.T) {
	t.Parallel()
	commit := strings.Repeat("0a", 20)
	h := &hubServer{
		repo: "bench-llms/or-bench-toxic-all", file: "all_toxic_prompts.csv", commit: commit,
		content: rowsCSV("prompt,category", 22911, "hate", "privacy"),
	}
	cache := t.TempDir()
	d, err := dataset.Pull(t.Context(), "or-bench-toxic-all", dataset.PullOptions{Cache: cache, Endpoint: h.start(t)})
	if err != nil {
		t.Fatal(err)
	}
	if d.Labels[orbench.Toxic] != 22911 || d.Categories["hate"] != 11456 {
		t.Errorf("got %+v", d)
	}
	for _, e := range dataset.List(cache) {
		if e.Name == "or-bench-toxic-all" && (e.Commit != commit || e.Revision != "main") {
			t.Errorf("listed %+v", e)
		}
	}
}

// TestPullControversial keeps the third label of PHTest, at its pinned commit.
func TestPullControversial(t *testing.T) {
	t.Parallel()
	const commit = "4028806c1f41031ddd3d27ca1f284e566548c5d6"
	h := &hubServer{
		repo: "furonghuang-lab/PHTest", file: "PHTest.csv", commit: commit,
		content: rowsCSV("Request,ID,Harmfulness", 3269, "1,harmless", "2,controversial"),
	}
	cache := t.TempDir()
	d, err := dataset.Pull(t.Context(), "phtest", dataset.PullOptions{Cache: cache, Endpoint: h.start(t)})
	if err != nil {
		t.Fatal(err)
	}
	if d.Labels[orbench.Safe] != 1635 || d.Labels[orbench.Controversial] != 1634 || d.Categories[""] != 3269 {
		t.Errorf("got %+v", d)
	}
	for _, e := range dataset.List(cache) {
		if e.Name == "phtest" && (e.Commit != commit || e.Revision != commit) {
			t.Errorf("listed %+v", e)
		}
	}
}

// TestPullReal serves the real files: what the table says of them holds.
func TestPullReal(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]*hubServer{
		"xstest":           {repo: "Paul/XSTest", file: "xstest_prompts.csv", commit: "f600c994b256f12867dfa5b3eb3d545a3e62f8b5"},
		"or-bench-hard-1k": {repo: "bench-llm/or-bench", file: "or-bench-hard-1k.csv", commit: orBenchCommit},
	} {
		content, err := os.ReadFile(filepath.Join("..", "..", "shared", "data", h.file))
		if err != nil {
			t.Skipf("the shared test data is absent: %v", err)
		}
		if name == "or-bench-hard-1k" {
			// The published file has the line ends of Windows and none at the end.
			content = bytes.TrimSuffix(bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n")), []byte("\r\n"))
		}
		h.content = content
		d, err := dataset.Pull(t.Context(), name, dataset.PullOptions{Cache: t.TempDir(), Endpoint: h.start(t)})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if want := map[string]int{"xstest": 450, "or-bench-hard-1k": 1319}[name]; d.Count != want {
			t.Errorf("%s: %d prompts, want %d", name, d.Count, want)
		}
	}
}

// TestPullFails holds every failure to a clear error and an untouched cache.
func TestPullFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*hubServer)
		want   string
		input  bool
	}{
		"rows":         {func(h *hubServer) { h.content = rowsCSV("prompt,category", 80358, "hate") }, "has 80358 rows and should have 80359", false},
		"bad row":      {func(h *hubServer) { h.content = rowsCSV("prompt,category", 80359, "hate", "a,b") }, "different numbers of cells", true},
		"cut off":      {func(h *hubServer) { h.cut = true }, "bytes arrived", false},
		"cut small":    {func(h *hubServer) { h.cut, h.large = true, false }, "bytes arrived", false},
		"wrong sum":    {func(h *hubServer) { h.wrongETag = true }, "damaged on its way", false},
		"wrong git":    {func(h *hubServer) { h.wrongETag, h.large = true, false }, "damaged on its way", false},
		"wrong commit": {func(h *hubServer) { h.wrongCommit = true }, "not the one asked for", false},
		"no such file": {func(h *hubServer) { h.file = "other.csv" }, "HTTP 404", false},
		"gated":        {func(h *hubServer) { h.status = 401 }, "set HF_TOKEN", true},
		"store down":   {func(h *hubServer) { h.storeStatus = 403 }, "HTTP 403; try again later", false},
		"down":         {func(h *hubServer) { h.status = 503 }, "HTTP 503; try again later", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := bench80k()
			tc.change(h)
			cache := t.TempDir()
			_, err := dataset.Pull(t.Context(), "or-bench-80k", dataset.PullOptions{Cache: cache, Endpoint: h.start(t), Token: token})
			if err == nil || !strings.Contains(err.Error(), tc.want) || errors.Is(err, orbench.ErrInput) != tc.input {
				t.Fatalf("got %v; want %q, input error %v", err, tc.want, tc.input)
			}
			if !strings.Contains(err.Error(), "or-bench-80k") || strings.Contains(err.Error(), token) {
				t.Errorf("error %q", err)
			}
			wantFiles(t, cache)
		})
	}
}

// TestPullUnreachable asks a closed port, and takes bad settings.
func TestPullUnreachable(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	for name, tc := range map[string]struct{ name, endpoint, cache, want string }{
		"closed port":  {"xstest", s.URL, t.TempDir(), "fetch " + s.URL + "/datasets/Paul/XSTest/resolve/"},
		"no URL":       {"xstest", "huggingface.co", t.TempDir(), "HF_ENDPOINT"},
		"no cache":     {"xstest", s.URL, "", "no cache folder"},
		"unknown name": {"xtest", s.URL, t.TempDir(), "did you mean xstest?"},
	} {
		_, err := dataset.Pull(t.Context(), tc.name, dataset.PullOptions{Cache: tc.cache, Endpoint: tc.endpoint, Token: token})
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), token) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
	if d, err := dataset.Pull(t.Context(), "starter", dataset.PullOptions{}); err != nil || d.Count == 0 {
		t.Errorf("starter: %v, %v", d, err)
	}
}

// TestPullCancelled stops while the file is on its way.
func TestPullCancelled(t *testing.T) {
	t.Parallel()
	h := bench80k()
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("stopped by the test")
	h.hold, h.onHold = make(chan struct{}), func() { cancel(reason) }
	endpoint := h.start(t)
	t.Cleanup(func() { close(h.hold) })
	cache := t.TempDir()
	_, err := dataset.Pull(ctx, "or-bench-80k", dataset.PullOptions{Cache: cache, Endpoint: endpoint})
	if !errors.Is(err, reason) {
		t.Errorf("got %v, want the cause", err)
	}
	wantFiles(t, cache)
}

// TestPulledChanged edits a pulled file.
func TestPulledChanged(t *testing.T) {
	t.Parallel()
	h := bench80k()
	cache := t.TempDir()
	d, err := dataset.Pull(t.Context(), "or-bench-80k", dataset.PullOptions{Cache: cache, Endpoint: h.start(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.Source, []byte("prompt,category\nx,hate\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.Open(t.Context(), "or-bench-80k", dataset.Options{Cache: cache}); err == nil ||
		!strings.Contains(err.Error(), "orbench dataset pull or-bench-80k") || !errors.Is(err, orbench.ErrInput) {
		t.Errorf("got %v", err)
	}
}
