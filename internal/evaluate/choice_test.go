package evaluate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orbench/orbench"
)

// TestAmong counts the choices in runs of several sizes: about ten in small
// ones, a twentieth at most, three in a thousand in large ones, and the same
// choices when repeated.
func TestAmong(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ answers, least, most int }{{0, 0, 0}, {99, 0, 0}, {100, 1, 12}, {200, 3, 20}, {1000, 3, 20}, {50_000, 115, 185}} {
		chosen := func() (ids []string) {
			c := among(tt.answers)
			for n := range tt.answers {
				id := orbench.PromptID(fmt.Sprint("p", n/2))
				if key, ok := c.takes(id, "p", "m", n%2); ok {
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
	// A small run probes those of its prompts that a large run with the same
	// prompts probes.
	for n := range 2000 {
		id := orbench.PromptID(fmt.Sprint("p", n))
		if _, large := among(10_000).takes(id, "p", "m", 0); large {
			if _, small := among(500).takes(id, "p", "m", 0); !small {
				t.Errorf("%s is probed in the larger run alone", id)
			}
		}
	}
}
