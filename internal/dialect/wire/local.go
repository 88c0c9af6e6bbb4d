package wire

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// named are the hosts beside this machine to which the process may connect; nil for any.
var named atomic.Pointer[[]string]

// StayLocal has the process connect to loopback addresses and to the named hosts alone, from
// now on and whoever asks for a connection: a Client without a base, or what uses
// http.DefaultTransport. Proxies are not used. It cannot be undone.
func StayLocal(hosts []string) {
	named.Store(new(slices.Clone(hosts)))
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t.DialContext, t.Proxy = dial, nil
	}
}

// NotLocalError is a connection that StayLocal forbids.
type NotLocalError struct{ Host string }

func (e *NotLocalError) Error() string {
	return fmt.Sprintf("%s is not this machine, and the command connects to no other machine", e.Host)
}

// MayConnect returns a *NotLocalError if StayLocal forbids connections to the host of an
// address. A host that only a resolver knows to be this machine is forbidden too, unless it
// is named.
func MayConnect(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); allowed(host) || strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback() {
		return nil
	}
	return &NotLocalError{host}
}

// allowed reports whether StayLocal was not called, or names a host.
func allowed(host string) bool {
	hosts := named.Load()
	return hosts == nil || slices.ContainsFunc(*hosts, func(name string) bool { return strings.EqualFold(name, host) })
}

// dial makes every connection of a Client without a base. It sees the address that a name
// was resolved to.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	if host, _, err := net.SplitHostPort(address); err != nil || !allowed(host) {
		d.Control = func(_, to string, _ syscall.RawConn) error {
			host, _, err := net.SplitHostPort(to)
			if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
				return &NotLocalError{to}
			}
			return nil
		}
	}
	return d.DialContext(ctx, network, address)
}

// proxy is the proxy of a request: none if StayLocal was called, since a proxy on this
// machine may lead anywhere.
func proxy(r *http.Request) (*url.URL, error) {
	if named.Load() != nil {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}
