package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/logs"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/training"
	"github.com/orbench/orbench/internal/untrusted"
)

// exportFlags are the flags of export.
type exportFlags struct {
	training.Options
	out, check         string
	toxicShare, splits string
	mask               bool

	decontaminate, except []string
	threshold             float64
	json, dryRun          bool
	printed               command.Printed

	store string
}

func (a app) exportCommand() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:   "export [RUN|BENCHMARK] --format FORMAT --out DIR",
		Short: "Write training data against over-refusal, or check such data",
		Long: `Make training data from the answers of a run (by default the newest). On a safe prompt, a
full answer of any target is chosen, and a refusal by the target that you will train is
rejected. On a toxic prompt, a refusal is chosen and an answer rejected.

FORMAT is sft (prompt, completion), dpo (prompt, chosen, rejected), kto (prompt,
completion, label) or prompts (prompt, label), as TRL documents them. The folder of a
built benchmark gives only prompts: evaluate it and export that run for the others.

A seed and its rewrites stay in one split. Prompts that are in an evaluation set, or are
nearly the same as one there, are left out. They are compared with every named dataset on
this machine and with those of --decontaminate. --check DIR runs the same comparison on
any folder of training data, and exits with 1 if it finds anything.
`,
		Example: `  orbench export main --format dpo --target vllm/mine --toxic-share 50% --harmful-answers --out data
  orbench export main --format sft --decontaminate my-test-set.csv --out data
  orbench export my-benchmark --format prompts --out data
  orbench export --check data`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.printed.Format = "table"
			if f.json {
				f.printed.Format = "json"
			}
			if f.check != "" {
				return a.exportCheck(c.Context(), args, f)
			}
			return a.export(c.Context(), args, f)
		},
	}
	flags := c.Flags()
	flags.StringVar((*string)(&f.Format), "format", "", "`FORMAT` of the rows: sft, dpo, kto or prompts")
	flags.StringVar(&f.out, "out", "", "new `DIR` to write")
	flags.StringVar(&f.check, "check", "", "check the training data in this `DIR` instead of writing any")
	flags.StringVar(&f.Target, "target", "", "`TARGET` to train; its refusals are rejected (default: the only one)")
	flags.StringSliceVar(&f.ChosenFrom, "chosen-from", nil, "`TARGETS` whose answers may be chosen (default: all)")
	flags.IntVar(&f.PerPrompt, "per-prompt", 1, "at most this `NUMBER` of rows for each prompt")
	flags.StringVar(&f.toxicShare, "toxic-share", "", "`SHARE` of toxic prompts in each split, such as 50% (default: all of them)")
	flags.BoolVar(&f.Harmful, "harmful-answers", false, "also write answers that comply with toxic prompts, as rejected ones")
	flags.BoolVar(&f.Plain, "plain", false, "write texts in place of messages, and leave conversations out")
	flags.BoolVar(&f.mask, "mask", true, "put values of nobody in place of mail addresses, phones, cards, IBANs and IP addresses in what recorded answers bring")
	f.splits, f.Seed = "0.9,0.05,0.05", 1
	command.AddSettings(
		c,
		command.Setting{Name: "splits", Into: &f.splits, Usage: "shares of train, validation and test (default 0.9,0.05,0.05)"},
		command.Setting{Name: "seed", Into: &f.Seed, Usage: "seed of the splits and of what is drawn (default 1)"},
	)
	flags.StringSliceVar(&f.decontaminate, "decontaminate", nil, "leave out the prompts of this `FILE|NAME` too; repeatable")
	flags.StringSliceVar(&f.except, "except", nil, "do not compare with the dataset of this `NAME`; repeatable")
	command.ShareFlag(c, &f.threshold, "threshold", "0", fmt.Sprintf("prompts are nearly the same if they share at least this `SHARE` of word sequences (Jaccard index; default: %v, or a lower one that the folder names)", training.NearThreshold))
	flags.BoolVar(&f.json, "json", false, "print JSON")
	f.printed.RegisterFull(c)
	command.CompleteFlag(c, "format", settings.Names(training.Formats))
	flags.BoolVar(&f.dryRun, "dry-run", false, "print what would be written; write nothing")
	a.StoreFlag(c, &f.store)
	return c
}

// export writes a folder of training data.
func (a app) export(ctx context.Context, args []string, f exportFlags) error {
	o, err := f.options()
	switch {
	case err != nil:
		return err
	case f.out == "" && !f.dryRun:
		return command.InputError("--out", "no output folder is named", "name a new folder")
	}
	if f.out != "" {
		if err := folder.Vacant(f.out, folder.Subject{}); err != nil {
			return err
		}
	}
	f.threshold = cmp.Or(f.threshold, training.NearThreshold)
	masker := logs.NewMasker(nil)
	if f.mask {
		o.Mask = masker.Plausible
	}
	if o.Against, err = training.Against(ctx, f.decontaminate, f.except, a.CacheDir(), f.threshold); err != nil {
		return err
	}
	if len(args) > 0 {
		built, err := benchmark.Open(args[0])
		if err == nil {
			return a.exportPrompts(ctx, built, o, f)
		} else if strings.ContainsRune(args[0], filepath.Separator) {
			return err
		}
	}
	err = a.exportRun(ctx, args, o, f)
	if n := masker.Values(); n > 0 && err == nil {
		a.Infof("%s of people, with values of nobody in their place (mask); what is said can still tell who said it", table.Counted(n, "value is", "values are"))
	}
	return err
}

