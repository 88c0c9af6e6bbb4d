package memo_test

import (
	"testing"

	"github.com/orbench/orbench/internal/memo"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	good, bad := memo.KindHealth{Kind: "calls", Good: 3, Unchecked: 1}, memo.KindHealth{Kind: "runs", Lost: 1}
	for name, c := range map[string]struct {
		health      memo.Health
		sound, lost bool
	}{
		"nothing there":  {memo.Health{}, true, false},
		"nothing lost":   {memo.Health{Kinds: []memo.KindHealth{good, good}}, true, false},
		"one lost":       {memo.Health{Kinds: []memo.KindHealth{good, bad}}, false, true},
		"a faulty index": {memo.Health{Kinds: []memo.KindHealth{good}, Faults: []string{"out of order"}}, false, false},
	} {
		if c.health.Sound() != c.sound || c.health.Lost() != c.lost {
			t.Errorf("%s: sound %t, lost %t", name, c.health.Sound(), c.health.Lost())
		}
	}
}
