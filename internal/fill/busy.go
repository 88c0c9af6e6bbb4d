package fill

import (
	"sync"

	"github.com/orbench/orbench/model"
)

// busy holds the calls that are being looked up, wait or are in flight, each with a
// channel that is closed when it is no longer, nil where nobody waits for that. A claim
// keeps other processes from making a call; busy keeps this one from making it twice.
type busy struct {
	mu    sync.Mutex
	calls map[model.Hash]chan struct{}
}

// enter marks a call as busy. Where it is so already it gives the channel to wait for.
func (b *busy) enter(h model.Hash) (left <-chan struct{}, entered bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	waited, is := b.calls[h]
	switch {
	case !is:
		b.calls[h] = nil
		return nil, true
	case waited == nil:
		waited = make(chan struct{})
		b.calls[h] = waited
	}
	return waited, false
}

// leave ends what enter began.
func (b *busy) leave(h model.Hash) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if waited := b.calls[h]; waited != nil {
		close(waited)
	}
	delete(b.calls, h)
}
