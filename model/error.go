package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/untrusted"
)

// Kind sorts the failures of a call by what can be done about them.
type Kind string

// The kinds of failure.
const (
	// Invalid: the provider says that the request is wrong. Never retried.
	Invalid Kind = "invalid"
	// Denied: the key is missing, wrong or not allowed. Never retried.
	Denied Kind = "denied"
	// NotFound: no such model or route. Never retried.
	NotFound Kind = "not_found"
	// Quota: the account has run out of credit. Never retried.
	Quota Kind = "quota"
	// Limited: the provider limited, suspended or closed the account for what it was sent.
	// Never retried: a further call to the provider can make it worse.
	Limited Kind = "account_limited"
	// RateLimited: asked too fast. Retried after RetryAfter.
	RateLimited Kind = "rate_limited"
	// Transient: a server fault, a broken connection or a truncated body.
	// Retried.
	Transient Kind = "transient"
	// OtherWeights: the server has another model than when the measurement began. Never retried.
	OtherWeights Kind = "other_weights"
	// Timeout: no answer within the call's time. Retried.
	Timeout Kind = "timeout"
)

// Error is a call that gave no result.
type Error struct {
	Kind Kind
	// Provider and Model say whom the call was for.
	Provider, Model string
	// Status is the HTTP status, or 0.
	Status int
	// RetryAfter is how long the provider asked to wait, or 0.
	RetryAfter time.Duration
	// Allowance is what the provider said that it will take, nil where it did not.
	Allowance *Allowance
	// Message is the provider's own text, capped and without secrets.
	Message string
	// Err is the cause, if any. Its text may hold a URL but never a key.
	Err error
	// Unsent is true when it is known that the request did not reach the provider.
	Unsent bool
	// Unusable is true where no call to the address can succeed until somebody changes it, the
	// server or this machine, such as for a certificate. Message says what.
	Unusable bool
	// Unread says why a reply that came could not be read, without the reply; empty for others.
	Unread string
	// Used is what the provider reported for an answer that was refused here.
	Used Usage
}

// Error gives one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Provider != "" {
		b.WriteString(e.Provider)
		if e.Model != "" {
			b.WriteString("/" + e.Model)
		}
		b.WriteString(": ")
	}
	switch {
	case e.Unusable:
		b.WriteString("no usable connection")
	case e.Kind == Transient:
		b.WriteString("the call failed")
	default:
		b.WriteString(strings.ReplaceAll(string(e.Kind), "_", " "))
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	} else if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether another attempt may succeed.
func (e *Error) Retryable() bool {
	return e.Kind == RateLimited || e.Kind == Transient || e.Kind == Timeout
}

// Rejected reports whether the provider turned the call away since it has too many, for its
// limits or for its load (429, 503 and 529, which it has not begun): it is no attempt.
func (e *Error) Rejected() bool {
	return e.Kind == RateLimited || e.Kind == Transient && (e.Status == 503 || e.Status == 529)
}

// Fatal reports whether every further call of the same target will fail alike,
// so that going on would only repeat the error. After a 403 others may succeed: a guard in front
// of a model gives it for single prompts.
func (e *Error) Fatal() bool {
	return e.Kind == Denied && e.Status != http.StatusForbidden || e.Kind == NotFound || e.Kind == Quota || e.Kind == Limited
}

// MayCost bounds what the provider may charge for the failed call, out of the most that
// the call could have used, or what the provider reported where that is more. A call that reached the provider may have been answered, and
// charged in full, though the answer was lost, came too late or could not be read. Where
// the provider refused the call before the model ran, it charges nothing, and for a
// request that it found wrong its input at most (of those in use, Azure does:
// https://learn.microsoft.com/azure/ai-foundry/openai/how-to/manage-costs).
func (e *Error) MayCost(most Usage) Usage {
	switch {
	case e.Unsent:
		return Usage{}
	case e.Kind == Invalid && e.Status != 0:
		return Usage{Input: most.Input}
	case e.Fatal(), e.Kind == Denied, e.Rejected(), e.Status == 409, e.Status == 425: // busy with another, too early
		return Usage{}
	}
	most.Input, most.Output = max(most.Input, e.Used.Input), max(most.Output, e.Used.Output)
	return most
}

// FromTransport turns an error of a connection or a client library that is not
// a provider's reply into an *Error: a deadline is a Timeout, the rest is
// Transient. A canceled context is returned as it is.
func FromTransport(provider, name string, err error) error {
	if of := new(url.Error); errors.As(err, &of) && !errors.Is(err, context.Canceled) {
		err = of.Err // what was asked is known: the provider and its model
	}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Kind: Timeout, Provider: provider, Model: name, Err: err}
	}
	return &Error{Kind: Transient, Provider: provider, Model: name, Err: err}
}

// KindOfStatus sorts an HTTP status that is not a success.
func KindOfStatus(status int) Kind {
	switch {
	case status == 401 || status == 403:
		return Denied
	case status == 402:
		return Quota
	case status == 404:
		return NotFound
	case status == 408 || status == 504:
		return Timeout
	case status == 429:
		return RateLimited
	case status >= 500 || status == 409 || status == 425:
		return Transient
	}
	return Invalid
}

// maxMessage caps the provider's text that an error carries, in bytes, and mostClipped
// what of it is looked at.
const (
	maxMessage  = 400
	mostClipped = 64 << 10
)

// Clip makes a provider's text fit for an error: one line, at most 400 bytes,
// without control and formatting characters, without the passwords of addresses, and
// without the secrets given (each replaced by "[key]"), also in disguise; see Secrets.
func Clip(text string, secrets ...string) string {
	// A body of megabytes is not searched for what its beginning tells.
	text, _ = untrusted.Cut(text, mostClipped)
	text = untrusted.Terminal(text)
	for _, s := range secrets {
		switch {
		case len(s) >= leastFolded:
			text = strings.ReplaceAll(text, s, hiddenKey)
		case len(s) >= 4: // perhaps a word, and a part of others
			text = untrusted.Replace(text, s, hiddenKey)
		}
	}
	text = NewSecrets(secrets...).Clean(untrusted.Addresses(text))
	return untrusted.Excerpt(text, maxMessage)
}
