package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// Failure turns the error of a call that got no usable reply into what a model.Model
// returns: the error itself for a canceled context, otherwise a *model.Error. A redirect is
// NotFound, a reply past its bound and an address that is none are Invalid, and the rest is
// as model.FromTransport sorts it: Timeout or Transient. No secret is left in the error's
// text nor in that of any cause. Where no connection was made, the error says that nothing
// was sent.
func Failure(provider, name string, err error, secrets ...string) error {
	var redirect *redirectError
	var large TooLargeError
	switch {
	case errors.As(err, &redirect):
		return &model.Error{Kind: model.NotFound, Provider: provider, Model: name, Message: model.Clip(redirect.Error(), secrets...)}
	case errors.As(err, &large):
		return &model.Error{Kind: model.Invalid, Provider: provider, Model: name, Message: large.Error(), Err: large}
	}
	if address, ok := errors.AsType[*url.Error](err); ok && address.Op == "parse" {
		return &model.Error{Kind: model.Invalid, Provider: provider, Model: name, Message: model.Clip(err.Error(), secrets...), Unsent: true}
	}
	failure := model.FromTransport(provider, name, Redact(err, secrets...))
	if failed, ok := errors.AsType[*model.Error](failure); ok {
		failed.Unsent = unsent(err)
	}
	return failure
}

// unsent reports whether an error of a call means that no connection was made, so that
// nothing of the request left.
func unsent(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect")
}

// maxText is the longest text of an error that is kept as it is, in bytes. Some
// client libraries quote the whole body.
const maxText = 1000

// Redact returns err, or where its text holds one of the secrets, also in disguise, or
// the password of an address (that of a proxy, which net/http quotes), or is past a
// reader's patience, another error with the clipped text without them. Only the causes
// context.Canceled and context.DeadlineExceeded survive that.
func Redact(err error, secrets ...string) error {
	text := err.Error()
	holds := func(s string) bool { return s != "" && strings.Contains(text, s) }
	if len(text) <= maxText && !slices.ContainsFunc(secrets, holds) && model.NewSecrets(secrets...).Clean(untrusted.Addresses(text)) == text {
		return err
	}
	clean := model.Clip(text, secrets...)
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, cause) {
			return &redacted{clean, cause}
		}
	}
	return &redacted{clean, nil}
}

// redacted stands for an error whose text could not be kept.
type redacted struct {
	text  string
	cause error
}

func (e *redacted) Error() string { return e.text }
func (e *redacted) Unwrap() error { return e.cause }
