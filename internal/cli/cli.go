package cli

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/cli/measurement"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// The exit codes, documented in docs/cli.md.
const (
	exitDone        = 0
	exitFailures    = 1
	exitInput       = 2
	exitBudget      = 3
	exitGate        = 4
	exitInterrupted = 130
)

// usageError is a wrong flag or argument, as cobra reports it.
type usageError struct{ err error }

func (e usageError) Error() string        { return e.err.Error() }
func (e usageError) Is(target error) bool { return target == orbench.ErrInput }

// end is a way in which commands end.
type end struct {
	code int
	is   func(error) bool
}

// failures is the end of a command that did its work, or some of it, and of any error that
// has no other.
var failures = end{exitFailures, func(error) bool { return true }}

// ends are all of them: the first that an error is counts.
var ends = []end{
	{exitDone, func(err error) bool { return err == nil }},
	{exitInterrupted, func(err error) bool { return errors.Is(err, command.ErrInterrupted) }},
	{exitBudget, func(err error) bool { return errors.As(err, new(*fill.BudgetError)) }},
	{exitGate, func(err error) bool { return errors.Is(err, command.ErrGate) }},
	{exitInput, func(err error) bool { return errors.Is(err, orbench.ErrInput) }},
	failures,
}

// endOf says how a command ended that returned err.
func endOf(err error) end {
	return ends[slices.IndexFunc(ends, func(e end) bool { return e.is(err) })]
}

// abandonAfter is how long a command has after a second interrupt to save and show
// what there is.
const abandonAfter = time.Second

// Run runs one command line and returns its exit code.
//
// The first interrupt (SIGINT or SIGTERM) ends the context: the command
// finishes what is under way and saves it. The second abandons that too, and ends
// the program soon after, whatever it does.
func Run(env *command.Env) int {
	defer cleanOutput(env)()
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	abort := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	finished := make(chan struct{})
	defer close(finished)
	go func() {
		select {
		case <-signals:
			stop(command.ErrInterrupted)
		case <-finished:
			return
		}
		select {
		case <-signals:
			close(abort)
		case <-finished:
			return
		}
		select {
		case <-time.After(abandonAfter):
			// What was answered is in the store already, as after any kill.
			env.Fault(command.ErrInterrupted.Error())
			os.Exit(exitInterrupted)
		case <-finished:
		}
	}()
	env.Abort = abort
	env.Version = version()
	env.Tool = strings.TrimSpace("orbench " + env.Version + " " + strings.Split(recorded("vcs.time"), "T")[0])
	env.Secrets = command.NewSecrets(env.Getenv)
	log.SetFlags(0)
	log.SetOutput(env.Secrets.Log(env.Note))
	env.Sent = new(atomic.Int64)
	root := root(env)
	root.SetArgs(env.Args)
	err := root.ExecuteContext(ctx)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = context.Cause(ctx) // what was canceled does not know why
	}
	ended := endOf(err)
	again := ended.code == exitInput && env.Sent.Load() > 0 && !errors.Is(err, command.ErrOtherWeights)
	if err != nil && !errors.Is(err, command.ErrFailures) && !errors.Is(err, command.ErrGate) {
		text := env.ErrorText(err)
		if again {
			text += "; what was answered is kept, and the same command goes on from it"
		}
		env.Fault(text)
	}
	if again {
		ended = failures // exitInput says that nothing was sent
	}
	return ended.code
}

// cleanOutput lets nothing that a server, a model or a file wrote act on the terminal or
// the log that output goes to. What it gives ends that.
func cleanOutput(env *command.Env) (end func()) {
	var styles []string
	if table.Colored(env.Stdout, env.Getenv) {
		styles = table.Styles()
	}
	out, said := untrusted.NewWriter(env.Stdout, styles...), untrusted.NewWriter(env.Stderr)
	env.Stdout, env.Stderr = out, said
	return func() {
		// A stream that is closed has nobody left to tell.
		_, _ = out.Flush(), said.Flush()
	}
}

// app is the world of the commands, which are its methods.
type app struct{ *command.Env }

