package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// Failure turns the error of a call that got no usable reply into what a model.Model
// returns: the error itself for a canceled context, otherwise a *model.Error. A redirect is
// NotFound, a reply past its bound and an address that is none are Invalid, and the rest is
// as model.FromTransport sorts it: Timeout or Transient, with what is wrong where no call to the
// address can succeed. No secret is left in the error's
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
		// Without a connection nothing of the request left.
		op, ok := errors.AsType[*net.OpError](err)
		failed.Unsent = ok && (op.Op == "dial" || op.Op == "proxyconnect")
		if why, sent := unusable(err); why != "" {
			failed.Message, failed.Unusable, failed.Unsent = model.Clip(why, secrets...), true, failed.Unsent || !sent
		}
	}
	return failure
}

// unusable says why no call to an address can succeed, and what to do, empty where one may; sent is
// true where the server may have read the request. Most of the causes have no type of their own.
func unusable(err error) (why string, sent bool) {
	text := err.Error()
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	if name, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Sprintf("the certificate is for another host: it is not for %s; correct the address", name.Host), false
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "the certificate is not valid now: look at the clock of this machine, or renew the server's certificate", false
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "the certificate is of an unknown authority: name a file with the authority's in SSL_CERT_FILE, or correct the address", false
	}
	if verification, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "the certificate is not accepted: " + verification.Err.Error(), false
	}
	if refused, ok := errors.AsType[*proxyError](err); ok && refused.status/100 == 4 {
		return refused.Error() + ": correct HTTPS_PROXY, which may have USER:PASSWORD@ before the host", false
	}
	if away, ok := errors.AsType[*NotLocalError](err); ok {
		return away.Error(), false
	}
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case noTLS, errors.Is(err, http.ErrSchemeMismatch):
		return "the server does not speak TLS: give the address with http://", false
	case says("tls: protocol version not supported", "tls: server selected unsupported protocol version"):
		return "the server's version of TLS is too old: it must speak TLS 1.2 or newer", false
	case says("tls: handshake failure", "tls: unrecognized name", "tls: insufficient security level", "tls: certificate required", "tls: bad certificate", "tls: unknown certificate authority", "tls: access denied"):
		return "the server refuses the TLS connection: " + text[strings.LastIndex(text, "tls: ")+len("tls: "):], false
	case says(`malformed HTTP response "\x15\x03`):
		return "the server speaks TLS: give the address with https://", false
	case says("malformed HTTP"):
		return "what answers is no HTTP server: correct the address", true
	case says("unsupported protocol scheme"):
		return "the address must begin with https:// or http://", false
	}
	return "", false
}

// proxyError is the answer of a proxy that makes no connection.
type proxyError struct{ status int }

func (e *proxyError) Error() string {
	return fmt.Sprintf("the proxy makes no connection (HTTP %d)", e.status)
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
