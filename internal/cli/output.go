package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// The values of --format: of commands that print figures, and of the others.
var (
	formats    = []string{"table", "json", "csv", "md"}
	twoFormats = formats[:2]
)

// formatFlag registers --format.
func formatFlag(c *cobra.Command, format *string, offered []string) {
	usage := "`FORMAT` to print: " + either(offered)
	c.Flags().StringVar(format, "format", offered[0], usage)
	completeFlag(c, "format", offered)
}

// checkFormat refuses a format that a command does not offer.
func checkFormat(format string, offered []string) error {
	if slices.Contains(offered, format) {
		return nil
	}
	return inputError("--format", fmt.Sprintf("there is no format %q", format), "use "+either(offered))
}

// either lists words of which one is to be chosen.
func either(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// figures are what write themselves in every format.
type figures interface {
	Text(io.Writer) error
	JSON(io.Writer) error
	CSV(io.Writer) error
	Markdown(io.Writer) error
}

// writeAs writes in one of the formats.
func writeAs(w io.Writer, format string, f figures) error {
	switch format {
	case "json":
		return f.JSON(w)
	case "csv":
		return f.CSV(w)
	case "md":
		return f.Markdown(w)
	}
	return f.Text(w)
}
