package compare

import (
	"math"
	"testing"

	"github.com/orbench/orbench/stats"
)

func TestClusterEffect(t *testing.T) {
	t.Parallel()
	var alone, together []stats.Cluster
	for i := range 100 {
		d := 0
		if i%10 == 0 {
			d = 1
		}
		alone = append(alone, stats.Cluster{N: 1, Sum: d})
		together = append(together, stats.Cluster{N: 4, Sum: 4 * d})
	}
	if e := clusterEffect(alone); math.Abs(e-1) > 1e-9 {
		t.Errorf("prompts on their own: %v, want 1", e)
	}
	if e := clusterEffect(together); math.Abs(e-4) > 1e-9 {
		t.Errorf("four prompts that change together: %v, want 4", e)
	}
}
