package wire_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/dialect/wire"
)

// TestEncodedReplies has a server compress what was asked for as it is.
func TestEncodedReplies(t *testing.T) {
	t.Parallel()
	compressed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		return b.String()
	}
	const reply = `{"ok": true}`
	for name, tt := range map[string]struct{ encoding, body, want, fault string }{
		"as it is":       {"", reply, reply, ""},
		"gzip":           {"gzip", compressed(reply), reply, ""},
		"gzip of 17 MB":  {"gzip", compressed(strings.Repeat("x", 17<<20)), "", "longer than"},
		"gzip cut short": {"gzip", compressed(reply)[:15], "", "unexpected EOF"},
		"no gzip":        {"gzip", reply, "", "gzip"},
		"an empty body":  {"gzip", "", "", ""},
		"another":        {"br", reply, "", `the encoding "br", which was not requested`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Accept-Encoding"); got != "identity" {
					t.Errorf("asked for the encoding %q", got)
				}
				if tt.encoding != "" {
					w.Header().Set("Content-Encoding", tt.encoding)
				}
				_, _ = w.Write([]byte(tt.body))
			}))
			defer server.Close()
			got, err := wire.Post(context.Background(), wire.Client(nil), server.URL, []byte("{}"))
			switch {
			case tt.fault == "" && (err != nil || string(got.Body) != tt.want):
				t.Errorf("%q, %v", got.Body, err)
			case tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)):
				t.Errorf("%v, want %q", err, tt.fault)
			}
		})
	}
}
