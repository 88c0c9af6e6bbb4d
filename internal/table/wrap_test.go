package table

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"a paragraph is filled": {"one two three four\nfive", "one two three\nfour five"},
		"paragraphs stay apart": {"one\ntwo\n\nthree", "one two\n\nthree"},
		"a list":                {"  a   one two three\n  bb  four\n      five six", "  a   one two\n      three\n  bb  four\n      five six"},
		"examples are lines":    {"  one\n  two\n\tthree", "  one\n  two\n\tthree"},
		"a long word":           {"one https://127.0.0.1:8080/v1 two", "one\nhttps://127.0.0.1:8080/v1\ntwo"},
		"letters, not bytes":    {"ääää öööö üüüü", "ääää öööö üüüü"},
		"nothing":               {"", ""},
	} {
		if got := Wrap(tt.text, 14); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestWrapCommands(t *testing.T) {
	t.Parallel()
	const width = 40
	for command, want := range map[string]string{
		"  orbench report": "  orbench report",
		"  orbench config init experiment > experiment.yaml": "  orbench config init experiment \\\n      > experiment.yaml",
		"  orbench compare main branch --fail-if 'over_refusal > +2pp' --format md": "  orbench compare main branch \\\n" +
			"      --fail-if 'over_refusal > +2pp' \\\n      --format md",
		`  orbench judge answers --gold-refusal "a, b --c" --judge lexical`: "  orbench judge answers \\\n      --gold-refusal \"a, b --c\" \\\n      --judge lexical",
	} {
		got := WrapCommands(command, width)
		if got != want {
			t.Errorf("%s becomes\n%s\nwant\n%s", command, got, want)
		}
		if joined := strings.Join(strings.Fields(strings.ReplaceAll(got, " \\\n", " ")), " "); joined != strings.TrimSpace(command) {
			t.Errorf("%s reads as %s", command, joined)
		}
		for line := range strings.Lines(got) {
			if utf8.RuneCountInString(line) > width+1 {
				t.Errorf("%q is too long", line)
			}
		}
	}
}

// A remark is no part of the command that is pasted.
func TestWrapCommandsWithARemark(t *testing.T) {
	t.Parallel()
	got := WrapCommands("  orbench report --store 'a  b.db' main --out DIR       read every answer", 40)
	if want := "  orbench report \\\n      --store 'a  b.db' main --out DIR\n      read every answer"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
