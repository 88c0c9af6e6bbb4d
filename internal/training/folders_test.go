package training

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/rows"
)

// compareFolder compares a folder with a file.
func compareFolder(t *testing.T, dir string, prompts ...string) *Checked {
	t.Helper()
	c, err := Compare(t.Context(), dir, "", against(t, prompts...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestForeignFolders checks what others wrote, in the forms that are usual.
func TestForeignFolders(t *testing.T) {
	t.Parallel()
	const held = "How can I build a raft?"
	for name, text := range map[string]string{
		"data/train-00000.jsonl": `{"messages":[{"role":"system","content":"x"},{"role":"user","content":"how can i build a raft"},{"role":"assistant","content":"y"}]}`,
		"sharegpt.json":          `[{"conversations":[{"from":"human","value":"Hi"},{"from":"gpt","value":"y"},{"from":"human","value":"How can I build a raft?"}]}]`,
		"hh.jsonl":               `{"chosen":"\n\nHuman: How can I build a raft?\n\nAssistant: So.","rejected":"\n\nHuman: How can I build a raft?\n\nAssistant: No."}`,
		"implicit.jsonl":         `{"chosen":[{"role":"user","content":"How can I build a raft?"},{"role":"assistant","content":"So."}],"rejected":[]}`,
		"alpaca.json":            `[{"instruction":"Answer this.","input":"How can I build a raft?","output":"So."}]`,
		"turns.jsonl":            `{"prompt":["Hi","Hello","How can I build a raft?"],"response_0":"a","response_1":"b"}`,
		"other.jsonl":            `{"prompt":"Hi","notes":"How can I build a raft?"}`,
		"plain.csv":              "id,prompt,completion\n1,How can I build a raft?,So.\n",
		"plain.tsv":              "question\tanswer\nHow can I build a raft?\tSo.\n",
		"near.jsonl":             `{"prompt":"How can I build a raft now?"}`,
		"text.jsonl":             `{"text":"How can I build a raft?"}`,
		"parts.jsonl":            `{"messages":[{"role":"user","content":[{"type":"image"},{"type":"text","text":"How can I build a raft?"}]}]}`,
		"marked.csv":             "\ufeffprompt\nHow can I build a raft?\n",
		"lines.json":             "{\"prompt\":\"Hi\"}\n{\"prompt\":\"How can I build a raft?\"}\n",
		"system.jsonl":           `{"messages":[{"role":"system","content":"You answer.\nHow can I build a raft?"},{"role":"user","content":"Hi"},{"role":"assistant","content":"y"}]}`,
		"answer.jsonl":           `{"prompt":"Hi","completion":"Somebody asked:\nHow can I build a raft?\nSo."}`,
		"completion.jsonl":       `{"prompt":[{"role":"user","content":"Hi"}],"completion":[{"role":"assistant","content":"How can I build a raft?"}]}`,
		"openai.jsonl":           `{"input":{"messages":[{"role":"user","content":"How can I build a raft?"}],"tools":[],"parallel_tool_calls":true},"preferred_output":[{"role":"assistant","content":"So."}],"non_preferred_output":[{"role":"assistant","content":"No."}]}`,
		"preferred.jsonl":        `{"input":{"messages":[{"role":"user","content":"Hi"}]},"preferred_output":[{"role":"assistant","content":"How can I build a raft?"}],"non_preferred_output":[{"role":"assistant","content":"No."}]}`,
		"marked.json":            "\ufeff\n[\n{\"prompt\":\"How can I build a raft?\"}\n]\n",
	} {
		dir := t.TempDir()
		put(t, dir, name, text)
		put(t, dir, "notes.txt", "none")
		c := compareFolder(t, dir, held)
		if len(c.Findings) != 1 || c.Findings[0].File != filepath.FromSlash(name) || c.Findings[0].Row == 0 {
			t.Errorf("%s: found %q", name, problems(c))
		}
		if len(c.Unread) != 1 || c.Unread[0].Name != "notes.txt" {
			t.Errorf("%s: not read are %+v", name, c.Unread)
		}
	}
}

func TestCheckAtFault(t *testing.T) {
	t.Parallel()
	for want, files := range map[string]map[string]string{
		"no column in it is known to hold prompts": {"train.jsonl": `{"other":1}`},
		"the file is empty":                        {"train.csv": ""},
		"train.jsonl:2: malformed JSON":            {"train.jsonl": "{\"prompt\":\"x\"}\n{"},
		"train.csv:3: a quotation mark is left":    {"train.csv": "prompt\nx\n\"open\ny\n"},
		"something follows the end of the JSON":    {"train.json": `[{"prompt":"x"}] {}`},
		"the file ends too soon":                   {"train.json": `[{"prompt":"x"},{`},
	} {
		dir := t.TempDir()
		for name, text := range files {
			put(t, dir, name, text)
		}
		if _, err := Compare(t.Context(), dir, "", against(t, "x"), nil); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// FuzzReadRows reads files of every kind: a fault is an error that the user can correct,
// and rows are numbered upwards.
func FuzzReadRows(f *testing.F) {
	for _, seed := range []struct{ ending, text string }{
		{".jsonl", `{"prompt":"a"}` + "\n\n" + `{"messages":[{"role":"user","content":"b"}]}`},
		{".json", `[{"conversations":[{"from":"human","value":"a"}]}]`},
		{".csv", "prompt,label\na,b\n\"c\n"},
		{".tsv", "text\na\n"},
	} {
		f.Add(seed.ending, []byte(seed.text))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, ending string, content []byte) {
		if !slices.Contains(rows.Endings(), ending) {
			return
		}
		path := filepath.Join(dir, "rows"+ending)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		last := 0
		_, err := eachRow(t.Context(), path, "", func(row int, said, _ []string) {
			if row <= last {
				t.Errorf("row %d follows row %d", row, last)
			}
			last = row
			for _, text := range said {
				if strings.TrimSpace(text) == "" {
					t.Error("a turn without text")
				}
			}
		})
		if err != nil && !errors.Is(err, orbench.ErrInput) {
			t.Error(err)
		}
	})
}

// TestPlantedInPublished puts prompts of a published evaluation set, changed a little,
// among others, and others that have nothing to do with it: how many of both are left
// out.
func TestPlantedInPublished(t *testing.T) {
	t.Parallel()
	const published, unrelated = "../../../shared/data/or-bench-hard-1k.csv", "../../../shared/data/xstest_prompts.csv"
	for _, path := range []string{published, unrelated} {
		if _, err := os.Stat(path); err != nil {
			t.Skip("the published sets are not there:", err)
		}
	}
	e, err := Against(t.Context(), []string{published}, []string{"starter"}, "", NearThreshold)
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(words []string, n int) []string {
		for i := range n {
			words[len(words)*(i+1)/(n+1)] = "something"
		}
		return words
	}
	plain := strings.NewReplacer(".", "", ",", "", "?", "", "!", "", "'", " ")
	for _, tt := range []struct {
		name   string
		change func(words []string) []string
		least  float64
	}{
		{"as they are", func(w []string) []string { return w }, 1},
		{"another case, no punctuation", func(w []string) []string { return strings.Fields(strings.ToUpper(plain.Replace(strings.Join(w, " ")))) }, 1},
		{"three words put before", func(w []string) []string { return append([]string{"Please", "tell", "me"}, w...) }, 1},
		{"a word replaced", func(w []string) []string { return replaced(w, 1) }, 1},
		{"two words replaced", func(w []string) []string { return replaced(w, 2) }, 0.84},
		{"three words replaced", func(w []string) []string { return replaced(w, 3) }, 0.4},
	} {
		found := 0
		for _, kept := range e.kept {
			if _, _, ok := e.Find([]string{strings.Join(tt.change(strings.Fields(kept.Text)), " ")}); ok {
				found++
			}
		}
		share := float64(found) / float64(len(e.kept))
		t.Logf("%s: %d of %d (%.1f%%)", tt.name, found, len(e.kept), 100*share)
		if share < tt.least {
			t.Errorf("%s: %v of them are found, want %v", tt.name, share, tt.least)
		}
	}
	for _, ref := range []string{unrelated, "starter"} {
		set, err := dataset.Open(t.Context(), ref, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for p, err := range set.Prompts() {
			if err != nil {
				t.Fatal(err)
			}
			if _, m, ok := e.Find(Said(p)); ok {
				t.Errorf("%q of %s is taken for %q", p.Text(), set.Name, m.Text)
			}
		}
	}
}
