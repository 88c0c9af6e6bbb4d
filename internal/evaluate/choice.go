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
	// wanted is about how many probes a smaller run has. most is the largest
	// share of its answers that become probes.
	wanted, most = 10, 1.0 / 20
	// least is the smallest number of answers with which a run has probes.
	least = 100
)

// choice chooses answers of a run by hash. The same run has the same probes,
// and a part of it has those of its part. The zero value chooses none.
type choice struct{ below uint64 }

// among returns the choice for the given number of answers: three in a
// thousand, or about ten if that is more, but at most one in twenty. It chooses
// none of fewer than a hundred answers: their rates are too imprecise for it to
// matter.
func among(answers int) choice {
	if answers < least {
		return choice{}
	}
	share := min(most, max(usual, wanted/float64(answers)))
	return choice{uint64(share * (1 << 63) * 2)}
}

// takes reports whether the answer of a model to a prompt is probed. It also
// returns the key that chooses the wording.
func (c choice) takes(prompt orbench.PromptID, provider, model string, sample int) (key uint64, ok bool) {
	if c.below == 0 {
		return 0, false
	}
	sum := sha256.Sum256([]byte("orbench probe 1\n" + string(prompt) + "\n" + provider + "\n" + model + "\n" + strconv.Itoa(sample)))
	return binary.BigEndian.Uint64(sum[8:]), binary.BigEndian.Uint64(sum[:]) < c.below
}
