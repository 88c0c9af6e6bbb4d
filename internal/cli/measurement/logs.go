package measurement

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/logs"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// logFlags say how a log is read.
type logFlags struct {
	logs.Options
	mask  bool
	names string
	roles []string
}

// register gives a command the flags.
func (f *logFlags) register(c *cobra.Command) {
	columns, flags := &f.Columns, c.Flags()
	flags.StringArrayVar(&columns.Prompt, "prompt-column", nil, "`COLUMN` of the users' messages, or a path such as turn.text (default: by its usual names); repeatable: the first that has a value counts")
	flags.StringArrayVar(&columns.Reply, "response-column", nil, "`COLUMN` of the replies; repeatable")
	flags.StringVar(&columns.User, "user-column", "", "`COLUMN` of the user or session, by which intervals are clustered")
	flags.StringVar(&columns.Before, "guard-column", "", "`COLUMN` of a guard's verdict on the message")
	flags.StringVar(&columns.After, "guard-after-column", "", "`COLUMN` of a guard's verdict on the reply")
	flags.StringSliceVar(&f.Flagged, "flagged", nil, "`WORDS` by which guards say that they stopped the text (default: true, 1, blocked, unsafe and the like)")
	flags.StringArrayVar(&f.Refuses, "refuses", nil, "`TEXT` with which the product's own refusals begin; repeatable")
	flags.BoolVar(&f.mask, "mask", true, "mask mail addresses, phones, cards, IBANs and IP addresses in what is shown or written")
	flags.StringVar(&f.names, "mask-names", "", "`FILE` of names, one a line, to be masked too")
	command.AddSettings(
		c,
		command.Setting{Name: "time_column", Into: &columns.Time, Usage: "column of the time (default: by its usual names)"},
		command.Setting{Name: "model_column", Into: &columns.Model, Usage: "column of the model (default: by its usual names)"},
		command.Setting{Name: "score_column", Into: &columns.Score, Usage: "column of the score that the guard gave the message (default: guard_score and the like)"},
		command.Setting{Name: "error_column", Into: &columns.Error, Usage: "column of the error that came instead of a reply (default: error and the like)"},
		command.Setting{Name: "roles", Into: &f.roles, Usage: "whose the words of roles of your own are: user, assistant or system, such as guest=user,helper=assistant"},
		command.Setting{Name: "template_column", Into: &columns.Template, Usage: "column of the template, where the product and not the model replied"},
	)
}

func (a app) logsCommand() *cobra.Command {
	var f logFlags
	var out command.Printed
	c := &cobra.Command{
		Use:   "logs FILE...",
		Short: "Say who refuses in the log of a product, without labels",
		Long: `Count the refusals in the log of a product by who said no: a guard before or after the
model, the provider, the product's own fixed text, or the model. Each row counts as often
as it came. Intervals are clustered by user or session. "Will not" (refused), "cannot" and
"asks back" are counted apart. The judge is lexical: nothing is asked of any model, nothing
is stored, and no connection is made.

FILE is JSON Lines, JSON, CSV, TSV or Parquet, also packed by gzip or Zstandard, or - for
standard input. Messages and replies are found by their content, in the forms of APIs,
gateways and traces, or one message a row. Other columns are named by flags;
metadata.tenant and messages[-1].content are paths to nested values.

A row with a tool call or an error instead of a reply is left out and counted. A reply
that came word for word, but for numbers, to different messages counts as a fixed text.
Fixed texts are shown; no other text is.`,
		Example: `  orbench logs chat.jsonl
  orbench logs chat.jsonl --refuses "Please contact our support"
  orbench logs export.csv --user-column tenant --guard-column rule --flagged stop,ask`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.logs(c.Context(), args, f, out) },
	}
	f.register(c)
	out.Register(c, command.Formats)
	c.AddCommand(a.logsDrawCommand(), a.logsReportCommand())
	return c
}

