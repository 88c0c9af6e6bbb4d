package evaluate

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"github.com/orbench/orbench"
)

const (
	// usual is the share of answers that are probed in a large run.
	usual = 3.0 / 1000
	// wanted is how many probes a smaller run has about, and most the largest share of
	// its answers that become probes.
	wanted, most = 10, 1.0 / 20
	// least is how many answers a run has that has probes.
	least = 100
)

// choice chooses answers of a run by hash, so that the same run has the same probes and
// a part of it those of its part. The zero value chooses none.
type choice struct{ below uint64 }

// among chooses of so many answers: three in a thousand, or about ten where that are
// more, at most one in twenty, and none of fewer than a hundred answers, of which no rate
// is narrow enough for it to matter.
func among(answers int) choice {
	if answers < least {
		return choice{}
	}
	share := min(most, max(usual, wanted/float64(answers)))
	return choice{uint64(share * (1 << 63) * 2)}
}

// takes reports whether the answer of a model to a prompt is probed, and gives what
// chooses the wording.
func (c choice) takes(prompt orbench.PromptID, provider, model string, sample int) (key uint64, ok bool) {
	if c.below == 0 {
		return 0, false
	}
	sum := sha256.Sum256([]byte("orbench probe 1\n" + string(prompt) + "\n" + provider + "\n" + model + "\n" + strconv.Itoa(sample)))
	return binary.BigEndian.Uint64(sum[8:]), binary.BigEndian.Uint64(sum[:]) < c.below
}
