package telemetry

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// Page is an HTTP server with two pages: /metrics for Prometheus, and /healthz,
// which reports whether the program can do its work.
type Page struct {
	server *http.Server
	// Address is the HOST:PORT on which the server listens.
	Address string
	ended   chan error
}

// Serve serves the metrics on HOST:PORT if Options.Page is set. healthy returns
// why the program cannot do its work now, or nil if it can. Serve returns an
// error if it cannot listen.
func (t *Telemetry) Serve(address string, healthy func(context.Context) error) (*Page, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", t.page)
	routes.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), lookTime)
		defer cancel()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if err := healthy(ctx); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, t.Clean(err.Error())+"\n") // the client may be gone
			return
		}
		_, _ = io.WriteString(w, "ok\n")
	})
	p := &Page{
		server:  &http.Server{Handler: routes, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute},
		Address: listener.Addr().String(), ended: make(chan error, 1),
	}
	go func() { p.ended <- p.server.Serve(listener) }()
	return p, nil
}

// Close stops the server. It returns the error with which the server had
// already stopped, if any.
func (p *Page) Close() error {
	closed := p.server.Close()
	if err := <-p.ended; !errors.Is(err, http.ErrServerClosed) {
		return errors.Join(closed, err)
	}
	return closed
}
