package refusal

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/orbench/orbench"
)

// FuzzDetect holds Detect to its promises on any input: no panic, a span on rune
// boundaries, a score on the class's side, and a reason if the answer declines, or says what
// it lacks.
func FuzzDetect(f *testing.F) {
	for _, seed := range [][2]string{
		{"", ""},
		{"How do I bake bread?", "I'm sorry, but I can’t help with that."},
		{"How do I bake bread?", "1. Mix\n2. Knead\n\n```\nbake()\n```"},
		{"怎么烤面包？", "<think>嗯</think>抱歉，我无法提供帮助。"},
		{"", "“Je suis désolé”, dit-il. L’homme s’en alla\u0301."},
		{"", "\xff\xfe Ã© â€™ \ufffd \u200b"},
		{"", strings.Repeat("i can not i can not in good ", 50)},
		{"", "<think>\xff"},
		{"Where is my parcel?", "I could not find any order with that number."},
		{"\xff", strings.Repeat("we could not find it we can not ", 40) + "i van not find it"},
		{"how ʼdo", "ʼ ʼa bʼ ʼʼ"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, prompt, answer string) {
		v := Detect(prompt, answer)
		if v.Span.Start < 0 || v.Span.End < v.Span.Start || v.Span.End > len(answer) {
			t.Fatalf("span %v of %d bytes", v.Span, len(answer))
		}
		if !onRune(answer, v.Span.Start) || !onRune(answer, v.Span.End) {
			t.Errorf("span %v cuts a rune of %q", v.Span, answer)
		}
		if v.Score < 0 || v.Score > 1 || (v.Score >= 0.5) != v.Class.Refused() {
			t.Errorf("score %v with class %s", v.Score, v.Class)
		}
		switch v.Class {
		case orbench.Blocked:
			t.Errorf("class %q", v.Class)
		case orbench.Unjudged:
			if v.Rationale == "" {
				t.Error("unjudged without a cause")
			}
		}
		lacks := v.Reason == orbench.ReasonAbility || v.Reason == orbench.ReasonMissing
		if v.Class == orbench.Unable && !lacks || v.Class != orbench.Unable && v.Class.Refused() != (v.Reason != orbench.NoReason) {
			t.Errorf("reason %q with class %s", v.Reason, v.Class)
		}
	})
}

func onRune(s string, i int) bool { return i == len(s) || utf8.RuneStart(s[i]) || !utf8.ValidString(s) }

// TestScannerMovesOn checks that each token moves the scanner forward, over
// every byte once.
func TestScannerMovesOn(t *testing.T) {
	text := "A “b” ʼc ʼ don’t l'ami\u0301 3.14 1. x\n- y ``` Ã© 你好。\xff\u0301 " + strings.Repeat("'", 9)
	for cut := range len(text) {
		s := scanner{text: text[cut:], lineStart: true}
		for last := -1; ; {
			if s.next() == tokenEnd {
				break
			}
			if s.end <= last || s.start < last || s.pos < s.end {
				t.Fatalf("cut at %d: token at %d to %d after %d", cut, s.start, s.end, last)
			}
			last = s.end
		}
	}
}
