package sim

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/orbench/orbench"
)

// Server is a Handler that listens. Close it when done.
type Server struct {
	*Handler
	addr   string
	server *http.Server
}

// Serve listens on addr, "HOST:PORT", and answers in the background until ctx is
// done or Close is called. Without a host it listens on 127.0.0.1, and with port
// 0 on any free one.
//
// It is an *orbench.InputError when addr cannot be used or is no loopback address:
// simulated models ask for no key.
func Serve(ctx context.Context, addr string, seed int64, faults Faults) (*Server, error) {
	addr, err := loopback(addr)
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, &orbench.InputError{
			Problem: fmt.Sprintf("the simulated server cannot listen on %s: %v", addr, err),
			Hint:    "choose another port, or port 0 for any free one", Err: err,
		}
	}
	h := NewHandler(seed, faults)
	s := &Server{h, listener.Addr().String(), &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}}
	go s.server.Serve(listener) //nolint:errcheck // it ends by Close alone
	context.AfterFunc(ctx, func() { _ = s.Close() })
	return s, nil
}

// BaseURL is what a client of the OpenAI dialect takes as its base URL.
func (s *Server) BaseURL() string { return "http://" + s.addr + "/v1" }

// Close stops the server, and cuts off the requests that are being answered.
func (s *Server) Close() error { return s.server.Close() }

// loopback checks an address to listen on, and gives it a host if it has none.
func loopback(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err == nil && host == "" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); err != nil || host != "localhost" && !ip.IsLoopback() {
		return "", &orbench.InputError{
			Problem: fmt.Sprintf("the address %q is no HOST:PORT on loopback", addr),
			Hint:    "write for example 127.0.0.1:8080; the server asks for no key", Err: err,
		}
	}
	return net.JoinHostPort(host, port), nil
}
