package untrusted_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/orbench/orbench/internal/untrusted"
)

// written is what a Writer makes of a text that is cut at n.
func written(t testing.TB, text string, n int, pass ...string) string {
	t.Helper()
	var out bytes.Buffer
	w := untrusted.NewWriter(&out, pass...)
	for _, part := range []string{text[:n], text[n:]} {
		if got, err := w.Write([]byte(part)); got != len(part) || err != nil {
			t.Fatalf("wrote %d of %d bytes: %v", got, len(part), err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWriter(t *testing.T) {
	t.Parallel()
	const red, plain = "\x1b[31m", "\x1b[0m"
	for name, tt := range map[string][2]string{
		"plain":               {"a\tb\nc\r\n", "a\tb\nc\r\n"},
		"other scripts":       {"模型 é नमस्ते 🙂", "模型 é नमस्ते 🙂"},
		"escape sequence":     {"a\x1b[2Jb\x07\x7f", `a\u001b[2Jb\u0007\u007f`},
		"what may pass":       {red + "a" + plain + "\x1b[8mb", red + "a" + plain + `\u001b[8mb`},
		"C1":                  {"a\u009b31mb\u0085", `a\u009b31mb\u0085`},
		"writing direction":   {"\u202ea\u2066\u200b\ufeff\u00ad\u061c", `\u202ea\u2066\u200b\ufeff\u00ad\u061c`},
		"ends of lines":       {"a\u2028b\u2029c", `a\u2028b\u2029c`},
		"carriage return":     {"good\rbad", `good\u000dbad`},
		"beyond 16 bits":      {"a\U000e0041b", `a\udb40\udc41b`},
		"broken UTF-8":        {"a\xffb\xc3", "a\ufffdb\ufffd"},
		"the start of a pass": {"a\x1b[3", `a\u001b[3`},
		"a return at the end": {"a\r", `a\u000d`},
	} {
		for n := range len(tt[0]) + 1 {
			if got := written(t, tt[0], n, red, plain); got != tt[1] {
				t.Errorf("%s, cut at %d: %q, want %q", name, n, got, tt[1])
			}
		}
	}
}

// TestWriterMissesNoCharacter writes each that is hidden.
func TestWriterMissesNoCharacter(t *testing.T) {
	t.Parallel()
	for _, table := range []*unicode.RangeTable{unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp} {
		for _, r := range table.R16 {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				if got := written(t, string(c), 0); c != '\n' && c != '\t' && !strings.HasPrefix(got, `\u`) {
					t.Errorf("%U is written as %q", c, got)
				}
			}
		}
		for _, r := range table.R32 {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				if got := written(t, string(c), 0); !strings.HasPrefix(got, `\u`) {
					t.Errorf("%U is written as %q", c, got)
				}
			}
		}
	}
}

func FuzzWriter(f *testing.F) {
	for _, s := range []string{"plain\n", "a\x1b[2Jb", "\xff\u202e模", "e\u0301🙂\u2028", "\r\n\r"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		whole, cut := written(t, s, 0), written(t, s, abs(n)%(len(s)+1))
		if whole != cut {
			t.Fatalf("%q becomes %q, and %q when it is cut", s, whole, cut)
		}
		shown := strings.NewReplacer("\r\n", "", "\n", "", "\t", "").Replace(whole)
		if !utf8.ValidString(whole) || untrusted.Terminal(shown) != strings.ReplaceAll(shown, "\ufffd", "") {
			t.Fatalf("%q becomes %q", s, whole)
		}
		if strings.ContainsFunc(shown, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Fatalf("%q becomes %q", s, whole)
		}
		before, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal([]byte(written(t, string(before), 0)), &back); err != nil || back != strings.ToValidUTF8(s, "\ufffd") {
			// The JSON package writes one U+FFFD for each broken byte.
			if strings.ReplaceAll(back, "\ufffd", "") != strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\ufffd", "") {
				t.Fatalf("JSON of %q comes back as %q: %v", s, back, err)
			}
		}
	})
}

// BenchmarkWriter writes a kilobyte of JSON, as the answers of a run are.
func BenchmarkWriter(b *testing.B) {
	for name, text := range map[string]string{"ascii": strings.Repeat("an answer ", 100), "chinese": strings.Repeat("一个回答。", 70)} {
		b.Run(name, func(b *testing.B) {
			var out bytes.Buffer
			w := untrusted.NewWriter(&out)
			for b.Loop() {
				out.Reset()
				_, _ = w.Write([]byte(text))
			}
		})
	}
}

// No line begins with two colons, however it is cut into writes, and all else passes.
func TestLinesBeginNoCommand(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"::error::x\n::group::y\n":   ":\\u003aerror::x\n:\\u003agroup::y\n",
		"  \u00a0\t::x":              "  \u00a0\t:\\u003ax",
		"a::b\n: :c\n:\n:d":          "a::b\n: :c\n:\n:d",
		"\n\n:::\r\n::":              "\n\n:\\u003a:\r\n:\\u003a",
		"\x1b::x":                    `\u001b::x`,
		"a\n::\x1b" + "b\n::c\x1b\n": "a\n:\\u003a\\u001bb\n:\\u003ac\\u001b\n",
	} {
		for size := 1; size <= len(in); size++ {
			var out bytes.Buffer
			w := untrusted.NewWriter(&out)
			for piece := range slices.Chunk([]byte(in), size) {
				if n, err := w.Write(piece); n != len(piece) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := w.Flush(); err != nil || out.String() != want {
				t.Errorf("%q in pieces of %d became %q, %v; want %q", in, size, out.String(), err, want)
			}
		}
	}
}
