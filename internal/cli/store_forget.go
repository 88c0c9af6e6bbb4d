package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/kinds"
	"github.com/orbench/orbench/internal/store/address"
)

func (s app) forget() *cobra.Command {
	var what kinds.Forget
	var day string
	var dry bool
	c := s.command(&cobra.Command{
		Use:   "forget --user NAME | --before DATE",
		Short: "Delete from a store what a user said, or what is old",
		Long: `Delete the texts of one user, or of before a day (UTC), from a store, with every call and
label that has one of them. The index is deleted and the store is packed, so that no file of
it has a byte of them. This cannot be undone. Run a killed command again. Texts of no known
user or time (columns user_id and timestamp) and of others too stay.`,
		Example: `  orbench store forget --user customer-4711
  orbench store forget --before 2026-10-01`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string, f storeFlags) (err error) {
		what.Before, err = time.Parse(time.DateOnly, day)
		if (what.User == "") == (day == "") || day != "" && err != nil {
			return command.InputError("store forget", "it takes either a user or a day", "write --user NAME, or --before DATE, such as 2026-10-01")
		}
		m, err := s.OpenExisting(ctx, f.store)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, m.Close()) }()
		do, err := what.Find(ctx, m)
		if err != nil {
			return err
		}
		verb, counts := "would forget", fmt.Sprintf("%s, %s and %s", counted(what.Texts, "text"), counted(what.Calls, "call"), counted(what.Annotations, "label"))
		if !dry {
			verb = "has forgotten"
			// The store is packed in any case, so that a command that was killed is finished.
			if err := errors.Join(do(), m.Vacuum(ctx), s.RemoveIndex(ctx, f.store, m)); err != nil {
				return err
			}
		}
		return s.print(f.format, what, func(w io.Writer) {
			fmt.Fprintf(w, "%s %s %s. %s without a known user or time: not forgotten.\n", address.Shown(f.store), verb, counts, counted(what.Unknown, "text"))
			fmt.Fprintln(w, "Copies may be in log files, reports, exports, sheets of labels, backups, other stores, and a database server's log of writes.")
		})
	}, "store")
	c.Flags().StringVar(&what.User, "user", "", "`NAME` of the user or session, as in the log")
	c.Flags().StringVar(&day, "before", "", "`DATE` before which texts were said, such as 2026-10-01")
	c.Flags().BoolVar(&dry, "dry-run", false, "only show what would be deleted")
	return c
}
