package help

import (
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

// kinds says what each flag is about, but for those that settings of an experiment
// have alone. A flag that is about
// something else in one command is there once more, behind that command's name.
var kinds = byFlag(map[kind]string{
	subject: `base-target build calibration candidate-target category-column chosen-from class-column cluster-column
		submit/judges
		config dataset decontaminate except expect expect-fpr from gold-column label label-column label-values labels limit population prevalence
		prompt-column refresh response-column responses positive sample sample-seed set shard size target truth
		paper/as paper/check paper/run
		compare/judge compare/candidate-judge compare/store paper/store report/store
		export/check export/toxic-share`,
	manner: `allow-host axis base-url batch calls confidence each every forget generations generator half-width harmful-answers family into languages max-tokens
		moderator most on-conflict per-prompt plain policy providers raters rule seed seeds-per-generation split-seed splits
		threshold wait
		alpha corrected fail-if max-excluded require unpaired
		export/format report/most-unjudged paper/most-unjudged report/gold-refusal`,
	verdicts: `about by gold-refusal judge judge-max-tokens most-unjudged no-probes overlap`,
	limits:   `attempts ask-batched concurrency drain dry-run max-cost max-requests max-total-tokens prices rpm shards timeout tpm turn workers`,
	output:   `all changed disagreements explain flips format full guidelines json junit list log-format metrics name out pairs quiet replace save-only store to`,
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
	"contrast": {"vary", "vary"},
	"eval":     {"ask", "ask"},
	"judge":    {"judge", "ask"},
	"paper":    {"show", "show"},
	"report":   {"show", "show"},
	"triggers": {"ask", "ask"},
}

// A Group is flags under a title.
type Group struct {
	Title string
	Flags *pflag.FlagSet
}

// Groups gives the flags of a command in groups, in the order in which they were
// declared; those of a command with few flags are one group. What no kind is known of
// is in the last group.
func Groups(c *cobra.Command) []Group {
	var flags []*pflag.Flag
	c.Flags().SortFlags = false
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != helpFlag {
			flags = append(flags, f)
		}
	})
	if len(flags) < manyFlags {
		return grouped(flags, []string{"Flags"}, func(*pflag.Flag) kind { return none })
	}
	verb, named := verbs[c.Name()]
	if !named {
		verb = [2]string{c.Name(), c.Name()}
	}
	titles := []string{
		none: "Other flags", subject: "What to " + verb[0], manner: "How to " + verb[1], verdicts: "How to judge",
		limits: "Limits and money", output: "Output",
	}
	return grouped(flags, titles, func(f *pflag.Flag) kind { return kindOf(c, f) })
}

// kindOf is what a command's flag is about.
func kindOf(c *cobra.Command, f *pflag.Flag) kind {
	if k, ok := kinds[c.Name()+"/"+f.Name]; ok {
		return k
	}
	return kinds[f.Name]
}

// grouped puts flags under the titles of their kinds, none last.
func grouped(flags []*pflag.Flag, titles []string, of func(*pflag.Flag) kind) []Group {
	sets := make([]*pflag.FlagSet, len(titles))
	for _, f := range flags {
		k := of(f)
		if sets[k] == nil {
			sets[k] = pflag.NewFlagSet(titles[k], pflag.ContinueOnError)
			sets[k].SortFlags = false
		}
		sets[k].AddFlag(f)
	}
	var groups []Group
	for i := range sets {
		k := (i + 1) % len(sets)
		if sets[k] != nil {
			groups = append(groups, Group{titles[k], sets[k]})
		}
	}
	return groups
}

// Ungrouped is the first flag of a command with groups that is in none, or "".
func Ungrouped(c *cobra.Command) string {
	groups := Groups(c)
	name := ""
	if len(groups) > 1 {
		groups[len(groups)-1].Flags.VisitAll(func(f *pflag.Flag) {
			if name == "" && kindOf(c, f) == none {
				name = f.Name
			}
		})
	}
	return name
}
