package pace

import (
	"time"

	"github.com/orbench/orbench/model"
)

// Pass lets a call go. Its end is told by an event.
type Pass struct {
	epoch int
	// at is when it was sent, and number which of this process's calls it is.
	at     time.Time
	number uint64
	// tries is true for a call that tries whether a closed provider takes calls again.
	tries bool
}

// event is what became of a call at a time.
type event struct {
	Pass
	when time.Time
	end  end
	// said is what the provider said that it will take, nil for nothing.
	said *model.Allowance
	// before is how many calls of its epoch that were sent before an accepted one were rejected
	// and are not counted yet; tokens are what it used. retryAfter is how long the provider
	// asks to wait after a rejected one, 0 where it does not say.
	before     int
	tokens     int
	retryAfter time.Duration
}

// end is how a call ended.
type end int

const (
	// dropped calls were not sent, or came back with neither an answer nor a reject, or were
	// rejected since too many were under way.
	dropped end = iota
	accepted
	rejected
	// closing is a reject among calls that were nearly all rejected.
	closing
)