// root makes the command tree.
func root(env *command.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "orbench",
		Short: "Measure how often a language model refuses what it should answer",
		Long: `orbench measures how often language models refuse. It asks them safe prompts that sound
alarming, and toxic prompts that should be refused. It keeps every answer that you paid
for and decides which answers are refusals. It reports over-refusal (safe prompts refused;
lower is better) against toxic refusal (toxic prompts refused; higher is better).

Start with "orbench demo": it needs no key and no network.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       versionLine(),
		Args:          cobra.NoArgs,

		PersistentPreRunE: env.Began,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetVersionTemplate("{{.Version}}\n")
	root.InitDefaultVersionFlag()
	root.PersistentFlags().BoolVar(&env.Quiet, "quiet", false, "no progress and no hints")
	root.AddGroup(&cobra.Group{ID: measuring, Title: "Measure"}, &cobra.Group{ID: making, Title: "Make and check prompts"}, &cobra.Group{ID: itself, Title: "orbench itself"}, &cobra.Group{ID: further, Title: "More commands"})
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
		}
		root.AddCommand(commands...)
	}
	add(measuring, append(measurement.Commands(env), batchCommand(env))...)
	a := app{env}
	add(making, a.datasetCommand(), a.buildCommand(), a.policyCommand(), a.exportCommand())
	add(itself, storeCommand(env), configCommand(env), doctorCommand(env))
	add(further, simCommand(env), versionCommand(env))
	for _, c := range root.Commands() {
		if slices.Contains([]string{"batch", "config", "policy", "worker"}, c.Name()) {
			c.GroupID = further
		}
	}
	root.SetHelpCommandGroupID(further)
	root.SetCompletionCommandGroupID(further)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	columns, _ := env.Size()
	width := min(helpWidth, columns)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprint(c.OutOrStdout(), helpText(c, width)) })
	root.SetUsageFunc(func(c *cobra.Command) error {
		_, err := fmt.Fprint(c.OutOrStderr(), usageText(c, width))
		return err
	})
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	if len(env.Args) > 0 && strings.HasPrefix(env.Args[0], cobra.ShellCompRequestCmd) {
		completeAll(root, env)
	}
	wrapUsage(root, env.Args)
	return root
}

// The groups in which the help lists the commands.
const (
	measuring = "measurement"
	making    = "data"
	itself    = "orbench"
	// further commands are named in one line.
	further = "further"
)

// wrapUsage turns every wrong flag and argument into a usageError that says what may
// have been meant, and points to the help.
func wrapUsage(c *cobra.Command, typed []string) {
	hint := func(c *cobra.Command, err error, meant string) error {
		if meant != "" {
			return usageError{fmt.Errorf("%w; did you mean %s? See %q", err, meant, c.CommandPath()+" --help")}
		}
		return usageError{fmt.Errorf("%w; see %q", err, c.CommandPath()+" --help")}
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		// What a flag does not take is told as any input.
		if input, ok := errors.AsType[*orbench.InputError](err); ok {
			return input
		}
		if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
			if kind := map[string]string{"int": "a whole number", "int64": "a whole number", "float64": "a number", "duration": "a time with its unit, such as 30s or 10m", "bool": "true or false"}[wrong.GetFlag().Value.Type()]; kind != "" {
				err = fmt.Errorf("--%s: %q is not %s", wrong.GetFlag().Name, wrong.GetValue(), kind)
				return usageError{fmt.Errorf("%w; %s", err, settings.PointMeant(wrong.GetValue(), fmt.Sprintf("see %q", c.CommandPath()+" --help")))}
			}
		}
		// The flags of a misspelled command are unknown too, and not the fault.
		if c.HasAvailableSubCommands() && c.Args != nil && c.Flags().NArg() > 0 {
			if wrong := c.Args(c, c.Flags().Args()); wrong != nil {
				return wrong
			}
		}
		if instead := goneMeant(typed, err); instead != "" {
			return usageError{fmt.Errorf("%w; %s", err, instead)}
		}
		meant := flagMeant(c, err)
		if others := commandsWith(c.Root(), err); meant == "" && others != "" {
			err = fmt.Errorf("%w, which %s does not have, unlike %s", err, c.CommandPath(), others)
		}
		return hint(c, err, meant)
	})
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if list := listMeant(c, typed, args, err != nil); list != "" {
				return usageError{fmt.Errorf("%q belongs to no flag; a list has commas and no blanks: %s", args[0], list)}
			}
			switch {
			case err == nil:
				return nil
			case c.HasAvailableSubCommands() && len(args) > 0:
				return hint(c, err, commandMeant(c, args[0]))
			case check(c, nil) == nil && check(c, args[:1]) != nil:
				return hint(c, fmt.Errorf("%q belongs to no flag", args[0]), flagOf(c, args[0]))
			case strings.Contains(err.Error(), " arg(s)"):
				err = fmt.Errorf("%s given to %q", table.Counted(len(args), "argument", "arguments"), c.UseLine())
			}
			return hint(c, err, "")
		}
	}
	for _, sub := range c.Commands() {
		wrapUsage(sub, typed)
	}
}

// flagOf is the flag with an argument that was given without one: a settings file, a model or
// a dataset. It is empty if the command has no such flag.
func flagOf(c *cobra.Command, arg string) string {
	flag := "dataset"
	if _, err := os.Stat(arg); err != nil && strings.Contains(arg, "/") {
		flag = "target"
	}
	if slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(arg)) {
		flag = "config"
	}
	if c.Flags().Lookup(flag) == nil {
		return ""
	}
	return "--" + flag + " " + untrusted.Shell(arg)
}

// listMeant is a flag with its list, from which a blank parted the first argument: after a comma
// or, where the command takes no such argument, right behind the list.
func listMeant(c *cobra.Command, typed, args []string, wrong bool) string {
	i := -1
	if len(args) > 0 {
		i = slices.Index(typed, args[0])
	}
	if i < 2 {
		return ""
	}
	name, value, joined := strings.Cut(typed[i-1], "=")
	if !joined {
		name, value = typed[i-2], typed[i-1]
	}
	flag, long := strings.CutPrefix(name, "--")
	f := c.Flags().Lookup(flag)
	if !long || f == nil || slices.Contains([]string{"base-url", "out"}, flag) {
		return ""
	}
	if _, list := f.Value.(pflag.SliceValue); !list || !wrong && !strings.HasSuffix(value, ",") {
		return ""
	}
	return name + " " + untrusted.Shell(strings.TrimRight(value, ",")+","+args[0])
}

// otherWords are what people call commands and flags that have another name.
var otherWords = map[string]string{
	"paper": "report --paper", "run": "eval", "test": "eval", "measure": "eval", "benchmark": "eval", "bench": "eval",
	"--model": "--target", "--models": "--target", "--prompts": "--dataset", "--data": "--dataset",
	"--api-base": "--base-url", "--url": "--base-url", "--output": "--out", "--db": "--store",
	"--number": "--size", "--reply-column": "--response-column",
}

// commandMeant is the subcommand that a misspelled one most likely means, or "".
func commandMeant(c *cobra.Command, name string) string {
	if meant := otherWords[name]; meant != "" && c.Parent() == nil {
		return meant
	}
	var known []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			if strings.HasPrefix(name, sub.Name()) {
				return sub.Name()
			}
			known = append(known, sub.Name())
		}
	}
	return settings.Nearest(name, known)
}

// goneMeant says what to do in place of a setting that is no longer there, which an unknown flag
// is, or --set names where a command has no settings.
func goneMeant(typed []string, err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	name := unknown.GetSpecifiedName()
	if i := slices.Index(typed, "--set") + 1; name == "set" && 0 < i && i < len(typed) {
		name, _, _ = strings.Cut(typed[i], "=")
	}
	return settings.Gone(strings.ReplaceAll(name, "-", "_"))
}

// commandsWith lists the commands that have an unknown flag.
func commandsWith(root *cobra.Command, err error) string {
	var names []string
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		for _, c := range root.Commands() {
			if c.Flags().Lookup(unknown.GetSpecifiedName()) != nil {
				names = append(names, c.Name())
			}
		}
	}
	return strings.Join(names, ", ")
}

// flagMeant is the flag, or what --set takes, that an unknown flag most likely means, or "".
// One that was written with one hyphen is known by all its letters.
func flagMeant(c *cobra.Command, err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	name := unknown.GetSpecifiedName()
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		name, _, _ = strings.Cut(letters, "=")
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	for _, s := range command.Settings(c) {
		known = append(known, s.FlagName())
	}
	if meant := otherWords["--"+name]; slices.Contains(known, strings.TrimPrefix(meant, "--")) {
		return meant
	}
	near := settings.Nearest(name, known)
	var meant []string
	for _, s := range command.Settings(c) {
		if s.FlagName() == near {
			meant = append(meant, "--set "+untrusted.Shell(s.Name+"=VALUE"))
		}
	}
	if near != "" && meant == nil {
		return "--" + near
	}
	return strings.Join(meant, " or ")
}
