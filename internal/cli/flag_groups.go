package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/orbench/orbench/internal/experiment"
)

// kind is what a flag is about.
type kind int

// The kinds of flags, in the order of their groups.
const (
	none     kind = iota
	subject       // what the command works on
	manner        // how it does so
	verdicts      // how answers are judged
	limits        // how much of it may be done, how fast, and what it may cost
	output        // what is shown and written, and where
)

// manyFlags is the number from which flags stand in groups.
const manyFlags = 7

// kindOfFlag says what each flag is about, but for those that settings of an experiment
// have alone. A flag that is about something else in one command is there once more,
// behind that command's name.
var kindOfFlag = byFlag(map[kind]string{
	subject: `base-target candidate-target chosen-from class-column
		config dataset decontaminate except from gold-column label label-column label-values limit
		judge/join judge/prompts prompt-column refresh guard-column guard-after-column user-column response-column responses sample set size target
		compare/judge compare/candidate-judge compare/store report/judge report/models report/paper report/store
		export/check export/toxic-share`,
	manner: `base-url batch forget fresh reuse reread harmful-answers flagged max-tokens
		moderator on-conflict per-prompt plain policy refuses rule search-calls seed threshold
		as compare/label fail-if one-model require unpaired
		export/format report/accept-model`,
	verdicts: `gold-refusal judge`,
	limits:   `concurrency local drain dry-run max-cost shards turn`,
	output:   `table plot mask mask-names regression words flips findings over-time format full health json junit list log-format methods name out quiet redact replace store`,
})

// byFlag turns lists of flags into the kind of each, those of experiments too.
func byFlag(lists map[kind]string) map[string]kind {
	all := map[string]kind{}
	for k, list := range lists {
		for flag := range strings.FieldsSeq(list) {
			all[flag] = k
		}
	}
	groups := map[string]kind{"subject": subject, "manner": manner}
	for _, s := range experiment.Settings() {
		if s.Group != "" {
			all[s.Flag] = groups[s.Group]
		}
	}
	return all
}

// helpFlag is the flag that every command has and whoever reads this has used.
const helpFlag = "help"

// verbs say of commands that are not called by it what they do to their subject, and
// what else the flags of their manner are about.
var verbs = map[string][2]string{
	"eval":   {"ask", "ask"},
	"judge":  {"judge", "ask"},
	"logs":   {"read", "read"},
	"report": {"show", "show"},
	"worker": {"set", "work"},
}

// flagGroup is flags under a title.
type flagGroup struct {
	of    kind
	title string
	flags *pflag.FlagSet
}

// flagGroups returns the flags of a command in groups, in the order in which they were
// declared. A command with few flags has one group. A flag of no known group is in the last.
func flagGroups(c *cobra.Command) []flagGroup {
	verb, named := verbs[c.Name()]
	if !named {
		verb = [2]string{c.Name(), c.Name()}
	}
	groups := []flagGroup{
		{of: subject, title: "What to " + verb[0]},
		{of: manner, title: "How to " + verb[1]},
		{of: verdicts, title: "How to judge"},
		{of: limits, title: "Limits and money"},
		{of: output, title: "Output"},
		{of: none, title: "Other flags"},
	}
	var flags []*pflag.Flag
	c.Flags().SortFlags = false
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != helpFlag {
			flags = append(flags, f)
		}
	})
	few := len(flags) < manyFlags
	if few {
		groups = []flagGroup{{title: "Flags"}}
	}
	for i := range groups {
		g := &groups[i]
		g.flags = pflag.NewFlagSet(g.title, pflag.ContinueOnError)
		g.flags.SortFlags = false
		for _, f := range flags {
			if few || kindOf(c, f) == g.of {
				g.flags.AddFlag(f)
			}
		}
	}
	return slices.DeleteFunc(groups, func(g flagGroup) bool { return !g.flags.HasFlags() })
}

// kindOf is what a command's flag is about.
func kindOf(c *cobra.Command, f *pflag.Flag) kind {
	return cmp.Or(kindOfFlag[c.Name()+"/"+f.Name], kindOfFlag[f.Name])
}
