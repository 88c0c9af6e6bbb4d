package report

import (
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// A reader of the page sees beside the rate what it does not count.
func TestRatesSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	run := score.RunResult{
		About:      score.About{Target: "m", Dataset: "d", Label: orbench.Safe},
		N:          20,
		Answered:   12,
		Unanswered: 5,
		Failed:     3,
		Judges:     []score.JudgeResult{{Judge: "lexical", Judged: 10, Refused: 4, Unjudged: 2}},
	}
	run.Finish()
	run.Judges[0].Rate.Value = new(0.4)
	m := pageMatrix{laidOut: matrix(score.Result{Runs: []score.RunResult{run}}, false, false), of: &Page{}}
	if got, want := m.Rates(0)[0].Without, "5 unanswered, 3 failed, 2 unjudged"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Where people's labels correct a rate, the corrected one is read, as on a terminal.
func TestTheCorrectedRateIsShown(t *testing.T) {
	t.Parallel()
	run := score.RunResult{
		About:   score.About{Target: "m", Dataset: "d", Label: orbench.Safe},
		N:       10,
		Labeled: &annotation.Corrected{Rate: stats.Estimate{Value: 0.25, Lo: 0.125, Hi: 0.5}, Labels: 40},
		Judges:  []score.JudgeResult{{Judge: "lexical", Judged: 10, Refused: 4}},
	}
	run.Finish()
	run.Judges[0].Rate.Range = &stats.Interval{Lo: 0.1, Hi: 0.8}
	shown := func() pageRate {
		return pageMatrix{laidOut: matrix(score.Result{Runs: []score.RunResult{run}}, false, false), of: &Page{}}.Rates(0)[0]
	}
	if got := shown(); got.Rate != "25.0%" || got.Range != "12.5–50.0" || got.At != 25 || got.Low != 12.5 || got.High != 50 || got.By != "by 40 labels" {
		t.Errorf("%+v, want the corrected rate", got)
	}
	// A few labels do not replace the judge's rate.
	run.Labeled.Labels = score.LeastLabels - 1
	if got := shown(); got.Rate != "40.0%" || got.Range != "10.0–80.0" || got.By != "" {
		t.Errorf("with few labels %+v", got)
	}
}

// TestCellsThatOpen links each cell that counts answers, and none that counts no answer.
func TestCellsThatOpen(t *testing.T) {
	t.Parallel()
	for cell, opens := range map[string]bool{
		"0": false, "12": true, "0/6 0.0% 0.0–45.7": false, "▼ 0/6 0.0% 0.0–45.7": false, "▼ 1/6 16.7%": true, "▲ 10/20 50.0%": true, table.None: false,
	} {
		laid := laidOut{Section: table.Section{Rows: [][]string{{cell}}}, queries: []map[int]page.Query{{0: {}}}, opens: func(page.Query) string { return "answers.html" }}
		if got := laid.Opens(0, 0) != ""; got != opens {
			t.Errorf("%s opens answers: %t, want %t", cell, got, opens)
		}
	}
}
