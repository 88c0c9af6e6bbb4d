package score_test

import (
	"testing"

	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/model"
)

func TestEndingOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		provider string
		limit    int
		finish   model.Finish
		usage    model.Usage
		want     score.Ending
		text     string
	}{
		{"p", 0, model.Stop, model.Usage{}, score.WholeEnding, ""},
		{"p", 0, model.Length, model.Usage{}, score.CutEnding, ""},
		{"p", 0, model.Blocked, model.Usage{}, score.NoEnding, ""},
		{"p", 0, model.OtherFinish, model.Usage{}, score.UnknownEnding, ""},
		{"p", 0, "", model.Usage{}, score.UnknownEnding, ""},
		{"replay", 0, model.Stop, model.Usage{}, score.UnknownEnding, ""},
		{"replay", 0, model.Stop, model.Usage{Output: 8}, score.WholeEnding, ""},
		{"p", 8, model.Stop, model.Usage{Output: 7}, score.WholeEnding, ""},
		{"p", 8, model.Stop, model.Usage{Output: 8}, score.UnknownEnding, ""},
		{"p", 8, model.Stop, model.Usage{Output: 9, Estimated: true}, score.WholeEnding, ""},
		{"p", 0, model.Stop, model.Usage{Output: 9}, score.WholeEnding, ""},
		{"p", 8, model.Length, model.Usage{Output: 8}, score.CutEnding, ""},
		{"p", 8, model.OtherFinish, model.Usage{Output: 7}, score.WholeEnding, "seven tokens, which are fewer"},
		{"p", 8, model.OtherFinish, model.Usage{Output: 8}, score.UnknownEnding, "no"},
		{"p", 8, "", model.Usage{}, score.WholeEnding, "7 bytes"},
		{"p", 8, "", model.Usage{Output: 2, Estimated: true}, score.UnknownEnding, "more than eight bytes"},
		{"p", 0, "", model.Usage{Output: 2}, score.UnknownEnding, "7 bytes"},
		{"p", 8, model.Broken, model.Usage{Output: 2}, score.UnknownEnding, "7 bytes"},
	} {
		if got := score.EndingOf(tt.provider, tt.limit, model.Response{Text: tt.text, Finish: tt.finish, Usage: tt.usage}); got != tt.want {
			t.Errorf("%+v: %d", tt, got)
		}
	}
}

func TestTruncation(t *testing.T) {
	t.Parallel()
	var c score.Truncation
	if c.Line(3) != "" || c.Many(3) {
		t.Errorf("whole answers are counted as %q", c.Line(3))
	}
	for range 6 {
		c.Add(score.CutEnding)
		c.Add(score.WholeEnding)
		c.Add(score.NoEnding)
	}
	if want := "6 of 120 answers cut by the token limit"; c.Line(120) != want || c.Many(120) || !c.Many(119) {
		t.Errorf("%q, want %q; many: %v", c.Line(120), want, c.Many(120))
	}
	recorded := score.Truncation{EndingUnknown: 4}
	if recorded.Many(4) {
		t.Error("recorded answers are counted as cut")
	}
}
