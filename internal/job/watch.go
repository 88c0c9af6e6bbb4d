package job

import (
	"errors"
	"fmt"
	"sync"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

const (
	// unreadInRow is how many replies of a judge in a row may be unreadable while under a
	// tenth of all could be read.
	unreadInRow = 20
	// trustAfter is how many readable replies end the watch over a judge.
	trustAfter = 10_000
	// excerptWide is for an unreadable reply, in columns.
	excerptWide = 80
)

// Watch gives up judges whose replies cannot be read. It lets only so many calls of a judge
// through at once as its replies so far allow. Replies of earlier commands do not count: the
// judge may have been corrected. A nil Watch watches nothing.
type Watch struct {
	mu   sync.Mutex
	open map[model.Hash]*watched // calls that were let through and are not counted yet
	all  []*watched
}

// watched is what a Watch knows of one model as one judge.
type watched struct {
	judge string
	model.Ref
	// replies were counted, of which so many could be read. inRow are the unreadable ones
	// since the last of these.
	replies, readable, inRow, open int
	// held is true if the last walk held calls back.
	held bool
	dead error
}

// Reply is a request of a judge with its response. Unread says that it could not be read.
type Reply struct {
	Request  model.Request
	Response model.Response
	Unread   bool
}

// walk begins a walk for the models that are served. lets reports whether a call may be made
// now. Each walk lets at least one new call of each judge through, since those before may all
// have failed.
func (w *Watch) walk(serves func(model.Ref) bool) (lets func(*Call) bool) {
	if w == nil {
		return func(*Call) bool { return true }
	}
	room := map[*watched]int{}
	w.held(serves)
	return func(c *Call) bool {
		if !c.Role.Judges() {
			return true
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		h, of := c.Hash, RefOf(c.Request)
		j := *table.Entry(&w.all, &watched{judge: c.Judge, Ref: of}, func(j *watched) bool { return j.judge == c.Judge && j.Ref == of })
		if j.dead != nil || j.readable >= trustAfter || w.open[h] != nil {
			return j.dead == nil
		}
		if _, begun := room[j]; !begun {
			// After so many more it may have to be given up.
			room[j] = max(1, max(unreadInRow-j.inRow, 10*j.readable-j.replies+1)-j.open)
		}
		if j.held = room[j] == 0; j.held {
			return false
		}
		room[j]--
		j.open++
		w.open[h] = j
		return true
	}
}

// held reports, once, whether the last walk for the models that are served held calls back.
func (w *Watch) held(serves func(model.Ref) bool) (any bool) {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range w.all {
		if serves(j.Ref) {
			any, j.held = any || j.held && j.dead == nil, false
		}
	}
	return any
}

// Read counts the replies of a judge about one answer.
func (w *Watch) Read(replies []Reply) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := 0; i < len(replies) && len(w.open) > 0; i++ {
		h, said := replies[i].Request.Hash(), replies[i].Response
		j := w.open[h]
		if j == nil {
			continue
		}
		delete(w.open, h)
		j.open--
		j.replies++
		if !replies[i].Unread {
			j.readable, j.inRow = j.readable+1, 0
		} else if j.inRow++; j.dead == nil && j.inRow >= unreadInRow && 10*j.readable < j.replies {
			hint := "ask a model that keeps to the form, or correct its server"
			if said.Finish == model.Length {
				hint = "the token limit cut it: raise `judge-max-tokens`"
			}
			problem := fmt.Sprintf("%d of its replies in a row hold no verdict of the judge %s, such as %q", j.inRow, j.judge, untrusted.Excerpt(said.Text, excerptWide))
			j.dead = &fill.GivenUpError{Provider: j.Provider, Model: j.Model, Err: &orbench.InputError{Problem: problem, Hint: hint}}
		}
	}
}

// givenUp joins the errors of the judges that were given up.
func (w *Watch) givenUp() (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range w.all {
		err = errors.Join(err, j.dead)
	}
	return err
}
