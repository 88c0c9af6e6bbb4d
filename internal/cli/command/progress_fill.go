package command

import (
	"fmt"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// fillStatus makes the status line of a fill that expects total calls.
func (e *Env) fillStatus(total int, stats func() fill.Stats) *statusLine {
	began := time.Now()
	return e.newStatus(func() []part {
		return fillLine(stats(), total, time.Since(began))
	}, func() (int, int) { return done(stats(), total), total })
}

// done counts the calls of a fill that need nothing more.
func done(s fill.Stats, total int) int { return min(s.Found()+s.Failed, total) }

// fillLine says how far a fill is.
func fillLine(s fill.Stats, total int, took time.Duration) []part {
	finished := s.Answered + s.Failed + s.Elsewhere
	done := done(s, total)
	parts := []part{{0, fmt.Sprintf("%d of %d", done, total)}}
	if rate := float64(finished) / took.Seconds(); rate > 0 {
		parts = append(parts, part{5, fmt.Sprintf("%.*f/s", decimals(rate), rate)}, part{6, took.Round(time.Second).String()})
		if left := total - done; left > 0 {
			eta := time.Duration(float64(left) / rate * float64(time.Second))
			parts = append(parts, part{2, eta.Round(time.Second).String() + " left"})
		}
	}
	if s.Present > 0 {
		parts = append(parts, part{6, fmt.Sprintf("%d already answered", s.Present)})
	}
	parts = append(parts, part{4, Spent(s)})
	return append(parts, troubles(s)...)
}

// troubles counts what went wrong.
func troubles(s fill.Stats) (parts []part) {
	if s.Waiting > 0 {
		parts = append(parts, part{2, fmt.Sprintf("%d being asked by another process", s.Waiting)})
	}
	for _, h := range s.Held {
		text := "rate limited by " + h.Model.String()
		if h.For >= time.Second {
			text += " for " + h.For.Truncate(time.Second).String()
		}
		parts = append(parts, part{1, text + ", next try in " + h.In.Round(time.Second).String()})
	}
	if s.Retries > 0 {
		parts = append(parts, part{7, because(fmt.Sprintf("%d retries", s.Retries), s.Retried)})
	}
	if s.Rejected > 0 {
		parts = append(parts, part{7, fmt.Sprintf("%d rejected", s.Rejected)})
	}
	if s.Failed > 0 {
		why := ""
		if len(s.Reasons) > 0 {
			why = s.Reasons[0].Text
		}
		parts = append(parts, part{1, because(fmt.Sprintf("%d failed", s.Failed), why)})
	}
	return parts
}

// because formats a count with a few words of why, if that is known.
func because(count, why string) string {
	if why == "" {
		return count
	}
	return count + ": " + untrusted.Excerpt(why, mostReason)
}

// mostReason is how many columns of the line may say why calls failed.
const mostReason = 40

// decimals returns enough decimals to keep a slow rate readable.
func decimals(rate float64) int {
	if rate < 10 {
		return 1
	}
	return 0
}

// Spent says what the calls have cost so far in US dollars, and what failed
// calls may have cost besides. If a model has no price, the first is a lower
// bound.
func Spent(s fill.Stats) string {
	cost, failed := fmt.Sprintf("$%.4f", s.USD), &s.FailedUSD
	switch {
	case len(s.Unpriced) == 0:
	case s.USD == 0:
		cost, failed = "price unknown", nil
	default:
		cost, failed = fmt.Sprintf("%s and more (price unknown: %s)", cost, strings.Join(s.Unpriced, ", ")), nil
	}
	return cost + table.FailedCost(s.Charged, 0, failed)
}
