package rows

import (
	"strconv"
	"strings"
	"time"
)

// Time reads a time of a log: text as in RFC 3339, with a space, or with a date alone, or a number
// of seconds, milliseconds, microseconds or nanoseconds since 1970.
func Time(text string) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		for _, second := range []float64{1, 1e3, 1e6, 1e9} {
			// From 1990 to 2100.
			if at := n / second; at > 631e6 && at < 4102e6 {
				return time.Unix(int64(at), 0).UTC(), true
			}
		}
		return time.Time{}, false
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", time.DateTime, "2006-01-02 15:04:05 UTC", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

// UserNames are the usual names of the column of who asked, the surer first.
func UserNames() []string { return partNames[partUser] }

// TimeNames are the usual names of the column of when they asked, the surer first.
func TimeNames() []string { return partNames[partTime] }

// FinishNames are the usual names of the column of how answers ended.
func FinishNames() []string { return partNames[partFinish] }

// ErrorNames are the usual names of the column of what went wrong in place of an answer.
func ErrorNames() []string { return partNames[partError] }
