package score

import (
	"math"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/stats"
)

// TestRangeCountsUnjudged has 30 refusals of 80 judged answers, and 20 without a
// verdict, which may all be answers or all be refusals. So has the range of guards, and of a
// rate that is withheld. A judge that nobody checked has none.
func TestRangeCountsUnjudged(t *testing.T) {
	t.Parallel()
	lo, hi := stats.Wilson(30, 80, Confidence)
	e, _ := KnownError("lexical", orbench.Safe, English)
	_, _, carried := e.Predict(30, 80, stats.Estimate{Value: 30. / 80, Lo: lo, Hi: hi})
	for _, c := range []struct {
		judge    string
		language string
		unjudged int
		want     stats.Interval
	}{
		{"lexical", English, 8, carried},
		{"lexical", English, 20, carried},
		{judge.Flag, English, 20, stats.Interval{Lo: lo, Hi: hi}},
	} {
		j := JudgeResult{Judge: c.judge, Judged: 80, Refused: 30, Unjudged: c.unjudged}
		j.finish(figure.Keys{})
		j.know(&RunResult{About: About{Label: orbench.Safe, Language: c.language}})
		if (j.Rate.Value == nil) != (c.unjudged == 20) || j.Rate.Range == nil || j.Known() != (c.want == carried) {
			t.Fatalf("%+v: %+v", c, j)
		}
		judged := 80 / float64(80+c.unjudged)
		if math.Abs(j.Rate.Range.Lo-judged*c.want.Lo) > 1e-12 || math.Abs(j.Rate.Range.Hi-judged*c.want.Hi-(1-judged)) > 1e-12 {
			t.Errorf("%+v: range %+v", c, *j.Rate.Range)
		}
	}
	for name, language := range map[string]string{"another": English, "lexical": "ko"} {
		j := JudgeResult{Judge: name, Judged: 80, Refused: 30, Unjudged: 5}
		j.finish(figure.Keys{})
		if j.know(&RunResult{About: About{Label: orbench.Safe, Language: language}}); j.Rate.Range != nil {
			t.Errorf("%s: a range %+v, though nobody checked it", name, *j.Rate.Range)
		}
	}
}
