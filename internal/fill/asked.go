package fill

import (
	"net/http"
	"sync"

	"github.com/orbench/orbench/internal/pace"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/model"
)

// asked is what a lane knows of one of its models.
type asked struct {
	model.Ref
	// tariff is its price where it is priced.
	tariff price.Price
	priced bool
	// pacer is its own: a provider limits each of its models by itself.
	pacer *pace.Pacer

	mu sync.Mutex
	// answered is true when the model has given any response.
	answered bool
	// failedInRow counts calls given up since the last response.
	failedInRow int
	// refused is what the provider last found wrong with a request, and alike how many calls
	// in a row it said so of, in the same words.
	refused string
	alike   int
	// unread is why replies could not be read before there was any response, and unreadable how
	// many in a row were so.
	unread     string
	unreadable int
	// dead is why the model is asked no more.
	dead error
}

// about gives what the lane knows of a model of its provider and endpoint.
func (l *Lane) about(of model.Ref) *asked {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.models[of.Model]
	if a == nil {
		a = &asked{Ref: of}
		a.tariff, a.priced = l.filler.config.Prices.Price(of.Provider, of.Model)
		if l.shares != nil {
			a.pacer = l.shares.about(of).pacer
		} else {
			var k pace.Keeper
			if keep := l.filler.config.Keep; keep != nil {
				k = keep(of)
			}
			a.pacer = pace.New(l.filler.config.Backoff, k)
		}
		l.models[of.Model] = a
	}
	return a
}

// closed says why a model is asked no more, nil when it is: for itself, or since its
// provider limited the account.
func (l *Lane) closed(a *asked) error {
	l.filler.mu.Lock()
	_, limited := l.filler.limited[a.Provider]
	l.filler.mu.Unlock()
	if limited {
		a.giveUp(&GivenUpError{Provider: a.Provider, Model: a.Model, Err: &model.Error{Kind: model.Limited, Provider: a.Provider}})
	}
	return a.givenUp()
}

// givenUp says why a model was given up, nil when it was not.
func (a *asked) givenUp() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dead
}

// giveUp has a model be asked no more, for the first reason that is given.
func (a *asked) giveUp(why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dead == nil {
		a.dead = why
	}
}

// hasAnswered reports whether the model has given any response.
func (a *asked) hasAnswered() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.answered
}

// succeed notes a response.
func (a *asked) succeed() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answered, a.failedInRow = true, 0
}

// unreadAlike notes a reply that could not be read, and reports whether the first replies of the
// model are all so, in the same way.
func (a *asked) unreadAlike(failed *model.Error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answered || failed.Unread == "" || failed.Unread != a.unread {
		a.unread, a.unreadable = failed.Unread, 0
	}
	a.unreadable++
	return failed.Unread != "" && a.unreadable >= unreadableAlike
}

// fail notes a call that was given up, and gives the model up where going on is pointless.
func (a *asked) fail(failed *model.Error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	// A guard says it of single prompts.
	ofPrompt := failed.Status == http.StatusForbidden || failed.Kind == model.Invalid && reply.OfPolicy(failed.Message)
	if a.answered && ofPrompt {
		return
	}
	a.failedInRow++
	if said := failed.Message; failed.Kind != model.Invalid || ofPrompt || said == "" || said != a.refused {
		a.refused, a.alike = said, 0
	}
	a.alike++
	if a.dead != nil {
		return
	}
	gaveUp := &GivenUpError{Provider: a.Provider, Model: a.Model, Err: failed}
	switch {
	case failed.Fatal(), failed.Rejected(), failed.RetryAfter > pace.LongestWait, (failed.Unusable || unreachable(failed)) && !a.answered:
		a.dead = gaveUp
	case a.unreadable >= unreadableAlike && failed.Unread != "":
		gaveUp.InRow = a.unreadable
		a.dead = gaveUp
	case a.failedInRow >= giveUpAfter, failed.Kind == model.Invalid && failed.Status != 0 && a.alike >= refusedAlike && !a.answered:
		gaveUp.InRow = a.failedInRow
		a.dead = gaveUp
	}
}
