package command

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/fill"
)

// BuildProgress shows the progress of a build: its funnel as it fills.
type BuildProgress struct {
	*statusLine
	counts atomic.Pointer[buildCounts]
}

// buildCounts holds the counts of a funnel that the line shows.
type buildCounts struct {
	seeds, rewrites, dropped, safe, toxic, readmitted, asked int
}

// NewBuildProgress makes the status line of a build. Its Run shows it until Close.
func (e *Env) NewBuildProgress(stats func() fill.Stats) *BuildProgress {
	p, began := &BuildProgress{}, time.Now()
	p.counts.Store(&buildCounts{})
	p.statusLine = e.newStatus(func() []part { return buildLine(*p.counts.Load(), stats(), time.Since(began)) }, nil)
	return p
}

// Observe updates the funnel. It is called for every count, so it only copies
// numbers.
func (p *BuildProgress) Observe(f benchmark.Funnel) {
	p.counts.Store(&buildCounts{
		seeds: f.Seeds.Kept + f.Seeds.Fed, rewrites: f.Rewrites.Kept, dropped: f.Rewrites.Items - f.Rewrites.Kept,
		safe: f.Moderation.Voted[orbench.Safe], toxic: f.Moderation.Voted[orbench.Toxic],
		readmitted: f.SecondChance.Readmitted, asked: f.Selection.Asked,
	})
}

// buildLine says how far a build is, stage by stage.
func buildLine(c buildCounts, s fill.Stats, took time.Duration) []part {
	parts := []part{
		{0, fmt.Sprintf("seeds %d", c.seeds)},
		{1, fmt.Sprintf("rewrites %d (%d dropped)", c.rewrites, c.dropped)},
		{3, fmt.Sprintf("safe %d, toxic %d, re-admitted %d", c.safe, c.toxic, c.readmitted)},
	}
	if c.asked > 0 {
		parts = append(parts, part{5, fmt.Sprintf("selected from %d", c.asked)})
	}
	if rate := float64(s.Answered+s.Failed) / took.Seconds(); rate > 0 {
		parts = append(parts, part{6, fmt.Sprintf("%.*f/s", decimals(rate), rate)})
	}
	if s.Present > 0 {
		parts = append(parts, part{7, fmt.Sprintf("%d already answered", s.Present)})
	}
	parts = append(parts, part{4, Spent(s)})
	return append(parts, troubles(s)...)
}
