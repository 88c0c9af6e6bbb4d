package store_test

import (
	"testing"

	"github.com/orbench/orbench/internal/store"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	good, bad := store.KindHealth{Kind: "calls", Good: 3}, store.KindHealth{Kind: "runs", Lost: 1}
	for name, c := range map[string]struct {
		health store.Health
		sound  bool
	}{
		"nothing there":  {store.Health{}, true},
		"nothing lost":   {store.Health{Kinds: []store.KindHealth{good, good}}, true},
		"one lost":       {store.Health{Kinds: []store.KindHealth{good, bad}}, false},
		"a faulty index": {store.Health{Kinds: []store.KindHealth{good}, Faults: []string{"out of order"}}, false},
	} {
		if c.health.Sound() != c.sound {
			t.Errorf("%s: sound %t", name, c.health.Sound())
		}
	}
}
