package fill

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// Reason is why calls of a model failed.
type Reason struct {
	Of   model.Ref
	Kind model.Kind
	// Status is the HTTP status, or 0.
	Status int
	// Unreachable is true where no connection was made.
	Unreachable bool
	// Unusable is that of the model.Error, and Unread is true where a reply could not be read.
	Unusable, Unread bool
	// Text says it in a few words: those of the first such failure.
	Text string
	// Calls is how many failed so.
	Calls int
}

// Lasting reports whether the same calls fail again until something is changed.
func (r Reason) Lasting() bool {
	e := model.Error{Kind: r.Kind}
	return r.Unusable || e.Fatal() || r.Kind == model.Invalid || r.Kind == model.OtherWeights || r.Status == 0 && WebPage(r.Text)
}

// Hangup is the text of a Reason where the server ended the connection before it had answered.
const Hangup = "the server closed the connection"

// alike reports whether both are the same reason.
func (r Reason) alike(o Reason) bool {
	r.Text, r.Calls = o.Text, o.Calls
	return r == o
}

// reasonOf is the reason of a failure whose attempts had so much time.
func reasonOf(of model.Ref, failed *model.Error, limit time.Duration) Reason {
	r := Reason{Of: of, Kind: failed.Kind, Status: failed.Status, Unreachable: unreachable(failed), Unusable: failed.Unusable, Unread: failed.Unread != "", Calls: 1}
	bare := *failed
	bare.Provider, bare.Model, bare.Kind, bare.Status, bare.Unusable = "", "", "", 0, false
	said := strings.TrimPrefix(bare.Error(), ": ")
	switch {
	case r.Unreachable && strings.Contains(said, "proxyconnect"):
		r.Text = "no connection to the proxy"
	case r.Unreachable:
		r.Text = "no connection"
	case errors.Is(failed, io.EOF), errors.Is(failed, io.ErrUnexpectedEOF), errors.Is(failed, syscall.ECONNRESET):
		r.Text = Hangup
	case failed.Status != 0:
		r.Text = strings.TrimSuffix(fmt.Sprintf("HTTP %d: %s", failed.Status, said), ": ")
	case failed.Kind == model.Timeout:
		r.Text = "timeout after " + strings.TrimSuffix(limit.String(), "m0s")
		if limit%time.Minute == 0 {
			r.Text += "m"
		}
	default:
		r.Text = cmp.Or(said, strings.ReplaceAll(string(failed.Kind), "_", " "))
	}
	return r
}

// counted adds a reason to others, of which the most frequent stands first.
func counted(all []Reason, r Reason) []Reason {
	calls := r.Calls
	r.Calls = 0
	table.Entry(&all, r, r.alike).Calls += calls
	slices.SortFunc(all, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Of.String(), b.Of.String()), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Status, b.Status))
	})
	return all
}
