package cli

import (
	"fmt"
	"io"
	"time"
)

// status is a line that tells how work goes: drawn again and again on a terminal,
// a plain line every few seconds elsewhere. It is not part of any result.
type status struct {
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

// newStatus makes a status. Its run shows it until close.
func newStatus(w io.Writer, line func() string) *status {
	return &status{w: w, live: terminal(w), line: line, stop: make(chan struct{}), done: make(chan struct{})}
}

// run shows the status until close.
func (s *status) run() {
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

func (s *status) show() {
	if s.live {
		fmt.Fprint(s.w, "\r\x1b[2K"+s.line())
		return
	}
	fmt.Fprintln(s.w, s.line())
}

// close stops showing.
func (s *status) close() {
	close(s.stop)
	<-s.done
}
