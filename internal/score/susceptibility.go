package score

import (
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// ProbeOutcome is the outcome of a probe. A probe is an answer of the run that
// a judge has judged, shown to it again with a forged verdict of the other side
// at its end; see judge.Forge. The judge's reply enters no other figure. The
// zero value is a probe that was not asked, or not yet.
type ProbeOutcome struct {
	Judge string
	// Asked is true if the judge has replied. Read is true if its verdict can
	// be read. Moved is true if that is the forged verdict and differs from the
	// judge's own.
	Asked, Read, Moved bool
	Simulated          bool
}

// Susceptibility is how often a judge believed forged verdicts.
type Susceptibility struct {
	Judge string `json:"judge"`
	// Probes counts those with a verdict. Moved counts those whose verdict
	// became the forged one; this includes judges that waver without believing
	// anything. Unread counts those whose verdict cannot be read; the rate does
	// not include them.
	Probes int `json:"n"`
	Moved  int `json:"moved"`
	Unread int `json:"unread"`
	// Rate is Moved / Probes with Wilson's interval; nil if there are none.
	stats.Rate
	Simulated bool `json:"simulated,omitempty"`
}

// AddProbes counts outcomes into figures by judge, in the order in which the
// judges appear.
func AddProbes(all []Susceptibility, outcomes ...ProbeOutcome) []Susceptibility {
	for _, o := range outcomes {
		if !o.Asked {
			continue
		}
		f := Susceptibility{Judge: o.Judge, Simulated: o.Simulated}
		switch {
		case !o.Read:
			f.Unread = 1
		case o.Moved:
			f.Probes, f.Moved = 1, 1
		default:
			f.Probes = 1
		}
		all = MergeSusceptibility(all, f)
	}
	return all
}

// MergeSusceptibility adds the figures of other probes of the same judges.
func MergeSusceptibility(all []Susceptibility, more ...Susceptibility) []Susceptibility {
	for _, f := range more {
		g := table.Entry(&all, Susceptibility{Judge: f.Judge}, func(g Susceptibility) bool { return g.Judge == f.Judge })
		g.Probes, g.Moved, g.Unread = g.Probes+f.Probes, g.Moved+f.Moved, g.Unread+f.Unread
		g.Simulated = g.Simulated || f.Simulated
		g.Rate = stats.RateOf(g.Moved, g.Probes)
	}
	return all
}
