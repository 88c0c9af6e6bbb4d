package untrusted

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Terminal makes a text fit for one line of a terminal or a plot. White space becomes
// spaces. Control and formatting characters (escape sequences, changes of writing
// direction, zero-width marks) and broken UTF-8 are dropped.
func Terminal(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case r == utf8.RuneError || hidden(r):
			return -1
		}
		return r
	}, s)
}

// Markdown makes a text fit for one line or cell of Markdown. It cleans the text like
// Terminal and puts a backslash before punctuation with a meaning in Markdown or its
// HTML. A colon is escaped if it would make an address a link, an at sign because it
// would mention a user.
func Markdown(s string) string {
	var b strings.Builder
	s = strings.Join(strings.Fields(Terminal(s)), " ")
	for i, r := range s {
		switch {
		case strings.ContainsRune("\\`*_{}[]<>()#!|~&$@", r),
			r == ':' && strings.HasPrefix(s[i:], "://"),
			strings.ContainsRune("-+=", r) && i == 0:
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// attribute escapes characters that start or end something in XML and HTML.
var attribute = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;")

// Attribute makes a text fit for an attribute of HTML or XML between double
// quotation marks.
func Attribute(s string) string { return attribute.Replace(Terminal(s)) }

// Cell keeps a spreadsheet from computing a text, by an apostrophe in front. A text that
// already looks escaped gets another apostrophe, so that FromCell restores every text.
func Cell(s string) string {
	if computed(strings.TrimLeft(s, "'")) {
		return "'" + s
	}
	return s
}

// FromCell removes the apostrophe that Cell added.
func FromCell(s string) string {
	if rest, ok := strings.CutPrefix(s, "'"); ok && Cell(rest) != rest {
		return rest
	}
	return s
}

// formulaSigns start a formula in a spreadsheet, in ASCII or in full width.
var formulaSigns = []string{"=", "+", "-", "@", "＝", "＋", "－", "＠"}

// computed reports whether a spreadsheet might compute a cell: it starts with a formula
// sign, perhaps after white space and marks that spreadsheets skip.
func computed(s string) bool {
	head := strings.TrimLeft(s, " \t\r\n\v\f\u00a0\u200b\ufeff\x00")
	return slices.ContainsFunc(formulaSigns, func(sign string) bool { return strings.HasPrefix(head, sign) }) ||
		s != "" && strings.ContainsRune("\t\r\n", rune(s[0]))
}

// OneLine folds white space and replaces broken UTF-8, so that a text cannot start a new
// line of a prompt.
func OneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}

// Excerpt is at most n bytes of OneLine of a text, with an ellipsis if there is more.
func Excerpt(s string, n int) string {
	return Ellipsis(OneLine(s), n)
}

// Ellipsis is at most n bytes of a text, with an ellipsis if there is more.
func Ellipsis(s string, n int) string {
	s, more := Cut(s, n)
	if more {
		s += "…"
	}
	return s
}

// Quote shows the start of a text in an error, in quotation marks and with everything
// escaped that is not plain text.
func Quote(s string) string {
	s, more := Cut(s, 40)
	s = strconv.Quote(s)
	if more {
		s += "…"
	}
	return s
}

// Shell quotes a word for a POSIX shell if needed.
func Shell(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
