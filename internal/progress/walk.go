package progress

import (
	"io"
	"sync/atomic"
	"time"

	"github.com/orbench/orbench/internal/table"
)

// Walk shows the progress of a walk over stored answers. It shows nothing
// during the first second.
type Walk struct {
	*Status
	walked atomic.Int64
}

// NewWalk makes the status line of a walk over total answers. Its Run shows it
// until Close.
func NewWalk(w io.Writer, total int) *Walk {
	p := &Walk{}
	p.Status = newStatus(w, func() []part {
		return []part{{0, "reading answers"}, {1, table.Count(int(p.walked.Load())) + " of " + table.Count(total)}}
	})
	p.first = time.Second
	return p
}

// Walked sets how many answers have been read so far.
func (p *Walk) Walked(answers int) { p.walked.Store(int64(answers)) }