// exportRun writes the answers of a run, the newest without a name.
func (a app) exportRun(ctx context.Context, args []string, o training.Options, f exportFlags) (err error) {
	memory, err := a.OpenExisting(ctx, f.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	r, err := a.OpenRun(ctx, memory, f.store, strings.Join(args, ""))
	if err != nil {
		return err
	}
	c, err := training.Collect(ctx, memory, r, o)
	if err != nil {
		return err
	}
	return a.writeTraining(c, f)
}

// options reads the flags.
func (f exportFlags) options() (training.Options, error) {
	o := f.Options
	if o.Format == "" {
		return o, command.InputError("--format", "no format of the rows is named", "use sft, dpo, kto or prompts")
	}
	if f.toxicShare != "" {
		share, err := settings.ParseShare("toxic-share", f.toxicShare)
		if err != nil {
			return o, err
		}
		o.ToxicShare = &share
	}
	shares := strings.Split(f.splits, ",")
	if len(shares) != len(o.Splits) {
		return o, command.InputError("--set splits", fmt.Sprintf("%q does not have three shares", f.splits), "give those of train, validation and test, such as 0.9,0.05,0.05")
	}
	for i, text := range shares {
		var err error
		if o.Splits[i], err = settings.ParseShare("splits", strings.TrimSpace(text)); err != nil {
			return o, err
		}
	}
	return o, nil
}

// exportPrompts writes the prompts of a built benchmark.
func (a app) exportPrompts(ctx context.Context, built *benchmark.Folder, o training.Options, f exportFlags) error {
	full, toxic := filepath.Join(built.Dir, string(benchmark.FullSet)+built.Manifest.Ending()), filepath.Join(built.Dir, string(benchmark.ToxicSet)+built.Manifest.Ending())
	if o.Format != training.Prompts {
		return command.InputError(built.Dir, "a benchmark has prompts and no answers to train on",
			fmt.Sprintf("evaluate it (orbench eval --target TARGET --dataset %s) and export that run, or use --format prompts", untrusted.Shell(full+","+toxic)))
	}
	var sets []*dataset.Dataset
	for _, path := range []string{full, toxic} {
		if built.Manifest.Files[filepath.Base(path)].Rows == 0 {
			continue
		}
		set, err := dataset.Open(ctx, path, dataset.Options{Cache: a.CacheDir(), AssumeSafe: true})
		if err != nil {
			return err
		}
		sets = append(sets, set)
	}
	c, err := training.CollectPrompts(ctx, sets, built.Manifest.Simulated, o)
	if err != nil {
		return err
	}
	return a.writeTraining(c, f)
}

// writeTraining makes the set, shows it and writes it.
func (a app) writeTraining(c *training.Collection, f exportFlags) error {
	set, err := c.Select()
	if err != nil {
		return err
	}
	if !set.Empty() && !f.dryRun {
		if err := set.Write(f.out, a.CommandLine()); err != nil {
			return err
		}
	}
	if err := a.Show(f.printed, &set.Manifest); err != nil {
		return err
	}
	if set.Empty() {
		return command.InputError("export", "no prompt is left to train on, and nothing was written", set.Advice())
	}
	if f.dryRun {
		return nil
	}
	again := "orbench export --check " + untrusted.Shell(f.out)
	for _, name := range f.except {
		again += " --except " + untrusted.Shell(name)
	}
	if f.threshold > training.NearThreshold {
		again += fmt.Sprintf(" --threshold %v", f.threshold)
	}
	a.Infof("wrote %s; check it again with: %s", f.out, again)
	return nil
}

// exportCheck checks a folder of training data.
func (a app) exportCheck(ctx context.Context, args []string, f exportFlags) error {
	if len(args) > 0 || f.out != "" || f.Format != "" {
		return command.InputError("--check", "it writes nothing, and takes no run, --out or --format", "name the folder alone")
	}
	checked, err := training.Check(ctx, f.check, f.decontaminate, f.except, a.CacheDir(), f.threshold)
	if input := new(orbench.InputError); errors.As(err, &input) && strings.HasPrefix(input.File, f.check+string(filepath.Separator)) {
		return command.InputError(f.check, "is not a folder of training data alone: "+strings.TrimPrefix(input.Error(), f.check+string(filepath.Separator)), "name the folder that orbench export wrote")
	}
	if err != nil {
		return err
	}
	if err = a.Show(f.printed, checked); err == nil && len(checked.Findings) > 0 {
		err = command.ErrFailures
	}
	return err
}
