package batch

import (
	"context"
	"io"
	"iter"
	"time"
)

// Service is the batch service of a provider, for one account. Its errors are
// *model.Error. It is safe for concurrent use.
type Service interface {
	// Limits bound one batch.
	Limits() Limits
	// Line writes a call as a line of what is sent, without a line break. The body is that
	// of a live call.
	Line(id string, body []byte) []byte
	// Upload hands over the lines, which are so many bytes, where the service wants them as
	// a file, and gives its name there. It is empty where Create takes them.
	Upload(ctx context.Context, j Job, lines io.Reader, size int64) (file string, err error)
	// Create starts a batch. It is not to be done again before Find has not found it.
	Create(ctx context.Context, j Job, lines io.Reader, size int64) (Remote, error)
	// Find looks for a batch that Create has started, or may have.
	Find(ctx context.Context, j Job) (found Remote, ok bool, err error)
	// Get tells how far a batch is.
	Get(ctx context.Context, id string) (Remote, error)
	// Cancel calls a batch off. What it has answered by then is there when it has ended.
	Cancel(ctx context.Context, id string) error
	// Results streams what became of the calls of a batch that has ended, in any order and
	// perhaps not of all. A *LineError tells of a line that is none, and others follow it.
	Results(ctx context.Context, r Remote) iter.Seq2[Result, error]
}

// Limits bound one batch.
type Limits struct {
	Calls int
	Bytes int64
}

// Job is a batch as it is started.
type Job struct {
	// ID is our own name of it, Model whom it asks and Calls how many calls it has.
	ID    string
	Model string
	Calls int
	// File is what Upload gave.
	File string
	// Tried is when Create was tried first.
	Tried time.Time
	// Known reports whether a batch of the account is another one of ours, and Has whether
	// a call is one of this batch. They are for services that keep no name of ours.
	Known func(id string) bool
	Has   func(id string) bool
}

// Remote is a batch as its provider tells of it.
type Remote struct {
	ID string
	// Word is the provider's own for how far it is.
	Word string
	// Ended is true when nothing more becomes of it.
	Ended bool
	// Answered and Failed count its calls so far, as far as the provider tells.
	Answered, Failed int
	Created, Expires time.Time
	// Refused says why no call of it was made, empty where some may have been. Again is
	// true where that passes with time, as a queue that is full does.
	Refused string
	Again   bool
	// Files are where its results lie.
	Files []string
}
