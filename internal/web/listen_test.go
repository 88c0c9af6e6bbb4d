package web

import (
	"net"
	"testing"
)

// TestListen checks that what is printed can be opened, and that an IPv4 address is one.
func TestListen(t *testing.T) {
	t.Parallel()
	for addr, v6 := range map[string]bool{"0.0.0.0:0": false, "127.0.0.1:0": false, ":0": true} {
		listener, reached, err := Listen(addr)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		if conn, err := net.Dial("tcp", reached); err != nil {
			t.Errorf("%s: %v", addr, err)
		} else {
			conn.Close()
		}
		host, port, err := net.SplitHostPort(reached)
		if err != nil || host != "127.0.0.1" {
			t.Errorf("%s is reached at %s, %v", addr, reached, err)
		}
		if conn, err := net.Dial("tcp6", net.JoinHostPort("::1", port)); err == nil {
			conn.Close()
			if !v6 {
				t.Errorf("%s takes IPv6 too", addr)
			}
		}
	}
}
