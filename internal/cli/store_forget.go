package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/kinds"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/untrusted"
)

func (s storeCommands) forget() *cobra.Command {
	var user, older string
	c := s.command(&cobra.Command{
		Use:   "forget --user NAME | --older AGE",
		Short: "Delete from a store what a user said, or what is old",
		Long: `Delete texts from a store: answers of judged files and prompts of datasets, of one user
(--user) or older than an age (--older). Every call that has one of these texts is deleted
too, with its failures and people's labels. The index is deleted and the store is packed,
so that its files hold no byte of the texts. Then the command says where copies may be. It
cannot be undone. If it is killed, run it again.

For a judged file the store keeps who asked, as a hash of the name, and when. It reads
both from columns such as user, session_id and timestamp ("orbench judge --set
user_column=NAME" names another). In other datasets the user of a prompt is its cluster
(cluster_column), and there is no time. Texts without a user or a time stay and are
counted. So do texts that others said too, and what a model made of a text in other words,
such as a paraphrase.`,
		Example: `  orbench store forget --user customer-4711
  orbench store forget --older 30d`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string, f storeFlags) error {
		what, err := whatToForget(user, older, time.Now())
		if err != nil {
			return err
		}
		return s.forgetIn(ctx, f, what)
	}, "store")
	c.Flags().StringVar(&user, "user", "", "`NAME` of the user or session, as in the log")
	c.Flags().StringVar(&older, "older", "", "`AGE` beyond which texts are deleted, such as 30d or 12h; with --user, only this user's")
	return c
}

// mostDays is the greatest age: a hundred years.
const mostDays = 36500

// whatToForget reads the flags.
func whatToForget(user, older string, now time.Time) (f kinds.Forget, err error) {
	if user == "" && older == "" {
		return f, command.InputError("--user", "nothing is named that is to be forgotten", "name a user, or an age with --older")
	}
	f.User = strings.TrimSpace(user)
	if older == "" {
		return f, nil
	}
	var age time.Duration
	if days, ok := strings.CutSuffix(older, "d"); ok {
		var n int
		if n, err = strconv.Atoi(days); n > mostDays {
			err = strconv.ErrRange
		}
		age = time.Duration(n) * 24 * time.Hour
	} else {
		age, err = time.ParseDuration(older)
	}
	if err != nil || age < 0 {
		return f, command.InputError("--older", fmt.Sprintf("%q is no age", older), "write days or hours, such as 30d or 12h")
	}
	f.Before = now.Add(-age)
	return f, nil
}

func (s storeCommands) forgetIn(ctx context.Context, f storeFlags, what kinds.Forget) (err error) {
	m, err := s.OpenExisting(ctx, f.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	done, err := what.From(ctx, m)
	if err = errors.Join(err, s.RemoveIndex(ctx, f.store, m)); err != nil {
		return err
	}
	return s.print(f.format, done, func(w io.Writer) { printForgotten(w, f.store, done) })
}

// printForgotten says what was taken out, what stays, and where copies may lie.
func printForgotten(w io.Writer, at string, done kinds.Forgotten) {
	fmt.Fprintf(w, "%s has forgotten %s of judged files, %s of datasets, %s, %s and %s.\n", address.Shown(at),
		counted(done.Answers, "answer"), counted(done.Prompts, "prompt"), counted(done.Calls, "call"), counted(done.Failures, "failure"), counted(done.Annotations, "label"))
	if done.Unnamed > 0 {
		fmt.Fprintf(w, "%s without a known user stayed.\n", counted(done.Unnamed, "text"))
	}
	if done.Undated > 0 {
		fmt.Fprintf(w, "%s without a known time stayed.\n", counted(done.Undated, "text"))
	}
	list := func(head string, all []string) {
		for i, one := range all {
			if i == 0 {
				fmt.Fprintln(w, head)
			}
			fmt.Fprintln(w, "  "+untrusted.Terminal(one))
		}
	}
	list("Without them from now on:", done.Studies)
	fmt.Fprintln(w, "Copies may be in report folders, exports, sheets of labels, backups, indexes of other users, and stores that this one was merged with.")
	list("Files that the studies were made from:", done.Files)
	list("Commands that made the studies, and may have written files:", done.Commands)
	if !address.IsFile(at) {
		fmt.Fprintln(w, "The server's log of writes, its replicas and its backups keep them for as long as they are set to.")
	}
}
