package command

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// statusLine is a line that shows how work progresses. It is redrawn on a terminal;
// elsewhere a plain line is printed every few seconds.
type statusLine struct {
	w    io.Writer
	live bool
	// line returns the parts of the text. It is called only when they are
	// shown.
	line func() []part
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
)

// newStatus makes a status. Its Run shows it until Close.
func newStatus(w io.Writer, line func() []part) *statusLine {
	s := &statusLine{w: w, live: table.IsTerminal(w), line: line, stop: make(chan struct{}), done: make(chan struct{})}
	if s.live {
		// The line is drawn with control characters, and its text is already clean.
		s.w = table.FileOf(w)
	}
	return s
}

// Run shows the status until Close.
func (s *statusLine) Run() {
	defer close(s.done)
	every := plainEvery
	if s.live {
		every = liveEvery
	}
	tick := time.NewTicker(cmp.Or(s.first, every))
	defer tick.Stop()
	shown := s.first == 0
	for {
		select {
		case <-tick.C:
			s.show()
			if !shown {
				shown = true
				tick.Reset(every)
			}
		case <-s.stop:
			if s.live && shown {
				s.show()
				fmt.Fprintln(s.w)
			}
			return
		}
	}
}

// Leave moves to the next line of a terminal, so that something else can be
// written.
func (s *statusLine) Leave() {
	if s.live {
		fmt.Fprintln(s.w)
	}
}

func (s *statusLine) show() {
	if s.live {
		// The last column stays free, because some terminals wrap when it is
		// written. The width is read each time, because people resize windows.
		fmt.Fprint(s.w, "\r\x1b[2K"+fit(s.line(), table.WidthOf(s.w, os.Getenv)-1))
		return
	}
	fmt.Fprintln(s.w, fit(s.line(), math.MaxInt))
}

// Close stops showing, and returns when the last line is written.
func (s *statusLine) Close() {
	close(s.stop)
	<-s.done
}
