package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/build"
	"github.com/orbench/orbench/internal/fill"
)

// buildProgress shows the funnel of a build as it fills: one line drawn again and
// again on a terminal, a plain line every few seconds elsewhere.
type buildProgress struct {
	w     io.Writer
	live  bool
	stats func() fill.Stats
	began time.Time

	mu     sync.Mutex
	counts buildCounts

	stop, done chan struct{}
}

// buildCounts is what the line shows of a funnel.
type buildCounts struct {
	seeds, rewrites, dropped, safe, toxic, readmitted, asked int
}

func newBuildProgress(w io.Writer, stats func() fill.Stats) *buildProgress {
	return &buildProgress{
		w: w, live: terminal(w), stats: stats, began: time.Now(),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
}

// observe notes a funnel. It is called for every count, so it copies numbers and
// no more.
func (p *buildProgress) observe(f build.Funnel) {
	c := buildCounts{
		seeds: f.Seeds.Kept + f.Seeds.Fed, rewrites: f.Rewrites.Kept, dropped: f.Rewrites.Items - f.Rewrites.Kept,
		safe: f.Moderation.Voted[orbench.Safe], toxic: f.Moderation.Voted[orbench.Toxic],
		readmitted: f.SecondChance.Readmitted, asked: f.Selection.Asked,
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts = c
}

// run shows the progress until close.
func (p *buildProgress) run() {
	defer close(p.done)
	every := plainEvery
	if p.live {
		every = liveEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.show()
		case <-p.stop:
			if p.live {
				p.show()
				fmt.Fprintln(p.w)
			}
			return
		}
	}
}

func (p *buildProgress) show() {
	p.mu.Lock()
	c := p.counts
	p.mu.Unlock()
	line := buildLine(c, p.stats(), time.Since(p.began))
	if p.live {
		fmt.Fprint(p.w, "\r\x1b[2K"+line)
		return
	}
	fmt.Fprintln(p.w, line)
}

// close stops showing.
func (p *buildProgress) close() {
	close(p.stop)
	<-p.done
}

// buildLine tells how far a build is, stage by stage.
func buildLine(c buildCounts, s fill.Stats, took time.Duration) string {
	parts := []string{
		fmt.Sprintf("seeds %d", c.seeds),
		fmt.Sprintf("rewrites %d (%d dropped)", c.rewrites, c.dropped),
		fmt.Sprintf("safe %d, toxic %d, re-admitted %d", c.safe, c.toxic, c.readmitted),
	}
	if c.asked > 0 {
		parts = append(parts, fmt.Sprintf("selected from %d", c.asked))
	}
	if rate := float64(s.Answered+s.Failed) / took.Seconds(); rate > 0 {
		parts = append(parts, fmt.Sprintf("%.*f/s", decimals(rate), rate))
	}
	if s.Present > 0 {
		parts = append(parts, fmt.Sprintf("%d from memo", s.Present))
	}
	parts = append(parts, money(s.USD, s.Unpriced))
	if s.Retries > 0 {
		parts = append(parts, fmt.Sprintf("%d retries", s.Retries))
	}
	if s.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", s.Failed))
	}
	return strings.Join(parts, "  ")
}
