package table_test

import (
	"testing"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

func TestShortenTarget(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		n    int
		want string
	}{
		"sim/balanced":                    {20, "sim/balanced"},
		"sim/balanced [icl]":              {18, "sim/balanced [icl]"},
		"sim/balanced [purpose, icl]":     {24, "sim/…nced [purpose, icl]"},
		"vllm/meta-llama/Llama-3.1-8B":    {12, "vllm/m….1-8B"},
		"p/m [one, two, three, four]":     {20, "p/m [one, tw…, four]"},
		"p/a-long-name [temperature 0.7]": {28, "p/a-l…name [temperature 0.7]"},
		"p/m [x]":                         {5, "p/…x]"},
	} {
		got := table.ShortenTarget(name, tc.n)
		if untrusted.Width(got) > tc.n || got != tc.want {
			t.Errorf("%q in %d columns is %q (%d), want %q", name, tc.n, got, untrusted.Width(got), tc.want)
		}
	}
}
