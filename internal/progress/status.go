package progress

import (
	"fmt"
	"io"
	"time"

	"github.com/orbench/orbench/internal/terminal"
)

// Status is a line that tells how work goes: drawn again and again on a terminal,
// a plain line every few seconds elsewhere.
type Status struct {
	w    io.Writer
	live bool
	// line gives the text, which is made only when it is shown.
	line       func() string
	stop, done chan struct{}
}

const (
	liveEvery  = 200 * time.Millisecond
	plainEvery = 5 * time.Second
)

// newStatus makes a status. Its Run shows it until Close.
func newStatus(w io.Writer, line func() string) *Status {
	return &Status{w: w, live: terminal.Is(w), line: line, stop: make(chan struct{}), done: make(chan struct{})}
}

// Run shows the status until Close.
func (s *Status) Run() {
	defer close(s.done)
	every := plainEvery
	if s.live {
		every = liveEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.show()
		case <-s.stop:
			if s.live {
				s.show()
				fmt.Fprintln(s.w)
			}
			return
		}
	}
}

// Leave goes to the next line of a terminal, so that something else can be written.
func (s *Status) Leave() {
	if s.live {
		fmt.Fprintln(s.w)
	}
}

func (s *Status) show() {
	if s.live {
		fmt.Fprint(s.w, "\r\x1b[2K"+s.line())
		return
	}
	fmt.Fprintln(s.w, s.line())
}

// Close stops showing, and returns when the last line is written.
func (s *Status) Close() {
	close(s.stop)
	<-s.done
}
