package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/vbauerster/mpb/v8"
	"golang.org/x/term"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// Env is the world that a command runs in.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Program is the name by which the program was called, empty for orbench.
	Program string
	// Args are the words of the command line after the program's name.
	Args []string
	// Version is that of the program, as outputs name it.
	Version string
	// Tool is the program with its version and date, as the cards of benchmarks name it.
	Tool string
	// Quiet: show no progress and no hints.
	Quiet bool
	// Abort is closed when calls under way are to be abandoned too, which is
	// what a second interrupt asks for. Nil is never closed.
	Abort <-chan struct{}
	// Secrets are the keys that nothing may show; nil holds none.
	Secrets *Secrets
	// Sent counts the calls that the command made. Nil counts nothing.
	Sent *atomic.Int64

	// running is the command that runs, nil before its flags are read.
	running *cobra.Command
	// logged is true where what is said is logged, as JSON; see LogFormat.
	logged bool
	// bar is at the bottom of the terminal while it is set, and texts go above it.
	bar atomic.Pointer[mpb.Progress]
	// local is true if connections are kept to this machine; see LocalIfPeople.
	local bool
}

// Group is a command that only has others, and prints its help.
func Group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Long: long, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(commands...)
	return c
}

// LimitMemory has garbage collected more often where there is about so much of it, unless the user
// has set another limit or has less memory.
func (e *Env) LimitMemory(most int64) {
	if e.Getenv("GOMEMLIMIT") == "" && debug.SetMemoryLimit(-1) > most {
		debug.SetMemoryLimit(most)
	}
}

// NoteSent counts the calls of one filling.
func (e *Env) NoteSent(s fill.Stats) {
	if e.Sent != nil {
		e.Sent.Add(int64(s.Requests))
	}
}

// ErrInterrupted is the cause of a context that a signal ended.
var ErrInterrupted = errors.New("interrupted")

// ErrFailures says that a command did its work and some calls failed; what
// failed has been said already.
var ErrFailures = errors.New("finished with failures")

// ErrGate says that a comparison was made and a gate failed or could not be
// decided; which has been said already.
var ErrGate = errors.New("a gate failed")

// ErrOtherWeights says that a target has other weights than those that made stored answers.
// Calls may have been made to find that out.
var ErrOtherWeights = errors.New("other weights")

// InputError is short for an *orbench.InputError about a flag or a file.
func InputError(where, problem, hint string) error {
	return &orbench.InputError{File: where, Problem: problem, Hint: hint}
}

// Only refuses flags that were given beside those that are read in a mode of a command, so that
// none is passed over in silence.
func Only(c *cobra.Command, mode string, read ...string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "quiet" && !slices.Contains(read, f.Name) && err == nil {
			err = InputError("--"+f.Name, "it means nothing with "+mode, "leave it out")
		}
	})
	return err
}

// Infof tells of something on standard error.
func (e *Env) Infof(format string, args ...any) {
	e.tell(slog.LevelInfo, "", fmt.Sprintf(format, args...))
}

// Infos tells of several things.
func (e *Env) Infos(texts []string) {
	for _, text := range texts {
		e.Infof("%s", text)
	}
}

// tell says a text, with something before it, or has it logged where what is said is logged.
func (e *Env) tell(level slog.Level, before, text string) {
	if e.logged {
		e.Logger(level).Log(context.Background(), level, text)
		return
	}
	e.say(before + text)
}

// say writes lines to standard error. On a terminal they are broken between words. Those
// that begin with a blank are commands to copy, and are broken so that they can be pasted.
func (e *Env) say(text string) {
	screen := table.Screen{Commands: e.withStore}
	if table.IsTerminal(e.Stderr) {
		screen.Width = table.WidthOf(e.Stderr, e.Getenv)
	}
	var b bytes.Buffer
	p := table.NewPrinter(&b, screen)
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" {
			p.WriteString("\n")
		}
		p.Line(line)
	}
	p.Flush()
	if bar := e.bar.Load(); bar != nil {
		if _, err := untrusted.NewWriter(bar).Write(b.Bytes()); err == nil {
			return
		}
	}
	_, _ = e.Stderr.Write(b.Bytes()) // a stream that is closed has nobody left to tell
}

// CommandLine is the command as it was typed, quoted for a shell, with some more words. The
// password of a store is left out, and so is --fresh, since whoever goes on asks nothing again.
func (e *Env) CommandLine(more ...string) string {
	words := []string{untrusted.Shell(cmp.Or(e.Program, "orbench"))}
	for _, arg := range slices.Concat(e.Args, more) {
		if arg != "--fresh" {
			words = append(words, untrusted.Shell(address.Shown(arg)))
		}
	}
	return strings.Join(words, " ")
}

// Size is how many columns and lines the terminal has that standard output is: $COLUMNS and
// $LINES, where they are set. Columns that are not known are enough for any line, and lines
// that are not known are 0.
func (e *Env) Size() (columns, lines int) {
	columns = math.MaxInt
	if f := table.FileOf(e.Stdout); f != nil {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			columns, lines = w, h
		}
	}
	for name, into := range map[string]*int{"COLUMNS": &columns, "LINES": &lines} {
		if n, err := strconv.Atoi(e.Getenv(name)); err == nil && n > 0 {
			*into = n
		}
	}
	return columns, lines
}

// Command is the command for the history of a run: as it was typed, without secrets.
func (e *Env) Command() provenance.Command {
	return provenance.Command{
		Line: provenance.CleanCommand(append([]string{"orbench"}, e.Args...), e.Secrets.all()), Version: e.Version, Date: time.Now().UTC().Truncate(time.Second), Local: e.local,
	}
}

// CacheDir is the folder of pulled datasets, empty where there is none.
func (e *Env) CacheDir() string { return run.CacheDir(e.Getenv) }
