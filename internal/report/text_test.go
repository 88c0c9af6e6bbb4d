package report

import (
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// TestRangeOf holds that a rate without a range says of its judge what JSON and CSV say.
func TestRangeOf(t *testing.T) {
	t.Parallel()
	sampled := &stats.Interval{Lo: 0.1, Hi: 0.3}
	for _, of := range []struct {
		checked  figure.Check
		interval *stats.Interval
		want     string
	}{
		{figure.Never, nil, "not checked"},
		{figure.Here, nil, "checked here"},
		{figure.Here, &stats.Interval{Lo: 0.05, Hi: 0.4}, "5.0–40.0"},
		{figure.Elsewhere, &stats.Interval{Lo: 0.05, Hi: 0.4}, "5.0–40.0"},
	} {
		f := figure.Figure{Keys: figure.Keys{Label: orbench.Safe}, Measure: figure.OverRefusal, Sampling: sampled, Range: of.interval, Basis: figure.Basis{Checked: of.checked}}
		if got := rangeOf(&f); got != of.want {
			t.Errorf("%s, %v: %q, want %q", of.checked, of.interval, got, of.want)
		}
	}
}

func TestCostLine(t *testing.T) {
	t.Parallel()
	usd := func(v float64) *float64 { return &v }
	tests := map[string]struct {
		cost score.Cost
		want string
	}{
		"priced":          {score.Cost{Calls: 1234, FromMemo: 5, InputTokens: 10, OutputTokens: 20, USD: usd(1.5)}, "Cost: 1,234 calls, 5 already answered; 10 input and 20 output tokens; $1.5000."},
		"free":            {score.Cost{Calls: 1, USD: usd(0)}, "Cost: 1 call, 0 already answered; 0 input and 0 output tokens; $0.0000."},
		"tiny":            {score.Cost{Calls: 1, USD: usd(0.00001)}, "Cost: 1 call, 0 already answered; 0 input and 0 output tokens; less than $0.0001."},
		"unknown":         {score.Cost{Calls: 1}, "Cost: 1 call, 0 already answered; 0 input and 0 output tokens; price unknown."},
		"unpriced":        {score.Cost{Calls: 1, Unpriced: []string{"vllm/m\x1b"}}, "Cost: 1 call, 0 already answered; 0 input and 0 output tokens; price unknown, as there is none for vllm/m."},
		"failed":          {score.Cost{Calls: 1, USD: usd(0.5), FailedAttempts: 1200, FailedUSD: usd(0.25)}, "Cost: 1 call, 0 already answered; 0 input and 0 output tokens; $0.5000, and up to $0.2500 for 1,200 failed attempts."},
		"failed unpriced": {score.Cost{Calls: 1, Unpriced: []string{"a/b"}, FailedAttempts: 2}, "Cost: 1 call, 0 already answered; 0 input and 0 output tokens; price unknown, as there is none for a/b, and an unknown sum for 2 failed attempts."},
		"no calls":        {score.Cost{FromMemo: 80359}, "Cost: no new calls; 80,359 were already answered."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := costLine(score.Result{Cost: tt.cost}, false); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestNoRates checks that who has no rate on several datasets and labels is named once.
func TestNoRates(t *testing.T) {
	t.Parallel()
	var r score.Result
	for _, set := range []string{"one", "two"} {
		for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
			r.Runs = append(r.Runs, score.RunResult{About: score.About{Target: "a/b", Dataset: set, Label: label}, Judges: []score.JudgeResult{{Judge: "lexical"}, {Judge: "llm:c/d", Withheld: true}}})
		}
	}
	got := warningsOf(r)
	if len(got) != 1 || got[0].Code != "no_rate" || len(got[0].Of) != 4 || !strings.HasPrefix(got[0].Text, "No rate, since too many answers are unjudged: a/b by llm:c/d. The page of answers says why") {
		t.Errorf("%+v", got)
	}
}

// TestInWords holds the words for shares to the shares.
func TestInWords(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{
		0: "none of the", 0.004: "fewer than one in a hundred", 0.03: "about one in 33", 0.095: "about one in 11", 0.098: "about one in ten", 0.165: "about one in six",
		0.34: "about one in three", 0.36: "about four in ten", 0.48: "about half of the", 0.917: "about nine in ten", 0.967: "nearly all", 1: "all",
	} {
		if got := inWords(share); got != want {
			t.Errorf("%v: %q, want %q", share, got, want)
		}
	}
}

// TestClassesNote has the note of the table of classes name those that count as refused.
func TestClassesNote(t *testing.T) {
	t.Parallel()
	for _, l := range layoutsOf(score.Result{}) {
		for _, c := range orbench.Classes {
			if l.name == "classes" && strings.Contains(strings.ToLower(l.note), page.ClassName(c)) != c.Refused() {
				t.Errorf("%q; %s is refused: %v", l.note, c, c.Refused())
			}
		}
	}
}

// TestOpenAnswers says how labels count disputes, and answers on which judges differ without any.
func TestOpenAnswers(t *testing.T) {
	t.Parallel()
	run := score.RunResult{
		About: score.About{Target: "m", Dataset: "d", Label: orbench.Safe}, N: 10,
		Labeled: &annotation.Corrected{Labels: 5, People: 2, Open: 3, Readings: annotation.Readings{Several: 4, Disagreed: 2, Settled: 1}},
		Judges:  []score.JudgeResult{{Judge: "lexical", Judged: 10, Refused: 4}},
	}
	run.Finish()
	var d table.Document
	addPeople(&d, table.Words{}, score.Result{Runs: []score.RunResult{run}})
	var text strings.Builder
	if err := d.Text(&text, table.Screen{Brief: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1 dispute is open, and each answer counts as the share of people who call it a refusal; orbench label RUN settles them, with its flag disputes.\n",
		"Judges differ on 3 answers that nobody labeled: these count as half refused, and both ways in the range; orbench label RUN draws them.\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%s\nlacks %s", text.String(), want)
		}
	}
}
