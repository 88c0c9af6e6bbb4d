package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/kinds"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// storeCommand has what is done with stores as a whole.
func storeCommand(env *command.Env) *cobra.Command {
	s := app{env}
	return command.Group("store", "Export runs; merge, copy, check and forget", `A store holds everything that a run is made of: the prompts, every paid answer and
verdict, people's labels and the settings. These commands copy it from store to store.
They ask no model and overwrite no file.`,
		s.exporting(), s.importing(), s.merge(), s.backup(), s.check(), s.vacuum(), s.forget())
}

// storeFlags are the flags that they have some of.
type storeFlags struct{ store, out, format, onConflict string }

// command gives a command of a store what it does and its flags, beside --format.
func (s app) command(c *cobra.Command, run func(ctx context.Context, args []string, f storeFlags) error, flags ...string) *cobra.Command {
	f := &storeFlags{}
	for _, flag := range flags {
		switch flag {
		case "store":
			s.StoreFlag(c, &f.store)
		case "out":
			c.Flags().StringVar(&f.out, "out", "", "new store `FILE` to write")
		case "on-conflict":
			command.ChoiceFlag(c, &f.onConflict, "on-conflict", []string{"stop", "first"}, "there is no way",
				"`WHAT` to do where stores disagree: stop, or first (keep the earlier answers, and both runs)")
		}
	}
	command.FormatFlag(c, &f.format, command.TwoFormats)
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.out == "" && c.Flag("out") != nil {
			return command.InputError("--out", "the store to write is not named", "name a new file, such as all.db")
		}
		return run(c.Context(), args, *f)
	}
	return c
}

func (s app) exporting() *cobra.Command {
	return s.command(&cobra.Command{
		Use:   "export [RUN...] --out FILE",
		Short: "Write runs, with all that belongs to them, to a new store",
		Long: `Write runs (by default the newest) to a new store, with their prompts, answers, verdicts,
labels and settings. Whoever gets the file can report, compare, judge and label these runs
without the dataset files and without paying again. Studies of other kinds, such as those
of "orbench moderate", can be written too.`,
		Example: `  orbench store export main --out main.db
  orbench report main --store main.db`,
	}, func(ctx context.Context, names []string, f storeFlags) (err error) {
		if len(names) == 0 {
			names = []string{""}
		}
		from, err := s.OpenReading(ctx, f.store)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, from.Close()) }()
		studies, err := s.OpenStudies(ctx, from, f.store, names)
		if err != nil {
			return err
		}
		var done kinds.Counts
		err = address.Create(ctx, f.out, func(to *store.Store) (err error) {
			done, err = kinds.Export(ctx, from, studies, to)
			return err
		})
		if err != nil {
			return err
		}
		return s.print(f.format, done, func(w io.Writer) { fmt.Fprintf(w, "wrote %s to %s\n", counts(done), f.out) })
	}, "store", "out")
}

func (s app) importing() *cobra.Command {
	return s.command(&cobra.Command{
		Use:   "import STORE",
		Short: "Copy the runs of another store into this one",
		Long: `Copy everything that another store holds into this one: runs, prompts, answers, verdicts
and labels. Nothing that is here is replaced, and a second import adds nothing. A run
that both stores hold becomes one run with the judges of both. If the stores disagree,
because one call has two answers or one name has two runs with different settings,
nothing is copied.`,
		Example: `  orbench store import main.db
  orbench store import from-ana.db --on-conflict first`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string, f storeFlags) (err error) {
		if _, err := os.Stat(args[0]); err != nil && address.IsFile(args[0]) {
			return command.InputError(args[0], "there is no store", "correct the path")
		}
		into, err := address.Open(ctx, f.store)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, into.Close()) }()
		done, err := s.merged(ctx, into, args, f.onConflict)
		if err != nil {
			return err
		}
		return s.print(f.format, done, func(w io.Writer) { fmt.Fprintf(w, "%s has %s more\n", address.Shown(f.store), counts(done.Counts)) })
	}, "store", "on-conflict")
}

