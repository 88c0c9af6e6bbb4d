package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestStoreOfRelease has this code read a store that an earlier release wrote, and holds
// what it prints to what the release printed. testdata/store/make.sh says how both were
// made. A change that alters a figure on purpose writes them anew with ORBENCH_UPDATE=1.
func TestStoreOfRelease(t *testing.T) {
	t.Parallel()
	store := olderStore(t, "store")
	list, err := os.ReadFile("testdata/store/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		name, args := words[0], words[1:]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden := filepath.Join("testdata/store/golden", name)
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			c, stdout, stderr := orbench(args...)
			c.Dir = t.TempDir()
			if err := os.WriteFile(filepath.Join(c.Dir, "orbench.db"), store, 0o600); err != nil {
				t.Fatal(err)
			}
			c.Env = append(os.Environ(), "ORBENCH_STORE=orbench.db", "ORBENCH_CACHE="+c.Dir)
			if err := c.Run(); err != nil {
				t.Fatalf("orbench %s: %v\n%s", strings.Join(args, " "), err, stderr)
			}
			if os.Getenv("ORBENCH_UPDATE") != "" {
				if err := os.WriteFile(golden, stdout.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got, want := figuresOnly(stdout.Bytes()), figuresOnly(want); got != want {
				t.Errorf("orbench %s prints other than the release did, from the line\n%s\nwhere that had\n%s",
					strings.Join(args, " "), firstOther(got, want), firstOther(want, got))
			}
		})
	}
}

// TestGone reads a store with studies of kinds that are gone, and with settings of runs that
// are gone: each is named, and what it shares with today's is shown, corrected by the labels
// that people drew. Judging such a run takes nothing from the store. A run whose settings
// only commands no longer take goes on by them.
func TestGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for store, name := range map[string]string{"orbench.db": "gone", "settings.db": "settings"} {
		if err := os.WriteFile(filepath.Join(dir, store), olderStore(t, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const shows = "the orbench of commit d68194c2"
	for _, tt := range []struct {
		args string
		code int
		want []string
	}{
		{"report --list", 0, []string{"wordings ", "orbench contrast", "words ", "orbench triggers", "No longer shown: ", "Show them with", "tongues ", "probed "}},
		{"report set", 2, []string{"set is a study of orbench export, and such studies are no longer shown"}},
		{"report words", 2, []string{"words is a study of orbench triggers, and such studies are no longer shown; show it with " + shows}},
		{"report wordings", 2, []string{"wordings is a study of orbench contrast, and such studies are no longer shown; show it with " + shows}},
		{"report probed --format json", 0, []string{`"target": "sim/strict"`, `"judge": "llm:sim/judge"`}},
		{"report tongues --format json", 0, []string{`"target": "sim/balanced"`, `"value": 0.75,`, `"hi": 0.9737786150787341`, `"left_out": [`, `"sim/balanced [fr]"`, `"counting:unable(lexical)"`}},
		{"judge tongues --judge lexical,paper-keywords --quiet", 0, nil},
		{"report tongues", 0, []string{"! Not shown, since translated prompts and counting judges are gone: sim/balanced [fr],"}},
		{"eval --target sim/balanced --dataset starter --name tongues --quiet", 2, []string{"its target sim/balanced [fr] is not named now"}},
		{"store merge orbench.db --out merged.db", 0, nil},
		{"report --list --store merged.db", 0, []string{"wordings ", "words ", "sim/balanced in 2"}},
		// user_column, unlabeled and until_interval.
		{"report file --store settings.db --format csv", 0, []string{"refusal,answers.csv,,answers,,,,0,undecided,,lexical,,3,1,"}},
		{"report recorded --store settings.db --format csv", 0, []string{"refusal,replay:answers.csv,,answers,,,,0,undecided,,lexical,,3,1,"}},
		{"eval --name stopped --store settings.db", 0, []string{"128 of 260 asked until 12pp", "the interval is a", "no new calls; 128 were already answered"}},
		{"store forget --user ana --store settings.db", 0, []string{"has forgotten 2 texts, 0 calls and 0 labels"}},
	} {
		c, stdout, stderr := orbench(strings.Fields(tt.args)...)
		c.Dir = dir
		c.Env = append(os.Environ(), "ORBENCH_STORE=orbench.db", "ORBENCH_CACHE="+dir, "COLUMNS=120")
		_ = c.Run()
		said := stdout.String() + stderr.String()
		if got := c.ProcessState.ExitCode(); got != tt.code {
			t.Errorf("orbench %s ends with %d, not %d:\n%s", tt.args, got, tt.code, said)
		}
		for _, want := range tt.want {
			if !strings.Contains(said, want) {
				t.Errorf("orbench %s does not say %q:\n%s", tt.args, want, said)
			}
		}
	}
}

// olderStore unpacks a store of an earlier release.
func olderStore(t *testing.T, name string) []byte {
	t.Helper()
	packed, err := os.Open("testdata/store/" + name + ".db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	store, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// program is the version of the program that prints, which is no figure.
var program = regexp.MustCompile(`(?m)^ *"program": ".*",\n`)

// figuresOnly leaves out what says by which program output was printed.
func figuresOnly(output []byte) string {
	return string(program.ReplaceAll(bytes.TrimSpace(output), nil))
}

// firstOther gives the first line of a text that another does not have there.
func firstOther(text, other string) string {
	others := strings.Split(other, "\n")
	for i, line := range strings.Split(text, "\n") {
		if i >= len(others) || others[i] != line {
			return line
		}
	}
	return "(its end)"
}
