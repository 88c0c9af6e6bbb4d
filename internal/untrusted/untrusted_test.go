package untrusted_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/orbench/orbench/internal/untrusted"
)

func TestTerminal(t *testing.T) {
	t.Parallel()
	tests := map[string][2]string{
		"plain":                {"openai/gpt-4o", "openai/gpt-4o"},
		"escape sequence":      {"a\x1b[2J\x1b]0;title\x07b", "a[2J]0;titleb"},
		"line breaks":          {"a\r\nb\tc\u2028d", "a  b c d"},
		"backspace and delete": {"a\b\x7fb", "ab"},
		"C1 control":           {"a\u009b31mb", "a31mb"},
		"writing direction":    {"a\u202eb\u2066c", "abc"},
		"zero width":           {"a\u200bb\ufeffc", "abc"},
		"broken UTF-8":         {"a\xff\xc3b", "ab"},
		"other scripts stay":   {"模型 é", "模型 é"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := untrusted.Terminal(tt[0]); got != tt[1] {
				t.Errorf("untrusted.Terminal(%q) = %q, want %q", tt[0], got, tt[1])
			}
		})
	}
}

func TestWidth(t *testing.T) {
	t.Parallel()
	tests := map[string]int{"": 0, "abc": 3, "é": 1, "e\u0301": 1, "模型": 4, "ｗ": 2, "🙂": 2, "–": 1}
	for s, want := range tests {
		if got := untrusted.Width(s); got != want {
			t.Errorf("untrusted.Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		n    int
		want string
	}{
		{"short", 10, "short"},
		{"together/meta-llama/Llama-3-70b-chat-hf", 20, "together/m…b-chat-hf"},
		{"模型模型模型", 7, "模型…型"},
		{"模型模型模型", 6, "模…型"},
		{"模型", 2, "…"},
	}
	for _, tt := range tests {
		got := untrusted.Shorten(tt.in, tt.n)
		if got != tt.want {
			t.Errorf("untrusted.Shorten(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
		if untrusted.Width(got) > tt.n {
			t.Errorf("untrusted.Shorten(%q, %d) takes %d columns", tt.in, tt.n, untrusted.Width(got))
		}
	}
}

func FuzzTerminal(f *testing.F) {
	for _, s := range []string{"plain", "a\x1b[2Jb", "\xff\u202e模", "e\u0301🙂"} {
		f.Add(s, 5)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		got := untrusted.Terminal(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) {
			t.Fatalf("untrusted.Terminal(%q) = %q", s, got)
		}
		if untrusted.Terminal(got) != got {
			t.Fatalf("untrusted.Terminal(%q) = %q, which is not clean", s, got)
		}
		if n = 1 + abs(n%100); untrusted.Width(untrusted.Shorten(got, n)) > n {
			t.Fatalf("untrusted.Shorten(%q, %d) takes %d columns", got, n, untrusted.Width(untrusted.Shorten(got, n)))
		}
		if fields := strings.Count(untrusted.Markdown(s), "|") - strings.Count(untrusted.Markdown(s), `\|`); fields != 0 {
			t.Fatalf("untrusted.Markdown(%q) = %q", s, untrusted.Markdown(s))
		}
	})
}

func abs(n int) int { return max(n, -n) }

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want []string
	}{
		{"", 10, []string{""}},
		{"one two", 7, []string{"one two"}},
		{"one two three", 8, []string{"one two", "three"}},
		{"one two three", 7, []string{"one two", "three"}},
		{"  - one two", 7, []string{"  - one", "two"}},
		{"abcdefghij k", 4, []string{"abcd", "efgh", "ij k"}},
		{"저는 도울 수", 5, []string{"저는", "도울", "수"}},
		{"対不起我不能", 5, []string{"対不", "起我", "不能"}},
		{"   longword", 4, []string{"   l", "ongw", "ord"}},
		{"ae\u0301io", 2, []string{"ae\u0301", "io"}},
		{strings.Repeat(" ", 9), 4, []string{"", ""}},
	} {
		if got := untrusted.Wrap(c.text, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func TestCell(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"openai/gpt-4o": "openai/gpt-4o", "a=b": "a=b", "": "", "3-4": "3-4", "'quoted'": "'quoted'",
		"=1+1": "'=1+1", "'=1+1": "''=1+1", "+1": "'+1", "-1": "'-1", "@a": "'@a", "＝1": "'＝1",
		" \u00a0=1": "' \u00a0=1", "\tx": "'\tx", "\u200b=1": "'\u200b=1",
	}
	for s, want := range tests {
		if got := untrusted.Cell(s); got != want {
			t.Errorf("untrusted.Cell(%q) = %q, want %q", s, got, want)
		}
	}
}

func FuzzCell(f *testing.F) {
	for _, s := range []string{"plain", "=1", "'=1", "''@", "'", "\t'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := untrusted.FromCell(untrusted.Cell(s)); got != s {
			t.Fatalf("%q comes back as %q", s, got)
		}
	})
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		n    int
		want string
	}{
		{" two\n lines\t", 20, "two lines"},
		{"broken \xff", 20, "broken \uFFFD"},
		{"模型模型", 7, "模型…"},
		{"exact", 5, "exact"},
		{"too long", 5, "too l…"},
	}
	for _, tt := range tests {
		if got := untrusted.Excerpt(tt.in, tt.n); got != tt.want {
			t.Errorf("untrusted.Excerpt(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 50)
	tests := map[string]string{"a\x1bb": `"a\x1bb"`, long: `"` + long[:40] + `"…`}
	for s, want := range tests {
		if got := untrusted.Quote(s); got != want {
			t.Errorf("untrusted.Quote(%q) = %s, want %s", s, got, want)
		}
	}
}

func TestAttribute(t *testing.T) {
	t.Parallel()
	if got, want := untrusted.Attribute("a\"b<c>&\n"), "a&quot;b&lt;c&gt;&amp; "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                                "",
		"http://127.0.0.1:8080/v1":                        "http://127.0.0.1:8080/v1",
		"https://me:hunter2@example.com/v1":               "https://REDACTED@example.com/v1",
		"https://hf_abcdef@example.com/v1":                "https://REDACTED@example.com/v1",
		"https://me:hun@ter2@example.com/@v1":             "https://REDACTED@example.com/@v1",
		"https://me:hunter2@h%zz/x":                       "https://REDACTED@h%zz/x",
		"https://me:hunter2/3@example.com":                "https://REDACTED@example.com",
		"https://example.com/@me?q=1#a@b":                 "https://example.com/@me?q=1#a@b",
		"https://example.com/v1?api-version=2&api-key=s1": "https://example.com/v1?api-version=2&api-key=REDACTED",
		"https://example.com/v1?Token=s1&a=b":             "https://example.com/v1?Token=REDACTED&a=b",
		"sha256:0123":                                     "sha256:0123",
	} {
		if got := untrusted.Address(in); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
		if got, want := untrusted.Addresses("Get \""+in+"\": 2 "+in), "Get \""+want+"\": 2 "+want; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestAddressesOfDatabases(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"postgres://a:b@h/d and POSTGRESQL://c:d e@h/d": "postgres://REDACTED@h/d and POSTGRESQL://REDACTED@h/d",
		`open "postgres://a:x y"z@h/d": no`:             `open "postgres://REDACTED@h/d": no`,
		"postgres://a:x/y z@h/d":                        "postgres://REDACTED@h/d",
		"postgres://h/d?password=x y&a=b":               "postgres://h/d?password=REDACTED&a=b",
		"host=h password=x user=u":                      "host=h password=REDACTED user=u",
		`host=h Password = 'x \' y' user=u`:             "host=h Password = REDACTED user=u",
		`sslpassword="x y" user=u`:                      "sslpassword=REDACTED user=u",
		"host=h password='x y":                          "host=h password=REDACTED",
		"the password of postgres://h/d":                "the password of postgres://h/d",
	} {
		if got := untrusted.Addresses(in); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"test xstest test_a latest tests (test)": "X xstest X_a latest tests (X)", "éteste": "éteste", "": "", "testtest": "testtest",
	} {
		if got := untrusted.Replace(in, "test", "X"); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := untrusted.Replace("a", "", "X"); got != "a" {
		t.Errorf("no word: %q", got)
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		r    rune
		size int
	}{
		`\u0056rest`: {'V', 6}, `\u{56}rest`: {'V', 6}, `\U00000056`: {'V', 10}, `\x56`: {'V', 4}, "%56": {'V', 3}, `\u{0010FFFF}`: {},
		`\u{10FFFF}`: {0x10FFFF, 10}, `\u{110000}`: {}, `\u{}`: {}, `\u{56`: {}, `\u005`: {}, `\xg0`: {}, "%5": {}, `\`: {}, "V": {}, "": {},
	} {
		if r, size := untrusted.Escape(text); r != want.r || size != want.size {
			t.Errorf("%s is %q of %d bytes, want %q of %d", text, r, size, want.r, want.size)
		}
	}
}

func TestShell(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"":                        "''",
		"eval":                    "eval",
		"--store=a/b_c-1.db":      "--store=a/b_c-1.db",
		"openai=http://[::1]/v1":  "'openai=http://[::1]/v1'",
		"two words":               "'two words'",
		"it's":                    `'it'\''s'`,
		"'":                       `''\'''`,
		"$HOME `x` \"y\" \\ *?~!": "'$HOME `x` \"y\" \\ *?~!'",
		"a\nb":                    "'a\nb'",
		"-":                       "-",
		"~":                       "'~'",
		"größe":                   "'größe'",
	} {
		if got := untrusted.Shell(word); got != want {
			t.Errorf("untrusted.Shell(%q) = %s, want %s", word, got, want)
		}
		// A shell gives the word back, whatever the test above takes for right.
		// The final stop keeps the newlines at its end.
		b, err := exec.Command("sh", "-c", "printf %s "+untrusted.Shell(word)+"; printf .").Output()
		if err != nil || string(b) != word+"." {
			t.Errorf("the shell makes %q of %q (%v)", b, word, err)
		}
	}
}

// A password is in no address that is shown, however it is spelled.
func TestShown(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"orbench.db": "orbench.db",
		"postgres://ana:secret@db:5432/d?sslmode=disable":      "postgres://ana@db:5432/d?sslmode=disable",
		"--store=postgresql://ana:sec%20ret@db/d":              "--store=postgresql://ana@db/d",
		"postgres://ana@db/d?password=secret&sslmode=disable":  "postgres://ana@db/d?sslmode=disable",
		"postgres://ana@db/d":                                  "postgres://ana@db/d",
		"postgres://ana:se%zzcret@db/d":                        "postgres://REDACTED@db/d",
		"postgres://a:secret@x/d postgres://b:secret@y/d":      "postgres://a@x/d postgres://b@y/d",
		"postgres://ana:secret@db/d?sslpassword=secret&sslkey": "postgres://ana@db/d?sslkey=",
		"POSTGRES://ana:secret@db/d":                           "postgres://ana@db/d",
		"postgres://ana:sec/ret@db/d":                          "postgres://REDACTED@db/d",
		"postgres:/ana:secret@db/d":                            "postgres:/REDACTED@db/d",
		"postgres//ana:secret@db/d":                            "postgres//REDACTED@db/d",
		"postgres:ana:secret@db/d":                             "postgres:REDACTED@db/d",
		"mysql://ana:secret@db/d":                              "mysql://REDACTED@db/d",
		"MySQL+pymysql://ana:secret@db/d":                      "MySQL+pymysql://REDACTED@db/d",
		"jdbc:mysql://ana:secret@db/d":                         "jdbc:mysql://REDACTED@db/d",
		"jdbc:mysql://db/d?user=ana&password=secret":           "jdbc:mysql://db/d?user=ana&password=REDACTED",
		"ana:secret@tcp(db:3306)/d":                            "ana:REDACTED@tcp(db:3306)/d",
		"xyz://ana:secret@db/d":                                "xyz://REDACTED@db/d",
		"xyz://db/d?pwd=secret":                                "xyz://db/d?pwd=REDACTED",
		"host=db password=secret user=ana":                     "host=db password=REDACTED user=ana",
		"host=db PASSWORD='sec ret' user=ana":                  "host=db PASSWORD=REDACTED user=ana",
		"Server=db;User Id=ana;Password=secret":                "Server=db;User Id=ana;Password=REDACTED",
		"x?store=postgres%3A%2F%2Fana%3Asecret%40db%2Fd":       "x?store=postgres%3A%2F%2FREDACTED%40db%2Fd",
		"cannot parse `postgres://ana:sec ret@db`: failed":     "cannot parse `postgres://REDACTED@db`: failed",
		"failed to connect to `host=db password=secret`":       "failed to connect to `host=db password=REDACTED",
		"postgres: the server of ana is away":                  "postgres: the server of ana is away",
		"llm:sim/prudish":                                      "llm:sim/prudish",
	} {
		if got := untrusted.Shown(in); got != want {
			t.Errorf("Shown(%q) is %q, want %q", in, got, want)
		}
		if got := untrusted.Addresses(in); strings.Contains(got, "secret") {
			t.Errorf("Addresses(%q) is %q", in, got)
		}
	}
}
