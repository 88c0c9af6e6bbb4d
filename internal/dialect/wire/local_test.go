package wire_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/dialect/wire"
)

// TestStayLocal runs in a process of its own, since what it does cannot be undone.
func TestStayLocal(t *testing.T) {
	if os.Getenv("STAY_LOCAL") == "" {
		c := exec.Command(os.Args[0], "-test.run=^TestStayLocal$", "-test.v")
		c.Env = append(os.Environ(), "STAY_LOCAL=1", "HTTP_PROXY=http://127.0.0.1:1", "http_proxy=http://127.0.0.1:1")
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestStayLocal") {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	for _, address := range []string{"https://api.example.com/v1", "http://192.0.2.1/"} {
		if err := wire.MayConnect(address); err != nil {
			t.Errorf("%s is forbidden before: %v", address, err)
		}
	}
	wire.StayLocal([]string{"Guard.example"})
	for address, may := range map[string]bool{
		"https://api.example.com/v1": false, "http://192.0.2.1/": false, "http://localhost.example.com/": false, "http://127.0.0.1@example.com/": false,
		"http://10.0.0.1:8080": false, "http://[::ffff:192.0.2.1]/": false, "http://0.0.0.0/": false,
		"http://localhost:11434/v1": true, "http://127.0.0.2:1": true, "http://[::1]:80/": true, "https://guard.example:8443/v1": true,
	} {
		if err := wire.MayConnect(address); (err == nil) != may {
			t.Errorf("%s: %v", address, err)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	own := wire.Client(nil)
	for name, c := range map[string]*http.Client{"a client": own, "the default client": http.DefaultClient} {
		r, err := c.Get(server.URL)
		if err != nil {
			t.Fatalf("%s: this machine: %v", name, err)
		}
		r.Body.Close()
		var refused *wire.NotLocalError
		for _, address := range []string{"http://192.0.2.1/", "http://[2001:db8::1]/"} {
			if r, err := c.Get(address); !errors.As(err, &refused) {
				t.Errorf("%s: %s: %v, %v", name, address, r, err)
			}
		}
		// A host that is named is looked up, which takes no connection here.
		ended, end := context.WithCancel(t.Context())
		end()
		request, err := http.NewRequestWithContext(ended, http.MethodGet, "http://guard.example/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := c.Do(request); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}
