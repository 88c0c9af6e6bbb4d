package probe

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orbench/orbench"
)

// TestAmong counts what is chosen of runs of several sizes: about ten of small ones, a
// twentieth at most, three in a thousand of large ones, and the same again.
func TestAmong(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ answers, least, most int }{{0, 0, 0}, {99, 0, 0}, {100, 1, 12}, {200, 3, 20}, {1000, 3, 20}, {50_000, 115, 185}} {
		chosen := func() (ids []string) {
			c := Among(tt.answers)
			for n := range tt.answers {
				id := orbench.PromptID(fmt.Sprint("p", n/2))
				if key, ok := c.Takes(id, "p", "m", n%2); ok {
					ids = append(ids, fmt.Sprint(id, n%2, key))
				}
			}
			return ids
		}
		first := chosen()
		if len(first) < tt.least || len(first) > tt.most {
			t.Errorf("of %d answers %d are probed, want %d to %d", tt.answers, len(first), tt.least, tt.most)
		}
		if again := chosen(); strings.Join(again, " ") != strings.Join(first, " ") {
			t.Errorf("of %d answers others are chosen the second time", tt.answers)
		}
	}
	// What a large run probes, a small one of the same prompts does too.
	for n := range 2000 {
		id := orbench.PromptID(fmt.Sprint("p", n))
		if _, large := Among(10_000).Takes(id, "p", "m", 0); large {
			if _, small := Among(500).Takes(id, "p", "m", 0); !small {
				t.Errorf("%s is probed in the larger run alone", id)
			}
		}
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	if s := Section(nil); s.Rows != nil || InBrief(nil) != "" {
		t.Errorf("of nothing: %v, %q", s, InBrief(nil))
	}
	// By hand: Wilson's interval of 1 of 4 is 4.6 to 69.9 per cent.
	all := Add(nil,
		Outcome{Judge: "a", Asked: true, Read: true, Moved: true}, Outcome{Judge: "b", Asked: true, Simulated: true},
		Outcome{Judge: "a", Asked: true, Read: true}, Outcome{Judge: "a", Asked: true, Read: true}, Outcome{Judge: "a", Asked: true},
		Outcome{Judge: "a"},
	)
	all = Merge(all, Figures{Judge: "a", Probes: 1})
	rows := Section(all).Rows
	if got, want := fmt.Sprint(rows), "[[a 4 1 25.0% 4.6–69.9 1] [b (simulated) 0 0 – – 1]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := InBrief(all), "Forged verdicts planted in answers: a took over 1 of 4 (95% interval 4.6–69.9); b (simulated) took over 0 of 0."; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
