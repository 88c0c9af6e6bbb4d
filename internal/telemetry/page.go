package telemetry

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// Page is an HTTP server of metrics: /metrics for Prometheus, and /healthz, which says
// whether all is well.
type Page struct {
	server *http.Server
	// Address is where it listens, HOST:PORT.
	Address string
	ended   chan error
}

// Serve serves the metrics at HOST:PORT, where Options.Page asks for them. healthy says why the
// program cannot do its work now, nil where it can. The error is that of listening.
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
			_, _ = io.WriteString(w, t.Clean(err.Error())+"\n") // whoever asked may have gone
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

// Close ends the server. The error is what it ended with before.
func (p *Page) Close() error {
	closed := p.server.Close()
	if err := <-p.ended; !errors.Is(err, http.ErrServerClosed) {
		return errors.Join(closed, err)
	}
	return closed
}