func (s app) merge() *cobra.Command {
	return s.command(&cobra.Command{
		Use:   "merge STORE... --out FILE",
		Short: "Make one store from several, such as those of the shards of a run",
		Long: `Make one new store from several. Each call and each label is kept once, and a run that
several stores hold becomes one run with the judges of all. The stores of "orbench eval
--set shard=1/4" to 4/4 become the run that one machine would have made. If the stores
disagree, because one call has two answers or one name has two runs with different
settings, nothing is written.`,
		Example: `  orbench store merge part1.db part2.db part3.db part4.db --out all.db
  orbench report main --store all.db`,
		Args: cobra.MinimumNArgs(1),
	}, func(ctx context.Context, args []string, f storeFlags) error {
		var done kinds.Merged
		err := address.Create(ctx, f.out, func(into *store.Store) (err error) {
			done, err = s.merged(ctx, into, args, f.onConflict)
			return err
		})
		if err != nil {
			return err
		}
		return s.print(f.format, done, func(w io.Writer) {
			fmt.Fprintf(w, "%s has %s, of %d stores\n", f.out, counts(done.Counts), len(args))
		})
	}, "out", "on-conflict")
}

// merged takes stores into one, and says where they disagree.
func (s app) merged(ctx context.Context, into *store.Store, stores []string, onConflict string) (kinds.Merged, error) {
	all := kinds.Merged{Conflicts: []kinds.Conflict{}, Judged: []string{}}
	for _, at := range stores {
		from, err := s.OpenReading(ctx, at)
		if err != nil {
			return all, err
		}
		done, err := kinds.Merge(ctx, into, from, onConflict == "first")
		if err = errors.Join(err, from.Close()); err != nil {
			return all, err
		}
		for _, name := range done.Judged {
			s.Infof("%s: run %s had other judges; it now has the judges of both", address.Shown(at), name)
		}
		if done.Lost > 0 {
			s.Infof("%s: %s with lost prompts, left out; their runs read the files again", address.Shown(at), counted(done.Lost, "dataset"))
		}
		s.sayConflicts(at, done, onConflict)
		if done.Disagree() && onConflict == "stop" {
			return all, command.InputError(address.Shown(at), "disagrees with what was there before, so nothing was copied",
				"--on-conflict first keeps the earlier answers, and gives a second run of a name a new name")
		}
		all = all.Plus(done)
	}
	return all, nil
}

// sayConflicts says where a store disagrees with those before it.
func (s app) sayConflicts(at string, done kinds.Merged, onConflict string) {
	at = address.Shown(at)
	for _, c := range done.Conflicts {
		switch {
		case c.Run != "" && onConflict == "first":
			s.Infof("%s: run %s differs in %s from the one that was there; it is now called %s", at, c.Run, strings.Join(c.Differ, ", "), c.Renamed)
		case c.Run != "":
			s.Infof("%s: run %s differs in %s from the one that was there", at, c.Run, strings.Join(c.Differ, ", "))
		default:
			const shown = 60
			s.Infof("%s: another answer of %s to %s", at, c.Model, untrusted.Quote(untrusted.Excerpt(c.Prompt, shown)))
		}
	}
	if done.Answers > 0 {
		s.Infof("%s: in all, %s with another answer", at, counted(done.Answers, "call"))
	}
}

func (s app) check() *cobra.Command {
	return s.command(&cobra.Command{
		Use:   "check",
		Short: "Read the whole store, and count what is damaged",
		Long: `Read the whole store and check every row against its checksum and its hash. A row that
cannot be read, as on a damaged disk, or that differs from what was written counts as
lost. A part of the schema that orbench does not make, such as a trigger, is named too.
Nothing is changed. To save the rest of a damaged store:

  sqlite3 damaged.db .recover | sqlite3 recovered.db
  orbench store merge recovered.db --out saved.db

The sqlite3 of Debian and Ubuntu lacks .recover; that of sqlite.org has it.

Exit codes: 0 nothing is wrong, 1 something is, 2 the file is no store.`,
		Example: `  orbench store check
  orbench store check --store damaged.db --format json`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string, f storeFlags) error {
		health, err := address.Check(ctx, f.store)
		if err := s.showHealth(f.format, f.store, health, err); err != nil {
			return err
		}
		return s.failUnsound(f.store, health)
	}, "store")
}

