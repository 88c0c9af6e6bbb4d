package provider

import (
	"context"
	"net"
	"net/url"
	"time"
)

// Listening says, for people, whether a server listens at the endpoint's address, and reports it. It
// waits a second at most, and asks nothing.
func (e Endpoint) Listening(ctx context.Context) (state string, ok bool) {
	u, err := url.Parse(e.BaseURL)
	if err != nil {
		return "the address is malformed", false
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	d := net.Dialer{Timeout: time.Second}
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return "no server at " + u.Host, false
	}
	conn.Close()
	return "a server listens at " + u.Host, true
}
