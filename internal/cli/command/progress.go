package command

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// statusLine is a line that shows how work progresses. On a terminal it stays below all that is
// said meanwhile; elsewhere a plain line is printed every few seconds.
type statusLine struct {
	env *Env
	// line returns the parts of the text. It is called only when they are
	// shown.
	line func() []part
	// progress returns how much of the work is done, for a bar; nil for none.
	progress func() (done, total int)
	// first is how long to wait before the first line; 0 means the time between
	// two lines.
	first      time.Duration
	stop, done chan struct{}
}

// part is a part of the line. If there is no room for all parts, those with the
// highest rank are left out first.
type part struct {
	rank int
	text string
}

// fit joins the parts that fit into width columns.
func fit(parts []part, width int) string {
	for {
		texts, last := make([]string, len(parts)), 0
		for i, p := range parts {
			texts[i] = untrusted.Terminal(p.text)
			if p.rank > parts[last].rank {
				last = i
			}
		}
		line := strings.Join(texts, "  ")
		if untrusted.Width(line) <= width || len(parts) == 0 {
			return line
		}
		if len(parts) == 1 {
			return untrusted.Wrap(line, width)[0]
		}
		parts = slices.Delete(parts, last, last+1)
	}
}

const (
	liveEvery  = 200 * time.Millisecond
	plainEvery = 5 * time.Second
	// mostBar is how many columns a bar has at most, with two blanks behind it.
	mostBar = 26
)

// newStatus makes a status. Its Run shows it until Close.
func (e *Env) newStatus(line func() []part, progress func() (done, total int)) *statusLine {
	return &statusLine{env: e, line: line, progress: progress, stop: make(chan struct{}), done: make(chan struct{})}
}

// Run shows the status until Close.
func (s *statusLine) Run() {
	defer close(s.done)
	every, columns := plainEvery, 0
	if f := table.FileOf(s.env.Stderr); f != nil {
		columns, _, _ = term.GetSize(int(f.Fd())) // 0 where it is no terminal, or none of a known size
	}
	if columns > 0 {
		every = liveEvery
	}
	tick := time.NewTicker(cmp.Or(s.first, every))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if columns > 0 {
				s.draw()
				return
			}
			tick.Reset(every)
			fmt.Fprintln(s.env.Stderr, fit(s.line(), math.MaxInt))
		case <-s.stop:
			return
		}
	}
}

// draw keeps the status at the bottom of a terminal until Close.
func (s *statusLine) draw() {
	width := 0
	style := mpb.BarStyle().Lbound("").Filler("█").Tip("").Padding("·").Rbound("  ").Build()
	fill := mpb.BarFillerFunc(func(w io.Writer, of decor.Statistics) error {
		if s.progress == nil {
			return nil
		}
		done, total := s.progress()
		of.Current, of.Total, of.RequestedWidth = int64(done), int64(total), width
		return style.Fill(w, of)
	})
	text := decor.Any(func(of decor.Statistics) string {
		if s.progress != nil {
			width = min(mostBar, of.AvailableWidth/8)
		}
		// The last column stays free, because some terminals wrap when it is written.
		return fit(s.line(), max(1, of.AvailableWidth-width-1))
	})
	shown := mpb.New(mpb.WithOutput(table.FileOf(s.env.Stderr)), mpb.WithRefreshRate(liveEvery))
	if bar, err := shown.Add(0, fill, mpb.BarFillerTrim(), mpb.AppendDecorators(text)); err == nil {
		s.env.bar.Store(shown)
		<-s.stop
		s.env.bar.Store(nil)
		bar.Abort(false)
	}
	shown.Wait()
}

// Close stops showing, and returns when the last line is written.
func (s *statusLine) Close() {
	close(s.stop)
	<-s.done
}
