package command

import (
	"sync/atomic"
	"time"

	"github.com/orbench/orbench/internal/table"
)

// walking is Env.Walking over total answers. It shows nothing during the first second.
func (e *Env) walking(total int) (walked func(int), end func()) {
	var done atomic.Int64
	shown := e.newStatus(func() []part {
		return []part{{0, "reading answers"}, {1, table.Count(int(done.Load())) + " of " + table.Count(total)}}
	}, func() (int, int) { return int(done.Load()), total })
	shown.first = time.Second
	go shown.Run()
	// A number that falls is that of the next run.
	before, last := 0, 0
	return func(answers int) {
		if answers < last {
			before += last
		}
		last = answers
		done.Store(int64(before + answers))
	}, shown.Close
}
