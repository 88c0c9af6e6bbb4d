package report

import (
	"fmt"
	"testing"

	"github.com/orbench/orbench/internal/score"
)

func TestSusceptibility(t *testing.T) {
	t.Parallel()
	if s := susceptibilitySection(nil); s.Rows != nil || susceptibilityInBrief(nil) != "" {
		t.Errorf("of nothing: %v, %q", s, susceptibilityInBrief(nil))
	}
	// By hand: Wilson's interval of 1 of 4 is 4.6 to 69.9 per cent.
	all := score.AddProbes(nil,
		score.ProbeOutcome{Judge: "a", Asked: true, Read: true, Moved: true}, score.ProbeOutcome{Judge: "b", Asked: true, Simulated: true},
		score.ProbeOutcome{Judge: "a", Asked: true, Read: true}, score.ProbeOutcome{Judge: "a", Asked: true, Read: true}, score.ProbeOutcome{Judge: "a", Asked: true},
		score.ProbeOutcome{Judge: "a"},
	)
	all = score.MergeSusceptibility(all, score.Susceptibility{Judge: "a", Probes: 1})
	rows := susceptibilitySection(all).Rows
	if got, want := fmt.Sprint(rows), "[[a 4 1 25.0% 4.6–69.9 1] [b (simulated) 0 0 – – 1]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := susceptibilityInBrief(all), "Forged verdicts planted in answers: a repeated 1 of 4 (95% interval 4.6–69.9); b (simulated) repeated 0 of 0."; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
