package data

import (
	"context"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/training"
)

// exportCheck checks a folder of training data.
func (a app) exportCheck(ctx context.Context, args []string, f exportFlags) error {
	if len(args) > 0 || f.out != "" || f.format != "" {
		return command.InputError("--check", "it writes nothing, and takes no run, --out or --format", "name the folder alone")
	}
	checked, err := training.Check(ctx, f.check, training.CheckOptions{
		Decontaminate: f.decontaminate, Except: f.except, Cache: a.CacheDir(), Threshold: f.threshold,
	})
	if err != nil {
		return err
	}
	if err = a.Show(f.printed, checked); err == nil && len(checked.Findings) > 0 {
		err = command.ErrFailures
	}
	return err
}
