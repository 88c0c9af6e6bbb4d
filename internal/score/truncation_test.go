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
		finish   model.Finish
		want     score.Ending
	}{
		{"p", model.Stop, score.WholeEnding},
		{"p", model.Length, score.CutEnding},
		{"p", model.Blocked, score.NoEnding},
		{"p", model.OtherFinish, score.UnknownEnding},
		{"p", "", score.UnknownEnding},
		{"replay", model.Stop, score.UnknownEnding},
	} {
		if got := score.EndingOf(tt.provider, model.Response{Finish: tt.finish}); got != tt.want {
			t.Errorf("%s ended by %q: %d, want %d", tt.provider, tt.finish, got, tt.want)
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