func (a app) logsDrawCommand() *cobra.Command {
	var f logFlags
	var size int
	var seed uint64
	var out string
	c := &cobra.Command{
		Use:   "draw FILE... --out SHEET",
		Short: "Draw exchanges of a log for people to label",
		Long: `Draw exchanges (a message and its reply) of a log at random: four fifths from those that
were refused, by source, and a fifth from the others. SHEET is a new table (CSV or .jsonl)
that only you can read. It has the texts, masked unless --mask=false, and nothing else
keeps them: delete it to forget them. Label it with "orbench label SHEET", or fill in its
last two columns with yes, no or cannot tell. "orbench logs report SHEET" then says which
refusals were wrong.`,
		Example: `   orbench logs draw chat.jsonl --size 40 --out sheet.csv`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return command.InputError("--out", "no sheet is named", "name a new file, such as sheet.csv")
			}
			if err := fileEnding("--out", out, ".csv", ".jsonl"); err != nil {
				return err
			}
			return a.logsDraw(c.Context(), args, f, size, seed, out)
		},
	}
	f.register(c)
	command.AddSettings(c, command.Setting{
		Name: "name_column", Into: &f.Columns.Name,
		Usage: "column of people's names; those of the drawn exchanges are masked too, whole and word by word",
	})
	c.Flags().IntVar(&size, "size", 150, "`NUMBER` of exchanges to draw")
	c.Flags().Uint64Var(&seed, "seed", 1, "`SEED` of the draw")
	c.Flags().StringVar(&out, "out", "", "new `SHEET` to write")
	return c
}

// logsDraw draws looks and writes them.
func (a app) logsDraw(ctx context.Context, files []string, f logFlags, size int, seed uint64, out string) error {
	if size <= 0 {
		return command.InputError("--size", "it must be above 0", "150 is usual")
	}
	if _, err := os.Lstat(out); err == nil {
		return command.InputError(out, "the file exists", "name a new one")
	}
	if err := a.prepareLogs(&f); err != nil {
		return err
	}
	looks, result, notes, err := logs.Draw(ctx, files, f.Options, size, seed)
	if err != nil {
		return err
	}
	a.Infos(notes)
	if err := folder.WritePrivate(out, false, func(w io.Writer) error { return logs.WriteLooks(w, out, looks) }); err != nil {
		return err
	}
	a.Infof("wrote %s of %s to %s; only you can read it, and it holds their texts", table.Count(len(looks)), table.Counted(result.Exchanges, "exchange", "exchanges"), out)
	if f.Mask != nil {
		a.Infof("%s masked in it; masked is not anonymous: what is said can still tell who said it", table.Counted(f.Mask.Values(), "value is", "values are"))
	} else {
		a.Infof("nothing is masked in it")
	}
	a.Infof("label them with: orbench label %s", untrusted.Shell(out))
	return nil
}

// say tells of a request that failed.
func (a app) say(format string, args ...any) {
	a.Infof("%s", untrusted.Terminal(fmt.Sprintf(format, args...)))
}

