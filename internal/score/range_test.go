package score

import (
	"math"
	"testing"

	"github.com/orbench/orbench"
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
	_, carried := e.Predict(30, 80, stats.Estimate{Value: 30. / 80, Lo: lo, Hi: hi})
	for _, c := range []struct {
		judge    string
		language string
		withheld bool
		want     stats.Interval
	}{
		{"lexical", English, false, carried},
		{"lexical", English, true, carried},
		{judge.Flag, English, true, stats.Interval{Lo: lo, Hi: hi}},
	} {
		j := JudgeResult{Judge: c.judge, Judged: 80, Refused: 30, Unjudged: 20}
		j.finish(map[bool]float64{false: 1, true: 0.1}[c.withheld])
		j.know(&RunResult{About: About{Label: orbench.Safe, Language: c.language}})
		if (j.Share == nil) != c.withheld || j.Range == nil || (j.JudgeError != nil) != (c.want == carried) {
			t.Fatalf("%+v: rate %v, range %v, error %v", c, j.Share, j.Range, j.JudgeError)
		}
		if math.Abs(j.Range.Lo-0.8*c.want.Lo) > 1e-12 || math.Abs(j.Range.Hi-0.8*c.want.Hi-0.2) > 1e-12 {
			t.Errorf("%+v: range %+v", c, *j.Range)
		}
	}
	for name, language := range map[string]string{"another": English, "lexical": "ko"} {
		j := JudgeResult{Judge: name, Judged: 80, Refused: 30, Unjudged: 5}
		j.finish(1)
		if j.know(&RunResult{About: About{Label: orbench.Safe, Language: language}}); j.Range != nil {
			t.Errorf("%s: a range %+v, though nobody checked it", name, *j.Range)
		}
	}
}
