package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/parquetfile"
	"github.com/orbench/orbench/internal/rows"
)

// file writes a file into a fresh folder.
func file(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// prompts collects a dataset.
func prompts(t testing.TB, d *dataset.Dataset) []orbench.Prompt {
	t.Helper()
	var all []orbench.Prompt
	for p, err := range d.Prompts() {
		if err != nil {
			t.Fatalf("Prompts: %v", err)
		}
		all = append(all, p)
	}
	return all
}

func TestMain(m *testing.M) {
	rows.Parquet = parquetfile.Open
	os.Exit(m.Run())
}

type parquetFull struct {
	Prompt   string  `parquet:"prompt"`
	Category *string `parquet:"category"`
	Label    string  `parquet:"label,dict"`
	Number   int64   `parquet:"number"`
}

func parquetFile[T any](t testing.TB, rows []T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewGenericWriter[T](f)
	for i, r := range rows {
		if _, err := w.Write([]T{r}); err != nil {
			t.Fatal(err)
		}
		// Several row groups, so that the reader has to cross from one to the next.
		if i == 1 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFormats reads the same four rows, one of them a duplicate, in every format
// and finds the same dataset.
func TestFormats(t *testing.T) {
	t.Parallel()
	hate := "hate"
	files := map[string]string{
		"csv":      file(t, "p.csv", "prompt,category,label\n\"How, then?\",hate,safe\n\"a \"\"quoted\"\"\nline\",,TOXIC\n\"How, then?\",hate,safe\nZürich ☕,hate,borderline\n"),
		"tsv":      file(t, "p.tsv", "label\tcategory\tprompt\nsafe\thate\tHow, then?\ntoxic\t\t\"a \"\"quoted\"\"\nline\"\nsafe\thate\tHow, then?\ncontroversial\thate\tZürich ☕\n"),
		"bom crlf": file(t, "p.csv", "\ufeffid,Prompt ,type,Label\r\n1,\"How, then?\",hate,benign\r\n2,\"a \"\"quoted\"\"\r\nline\",,unsafe\r\n3,\"How, then?\",hate,safe\r\n\r\n4,Zürich ☕, hate ,controversial"),
		"jsonl": file(t, "p.jsonl", `{"prompt":"How, then?","category":"hate","label":"safe"}

{"prompt":"a \"quoted\"\nline","category":null,"label":"harmful","more":[1,2]}
{"messages":[{"role":"user","content":"How, then?"}],"category":"hate","label":"safe"}
{"prompt":"Z\u00fcrich ☕","label":"controversial","category":"hate"}`),
		"ndjson": file(t, "p.ndjson", "\ufeff"+`{"messages":[{"role":"user","content":"How, then?"}],"category":"hate","label":"safe"}
{"messages":[{"role":"user","content":"a \"quoted\"\nline"}],"label":"toxic"}
{"messages":[{"role":"user","content":"How, then?"}],"category":"hate","label":"safe"}
{"messages":[{"role":"user","content":"Zürich ☕"}],"category":"hate","label":"controversial"}
`),
		"parquet": parquetFile(t, []parquetFull{
			{Prompt: "How, then?", Category: &hate, Label: "safe"},
			{Prompt: "a \"quoted\"\nline", Label: "toxic"},
			{Prompt: "How, then?", Category: &hate, Label: "safe"},
			{Prompt: "Zürich ☕", Category: &hate, Label: "controversial"},
		}),
	}
	want := []orbench.Prompt{
		orbench.NewPrompt("How, then?", "hate", orbench.Safe),
		orbench.NewPrompt("a \"quoted\"\nline", "", orbench.Toxic),
		orbench.NewPrompt("Zürich ☕", "hate", orbench.Controversial),
	}
	hashes := map[string]bool{}
	for name, path := range files {
		d, err := dataset.Open(t.Context(), path, dataset.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, prompts(t, d)); diff != "" {
			t.Errorf("%s: prompts (-want +got):\n%s", name, diff)
		}
		if d.Name != "p" || d.Source != path || d.Count != 3 || d.Duplicates != 1 || d.Conflicts != 0 {
			t.Errorf("%s: got %+v", name, d)
		}
		if d.Labels[orbench.Toxic] != 1 || d.Categories["hate"] != 2 || d.Categories[""] != 1 {
			t.Errorf("%s: labels %v, categories %v", name, d.Labels, d.Categories)
		}
		hashes[d.SHA256] = true
	}
	if len(hashes) != 1 {
		t.Errorf("the formats have the hashes %v; want one", hashes)
	}
}

// TestHash pins the hash, which results name, and shows what moves it.
func TestHash(t *testing.T) {
	t.Parallel()
	open := func(content string, opts dataset.Options) string {
		d, err := dataset.Open(t.Context(), file(t, "h.csv", content), opts)
		if err != nil {
			t.Fatal(err)
		}
		return d.SHA256
	}
	base := open("prompt,category\nOne,a\nTwo,b\n", dataset.Options{})
	if want := "d6a81f16cd7505d52553b1d5acad516abe60559a5fa2ba4854c72e07185a1047"; base != want {
		t.Errorf("hash %s, want %s: stored results name the old one", base, want)
	}
	if again := open("category,prompt\na,One\nb,Two\nb,Two\n", dataset.Options{}); again != base {
		t.Error("the hash depends on the order of columns or on duplicates")
	}
	for name, other := range map[string]string{
		"order":    open("prompt,category\nTwo,b\nOne,a\n", dataset.Options{}),
		"category": open("prompt,category\nOne,a\nTwo,c\n", dataset.Options{}),
		"text":     open("prompt,category\nOne,a\nTwo.,b\n", dataset.Options{}),
		"label":    open("prompt,category\nOne,a\nTwo,b\n", dataset.Options{Default: orbench.Toxic}),
		"fewer":    open("prompt,category\nOne,a\n", dataset.Options{}),
	} {
		if other == base {
			t.Errorf("%s does not move the hash", name)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	path := file(t, "o.csv", "ask,prompt,kind,label,verdict\nA?,x,c,zero,toxic\n")
	d, err := dataset.Open(t.Context(), path, dataset.Options{Prompt: "ASK", Category: "kind", Label: "verdict", Default: orbench.Safe})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]orbench.Prompt{orbench.NewPrompt("A?", "c", orbench.Toxic)}, prompts(t, d)); diff != "" {
		t.Error(diff)
	}
	if want := (dataset.Columns{Prompt: "ask", Category: "kind", Label: "verdict"}); d.Columns != want {
		t.Errorf("columns %+v, want %+v", d.Columns, want)
	}
	d, err = dataset.Open(t.Context(), file(t, "o.csv", "prompt\nA?\n"), dataset.Options{Default: "Unsafe"})
	if err != nil {
		t.Fatal(err)
	}
	if d.Labels[orbench.Toxic] != 1 {
		t.Errorf("labels %v, want one toxic", d.Labels)
	}
}

func TestConversations(t *testing.T) {
	t.Parallel()
	d, err := dataset.Open(t.Context(), file(t, "c.jsonl",
		`{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"},{"role":"user","content":"Why?"}]}`),
		dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := prompts(t, d)[0]
	if len(p.Messages) != 4 || p.Text() != "Why?" || p.ID != orbench.PromptIDOf(p.Messages) || d.Columns.Prompt != "messages" {
		t.Errorf("got %+v of %+v", p, d.Columns)
	}
}

// TestConflicts counts texts that stand in a file with two labels.
func TestConflicts(t *testing.T) {
	t.Parallel()
	d, err := dataset.Open(t.Context(), file(t, "c.csv", "prompt,label\nA,safe\nA,toxic\nA,safe\nB,toxic\n"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Count != 2 || d.Duplicates != 2 || d.Conflicts != 1 || d.Labels[orbench.Safe] != 1 {
		t.Errorf("got %+v", d)
	}
}

// TestChanged edits a file between the two passes.
func TestChanged(t *testing.T) {
	t.Parallel()
	const before = "prompt\nOne\nTwo\n"
	for name, tc := range map[string]struct {
		edit func(path string, changed time.Time) error
		// after is how many prompts come before the error.
		after int
	}{
		"longer": {func(p string, _ time.Time) error { return os.WriteFile(p, []byte(before+"Six\n"), 0o600) }, 0},
		"same size and time": {func(p string, changed time.Time) error {
			return errors.Join(os.WriteFile(p, []byte("prompt\nOne\nSix\n"), 0o600), os.Chtimes(p, changed, changed))
		}, 2},
		"removed": {func(p string, _ time.Time) error { return os.Remove(p) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := file(t, "c.csv", before)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			d, err := dataset.Open(t.Context(), path, dataset.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := tc.edit(path, info.ModTime()); err != nil {
				t.Fatal(err)
			}
			n, last := 0, error(nil)
			for _, err := range d.Prompts() {
				if last = err; err == nil {
					n++
				}
			}
			if n != tc.after || !errors.Is(last, orbench.ErrInput) {
				t.Errorf("%d prompts, then %v; want %d and an input error", n, last, tc.after)
			}
		})
	}
}

// TestStop leaves a sequence early, twice.
func TestStop(t *testing.T) {
	t.Parallel()
	d, err := dataset.Open(t.Context(), file(t, "s.csv", "prompt\nOne\nTwo\n"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for p, err := range d.Prompts() {
			if err != nil || p.Text() != "One" {
				t.Fatalf("got %v, %v", p, err)
			}
			break
		}
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("stopped by the test")
	cancel(reason)
	var b strings.Builder
	b.WriteString("prompt\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "Prompt %d\n", i)
	}
	if _, err := dataset.Open(ctx, file(t, "c.csv", b.String()), dataset.Options{}); !errors.Is(err, reason) {
		t.Errorf("got %v, want the cause", err)
	}
}

// TestShared reads the real files: the published hard set and XSTest, which has
// both a type and a label.
func TestShared(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		count, safe, toxic, categories int
		columns                        dataset.Columns
	}{
		"or-bench-hard-1k.csv": {1319, 1319, 0, 10, dataset.Columns{Prompt: "prompt", Category: "category"}},
		"xstest_prompts.csv":   {450, 250, 200, 18, dataset.Columns{Prompt: "prompt", Category: "type", Label: "label"}},
	} {
		path := filepath.Join("..", "..", "shared", "data", name)
		if _, err := os.Stat(path); err != nil {
			t.Skipf("the shared test data is absent: %v", err)
		}
		d, err := dataset.Open(t.Context(), path, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d.Count != tc.count || d.Labels[orbench.Safe] != tc.safe || d.Labels[orbench.Toxic] != tc.toxic ||
			len(d.Categories) != tc.categories || d.Columns != tc.columns || d.Duplicates != 0 {
			t.Errorf("%s: got %+v", name, d)
		}
	}
}

// TestStarter holds the built-in set against its row in the table.
func TestStarter(t *testing.T) {
	t.Parallel()
	d, err := dataset.Open(t.Context(), "starter", dataset.Options{Prompt: "ignored", Default: orbench.Toxic})
	if err != nil {
		t.Fatal(err)
	}
	e := dataset.List("")[0]
	if e.Name != "starter" || !e.Present || e.HowToGet() != "" || d.Count+d.Duplicates != e.Rows || d.Source != "built in" {
		t.Errorf("dataset %+v, entry %+v", d, e)
	}
	if len(prompts(t, d)) != d.Count || d.Labels[orbench.Safe] == 0 || d.Labels[orbench.Toxic] == 0 {
		t.Errorf("labels %v", d.Labels)
	}
}
