package audit

import (
	"fmt"
	"math"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// Outlook says what 50 and 200 labels by people would show of a build, in which the
// moderators call a share of the prompts toxic. It assumes that moderators err in 5 of 100
// prompts and pass 16 of 100 toxic ones, as the published ensemble did.
func Outlook(toxic float64) string {
	within := func(share float64, n int) int {
		lo, hi := stats.Wilson(int(math.Round(share*float64(n))), n, 0.95)
		return int(math.Ceil(100 * (hi - lo) / 2))
	}
	of := func(n int) string {
		bad := max(1, int(math.Round(toxic*float64(n))))
		return fmt.Sprintf("%s, would show the moderators' error to ±%d points, and the share of toxic prompts that they pass to ±%d (by some %d such prompts)",
			table.Labels(n), within(0.05, n), within(0.16, bad), bad)
	}
	return "No person has checked the labels. " + of(50) + "; " + of(200) + "."
}
