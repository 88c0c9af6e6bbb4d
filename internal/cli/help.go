package cli

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/table"
)

// helpWidth is how many columns a line of help has at most.
const helpWidth = 80

// narrowest is the width below which flags and their texts do not fit side by side.
const narrowest = 40

// exampleWidth is how many columns a line of an example has at most, so that it can be
// copied from a narrow window or a page.
const exampleWidth = 60

// optional is how pflag shows a value that may be left out: NUMBER[=60] after a blank, where
// only [=NUMBER] can be typed; and what it shows behind a flag that is given or not.
var optional = regexp.MustCompile(` ([A-Z]+)\[=[^]]+\]|\[=true\|false\]`)

// plainValues shows such values as they are typed, in columns of the same width.
func plainValues(usages string) string {
	return optional.ReplaceAllStringFunc(usages, func(shown string) string {
		typed := ""
		if name, _, ok := strings.Cut(strings.TrimPrefix(shown, " "), "["); ok && name != "" {
			typed = "[=" + name + "]"
		}
		return fmt.Sprintf("%-*s", len(shown), typed)
	})
}

// helpText is what --help prints of a command, in lines of at most width columns, or of
// 40 where width is less.
func helpText(c *cobra.Command, width int) string {
	width = max(width, narrowest)
	return table.Wrap(cmp.Or(c.Long, c.Short+"."), width) + "\n\n" + usageText(c, width)
}

// usageText is the same without what the command is for.
func usageText(c *cobra.Command, width int) string {
	width = max(width, narrowest)
	var b strings.Builder
	b.WriteString("Usage:\n")
	if c.Runnable() && (len(flagGroups(c)) > 0 || !c.HasAvailableSubCommands()) {
		fmt.Fprintln(&b, table.Wrap("  "+c.UseLine(), width))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintln(&b, "  "+c.CommandPath()+" COMMAND")
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", table.WrapCommands(c.Example, min(width, exampleWidth)))
	}
	if c.HasAvailableSubCommands() {
		writeCommands(&b, c, width)
	}
	for _, g := range flagGroups(c) {
		fmt.Fprintf(&b, "\n%s:\n%s", g.title, plainValues(g.flags.FlagUsagesWrapped(width)))
	}
	if all := command.Settings(c); len(all) > 0 {
		names := table.RowsOf(all, func(s command.Setting) string { return s.Name })
		fmt.Fprintf(&b, "\n%s\n", table.Wrap("Names for --set: "+strings.Join(names, ", "), width))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n%s\n", table.Wrap(fmt.Sprintf(`"%s COMMAND --help" explains a command.`, c.CommandPath()), width))
	}
	return b.String()
}

// writeCommands lists the subcommands, in their groups.
func writeCommands(b *strings.Builder, c *cobra.Command, width int) {
	list := func(title, id string) {
		lines := ""
		var names []string
		for _, sub := range c.Commands() {
			if sub.GroupID == id && sub.IsAvailableCommand() {
				names = append(names, sub.Name())
				lines += table.Wrap(fmt.Sprintf("  %-*s  %s", sub.NamePadding(), sub.Name(), sub.Short), width) + "\n"
			}
		}
		switch {
		case lines == "":
		case id == further:
			fmt.Fprintf(b, "\n%s\n", table.Wrap(title+": "+strings.Join(names, ", "), width))
		default:
			fmt.Fprintf(b, "\n%s:\n%s", title, lines)
		}
	}
	for _, g := range c.Groups() {
		list(g.Title, g.ID)
	}
	list("Commands", "")
}
