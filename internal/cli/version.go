package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
)

func versionCommand(env *command.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(env.Stdout, versionLine())
			return err
		},
	}
}

// versionLine is what a report of a fault needs to say of this binary.
func versionLine() string {
	return fmt.Sprintf("orbench %s %s/%s %s", version(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// version is what the build recorded of itself: the module's version, or the
// commit for a build from a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision := recorded("vcs.revision")
	return strings.TrimSpace("(devel) " + revision[:min(12, len(revision))])
}

// recorded is a setting that the build recorded, empty where it did not.
func recorded(key string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == key {
				return s.Value
			}
		}
	}
	return ""
}
