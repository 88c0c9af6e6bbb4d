package provider_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/provider"
)

func TestAllowedHosts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orbench", "allowed-hosts")
	want := func(hosts ...string) {
		t.Helper()
		if got, err := provider.AllowedHosts(path); err != nil || !slices.Equal(got, hosts) {
			t.Errorf("%q, %v, want %q", got, err, hosts)
		}
	}
	want()
	for _, hosts := range [][]string{{"b.example", "a.example:8443"}, {"a.example:8443"}, {"c.example"}} {
		if err := provider.Allow(path, hosts); err != nil {
			t.Fatal(err)
		}
	}
	want("b.example", "a.example:8443", "c.example")
	if err := provider.Forget(path, []string{"a.example:8443", "none.example"}); err != nil {
		t.Fatal(err)
	}
	want("b.example", "c.example")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}

	// By hand, also with what is no host.
	if err := os.WriteFile(path, []byte("# mine\n\nHTTPS://D.example/v1\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want("d.example")
	if err := os.WriteFile(path, []byte("d.example\n*.example\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := provider.AllowedHosts(path); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "allowed-hosts:2: it is not a host") {
		t.Errorf("got %v", err)
	}
	if _, err := provider.AllowedHosts(""); err != nil {
		t.Error(err)
	}
}
