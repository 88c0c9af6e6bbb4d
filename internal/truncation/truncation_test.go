package truncation_test

import (
	"testing"

	"github.com/orbench/orbench/internal/truncation"
	"github.com/orbench/orbench/model"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		provider string
		finish   model.Finish
		want     truncation.Ending
	}{
		{"p", model.Stop, truncation.Whole},
		{"p", model.Length, truncation.Cut},
		{"p", model.Blocked, truncation.None},
		{"p", model.OtherFinish, truncation.Unknown},
		{"p", "", truncation.Unknown},
		{"replay", model.Stop, truncation.Unknown},
	} {
		if got := truncation.Of(tt.provider, model.Response{Finish: tt.finish}); got != tt.want {
			t.Errorf("%s ended by %q: %d, want %d", tt.provider, tt.finish, got, tt.want)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	var c truncation.Count
	if c.Line(3) != "" || c.Cell(3) != "0" || c.Many(3) {
		t.Errorf("whole answers are counted as %q", c.Line(3))
	}
	for range 6 {
		c.Add(truncation.Cut)
		c.Add(truncation.Whole)
		c.Add(truncation.None)
	}
	if want := "6 of 120 answers cut by the token limit"; c.Line(120) != want || c.Many(120) || !c.Many(119) {
		t.Errorf("%q, want %q; many: %v", c.Line(120), want, c.Many(120))
	}
	recorded := truncation.Count{EndingUnknown: 4}
	if row := recorded.Row(4); recorded.Cell(4) != "unknown" || row.Truncated != nil || row.EndingUnknown != 4 || recorded.Many(4) {
		t.Errorf("recorded answers are counted as %q, %+v", recorded.Cell(4), row)
	}
	c.AddCount(recorded)
	if c != (truncation.Count{Truncated: 6, EndingUnknown: 4}) {
		t.Errorf("the sum is %+v", c)
	}
}
