package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/settings"
)

// Faults says how often the server fails and how: numbers by the names of
// faultNames. Nil never fails.
//
// Kinds of faults have shares from 0 to 1. All but the filter's are shares of
// attempts, and one attempt has one fault at most, so that their sum must not
// exceed 1. Which attempt of a request fails follows from the request and
// the number of attempts at it so far: runs repeat exactly, and asking again can
// succeed. The filter's is a share of prompts: it stops the same prompts at every
// attempt and whatever the model.
type Faults map[string]float64

// The names that faults have. attemptFaults share one draw, in this order; filter has
// its own draw.
var (
	attemptFaults = []string{
		"429",      // answered with that status
		"500",      // answered with that status
		"reset",    // the connection is closed before any byte of a reply
		"truncate", // the reply breaks off half way
		"slow",     // answered late
	}
	// A content filter stops the prompt.
	filter = "filter"
	// slowBy is how many seconds a slow answer is late, 0 for two.
	slowBy     = "slow-by"
	faultNames = append(slices.Clip(attemptFaults), filter, slowBy)
)

// ParseFaults reads faults as they are written on the command line: NAME=NUMBER,
// parted by commas, in any order. The empty text is no faults. Errors are
// *orbench.InputError.
//
//	429=0.1,500=0.05,reset=0.05,truncate=0.05,slow=0.05,filter=0.02,slow-by=2
func ParseFaults(text string) (Faults, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	f := Faults{}
	for setting := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(setting), "=")
		n, err := strconv.ParseFloat(value, 64)
		switch _, again := f[name]; {
		case !slices.Contains(faultNames, name):
			return nil, settings.Unknown("--faults", "fault", name, faultNames)
		case again:
			return nil, &orbench.InputError{Setting: "--faults", Problem: name + " is given twice", Hint: "give each fault once"}
		case err != nil || !(n >= 0 && n <= 1e9) || name != slowBy && n > 1:
			return nil, &orbench.InputError{Setting: "--faults", Problem: fmt.Sprintf("%q is no share from 0 to 1, and no number of seconds", setting), Hint: "write for example 429=0.1 or slow-by=2"}
		}
		f[name] = n
	}
	return f, nil
}

// at decides the fault of one attempt, counted from 0, at the request of a hash; it is
// empty for none.
func (f Faults) at(request uint64, attempt int) string {
	u := uniform(mix(request ^ mix(mix(uint64(attempt)+1))))
	for _, kind := range attemptFaults {
		if u < f[kind] {
			return kind
		}
		u -= f[kind]
	}
	return ""
}

// filters reports whether the content filter stops a prompt.
func (f Faults) filters(prompt string) bool {
	return f[filter] > 0 && uniform(hashOf(filter, "0", prompt)) < f[filter]
}

// uniform turns 64 random bits into a number from 0 to below 1.
func uniform(h uint64) float64 { return float64(h>>11) / (1 << 53) }
