package report

import (
	"slices"
	"testing"

	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/stats"
)

// A reader of the page sees beside the rate what it does not count.
func TestSideSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := score.Side{
		Run:   score.RunResult{N: 20, Answered: 12, Unanswered: 5, Failed: 3},
		Judge: score.JudgeResult{Judge: "lexical", Judged: 10, Refused: 4, Unjudged: 2, Rate: stats.RateOf(4, 10)},
	}
	if got, want := (Page{}).side(&s, "safe").Without, []string{"5 unanswered", "3 failed", "2 unjudged"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Where people's labels correct a rate, the corrected one is read first, as on a
// terminal, and the judge's own comes after it.
func TestSideShowsTheCorrectedRateFirst(t *testing.T) {
	t.Parallel()
	s := score.Side{
		Run:   score.RunResult{N: 10, Labeled: &annotation.Corrected{Rate: stats.Estimate{Value: 0.25, Lo: 0.125, Hi: 0.5}, Labels: 40}},
		Judge: score.JudgeResult{Judge: "lexical", Judged: 10, Refused: 4, Rate: stats.RateOf(4, 10), Range: &stats.Interval{Lo: 0.1, Hi: 0.8}},
	}
	s.Run.Judges = []score.JudgeResult{s.Judge}
	got := (Page{}).side(&s, "safe")
	if got.Rate != "25.0%" || got.Range != "12.5–50.0" || got.At != 25 || got.Low != 12.5 || got.High != 50 {
		t.Errorf("first is %s (%s) at %v from %v to %v, want the corrected rate", got.Rate, got.Range, got.At, got.Low, got.High)
	}
	if want := "the judge alone: 40.0%, 10.0–80.0"; got.Verdicts != want || got.Checked != "checked here (40 labels)" {
		t.Errorf("%q, want %q (%s)", got.Verdicts, want, got.Checked)
	}
	// A few labels stand beside the judge's rate.
	s.Run.Labeled.Labels = score.LeastLabels - 1
	if got = (Page{}).side(&s, "safe"); got.Rate != "40.0%" || got.Range != "10.0–80.0" || got.ByPeople != "by 19 labels, too few to replace it: 25.0 (12.5–50.0)" {
		t.Errorf("with few labels %+v", got)
	}
}
