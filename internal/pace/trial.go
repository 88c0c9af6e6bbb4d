package pace

import (
	"math"
	"time"
)

// trial is a sequential test (Wald, 1945) of what became of the share of rejects, P before:
// it stayed, fell to a quarter, or rose threefold. Fell and Rose are the logarithms of the
// odds that it stayed against those. P is 0 where nothing is tested.
type trial struct{ P, Fell, Rose float64 }

// odds decide a trial: 20 to 1.
var odds = math.Log(20)

// add counts a call.
func (t *trial) add(rejected bool) {
	lower, higher := t.P/4, min(3*t.P, (1+t.P)/2)
	if rejected {
		t.Fell += math.Log(t.P / lower)
		t.Rose += math.Log(t.P / higher)
	} else {
		t.Fell += math.Log((1 - t.P) / (1 - lower))
		t.Rose += math.Log((1 - t.P) / (1 - higher))
	}
}

// judge ends a trial that is decided.
func (p *learned) judge(now time.Time) {
	t := p.Trial
	switch {
	case t.Fell <= -odds:
		p.Trial, p.Futile, p.LetGo = trial{}, 0, max(0, p.LetGo-1)
		p.Grown, p.GrowsFrom = 0, now
	case t.Rose <= -odds, t.Fell >= odds && t.Rose < 0:
		p.slow(now, overshot, muchSlower)
	case t.Fell >= odds && t.Rose >= odds, t.Fell >= 2*odds:
		if p.Futile++; p.Futile < mostFutile && p.LetGo == 0 {
			p.slow(now, overshot, muchSlower)
			return
		}
		p.free(t.P)
	}
}

// free lets the rate go, which is not what calls are rejected for.
func (p *learned) free(share float64) {
	p.Epoch++
	p.Shed, p.Free = share, min(leastFree<<min(p.LetGo, 10), mostFree)
	p.LetGo++
	p.Interval, p.Growth, p.Probing, p.Probed, p.Late, p.Trial, p.Futile = 0, 0, false, 0, false, trial{}, 0
}

// noise is the share of rejects below which no rate is tried.
func (p *learned) noise() float64 {
	if p.Free == 0 {
		return many
	}
	return max(many, p.Shed+4*math.Sqrt(p.Shed*(1-p.Shed)/(2*blockSize)))
}

// test begins a trial of the rate that was set. Where rejects that no rate helps against are
// known, it is whether more of them than that are left.
func (p *learned) test(share float64) {
	switch {
	case p.LetGo > 0:
		share = p.Shed
	case p.Late:
		// A limit that shows late rejects much at once, and little at a rate near it.
		share = min(share, lateShare)
	default:
		// A share that is high by chance falls by itself: what is usual is tested.
		share = min(share, p.Usual)
	}
	p.Trial.P = max(share, leastShare)
}
