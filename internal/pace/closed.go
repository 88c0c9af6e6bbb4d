package pace

import "time"

// reopen takes calls again, with one that was sent at a time and accepted, at the rate
// since the last reopening.
func (p *learned) reopen(at, now time.Time) {
	p.Closed, p.Trying = false, false
	// It may have taken calls for a while, on the mean since the middle of the last wait.
	took := float64(at.Sub(p.Opened) - p.Lag/2)
	short := at.Sub(p.ClosedAt) < brief
	// The call that reopened is the first of the new time.
	n := p.Accepted - 1
	switch first, from := p.Interval == 0, float64(p.own()); {
	case !first && short:
		// What was measured is too low while the rate rose, the share of rejects is not.
		rejects := float64(p.Rejected+pacedRejects) / float64(max(1, n))
		to := min(max(slower*from, from*(1+rejects), min(margin*p.measured(now), overshot*from)), muchSlower*from)
		if p.Probed > 0 {
			to = max(to, min(margin*took/float64(max(1, n)), float64(p.Probed)))
		}
		p.pace(now, to)
		p.Probed = 0
	case !first && n < enough:
		// A small call that was let through says little about the rate.
		p.pace(now, min(max(from, margin*took/float64(max(1, n))), halfAsFast*from))
	case n > 0: // without a rate and without calls there is still none
		p.pace(now, margin*took/float64(n))
		if p.Probing = first && short; p.Probing {
			p.Probed = p.Interval
		}
	}
	p.Late = p.Late || !short
	p.Opened, p.Accepted, p.Rejected = at, 1, 0
}

// hopeless reports whether a provider that does not say when to come back took none of so
// many tries for longer than a limit by the minute lasts.
func (p *learned) hopeless(tries int, now time.Time) bool {
	return p.Closed && p.Tries >= tries && p.Accepted <= cheap*(p.Tries+1) && now.Sub(p.Since) >= Patience
}

// try has a closed provider tried, at the time until which it asks to wait or later.
func (p *learned) try(now, until time.Time) {
	at := later(until, now.Add(p.tryAfter(now)))
	p.Lag = at.Sub(later(until, now))
	p.hold(at)
}

// tryAfter is how long after a reject a closed provider is tried: half as long as it has been
// closed.
func (p *learned) tryAfter(now time.Time) time.Duration {
	most := mostBackoff
	if p.Accepted > cheap*(p.Tries+1) {
		most = oftenTried
	}
	least := max(p.first, p.distance())
	if p.Late {
		least = max(least, lateFirst)
	}
	return min(max(least, now.Sub(p.ClosedAt)/2), most)
}

// hold lets nothing go before a time.
func (p *learned) hold(until time.Time) { p.HeldUntil = later(p.HeldUntil, until) }
