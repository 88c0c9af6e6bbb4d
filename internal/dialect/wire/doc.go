// Package wire holds what every dialect does alike on its HTTP connection: a
// client tuned for many small calls that follows no redirects and caps replies
// (Client), one server asked in a dialect (Caller), the headers that say how long to wait (RetryAfter), and the errors
// of a call that got no usable reply (Failure), with the key taken out.
//
// It knows no provider's format; those live in the dialects.
package wire
