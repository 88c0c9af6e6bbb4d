package question

import (
	"strings"
	"testing"
)

// TestDisguised holds the look for disguises to its limits: what it finds, and what is
// left as it is.
func TestDisguised(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "v": false, "Verdict": true, "the verdict": true, "(verdict)": true, "9verdict": false, "判verdict": false, "x verdictum": true,
		// A sign may stand for a letter, or for none between letters; a digit for one.
		"verd!ct": true, "verd!ict": true, "verd!!ct": true, "verd|ict": true, "verd1ct": true, "verd1ict": false, "ver9dict": false, "(erdict": false, "verdi(t": true, "verdi((ct": true, "verdi(cct": false,
		"verd\u2160ct": true, "verd\u0131ct": true, "verd\u0130ct": true, "verd\u03b9ct": true, "verd\u03b9ict": false,
		"ver\ndict": false, "ver\r dict": true, "ver判dict": false, "ver가dict": false, "ver힣dict": false, "ver㐀dict": false, "ver鿿dict": false, "ver\u0416dict": false, "ver\u0661dict": false,
		// Tags, and what is longer than one.
		"ver<b>dict": true, "ver<" + strings.Repeat("x", 78) + ">dict": true, "ver<" + strings.Repeat("x", 79) + "> dict": true, "ver<" + strings.Repeat("x", 80) + ">dict": false, "ver<>dict": true, "ver<dict": true, "ver<xdict": false,
		// Tag characters at the ends of their block, and others beside them.
		"\U000e0056\U000e0065\U000e0072\U000e0064\U000e0069\U000e0063\U000e0074": true,
		"\U000e0020\U000e0056erdict\U000e007e":                                   false,
		// What is resolved in several rounds, and no further.
		"&amp;amp;amp;#86;erdict": true, "&amp;amp;amp;amp;amp;#86;erdict": false, "%5Cu0056erdict": true,
		// An invalid byte is no letter.
		"ver\xffdict": true, "\xffverdict": true,
	} {
		if got := disguised("verdict", text); got != want {
			t.Errorf("disguised(%q) = %v", text, got)
		}
	}
}

func TestReadings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "plain": "plain", "\x7f": "\x7f", "\u0080": "\u0080", "Ｖ\u200bé判가": "Ve\u0301判가", "é": "e\u0301", "½": "1\u20442", "\xff": "\xff",
		"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180f\u200b\u200f\u202a\u202e\u2060\u206f\u3164\ufe00\ufe0f\ufeff\uffa0\ufff0\ufff8\U0001bca0\U0001d17a\U000e0fff": "",
		"\u00ac\u2010\u2070": "\u00ac\u20100",
	} {
		if got := decomposed(text); got != want {
			t.Errorf("decomposed(%q) = %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"plain": "", "\U000e001f\U000e0020\U000e0041\U000e007e\U000e007f": " A~", "\U000e0100": "",
	} {
		if got := tagText(text); got != want {
			t.Errorf("tagText(%q) = %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"plain": "plain", "a<b>c": "ac", "a<b": "ab", "a>b": "a>b", "<!-- a -->b<i>": "b", "a<>b": "ab", "<<b>": "",
		"a<" + strings.Repeat("x", 79) + ">b": "ab", "a<" + strings.Repeat("x", 80) + ">b": "a" + strings.Repeat("x", 80) + ">b",
	} {
		if got := withoutTags(text); got != want {
			t.Errorf("withoutTags(%q) = %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`a\u0056b%57c\x58`: "aVbWcX", `\\u0056`: `\V`, `\u{5}6`: "\x056", `\u{000056}`: "V", `\u{0000056}`: "V", `\u{00000056}`: `\u{00000056}`, "%%56": "%V", `%5`: "%5", `\`: `\`, `\x5`: `\x5`,
		`\U0010FFFF`: "\U0010ffff", `\U00110000`: `\U00110000`, `\q56`: `\q56`,
	} {
		if got := unescape(text); got != want {
			t.Errorf("unescape(%s) = %q, want %q", text, got, want)
		}
	}
	for r, want := range map[rune]byte{
		'a': 'a', 'Z': 'z', '\n': '\n', '0': 'o', '1': 'i', '2': other, '9': other, ' ': 0, '|': 'i', 'A': 'a', 'z': 'z',
		'\u0410': 'a', '\u0430': 'a', '\u0416': other, '\u0660': other, '\u0662': other, '\u00a7': 0, '\u0080': 0, '\u212a': 'k', '\u0130': 'i', '判': other, '\u3400': other, '\u33ff': 0, '\ua000': other,
		'\u024f': 'y', '\U0001F1FB': 'v', '\u00a9': 'c',
	} {
		if got := letterOf(r); got != want {
			t.Errorf("letterOf(%U) = %q, want %q", r, got, want)
		}
	}
}
