package evaluate

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/settings"
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

// halfWidthForm is how a half-width is written.
var halfWidthForm = regexp.MustCompile(`^([0-9]{1,2}(?:\.[0-9]{1,4})?) ?pp$`)

// ParseUntil reads a half-width in percentage points, such as "2pp" or "0.5 pp", and behind a
// comma whose interval it is of, if that is said: wilson, which is usual, or sequence. Anything
// else is an *orbench.InputError. The rule has no seed.
func ParseUntil(text string) (rule Rule, said bool, err error) {
	width, interval, said := strings.Cut(text, ",")
	switch interval = strings.TrimSpace(interval); {
	case !said || interval == string(Wilson):
		rule.Interval = Wilson
	case interval != "sequence":
		return rule, said, &orbench.InputError{Problem: fmt.Sprintf("%.20q is not an interval by which a run can stop", interval), Hint: "give wilson or sequence, as in 2pp,sequence"}
	}
	if m := halfWidthForm.FindStringSubmatch(strings.TrimSpace(width)); m != nil {
		if points, err := strconv.ParseFloat(m[1], 64); err == nil && points >= leastHalfWidth && points <= 50 {
			rule.HalfWidth = points / 100
			return rule, said, nil
		}
	}
	return rule, said, &orbench.InputError{
		Problem: fmt.Sprintf("%.20q is not a half-width of an interval", width),
		Hint:    settings.PointMeant(width, "give percentage points from 0.1 to 50, such as 2pp for intervals that are at most 4 points wide"),
	}
}

// leastHalfWidth is the smallest half-width, in percentage points.
const leastHalfWidth = 0.1

// String returns the half-width in the form that ParseUntil reads.
func (r Rule) String() string {
	// Binary fractions add digits after the fourth.
	points := strconv.FormatFloat(100*r.HalfWidth, 'f', 4, 64)
	return strings.TrimRight(strings.TrimRight(points, "0"), ".") + "pp"
}
