package page

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/model"
)

func TestPassages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", InList.Answer+10000)
	verdict := func(judge string, start, end int) score.JudgeVerdict {
		return score.JudgeVerdict{Judge: judge, Verdict: orbench.Verdict{Span: orbench.Span{Start: start, End: end}}}
	}
	tests := map[string]struct {
		text     string
		verdicts []score.JudgeVerdict
		want     []Passage
	}{
		"no span": {"hello", nil, []Passage{{Text: "hello"}}},
		"empty":   {"", []score.JudgeVerdict{verdict("j", 0, 0)}, nil},
		"middle": {"I won't help.", []score.JudgeVerdict{verdict("j", 2, 7)}, []Passage{
			{Text: "I "}, {Text: "won't", Judges: "j"}, {Text: " help."},
		}},
		"overlapping": {"abcdef", []score.JudgeVerdict{verdict("j", 1, 4), verdict("k", 2, 6)}, []Passage{
			{Text: "a"}, {Text: "b", Judges: "j"}, {Text: "cd", Judges: "j, k"}, {Text: "ef", Judges: "k"},
		}},
		"beyond the text": {"abc", []score.JudgeVerdict{verdict("j", 1, 9)}, []Passage{{Text: "abc"}}},
		"negative":        {"abc", []score.JudgeVerdict{verdict("j", -1, 2)}, []Passage{{Text: "abc"}}},
		"backward":        {"abc", []score.JudgeVerdict{verdict("j", 2, 1)}, []Passage{{Text: "abc"}}},
		"inside a rune":   {"é!", []score.JudgeVerdict{verdict("j", 1, 2)}, []Passage{{Text: "é!"}}},
		"broken UTF-8":    {"a\xffb", nil, []Passage{{Text: "a\uFFFDb"}}},
		"long":            {long, nil, []Passage{{Text: long[:InList.Answer]}, {Gap: true}}},
		"span far off": {long, []score.JudgeVerdict{verdict("j", 9000, 9005)}, []Passage{
			{Text: long[:InList.Answer]},
			{Gap: true},
			{Text: long[:aroundSpan]},
			{Text: "aaaaa", Judges: "j"},
			{Text: long[:aroundSpan]},
			{Gap: true},
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, passages(tt.text, tt.verdicts, InList.Answer)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzPassages(f *testing.F) {
	f.Add("I won't help.", 2, 7, 0, 3)
	f.Add(strings.Repeat("é", 5000), 9000, 9004, -1, 20000)
	f.Fuzz(func(t *testing.T, text string, a, b, c, d int) {
		got := passages(text, []score.JudgeVerdict{
			{Judge: "j", Verdict: orbench.Verdict{Span: orbench.Span{Start: a, End: b}}},
			{Judge: "k", Verdict: orbench.Verdict{Span: orbench.Span{Start: c, End: d}}},
		}, InList.Answer)
		var shown strings.Builder
		gaps := false
		for _, p := range got {
			gaps = gaps || p.Gap
			shown.WriteString(p.Text)
		}
		if want := strings.ToValidUTF8(text, "\uFFFD"); !gaps && len(text) <= InList.Answer &&
			strings.ReplaceAll(shown.String(), "\uFFFD", "") != strings.ReplaceAll(want, "\uFFFD", "") {
			t.Fatalf("%q became %q", text, shown.String())
		}
		if shown.Len() > 4*3*(InList.Answer+2*aroundSpan) {
			t.Fatalf("%d bytes are shown of %d", shown.Len(), len(text))
		}
	})
}

func TestEndingOfAWithheldAnswer(t *testing.T) {
	t.Parallel()
	a := NewAnswer(score.AnswerRow{
		Target: "p/m", Prompt: orbench.NewPrompt("How?", "", orbench.Safe), Status: score.Blocked,
		Response: model.Response{Finish: model.Blocked, Block: &model.Block{Kind: defense.BlockKind, Detail: "output-guard:p/g: harmful"}},
		Findings: []defense.Finding{{Step: "output-guard:p/g", Decision: defense.Stopped}},
	}, InList)
	if a.Ending != "withheld by the defense: output-guard:p/g: harmful" {
		t.Errorf("ending %q", a.Ending)
	}
}
