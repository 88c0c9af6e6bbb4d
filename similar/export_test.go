package similar

import "math"

// RankAnew ranks the shingles now, whether or not it is due.
func (x *Index) RankAnew() {
	x.scanned = math.MaxInt
	x.rankAnew()
}

// Due says whether the shingles are about to be ranked anew.
func (x *Index) Due() bool { return x.scanned > rankingCost*(len(x.sets)+len(x.ranks)) }
