package cli

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCompletion asks as the scripts of the shells do, by cobra's hidden command.
func TestCompletion(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "m.db")
	env := map[string]string{"ORBENCH_STORE": store}
	if code, _, said := runCommand(env, "eval", "--target", "sim/balanced,sim/strict", "--dataset", "starter", "--limit", "1", "--name", "mine", "--quiet"); code != exitDone {
		t.Fatal(said)
	}
	const noFiles, noSpace, files, folders = ":4", ":6", ":0", ":16"
	for _, tt := range []struct{ line, want, directive string }{
		{"eva", "eval", noFiles},
		{"eval --dry", "--dry-run", noFiles},
		{"eval --target sim", "sim/", noSpace},
		{"eval --target sim/st", "sim/strict", noFiles},
		{"eval --target sim/strict,sim/bal", "sim/strict,sim/balanced", noFiles},
		{"eval --target openai/gpt-4o-m", "openai/gpt-4o-mini", noFiles},
		{"eval --target guard:llamaguard@sim/gu", "guard:llamaguard@sim/guard", noFiles},
		{"eval --dataset st", "starter", files},
		{"eval --judge pap", "paper-keywords", noFiles},
		{"eval --judge lexical,llm:sim/j", "lexical,llm:sim/judge", noFiles},
		{"eval --format j", "json", noFiles},
		{"eval --label to", "toxic", noFiles},
		{"eval --set max_", "max_requests=", ":6"},
		{"moderate starter --set max_", "max_requests=", ":6"},
		{"eval --system h", "helpful-and-safe", noFiles},
		{"eval --set variants.fr", "variants.framings=", ":6"},
		{"eval --config ", "yaml yml", ":8"},
		{"eval --store ", "", files},
		{"eval --out ", "", folders},
		{"eval --limit ", "", noFiles},
		{"eval ", "", noFiles},
		{"report m", "mine", noFiles},
		{"report mine --store missing.db other", "", noFiles},
		{"label import mine ", "", files},
		{"compare mine m", "mine", noFiles},
		{"compare mine mine --base-target ", "sim/balanced sim/strict", noFiles},
		{"compare mine mine --fail-if over", "over_refusal over_refusal[", noSpace},
		{"moderate starter --policy sec", "security", files},
		{"dataset pull or-bench-h", "or-bench-hard-1k", noFiles},
		{"policy show med", "medical", noFiles},
		{"config init exp", "experiment", noFiles},
		{"completion ba", "bash", noFiles},
	} {
		words := strings.Split(tt.line, " ")
		code, out, said := runCommand(env, append([]string{"__complete"}, words...)...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		directive := lines[len(lines)-1]
		var got []string
		for _, line := range lines[:len(lines)-1] {
			// Shells leave out what does not begin with the word.
			if text, _, _ := strings.Cut(line, "\t"); strings.HasPrefix(text, words[len(words)-1]) {
				got = append(got, text)
			}
		}
		if code != exitDone || directive != tt.directive || !slices.Equal(got, strings.Fields(tt.want)) {
			t.Errorf("%q: exit %d, %q %s, want %q %s; %s", tt.line, code, got, directive, tt.want, tt.directive, said)
		}
	}
}

// TestCompletionScripts has the shells that are there read what they would be given.
func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		code, out, said := runCommand(nil, "completion", shell)
		if code != exitDone || !strings.Contains(out, "__complete") {
			t.Errorf("%s: exit %d, %s", shell, code, said)
		}
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("%s is not installed: its script was not read", shell)
			continue
		}
		check := exec.Command(shell, "-n")
		check.Stdin = bytes.NewBufferString(out)
		if said, err := check.CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("%s: %v, %s", shell, err, said)
		}
	}
}
