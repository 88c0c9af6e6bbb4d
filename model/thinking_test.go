package model_test

import (
	"strings"
	"testing"

	"github.com/orbench/orbench/model"
)

func TestCutThinking(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, answer, thinking string }{
		"none":                 {" An answer.\n", " An answer.\n", ""},
		"empty":                {"", "", ""},
		"a block":              {"<think>\nHm.\n</think>\n\nYes.", "Yes.", "Hm."},
		"after white space":    {"\n <think>Hm.</think>Yes.", "Yes.", "Hm."},
		"other tags":           {"<thinking>a</thinking><reasoning>b</reasoning>Yes.", "Yes.", "a\nb"},
		"an empty block":       {"<think>\n\n</think>\n\nYes.", "Yes.", ""},
		"two blocks":           {"<think>a</think>\n<think>b</think> Yes.", "Yes.", "a\nb"},
		"left open":            {"<think>Hm, and then", "", "Hm, and then"},
		"the second left open": {"<think>a</think><think>b", "", "a\nb"},
		"only closed":          {"Hm.\n</think>\nYes.", "Yes.", "Hm."},
		"only closing":         {"</think>Yes.", "Yes.", ""},
		"in the answer":        {"Write <think>x</think> around it.", "Write <think>x</think> around it.", ""},
		"a closing tag in the answer after a block": {"<think>a</think>The tag </think> ends it.", "The tag </think> ends it.", "a"},
		"a tag within a word":                       {"<thinker>Yes.", "<thinker>Yes.", ""},
		"nothing but blocks":                        {"<think>a</think>", "", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if answer, thinking := model.CutThinking(tt.text); answer != tt.answer || thinking != tt.thinking {
				t.Errorf("CutThinking(%q) = %q, %q; want %q, %q", tt.text, answer, thinking, tt.answer, tt.thinking)
			}
		})
	}
}

func FuzzCutThinking(f *testing.F) {
	for _, s := range []string{
		"", "plain", "<think>a</think>b", "<think>a", "a</think>b", "<think></think><thinking>x</thinking> y </think> z",
		"<reasoning><think></reasoning></think>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		answer, thinking := model.CutThinking(text)
		if !strings.HasSuffix(text, answer) {
			t.Errorf("the answer %q does not end %q", answer, text)
		}
		// Every line of the thinking stands in the text, in that order, before
		// the answer; what lies between them is tags and white space.
		rest := strings.TrimSuffix(text, answer)
		for line := range strings.SplitSeq(thinking, "\n") {
			_, after, ok := strings.Cut(rest, line)
			if !ok {
				t.Fatalf("the thinking %q of %q holds what the text does not", thinking, text)
			}
			rest = after
		}
		// Of leading blocks all are cut.
		if strings.HasPrefix(text, "<think>") && strings.HasPrefix(answer, "<think>") {
			t.Errorf("a block is left in %q", answer)
		}
	})
}

func TestCutThinkingOfManyBlocks(t *testing.T) {
	t.Parallel()
	const n = 200_000
	answer, thinking := model.CutThinking(strings.Repeat("<think>a</think>", n) + "Yes.")
	if answer != "Yes." || len(thinking) != 2*n-1 {
		t.Errorf("answer %q, thinking of %d bytes; want all %d blocks cut", answer, len(thinking), n)
	}
}
