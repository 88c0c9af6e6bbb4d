package weights

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/orbench/orbench/model"
)

func TestChance(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		odds        [2]float64
		parted, odd [2]int
		want        float64
	}{
		"nothing parts":           {[2]float64{1. / 3, 1. / 3}, [2]int{}, [2]int{}, 1},
		"all are odd":             {[2]float64{1. / 3, 1. / 3}, [2]int{1, 2}, [2]int{1, 2}, 1. / 27},
		"as one binomial count":   {[2]float64{1. / 3, 1. / 3}, [2]int{2, 2}, [2]int{2, 1}, 4./81*2 + 1./81},
		"refusals are drawn more": {[2]float64{2. / 3, 1. / 9}, [2]int{2, 2}, [2]int{0, 2}, 1. / 81},
	} {
		if got := (&Check{odds: tt.odds}).chance(tt.parted, tt.odd); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, got, tt.want)
		}
	}
}

// TestCheckFinds has runs of 400 prompts grow, by a server with the same weights and by one with
// others that answer a tenth of the prompts the other way, and counts how often a check stops
// them. docs/validation.md has the figures, which are of ORBENCH_LONG's 4,000 runs each.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	const prompts = 400
	runs, seed := 60, uint64(1)
	if os.Getenv("ORBENCH_LONG") != "" {
		runs, seed = 4000, rand.Uint64()
	}
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	// sampling is by how much a share of so many runs differs from the true one at most.
	sampling := func(p float64) float64 { return 3.5 * math.Sqrt(p*(1-p)/float64(runs)) }
	refusal, answer := model.Response{Text: "no"}, model.Response{Text: "yes"}
	hashOf := func(i int) (h model.Hash) {
		binary.BigEndian.PutUint64(h[:], uint64(i))
		return h
	}
	reply := func(refuses bool, noise float64) model.Response {
		if refuses != (r.Float64() < noise) {
			return refusal
		}
		return answer
	}
	read := func(_ model.Ref, _ string, _ model.Request, response model.Response) bool {
		return response.Text == refusal.Text
	}
	stops := func(share, change, noise, temperature float64) float64 {
		stopped := 0
		calls, refuses, replies := make([]stored, prompts), make([]bool, prompts), map[model.Hash]model.Response{}
		for i := range int64(prompts) {
			calls[i].Hash, calls[i].Request.Params = hashOf(int(i)), model.Params{Temperature: &temperature, Seed: &i}
		}
		for range runs {
			for i := range prompts {
				refuses[i] = r.Float64() < share
				replies[hashOf(i)] = reply(refuses[i], noise)
				refuses[i] = refuses[i] != (r.Float64() < change)
			}
			c := Check{N: prompts, stored: calls}
			c.draw(replies, read)
			o := c.Outcome(func(q model.Request) (model.Response, bool) {
				return reply(refuses[*q.Params.Seed], noise), true
			}, read)
			if o.Other {
				stopped++
			}
		}
		return float64(stopped) / float64(runs)
	}
	for _, share := range []float64{.02, .2, .5} {
		for _, noise := range []float64{0, .005, .01} {
			same, other := stops(share, 0, noise, 0), stops(share, .1, noise, 0)
			t.Logf("%g%% refused, temperature 0, noise %g%%: stopped %.4f with the same weights, %.3f with others", 100*share, 100*noise, same, other)
			if same > .01+sampling(.01) || noise < .01 && other < .65-sampling(.65) {
				t.Error("too often, or too seldom")
			}
		}
		for _, noise := range []float64{.02, .05, .1} {
			same, other := stops(share, 0, noise, .7), stops(share, .1, noise, .7)
			t.Logf("%g%% refused, temperature .7, noise %g%%: stopped %.4f with the same weights, %.3f with others", 100*share, 100*noise, same, other)
			if same > .01+sampling(.01) {
				t.Error("too often")
			}
		}
	}
}
