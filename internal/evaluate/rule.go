package evaluate

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/stats"
)

// Rule decides when a run has asked enough.
type Rule struct {
	// HalfWidth is the largest half-width that every rate's interval may have,
	// as a share: 0.02 is 2 percentage points.
	HalfWidth float64 `json:"half_width"`
	// Interval is whose interval that is.
	Interval Interval `json:"interval,omitempty"`
	// Seed chooses the order of the prompts.
	Seed uint64 `json:"seed"`
}

// Interval is by which interval a run ends.
type Interval string

const (
	// Wilson is stats.WilsonFinite, looked at first after 200 prompts of a label: about as
	// few prompts as if the rate had been known before.
	Wilson Interval = "wilson"
	// Sequence is stats.Sequence, looked at after 16 prompts: it holds at every look, for
	// whoever watches the rate or gates on it meanwhile. It is empty, since runs that older
	// programs kept name none.
	Sequence Interval = ""
)

// ParseInterval reads whose interval decides: wilson, which the empty text is too, or
// sequence. Anything else is an *orbench.InputError.
func ParseInterval(text string) (Interval, error) {
	switch text {
	case "", string(Wilson):
		return Wilson, nil
	case "sequence":
		return Sequence, nil
	}
	return "", &orbench.InputError{Problem: fmt.Sprintf("%.20q is not an interval by which a run can stop", text), Hint: "give wilson or sequence"}
}

// stopping is an interval that ended a run as results have it.
func (i Interval) stopping(lo, hi float64) stats.Stopping {
	if i == Wilson {
		return stats.Stopping{CI95Stopped: &[2]float64{lo, hi}}
	}
	return stats.Stopping{CI95Sequence: &[2]float64{lo, hi}}
}

// halfWidthForm is how a half-width is written.
var halfWidthForm = regexp.MustCompile(`^([0-9]{1,2}(?:\.[0-9]{1,4})?) ?pp$`)

// ParseHalfWidth reads a half-width in percentage points, such as "2pp" or "0.5
// pp", and returns it as a share. Anything else is an *orbench.InputError.
func ParseHalfWidth(text string) (float64, error) {
	if m := halfWidthForm.FindStringSubmatch(text); m != nil {
		if points, err := strconv.ParseFloat(m[1], 64); err == nil && points >= leastHalfWidth && points <= 50 {
			return points / 100, nil
		}
	}
	return 0, &orbench.InputError{
		Problem: fmt.Sprintf("%.20q is not a half-width of an interval", text),
		Hint:    settings.PointMeant(text, "give percentage points from 0.1 to 50, such as 2pp for intervals that are at most 4 points wide"),
	}
}

// leastHalfWidth is the smallest half-width, in percentage points.
const leastHalfWidth = 0.1

// String returns the half-width in the form that ParseHalfWidth reads.
func (r Rule) String() string {
	// Binary fractions add digits after the fourth.
	points := strconv.FormatFloat(100*r.HalfWidth, 'f', 4, 64)
	return strings.TrimRight(strings.TrimRight(points, "0"), ".") + "pp"
}
