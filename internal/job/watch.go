package job

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

const (
	// unreadInRow is how many replies of a judge in a row may be unreadable while under a
	// tenth of all could be read.
	unreadInRow = 20
	// trustAfter is how many readable replies end the watch over a judge.
	trustAfter = 10_000
	// mostRefused is how many calls in a row are held back before a walk ends.
	mostRefused = 512
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

// Reply is a request of a judge with its response.
type Reply struct {
	Request  model.Request
	Response model.Response
}

// most is how many more calls can be made before the judge may have to be given up.
func (j *watched) most() int { return max(unreadInRow-j.inRow, 10*j.readable-j.replies+1) }

// walk begins a walk for the models that are served. lets reports whether a call may be made
// now. Each walk lets at least one
// new call of each judge through, since those before may all have failed.
func (w *Watch) walk(serves func(model.Ref) bool) (lets func(*Call) bool) {
	room := map[*watched]int{}
	w.held(serves)
	return func(c *Call) bool {
		if w == nil || !c.Role.Judges() {
			return true
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		of := RefOf(c.Request)
		i := slices.IndexFunc(w.all, func(j *watched) bool { return j.judge == c.Judge && j.Ref == of })
		if i < 0 {
			i, w.all = len(w.all), append(w.all, &watched{judge: c.Judge, Ref: of})
		}
		j := w.all[i]
		if j.dead != nil || j.readable >= trustAfter {
			return j.dead == nil
		}
		h := c.Request.Hash()
		if w.open[h] != nil {
			return true
		}
		if _, begun := room[j]; !begun {
			room[j] = max(1, j.most()-j.open)
		}
		if room[j] == 0 {
			j.held = true
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
			any = any || j.held && j.dead == nil
			j.held = false
		}
	}
	return any
}

// Read counts the replies of a judge about one answer. readable reports whether one could be
// read.
func (w *Watch) Read(replies []Reply, readable func(model.Request) bool) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.open) == 0 {
		return
	}
	for _, reply := range replies {
		h := reply.Request.Hash()
		j := w.open[h]
		if j == nil {
			continue
		}
		delete(w.open, h)
		j.open--
		j.replies++
		if readable(reply.Request) {
			j.readable, j.inRow = j.readable+1, 0
			continue
		}
		if j.inRow++; j.dead == nil && j.inRow >= unreadInRow && 10*j.readable < j.replies {
			why := &orbench.InputError{
				Problem: fmt.Sprintf("%d of its replies in a row hold no verdict of the judge %s, such as %q", j.inRow, j.judge, untrusted.Excerpt(reply.Response.Text, excerptWide)),
				Hint:    "ask a model that keeps to the form, or correct its server",
			}
			if reply.Response.Finish == model.Length {
				why.Hint = "the token limit cut it: raise `judge-max-tokens`"
			}
			j.dead = &fill.GivenUpError{Provider: j.Provider, Model: j.Model, Err: why}
		}
	}
}

// givenUp joins the errors of the judges that were given up.
func (w *Watch) givenUp() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var dead []error
	for _, j := range w.all {
		dead = append(dead, j.dead)
	}
	return errors.Join(dead...)
}
