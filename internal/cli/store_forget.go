package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/kinds"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

func (s storeCommands) forget() *cobra.Command {
	var user, before string
	var dry bool
	c := s.command(&cobra.Command{
		Use:   "forget --user NAME | --before DATE",
		Short: "Delete from a store what a user said, or what is old",
		Long: `Delete texts from a store: answers of judged files and prompts of datasets, of one user
(--user) or of before a day (--before, UTC). Every call that has one of these texts is
deleted too, with its failures and people's labels. The index is deleted and the store is
packed, so that its files hold no byte of the texts. Then the command says where copies may
be. It cannot be undone: --dry-run shows what would be deleted, and on a terminal the
command asks first. If it is killed, run it again.

For a judged file the store keeps who asked, as a hash of the name, and when. It reads
both from columns such as user, session_id and timestamp ("orbench judge --set
user_column=NAME" names another). In other datasets the user of a prompt is its cluster
(cluster_column), and there is no time. Texts without a user or a time stay and are
counted. So do texts that others said too, and what a model made of a text in other words,
such as a paraphrase.`,
		Example: `  orbench store forget --user customer-4711
  orbench store forget --before 2026-10-01`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string, f storeFlags) error {
		what := kinds.Forget{User: strings.TrimSpace(user)}
		if (what.User == "") == (before == "") {
			return command.InputError("--user", "one way must say what is to be forgotten", "name either a user, or a day with --before")
		}
		if before != "" {
			var err error
			if what.Before, err = time.Parse(time.DateOnly, before); err != nil {
				return command.InputError("--before", fmt.Sprintf("%q is no day", before), "write it as in 2026-10-01")
			}
		}
		return s.forgetIn(ctx, f, what, dry)
	}, "store")
	c.Flags().StringVar(&user, "user", "", "`NAME` of the user or session, as in the log")
	c.Flags().StringVar(&before, "before", "", "`DATE` before which texts were said, such as 2026-10-01")
	c.Flags().BoolVar(&dry, "dry-run", false, "only show what would be deleted")
	return c
}

func (s storeCommands) forgetIn(ctx context.Context, f storeFlags, what kinds.Forget, dry bool) (err error) {
	m, err := s.OpenExisting(ctx, f.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	out, found, err := what.Find(ctx, m)
	if err != nil {
		return err
	}
	counts := fmt.Sprintf("%s of judged files, %s of datasets, %s, %s and %s", counted(found.Answers, "answer"), counted(found.Prompts, "prompt"),
		counted(found.Calls, "call"), counted(found.Failures, "failure"), counted(found.Annotations, "label"))
	verb := "would forget"
	if !dry {
		if table.IsTerminal(s.Stdin) {
			fmt.Fprintf(s.Stderr, "%s loses %s for good. Go on? [y/N] ", address.Shown(f.store), counts)
			if answer, _ := bufio.NewReader(s.Stdin).ReadString('\n'); !strings.HasPrefix(strings.ToLower(answer), "y") {
				return command.InputError(address.Shown(f.store), "nothing was deleted", "answer y to delete it")
			}
		}
		if len(out.Datasets) > 0 {
			err = m.Forget(ctx, out)
		}
		// The store is packed in any case, so that a command that was killed is finished.
		if err == nil {
			err = m.Vacuum(ctx)
		}
		if err = errors.Join(err, s.RemoveIndex(ctx, f.store, m)); err != nil {
			return err
		}
		verb = "has forgotten"
	}
	return s.print(f.format, found, func(w io.Writer) {
		fmt.Fprintf(w, "%s %s %s.\n", address.Shown(f.store), verb, counts)
		if found.Unknown > 0 {
			fmt.Fprintf(w, "%s without a known user or time: not forgotten.\n", counted(found.Unknown, "text"))
		}
		if len(found.Studies) > 0 {
			fmt.Fprintf(w, "Without them from then on:\n  %s\nCommands that made these, with the files that they read and may have written:\n  %s\n",
				untrusted.Terminal(strings.Join(found.Studies, ", ")), untrusted.Terminal(strings.Join(found.Commands, "\n  ")))
		}
		fmt.Fprintln(w, "Copies may be in report folders, exports, sheets of labels, backups, indexes of other users, and stores that this one was merged with.")
		if !address.IsFile(f.store) {
			fmt.Fprintln(w, "The server's log of writes, its replicas and its backups keep them for as long as they are set to.")
		}
	})
}
