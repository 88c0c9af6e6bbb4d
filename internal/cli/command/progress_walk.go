package command

import (
	"io"
	"sync/atomic"
	"time"

	"github.com/orbench/orbench/internal/table"
)

// walkProgress shows the progress of a walk over stored answers. It shows nothing
// during the first second.
type walkProgress struct {
	*statusLine
	walked atomic.Int64
}

// newWalkProgress makes the status line of a walk over total answers. Its Run shows it
// until Close.
func newWalkProgress(w io.Writer, total int) *walkProgress {
	p := &walkProgress{}
	p.statusLine = newStatus(w, func() []part {
		return []part{{0, "reading answers"}, {1, table.Count(int(p.walked.Load())) + " of " + table.Count(total)}}
	})
	p.first = time.Second
	return p
}

// Walked sets how many answers have been read so far.
func (p *walkProgress) Walked(answers int) { p.walked.Store(int64(answers)) }
