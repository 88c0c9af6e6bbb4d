package measurement

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/queue"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// queuedCommands are those below worker, about what is queued.
func (a app) queuedCommands() []*cobra.Command {
	const stopped = " Once the command ends, workers send none of them.\nCalls under way are finished, and their answers are kept."
	return []*cobra.Command{
		a.queuedCommand("list", "List the runs whose calls wait for workers", "", queue.Running, ""),
		a.queuedCommand("pause RUN", "Stop workers from making the queued calls of a run, for now", stopped, queue.Paused, "the queued calls of %s are paused; continue with: orbench worker resume %[1]s"),
		a.queuedCommand("resume RUN", "Let workers make the queued calls of a paused run", "", queue.Running, "the queued calls of %s go on"),
		a.queuedCommand("cancel RUN", "Cancel the queued calls of a run", stopped, queue.Canceled, "the queued calls of %s are canceled; to queue them again, repeat the command that queued them"),
	}
}

// queuedCommand is a command that halts the queued calls of a run, or has them go on, and says
// so; or lists them where it has nothing to say.
func (a app) queuedCommand(use, short, more string, how queue.Halt, said string) *cobra.Command {
	var store string
	var printed command.Printed
	c := &cobra.Command{
		Use: use, Short: short, Long: short + "." + more, Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			memory, err := a.OpenExisting(c.Context(), store)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, memory.Close()) }()
			q, err := queue.Open(c.Context(), memory)
			if err != nil {
				return err
			}
			if said != "" {
				if err := q.Halt(c.Context(), args[0], how); err != nil {
					return err
				}
				_, err = fmt.Fprintf(a.Stdout, said+"\n", untrusted.Shell(args[0]))
				return err
			}
			all, err := q.List(c.Context())
			if err != nil {
				return err
			}
			if printed.Format == "json" {
				return table.JSON(a.Stdout, append([]queue.Queued{}, all...))
			}
			if len(all) == 0 {
				_, err := fmt.Fprintln(a.Stdout, "no call is queued")
				return err
			}
			s := table.Section{Header: []string{"run", "state", "queued", "waiting", "failed"}, Left: 3}
			for _, r := range all {
				s.Add(r.Run, cmp.Or(string(r.Halted), "queued"), r.Began.UTC().Format("2006-01-02 15:04"), r.Waiting, r.Failed)
			}
			out := table.NewPrinter(a.Stdout, a.Screen(printed.Full))
			out.Section(s)
			return out.Flush()
		},
	}
	a.StoreFlag(c, &store)
	if said == "" {
		c.Args = cobra.NoArgs
		printed.Register(c, command.TwoFormats)
	}
	return c
}
