package experiment_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
