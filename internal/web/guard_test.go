package web

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// oneConn is a listener with one connection.
type oneConn struct {
	conns chan net.Conn
}

func (l oneConn) Accept() (net.Conn, error) {
	if c, ok := <-l.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (l oneConn) Close() error   { return nil }
func (l oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// TestSlowReader checks that a reader that takes nothing is cut off after a minute, and one
// that takes a chunk in half of one gets all, however long that takes.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 20*writeChunk)
	for name, test := range map[string]struct {
		pause time.Duration
		want  error
	}{"takes nothing": {time.Hour, os.ErrDeadlineExceeded}, "moves": {writeTimeout / 2, nil}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Server{Config: Config{Hosts: []string{"h"}}, close: func() {}}
				began, ended := time.Now(), make(chan error, 1)
				s.Handler = s.guarded(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					_, err := io.WriteString(w, text)
					ended <- err
				}))
				theirs, ours := net.Pipe()
				at := oneConn{make(chan net.Conn, 1)}
				at.conns <- ours
				server := s.HTTP()
				go server.Serve(at)
				if _, err := io.WriteString(theirs, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				go func() {
					for r := bufio.NewReaderSize(theirs, writeChunk); ; {
						select {
						case <-time.After(test.pause):
						case <-t.Context().Done():
							return
						}
						if _, err := io.CopyN(io.Discard, r, writeChunk); err != nil {
							return
						}
					}
				}()
				err, took := <-ended, time.Since(began)
				if !errors.Is(err, test.want) {
					t.Errorf("writing ended with %v, want %v", err, test.want)
				}
				if test.want != nil && took > 2*writeTimeout || test.want == nil && took < 5*writeTimeout {
					t.Errorf("it took %v", took)
				}
				theirs.Close()
				close(at.conns)
				server.Close()
			})
		})
	}
}
