package measurement

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/logs"
	"github.com/orbench/orbench/internal/table"
)

// logFlags say how a log is read.
type logFlags struct{ logs.Options }

// register gives a command the flags.
func (f *logFlags) register(c *cobra.Command) {
	columns, flags := &f.Columns, c.Flags()
	flags.StringVar(&columns.Prompt, "prompt-column", "", "`COLUMN` of the users' messages, or a path such as turn.text (default: by its usual names)")
	flags.StringVar(&columns.Reply, "response-column", "", "`COLUMN` of the replies")
	flags.StringVar(&columns.User, "user-column", "", "`COLUMN` of the user or session, by which intervals are clustered")
	flags.StringVar(&columns.Before, "guard-column", "", "`COLUMN` of what a guard said of the message")
	flags.StringVar(&columns.After, "guard-after-column", "", "`COLUMN` of what a guard said of the reply")
	flags.StringSliceVar(&f.Flagged, "flagged", nil, "`WORDS` of the guards that mean that they stopped the text (default: true, 1, blocked, unsafe and the like)")
	flags.StringArrayVar(&f.Refuses, "refuses", nil, "`TEXT` with which refusals of the product's own begin; repeatable")
	command.AddSettings(
		c,
		command.Setting{Name: "time_column", Into: &columns.Time, Usage: "column of the time (default: by its usual names)"},
		command.Setting{Name: "model_column", Into: &columns.Model, Usage: "column of the model (default: by its usual names)"},
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
standard input. Messages and replies are found by what they hold: requests and responses
of OpenAI and Anthropic, and what LiteLLM, Langfuse and OpenTelemetry (spans of
generative AI) keep of them. Other columns are named by flags; metadata.tenant and
messages[-1].content are paths to nested values.

A row with a tool call or an error instead of a reply is left out and counted. A reply
that came word for word to unlike messages is a fixed text, and is shown. No other text is.`,
		Example: `  orbench logs chat.jsonl
  orbench logs chat.jsonl --refuses "Please contact our support"
  orbench logs export.csv --user-column tenant --guard-column rule --flagged stop,ask`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.logs(c.Context(), args, f, out) },
	}
	f.register(c)
	out.Register(c, command.Formats)
	return c
}

// logs counts the refusals of logs.
func (a app) logs(ctx context.Context, files []string, f logFlags, out command.Printed) error {
	result, err := a.readLogs(ctx, files, f)
	if err != nil {
		return err
	}
	return a.Show(out, result)
}

// readLogs reads logs and says how far it is.
func (a app) readLogs(ctx context.Context, files []string, f logFlags) (logs.Result, error) {
	f.Stdin = a.Stdin
	f.SoFar = func(exchanges, refused int) {
		a.Infof("so far %s: %s refused", table.Counted(exchanges, "exchange", "exchanges"), table.Percent(float64(refused)/float64(exchanges)))
	}
	result, notes, err := logs.Read(ctx, files, f.Options)
	if err != nil {
		return logs.Result{}, err
	}
	for _, note := range notes {
		a.Infof("%s", note)
	}
	return result, nil
}
