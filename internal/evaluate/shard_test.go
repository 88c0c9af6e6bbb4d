package evaluate

import (
	"errors"
	"fmt"
	"testing"

	"github.com/orbench/orbench"
)

func TestParseShard(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Shard{"": {}, "1/1": {1, 1}, "2/4": {2, 4}, "64/64": {64, 64}} {
		if s, err := ParseShard(text); err != nil || s != want || s.String() != text {
			t.Errorf("%q: %v, %v; want %v", text, s, err, want)
		}
	}
	for _, text := range []string{"0/4", "5/4", "2", "a/b", "-1/4", "1/0", "2/4/8", " 1/4", "1/99999999999"} {
		if s, err := ParseShard(text); !errors.Is(err, orbench.ErrInput) {
			t.Errorf("%q: %v, %v; want an input error", text, s, err)
		}
	}
}

// TestShardsPartTheRun deals the prompts of two datasets that share some.
// Together the shards must ask what the run asks, no two the same, and each
// about as much.
func TestShardsPartTheRun(t *testing.T) {
	t.Parallel()
	var sets [2][]orbench.Prompt
	for i := range 50 {
		p := orbench.NewPrompt(fmt.Sprint("prompt ", i), "", orbench.Safe)
		if i < 30 {
			sets[0] = append(sets[0], p)
		}
		if i >= 20 {
			sets[1] = append(sets[1], p)
		}
	}
	for _, of := range []int{1, 3, 4, 60} {
		shard, rows := map[orbench.PromptID]int{}, 0
		for number := 1; number <= of; number++ {
			deal, distinct := Shard{number, of}.deal(), 0
			for _, set := range sets {
				// In chunks, as a run walks its datasets.
				for half := range 2 {
					n := len(set) / 2
					for _, p := range deal(append([]orbench.Prompt{}, set[half*n:(half+1)*n]...)) {
						if other, ok := shard[p.ID]; !ok {
							distinct++
						} else if other != number {
							t.Errorf("of %d, %s is asked by %d and by %d", of, p.ID, other, number)
						}
						shard[p.ID] = number
						rows++
					}
				}
			}
			if distinct < 50/of || distinct > 50/of+1 {
				t.Errorf("shard %d of %d has %d prompts of 50", number, of, distinct)
			}
		}
		if len(shard) != 50 || rows != 60 {
			t.Errorf("%d shards ask %d prompts in %d rows, want 50 in 60", of, len(shard), rows)
		}
	}
}
