package training

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
)

// python runs a script of testdata with the libraries of scripts/training-libs.sh, and
// gives what it prints.
func python(t *testing.T, script string, args ...string) []byte {
	t.Helper()
	bin := os.Getenv("ORBENCH_TRAINING_PYTHON")
	if bin == "" {
		if strings.Contains(os.Getenv("ORBENCH_REQUIRE"), "training-libs") {
			t.Fatal("ORBENCH_TRAINING_PYTHON is not set, and ORBENCH_REQUIRE asks for the libraries of training data")
		}
		t.Skip("no datasets library: install it with scripts/training-libs.sh datasets, and set ORBENCH_TRAINING_PYTHON as scripts/training-libs.sh env prints it")
	}
	c := exec.CommandContext(t.Context(), bin, append([]string{filepath.Join("testdata", script)}, args...)...)
	// Nothing is to be fetched: what is tested lies in folders.
	c.Env = append(os.Environ(), "HF_HUB_OFFLINE=1", "HF_DATASETS_DISABLE_PROGRESS_BARS=1", "CUDA_VISIBLE_DEVICES=", "HF_HOME="+t.TempDir())
	var out, log bytes.Buffer
	c.Stdout, c.Stderr = &out, &log
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, log.String()[max(0, log.Len()-4000):])
	}
	return out.Bytes()
}

// forms are every format, with messages and with texts.
func forms() (all []Options) {
	for _, f := range Formats {
		o := options(f)
		o.Harmful, o.Splits = true, [3]float64{0.6, 0.2, 0.2}
		all = append(all, o)
		o.Plain = true
		all = append(all, o)
	}
	return all
}

// exported writes a set of safe and toxic prompts and a conversation, with texts that are hard to
// write, and reads the rows back.
func exported(t *testing.T, o Options) (set *Set, dir string) {
	t.Helper()
	var rows []score.AnswerRow
	for i, text := range someTexts {
		p := safe(text)
		switch {
		case i%3 == 1:
			p.Label = orbench.Toxic
		case i == 0:
			p.Messages = append([]orbench.Message{{Role: orbench.System, Content: "Be brief."}, {Role: orbench.User, Content: "Hi"}, {Role: orbench.Assistant, Content: "Hello."}}, p.Messages...)
			p.ID = orbench.PromptIDOf(p.Messages)
		}
		rows = append(rows,
			answered("mine", p, fmt.Sprintf("I can't \"%d\" <b>\\ \u2028\U0001F600\n", i), orbench.Refusal),
			answered("mine", p, fmt.Sprintf("Größe %d, {\"a\": 1}", i), orbench.FullAnswer))
	}
	set = selected(t, collected(o, 2, rows...))
	dir = filepath.Join(t.TempDir(), string(o.Format)+fmt.Sprint(o.Plain))
	if err := set.Write(dir, "orbench export"); err != nil {
		t.Fatal(err)
	}
	return set, dir
}

// TestDatasetsLibrary opens a set of every format with the real library: it has the
// documented columns and every row as it was written.
func TestDatasetsLibrary(t *testing.T) {
	t.Parallel()
	var dirs []string
	var sets []*Set
	for _, o := range forms() {
		set, dir := exported(t, o)
		sets, dirs = append(sets, set), append(dirs, dir)
	}
	lines := bytes.Split(bytes.TrimSpace(python(t, "load.py", dirs...)), []byte("\n"))
	if len(lines) != len(sets) {
		t.Fatalf("%d folders were loaded, want %d", len(lines), len(sets))
	}
	for i, line := range lines {
		var got struct {
			Columns map[string][]string
			Rows    map[string][]any
		}
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		set, total := sets[i], 0
		for n, split := range Splits {
			if len(set.Rows[n]) == 0 {
				continue
			}
			columns := slices.Sorted(slices.Values(set.Kind.Columns()))
			if !slices.Equal(got.Columns[split], columns) {
				t.Errorf("%s: the columns of %s are %v, want %v", dirs[i], split, got.Columns[split], columns)
			}
			var written bytes.Buffer
			if err := set.Kind.writer(set.Plain)(&written, false, set.Rows[n]); err != nil {
				t.Fatal(err)
			}
			var want []any
			for line := range strings.Lines(written.String()) {
				var row any
				if err := json.Unmarshal([]byte(line), &row); err != nil {
					t.Fatal(err)
				}
				want = append(want, row)
			}
			total += len(want)
			if diff := cmp.Diff(want, got.Rows[split]); diff != "" {
				t.Errorf("%s: %s (-written +loaded):\n%s", dirs[i], split, diff)
			}
		}
		if total < len(someTexts)-1 {
			t.Errorf("%s: only %d rows", dirs[i], total)
		}
	}
}

// TestTRL trains a small model for a step with the trainers of TRL. It waits for
// ORBENCH_LONG and for a TRL that is installed, which is several GB.
func TestTRL(t *testing.T) {
	t.Parallel()
	bin := os.Getenv("ORBENCH_TRAINING_PYTHON")
	if os.Getenv("ORBENCH_LONG") == "" || bin == "" || exec.CommandContext(t.Context(), bin, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('trl') is None)").Run() != nil {
		t.Skip("no TRL, or no ORBENCH_LONG: install it with make training-libs")
	}
	var args []string
	for _, o := range forms() {
		if o.Format == SFT || o.Format == DPO || o.Format == KTO {
			_, dir := exported(t, o)
			args = append(args, string(o.Format)+"="+dir)
		}
	}
	t.Logf("%s", python(t, "train.py", args...))
}
