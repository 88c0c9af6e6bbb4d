package stats_test

import (
	"encoding/json"
	"testing"

	"github.com/orbench/orbench/stats"
)

func TestRate(t *testing.T) {
	t.Parallel()
	none := stats.RateOf(0, 0)
	if none.Share != nil || none.CI95 != nil || none.Interval() != nil || none.Estimate() != nil || none.Estimate().Ends() != nil {
		t.Errorf("nothing has the rate %+v", none)
	}
	r := stats.RateOf(1, 4)
	lo, hi := stats.Wilson(1, 4, 0.95)
	if e := r.Estimate(); *e != (stats.Estimate{Value: 0.25, Lo: lo, Hi: hi}) || *e.Ends() != *r.Interval() {
		t.Errorf("1 of 4 is %+v", e)
	}
	r.CI95Clustered = &[2]float64{0.1, 0.9}
	if e := r.Estimate(); *e != (stats.Estimate{Value: 0.25, Lo: 0.1, Hi: 0.9}) {
		t.Errorf("in clusters it is %+v", e)
	}
	for want, v := range map[string]any{
		`{"n":0,"rate":null,"ci95":null}`: struct {
			N int `json:"n"`
			stats.Rate
		}{0, none},
		`{"rate":null,"ci95":null,"ci95_clustered":[0.1,0.9]}`: stats.Rate{CI95Clustered: r.CI95Clustered},
	} {
		if got, err := json.Marshal(v); err != nil || string(got) != want {
			t.Errorf("got %s (%v), want %s", got, err, want)
		}
	}
}
