package measurement

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/interchange"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// standardInput is the name of a file that means standard input.
const standardInput = "-"

// judgeStream judges answers as they come over standard input. Judges without a model need
// no store, and none is made for them.
func (a app) judgeStream(c *cobra.Command, f judgeFlags) (err error) {
	if err := command.Only(c, "--responses -", "responses", "judge", "base-url", "concurrency", "max-cost", "local", "store", "set", "batch"); err != nil {
		return err
	}
	if f.Calls.Deferred() {
		return command.InputError("--batch, --set workers", "standard input is answered line by line, so that its calls are made at once", "leave both out, or name a file")
	}
	clients, judges, err := a.prepareJudges(f, nil)
	if err != nil {
		return err
	}
	ask, done, err := a.asker(c.Context(), f, clients, judge.ModelsOf(judges...))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	faults, err := interchange.JudgeLines(c.Context(), a.Stdin, a.Stdout, judges, ask)
	if err != nil || faults == 0 {
		return err
	}
	a.Infof("%s an error or no verdict", table.Counted(faults, "line has", "lines have"))
	return command.ErrFailures
}

// asker opens the store and gives the way to ask judges that are models, nil for none. done
// closes the store.
func (a app) asker(ctx context.Context, f judgeFlags, clients *client.Set, models []model.Ref) (ask model.Model, done func() error, err error) {
	if len(models) == 0 {
		return nil, func() error { return nil }, nil
	}
	prices, err := f.Calls.Prices(models)
	if err != nil {
		return nil, nil, err
	}
	memory, err := a.OpenStore(ctx, f.Store, false)
	if err != nil {
		return nil, nil, err
	}
	ask, given := a.Asker(ctx, f.Calls, clients, memory, prices)
	return ask, func() error { return errors.Join(given(), memory.Close()) }, nil
}
