package model

import "context"

// attemptKey is the context key of the number of an attempt at a request.
type attemptKey struct{}

// WithAttempt gives the context for the n-th attempt at a request: that of the first is as
// it was.
func WithAttempt(ctx context.Context, n int) context.Context {
	if n <= 1 {
		return ctx
	}
	return context.WithValue(ctx, attemptKey{}, n)
}

// Attempt is the number of an attempt, from 1, for whoever tells how calls go.
func Attempt(ctx context.Context) int {
	if n, ok := ctx.Value(attemptKey{}).(int); ok {
		return n
	}
	return 1
}
