package measurement

import (
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/cli/command"
)

// TestEveryFlagBesideAFile has a decision for each flag of eval: it says what the
// file of --config says, and then is refused beside it, or it does not.
func TestEveryFlagBesideAFile(t *testing.T) {
	t.Parallel()
	beside := []string{
		"config", "name", "limit", "sample", "sample-seed", "until", "replace", "explain", "shard", "store", "out", "format", "full", "most-unjudged", "base-url", "allow-host", "providers", "prices",
		"concurrency", "rpm", "tpm", "timeout", "workers", "attempts", "max-cost", "max-requests", "max-total-tokens", "dry-run", "no-probes", "quiet", "ask-batched", "save-only",
	}
	known := append(slices.Clone(inConfig), beside...)
	a := app{&command.Env{Getenv: func(string) string { return "" }}}
	flags := a.evalCommand().Flags()
	for _, name := range known {
		if flags.Lookup(name) == nil {
			t.Errorf("eval has no --%s", name)
		}
	}
	for line := range strings.Lines(flags.FlagUsages()) {
		flag, ok := strings.CutPrefix(strings.TrimSpace(line), "--")
		if name, _, _ := strings.Cut(flag, " "); ok && !slices.Contains(known, name) {
			t.Errorf("--%s: neither in inConfig nor known to go with --config", name)
		}
	}
}
