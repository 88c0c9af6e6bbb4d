package logs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/orbench/orbench/internal/rows"
)

// TestThresholds draws looks again and again from a log whose truth is known: the intervals
// of what a threshold would change hold the truth, whichever way the scores run.
func TestThresholds(t *testing.T) {
	t.Parallel()
	redraws, least := 12, 0.85
	switch os.Getenv("ORBENCH_LONG") {
	case "1":
		redraws, least = 200, 0.93
	case "2":
		redraws, least = 1000, 0.94
	}
	for _, sign := range []float64{1, -1} {
		random := rand.New(rand.NewPCG(3, 4))
		type truth struct {
			score float64
			safe  bool
		}
		var log []read
		var truths []truth
		of := map[[2]string]labeled{}
		judged := newVerdicts(newCounter(Options{}).seed)
		for i := range 6000 {
			one := truth{score: random.Float64(), safe: random.Float64() < 0.9}
			if one.safe {
				one.score *= one.score // most are low
			} else {
				one.score = 1 - one.score*one.score
			}
			// What people write to a bot differs.
			e := rows.Exchange{Prompt: fmt.Sprintf("message %d about thing %d", i, random.IntN(4000)), Reply: yes, Score: fmt.Sprint(sign * one.score), User: fmt.Sprint(i)}
			r := read{before: one.score >= 0.5}
			if r.before {
				e.Reply = no
			} else {
				e.Reply = fmt.Sprintf("%s Number %d.", yes, i)
			}
			r.Exchange, r.verdict = e, judged.of(e)
			log, truths = append(log, r), append(truths, one)
			of[[2]string{e.Prompt, e.Reply}] = labeled{prompt: e.Prompt, reply: e.Reply, refused: r.before, safe: one.safe}
		}
		held, of95, looser, stricter := 0, 0, 0, 0
		for seed := range redraws {
			for _, at := range lookAt(t, log, of, 150, uint64(seed), 0).Thresholds {
				if at.Below != (sign < 0) {
					t.Fatalf("%+v goes the wrong way", at)
				}
				wrong, missed := 0.0, 0.0
				for _, one := range truths {
					was, is := one.score >= 0.5, one.score >= at.At*sign
					switch {
					case was == is:
					case one.safe && is:
						wrong++
					case one.safe:
						wrong--
					case is:
						missed--
					default:
						missed++
					}
				}
				n := float64(len(truths))
				if at.At*sign > 0.5 {
					looser++
				} else {
					stricter++
				}
				for _, one := range []struct{ true, lo, hi float64 }{{wrong / n, at.WrongFlags.Lo, at.WrongFlags.Hi}, {missed / n, at.Misses.Lo, at.Misses.Hi}} {
					if of95++; one.lo <= one.true && one.true <= one.hi {
						held++
					}
				}
			}
		}
		share := float64(held) / float64(of95)
		t.Logf("%d looser and %d stricter thresholds: %.3f of %d intervals hold the truth", looser, stricter, share, of95)
		if looser < redraws || stricter < redraws || share < least {
			t.Errorf("too few, or they do not hold the truth")
		}
	}
}
