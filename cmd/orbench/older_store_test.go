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
	store := olderStore(t)
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

// olderStore unpacks the store of the release.
func olderStore(t *testing.T) []byte {
	t.Helper()
	packed, err := os.Open("testdata/store/store.db.gz")
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
