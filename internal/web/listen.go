package web

import (
	"errors"
	"net"
)

// Listen listens on an address, and gives one that a browser on this machine can open.
// An IPv4 address is not listened on by IPv6 too, as Go does for 0.0.0.0.
func Listen(addr string) (listener net.Listener, reached string, err error) {
	network := "tcp"
	host, _, _ := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	if ip.To4() != nil {
		network = "tcp4"
	}
	if listener, err = net.Listen(network, addr); err != nil {
		return nil, "", err
	}
	reached = listener.Addr().String()
	if host == "" || ip != nil && ip.IsUnspecified() {
		_, port, err := net.SplitHostPort(reached)
		if err != nil {
			return nil, "", errors.Join(err, listener.Close())
		}
		reached = net.JoinHostPort("127.0.0.1", port)
	}
	return listener, reached, nil
}
