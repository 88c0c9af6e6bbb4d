package chart

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg"
)

// The names of pies touch neither each other nor the edges.
func TestPieNamesDoNotCollide(t *testing.T) {
	t.Parallel()
	for name, shares := range map[string][]float64{
		"many small ones on top":   {2, 2, 2, 2, 2, 80, 2, 2, 3, 3},
		"many small ones on right": {20, 2, 2, 2, 2, 2, 60, 4, 3, 3},
		"all alike":                {10, 10, 10, 10, 10, 10, 10, 10, 10, 10},
		"one alone":                {100},
	} {
		const center = 150
		from, sides := 0.0, [2][]slice{}
		for _, share := range shares {
			middle := (from + share/2) / 50 * math.Pi
			from += share
			side := 0
			if middle > math.Pi {
				side = 1
			}
			sides[side] = append(sides[side], slice{y: center + vg.Length(math.Cos(middle))*(pieRadius+13)})
		}
		slices.Reverse(sides[1])
		for _, side := range sides {
			spread(side, center)
			for i, s := range side {
				if i > 0 && side[i-1].y-s.y < pieText+2 {
					t.Errorf("%s: %v lies on %v", name, s.y, side[i-1].y)
				}
				if s.y > center+pieHeight/2 || s.y < center-pieHeight/2+14 {
					t.Errorf("%s: %v is out of the figure", name, s.y)
				}
			}
		}
	}
}
