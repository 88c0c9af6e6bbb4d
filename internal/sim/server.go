package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/orbench/orbench"
)

// Server is a Handler that listens. Close it when done.
type Server struct {
	*Handler
	addr  string
	close func() error // closes once
}

// grace is how long closing waits for connections to fall idle. Handlers need
// microseconds once their context has ended; the rest is for connections that a
// client opened and never used, which net/http counts as busy.
const grace = 250 * time.Millisecond

// Serve listens on addr, "HOST:PORT", and answers in the background until ctx is
// done or Close is called. Without a host it listens on 127.0.0.1, and with port
// 0 on any free one.
//
// It is an *orbench.InputError when addr cannot be used, or is no loopback
// address and cfg.Remote is not set: simulated models ask for no key.
func Serve(ctx context.Context, addr string, cfg ServerConfig) (*Server, error) {
	addr, err := loopback(addr, cfg.Remote)
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
	requests, abort := context.WithCancel(context.WithoutCancel(ctx))
	s := &Server{Handler: NewHandler(cfg), addr: listener.Addr().String()}
	server := &http.Server{
		Handler:           s.Handler,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: time.Minute,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// It ends by Close alone, since the listener has no other way to fail for
		// good; what Close reports is enough.
		_ = server.Serve(listener)
	}()
	s.close = sync.OnceValue(func() error {
		abort()
		waiting, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		err := server.Shutdown(waiting)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close()
		}
		<-ended
		return err
	})
	context.AfterFunc(ctx, func() { _ = s.close() })
	return s, nil
}

// BaseURL is what a client of the OpenAI dialect takes as its base URL.
func (s *Server) BaseURL() string { return "http://" + s.addr + "/v1" }

// Close stops the server and waits until it has: requests that are being
// answered slowly are cut off, all others finish. More calls give the first
// one's result.
func (s *Server) Close() error { return s.close() }

// loopback checks an address to listen on, and gives it a host if it has none.
func loopback(addr string, remote bool) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", &orbench.InputError{
			Problem: fmt.Sprintf("the address %q is not HOST:PORT", addr),
			Hint:    "write for example 127.0.0.1:8080", Err: err,
		}
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); !remote && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", &orbench.InputError{
			Problem: fmt.Sprintf("%s is not a loopback address", addr),
			Hint:    "listen on 127.0.0.1, or allow remote clients on purpose; the server asks for no key",
		}
	}
	return net.JoinHostPort(host, port), nil
}
