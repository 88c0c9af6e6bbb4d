package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orbench/orbench"
)

// Faults says how often the server fails and how. The zero value never fails.
type Faults struct {
	// Rates are shares from 0 to 1 by the kind of fault, as faultKinds names them. All but
	// the filter's are shares of attempts, and one attempt has one fault at most, so that
	// their sum must not exceed 1. Which attempt of a request fails follows from Seed, the
	// request and the number of attempts at it so far: runs repeat exactly, and asking again
	// can succeed. The filter's is a share of prompts: it stops the same prompts at every
	// attempt and whatever the model.
	Rates map[string]float64
	// SlowBy is how late a slow answer is; 0 stands for two seconds.
	SlowBy time.Duration
	// RetryAfter is what a 429 asks for, in the header Retry-After in whole
	// seconds, rounded up, and in Retry-After-Ms.
	RetryAfter time.Duration
	// Seed chooses which attempts and prompts are hit.
	Seed int64
}

// The kinds of faults. attemptFaults share one draw, in this order; filter has its own
// draw.
var (
	attemptFaults = []string{
		"429",      // answered with that status
		"500",      // answered with that status
		"reset",    // the connection is reset before any byte of a reply
		"truncate", // the reply breaks off half way
		"slow",     // answered SlowBy late
	}
	// A content filter stops the prompt: as a finish reason, as a refusal field or as
	// Azure's status 400, by turns.
	filter     = "filter"
	faultKinds = append(slices.Clip(attemptFaults), filter)
)

// ParseFaults reads faults as they are written on the command line: settings
// parted by commas, each a name, "=" and a value, in any order.
//
//	429=0.1,500=0.05,reset=0.05,truncate=0.05,slow=0.05,filter=0.02,slow-by=2s,retry-after=1s,seed=7
//
// The rates are from 0 to 1, the durations as time.ParseDuration reads them. The
// empty text is no faults. Errors are *orbench.InputError.
func ParseFaults(text string) (Faults, error) {
	f := Faults{Rates: map[string]float64{}}
	if strings.TrimSpace(text) == "" {
		return f, nil
	}
	seen := map[string]bool{}
	for setting := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(setting), "=")
		if !ok {
			return Faults{}, faultError(fmt.Sprintf("%q is not NAME=VALUE", setting), "write for example 429=0.1")
		}
		if seen[name] {
			return Faults{}, faultError(name+" is given twice", "give each fault once")
		}
		seen[name] = true
		if err := f.set(name, value); err != nil {
			return Faults{}, err
		}
	}
	if sum := f.sum(); sum > 1 {
		return Faults{}, faultError(fmt.Sprintf("the rates without filter add up to %g", sum), "keep their sum at 1 or less")
	}
	return f, nil
}

// set reads one setting.
func (f *Faults) set(name, value string) (err error) {
	durations := map[string]*time.Duration{"slow-by": &f.SlowBy, "retry-after": &f.RetryAfter}
	switch duration := durations[name]; {
	case slices.Contains(faultKinds, name):
		if f.Rates[name], err = strconv.ParseFloat(value, 64); err != nil || !(f.Rates[name] >= 0 && f.Rates[name] <= 1) {
			return faultError(fmt.Sprintf("the rate %s=%s is not a number from 0 to 1", name, value), "write for example "+name+"=0.1")
		}
	case duration != nil:
		if *duration, err = time.ParseDuration(value); err != nil || *duration < 0 {
			return faultError(fmt.Sprintf("%s=%s is not a duration", name, value), "write for example "+name+"=500ms")
		}
	case name == "seed":
		if f.Seed, err = strconv.ParseInt(value, 10, 64); err != nil {
			return faultError(fmt.Sprintf("seed=%s is not a whole number", value), "write for example seed=7")
		}
	default:
		return faultError(fmt.Sprintf("no fault is called %q", name), suggest(name, append([]string{"slow-by", "retry-after", "seed"}, faultKinds...)))
	}
	return nil
}

// sum adds up the rates that share one draw.
func (f *Faults) sum() (sum float64) {
	for _, kind := range attemptFaults {
		sum += f.Rates[kind]
	}
	return sum
}

// at decides the fault of one attempt, counted from 0, at the request of a hash; it is
// empty for none.
func (f *Faults) at(request uint64, attempt uint32) string {
	u := uniform(mix(request ^ mix(uint64(f.Seed)+mix(uint64(attempt)+1))))
	for _, kind := range attemptFaults {
		if u < f.Rates[kind] {
			return kind
		}
		u -= f.Rates[kind]
	}
	return ""
}

// filters reports whether the content filter stops a prompt, and which of its
// ways it takes, from 0 to 2.
func (f *Faults) filters(prompt string) (way int, stopped bool) {
	if f.Rates[filter] == 0 {
		return 0, false
	}
	h := hashOf(filter, strconv.FormatInt(f.Seed, 10), prompt)
	return int(mix(h) % 3), uniform(h) < f.Rates[filter]
}

// uniform turns 64 random bits into a number from 0 to below 1.
func uniform(h uint64) float64 { return float64(h>>11) / (1 << 53) }

func faultError(problem, hint string) error {
	return &orbench.InputError{Problem: problem, Hint: hint}
}
