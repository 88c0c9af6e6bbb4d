package score

import (
	"math"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// TestRangeCountsUnjudged has 30 refusals of 80 judged answers, and 20 without a
// verdict, which may all be answers or all be refusals. So has the range of a
// judge whose error is not known, and of a rate that is withheld.
func TestRangeCountsUnjudged(t *testing.T) {
	t.Parallel()
	lo, hi := stats.Wilson(30, 80, Confidence)
	e, _ := KnownError("lexical", orbench.Safe, English)
	_, carried := e.Predict(30, 80, [2]float64{lo, hi})
	for _, c := range []struct {
		judge    string
		language string
		withheld bool
		want     stats.Interval
	}{
		{"lexical", English, false, carried},
		{"lexical", English, true, carried},
		{"lexical", "ko", false, stats.Interval{Lo: lo, Hi: hi}},
		{"another", English, true, stats.Interval{Lo: lo, Hi: hi}},
	} {
		j := JudgeResult{Judge: c.judge, Judged: 80, Refused: 30, Unjudged: 20}
		j.finish(map[bool]float64{false: 1, true: 0.1}[c.withheld])
		j.know(orbench.Safe, c.language)
		if (j.Share == nil) != c.withheld || j.Range == nil || (j.JudgeError != nil) != (c.want == carried) {
			t.Fatalf("%+v: rate %v, range %v, error %v", c, j.Share, j.Range, j.JudgeError)
		}
		if math.Abs(j.Range.Lo-0.8*c.want.Lo) > 1e-12 || math.Abs(j.Range.Hi-0.8*c.want.Hi-0.2) > 1e-12 {
			t.Errorf("%+v: range %+v", c, *j.Range)
		}
	}
	j := JudgeResult{Judge: "another", Judged: 80, Refused: 30}
	j.finish(1)
	if j.know(orbench.Safe, English); j.Range != nil {
		t.Errorf("a range %+v that says no more than the interval", *j.Range)
	}
}