func (s app) backup() *cobra.Command {
	return s.command(&cobra.Command{
		Use:   "backup --out FILE",
		Short: "Copy a store that may be in use",
		Long: `Copy a store to a new file, as it is at one moment. Runs may go on meanwhile. The copy is
one file, as small as possible; it is checked as by "orbench store check".

Exit codes: 0 the copy is sound, 1 it has damage that the store has, 2 the file is no
store or is too damaged to copy.`,
		Example: `  orbench store backup --out backup.db`,
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, _ []string, f storeFlags) error {
		health, err := address.Backup(ctx, f.store, f.out)
		if err := s.showHealth(f.format, f.out, health, err); err != nil {
			return err
		}
		return s.failUnsound(f.store, health)
	}, "store", "out")
}

// showHealth prints what was found in a store, unless it could not be read.
func (s app) showHealth(format, at string, h store.Health, err error) error {
	if errors.Is(err, store.ErrNoStore) {
		return command.InputError(address.Shown(at), "there is no store", "name another with --store")
	}
	if err != nil {
		return err
	}
	return s.print(format, h, func(w io.Writer) { printHealth(w, address.Shown(at), h) })
}

// failUnsound fails where a store is not sound, and says how to save the rest.
func (s app) failUnsound(at string, h store.Health) error {
	if h.Sound() {
		return nil
	}
	if address.IsFile(at) {
		s.Infof("%s", settings.Rename(store.SaveRest(untrusted.Shell(at)), s.FlagOf))
	}
	return command.ErrFailures
}

// printHealth prints what was found in a store.
func printHealth(w io.Writer, at string, h store.Health) {
	state := "sound"
	if !h.Sound() {
		state = "not sound"
	}
	fmt.Fprintf(w, "%s is %s.\n\n", at, state)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "good\tlost\t")
	for _, k := range h.Kinds {
		fmt.Fprintf(t, "%s\t%s\t  %s\n", table.Count(k.Good), table.Count(k.Lost), k.Kind)
	}
	t.Flush()
	for i, fault := range h.Faults {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, untrusted.Terminal(fault))
	}
}

func (s app) vacuum() *cobra.Command {
	var at string
	c := &cobra.Command{
		Use:   "vacuum",
		Short: "Pack a store into one file, as small as possible",
		Long: `Pack a store into one file, as small as possible, that is safe to copy. While a store is
in use, part of it is in files beside it. Nothing is deleted.`,
		Example: `  orbench store vacuum --store all.db`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			before, err := os.Stat(at)
			if err != nil && address.IsFile(at) {
				return command.InputError(at, "there is no store", "name another with --store")
			}
			if err := address.Vacuum(c.Context(), at); err != nil {
				return err
			}
			after, err := os.Stat(at)
			if err != nil {
				return err
			}
			fmt.Fprintf(s.Stdout, "%s has %s bytes; it had %s\n", at, table.Count(int(after.Size())), table.Count(int(before.Size())))
			return nil
		},
	}
	s.StoreFlag(c, &at)
	return c
}

// print writes a result as JSON, or as text.
func (s app) print(format string, result any, text func(io.Writer)) error {
	if format != "json" {
		text(s.Stdout)
		return nil
	}
	return table.JSON(s.Stdout, result)
}

// counted is a number of things.
func counted(n int, thing string) string { return table.Counted(n, thing, thing+"s") }

// counts says what was copied.
func counts(c kinds.Counts) string {
	return fmt.Sprintf("%s, %s, %s, %s and %s", counted(c.Runs, "run"), counted(c.Calls, "call"),
		counted(c.Datasets, "dataset"), counted(c.Annotations, "annotation"), counted(c.Failures, "failure"))
}