func (a app) logsReportCommand() *cobra.Command {
	var out command.Printed
	var set string
	c := &cobra.Command{
		Use:   "report SHEET",
		Short: "Say which refusals of a log were wrong, by people's labels",
		Long: `Compute from a labeled sheet which share of messages was wrongly refused, which share of
refusals was wrong (in all, and by who refused), how many messages were answered that
should not have been, and what other thresholds of a guard with scores would change.
Intervals count the drawing. No text is shown.

--regression writes the wrongly refused messages, near duplicates once, as a dataset of safe
prompts: "orbench eval --dataset FILE" asks the next version of the product's model, and
--require of "orbench compare" gates on it.`,
		Example: `  orbench logs report sheet.csv
  orbench logs report sheet.csv --regression wrong.jsonl`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			looks, err := logs.ReadSheet(args[0])
			if err != nil {
				return err
			}
			if err := fileEnding("--regression", set, ".jsonl"); err != nil {
				return err
			}
			if set != "" {
				wrong, left := logs.Regressions(looks)
				if left > 0 {
					a.Infof("%s left out: a key is masked in them, for which there is no plausible value", table.Counted(left, "exchange is", "exchanges are"))
				}
				if len(wrong) == 0 {
					return command.InputError("--regression", "nobody has called a refusal wrong yet", "label some first: orbench label "+untrusted.Shell(args[0]))
				}
				if err := folder.WritePrivate(set, false, func(w io.Writer) error { return rows.WriteJSONLines(w, wrong) }); err != nil {
					return err
				}
				a.Infof("wrote %s to %s; only you can read it; masks are plausible values in it", table.Counted(len(wrong), "prompt", "prompts"), set)
			}
			return a.Show(out, logs.Rate(looks))
		},
	}
	out.Register(c, command.Formats)
	c.Flags().StringVar(&set, "regression", "", "write wrongly refused messages to this new .jsonl `FILE`, as a dataset")
	return c
}

// logs counts the refusals of logs.
func (a app) logs(ctx context.Context, files []string, f logFlags, out command.Printed) error {
	if err := a.prepareLogs(&f); err != nil {
		return err
	}
	result, notes, err := logs.Read(ctx, files, f.Options)
	if err != nil {
		return err
	}
	a.Infos(notes)
	if err := a.Show(out, result); err != nil {
		return err
	}
	if result.Refused.N > 0 {
		draw := command.Env{Program: a.Program, Args: withoutPrinted(a.Args)}
		draw.Args = slices.Insert(draw.Args, slices.Index(draw.Args, "logs")+1, "draw")
		a.Infof("which of these were wrong:\n  %s", draw.CommandLine("--out", "sheet.csv"))
	}
	if result.Exchanges == 0 && result.LeftOut[rows.LacksReply]+result.Unjudged > 0 {
		return command.ErrFailures // what the warnings say
	}
	return nil
}

// withoutPrinted leaves the flags of command.Printed out of a command line.
func withoutPrinted(args []string) (kept []string) {
	for i, arg := range args {
		flag, _, _ := strings.Cut(arg, "=")
		if flag != "--full" && flag != "--format" && (i == 0 || args[i-1] != "--format") {
			kept = append(kept, arg)
		}
	}
	return kept
}

// prepareLogs makes the mask, and says how far a log is read.
func (a app) prepareLogs(f *logFlags) error {
	f.Stdin = a.Stdin
	f.SoFar = func(exchanges, refused int) {
		a.Infof("so far %s: %s refused", table.Counted(exchanges, "exchange", "exchanges"), table.Percent(float64(refused)/float64(exchanges)))
	}
	f.Columns.Roles = map[string]string{}
	for _, pair := range f.roles {
		own, role, _ := strings.Cut(pair, "=")
		if role = strings.ToLower(strings.TrimSpace(role)); !slices.Contains([]string{"user", "assistant", "system"}, role) {
			return command.InputError("--set roles", fmt.Sprintf("%q does not say whose the words are", pair), "write user, assistant or system behind =, such as guest=user,helper=assistant")
		}
		f.Columns.Roles[strings.ToLower(strings.TrimSpace(own))] = role
	}
	var names []string
	if f.names != "" {
		text, err := os.ReadFile(f.names)
		if err != nil {
			return command.InputError("--mask-names", err.Error(), "correct the path")
		}
		names = strings.Split(string(text), "\n")
	}
	switch {
	case f.mask:
		f.Mask = logs.NewMasker(names)
	case names != nil:
		return command.InputError("--mask-names", "nothing is to be masked", "leave --mask=false out")
	case f.Columns.Name != "":
		return command.InputError("--set name_column", "nothing is to be masked", "leave --mask=false out")
	}
	return nil
}
