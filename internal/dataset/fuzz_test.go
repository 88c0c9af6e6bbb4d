package dataset_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
)

// loads holds a file of any content to the promises of the package: Open gives
// an input error that is one line, or a dataset whose prompts come again as they
// were counted.
func loads(t *testing.T, name string, content []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Open(t.Context(), path, dataset.Options{})
	if err != nil {
		if !errors.Is(err, orbench.ErrInput) {
			t.Fatalf("%T is not an input error: %v", err, err)
		}
		if text := err.Error(); strings.ContainsAny(text, "\n\r\x1b\x00") || !utf8.ValidString(text) {
			t.Fatalf("not one clear line: %q", text)
		}
		return
	}
	seen := map[orbench.PromptID]bool{}
	labels := map[orbench.Label]int{}
	for p, err := range d.Prompts() {
		if err != nil {
			t.Fatalf("Prompts: %v", err)
		}
		if seen[p.ID] || p.ID != orbench.PromptIDOf(p.Messages) || strings.TrimSpace(p.Text()) == "" && len(p.Messages) == 1 {
			t.Fatalf("prompt %+v", p)
		}
		for _, m := range p.Messages {
			if !utf8.ValidString(m.Content) || strings.ContainsRune(m.Content, 0) || len(m.Content) > dataset.MaxCell {
				t.Fatalf("message %q", m.Content)
			}
		}
		seen[p.ID] = true
		labels[p.Label]++
	}
	if len(seen) != d.Count || d.Count == 0 {
		t.Fatalf("%d prompts, counted %d", len(seen), d.Count)
	}
	sum := 0
	for l, n := range d.Labels {
		if labels[l] != n {
			t.Fatalf("label %s: %d prompts, counted %d", l, labels[l], n)
		}
		sum += n
	}
	for _, n := range d.Categories {
		sum -= n
	}
	if sum != 0 || len(d.SHA256) != 64 {
		t.Fatalf("labels %v, categories %v, hash %q", d.Labels, d.Categories, d.SHA256)
	}
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{
		"prompt\nHello\n", "prompt,category,label\n\"a, b\",hate,safe\nx,,toxic\nx,,safe\n",
		"\ufeffText,type,label\r\nHow?,c,harmless\r\n", "prompt\n\"open\n", "prompt,prompt\na,b\n", "\xff\xfea\x00", "prompt\na\x00b\n", "prompt\ncaf\xe9\n", "a;b\n1;2\n", "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		loads(t, "f.csv", content)
		loads(t, "f.tsv", content)
	})
}

func FuzzJSONL(f *testing.F) {
	for _, s := range []string{
		`{"prompt":"Hello"}`, "{\"prompt\":\"a\",\"label\":\"safe\",\"category\":\"c\"}\n\n{\"prompt\":\"b\",\"label\":\"toxic\"}\n",
		`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}]}`, `{"messages":[null]}`, `[{"prompt":"a"}]`, `{"prompt":null}`, `{"prompt":"\ud800"}`, `{"prompt":"a","prompt":"b"}`, "{", "null",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) { loads(t, "f.jsonl", content) })
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`[{"prompt":"Hello"}]`, `[{"prompt":"a","label":"safe","seed":{"id":1}},{"prompt":"b","label":"toxic"}]`, `{"prompt":"a"}`,
		`[{"messages":[{"role":"user","content":"u"}]}]`, `[null]`, `[]`, `[[]]`, `[{"prompt":"a"}]]`, `{"a":{"b":{"c":{"d":{"e":{}}}}}}`, " [", "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) { loads(t, "f.json", content) })
}

func FuzzParquet(f *testing.F) {
	good, err := os.ReadFile(parquetFile(f, []parquetFull{{Prompt: "x", Label: "safe"}, {Prompt: "y", Label: "toxic"}, {Prompt: "z", Label: "safe"}}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Fuzz(func(t *testing.T, content []byte) { loads(t, "f.parquet", content) })
}
