package experiment_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/experiment"
)

func TestSplitList(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a, b.csv")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ in, want []string }{
		"nothing":             {nil, nil},
		"empty":               {[]string{"", " , ,"}, nil},
		"one":                 {[]string{"a"}, []string{"a"}},
		"commas and repeats":  {[]string{"a, b,,c", "a"}, []string{"a", "b", "c", "a"}},
		"a file with a comma": {[]string{path, "b"}, []string{path, "b"}},
		"a replay of it":      {[]string{"replay:" + path}, []string{"replay:" + path}},
		"no such file":        {[]string{path + ",x"}, append(strings.SplitN(path, ", ", 2), "x")},
	} {
		if diff := cmp.Diff(tt.want, experiment.SplitList(tt.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestParseTemperature(t *testing.T) {
	t.Parallel()
	if v, err := experiment.ParseTemperature("default"); v != nil || err != nil {
		t.Errorf("default is %v, %v", v, err)
	}
	for text, want := range map[string]float64{"0": 0, "0.7": 0.7, "2": 2} {
		if v, err := experiment.ParseTemperature(text); err != nil || *v != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "-0.1", "2.1", "NaN", "Inf", "hot"} {
		if _, err := experiment.ParseTemperature(text); !errors.Is(err, orbench.ErrInput) {
			t.Errorf("%q: %v, want an input error", text, err)
		}
	}
}
