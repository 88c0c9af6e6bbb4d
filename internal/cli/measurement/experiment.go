package measurement

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/defense"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/judge"
)

// spec is the experiment that a user asked for, by flags or by a file, and where
// its settings stand.
type spec struct {
	experiment.Config
	// file is nil for flags.
	file *experiment.File
}

// inConfig are the flags of eval that say what the file of --config says.
var inConfig = []string{
	"target", "dataset", "judge", "prompt-column", "category-column", "label-column", "label-values", "cluster-column", "pair-column", "label", "response-column",
	"system", "temperature", "max-tokens", "judge-max-tokens", "seed", "defense", "framing", "turns", "language", "translator", "samples",
}

// checkBeside refuses flags that a file has settings for.
func checkBeside(c *cobra.Command, file string) error {
	for _, name := range inConfig {
		if c.Flags().Changed(name) {
			return command.InputError("--"+name, "the experiment in "+file+" says this", "change it there, or leave --config out")
		}
	}
	return nil
}

// fromFile reads an experiment; --name, --limit, --sample and --until replace what it says.
func fromFile(f evalFlags) (spec, error) {
	file, err := experiment.Load(f.config)
	if err != nil {
		return spec{}, err
	}
	x := spec{file.Config, file}
	if f.name != "" {
		x.Name = f.name
	}
	if f.limited {
		x.Limit, x.Sample = f.limit, 0
	}
	if f.sampled {
		x.Limit, x.Sample = 0, f.columns.Sample
	}
	if f.limited && f.sampled {
		x.Limit = f.limit
	}
	if f.until != "" {
		x.Until = f.until
	}
	if f.reseed {
		x.SampleSeed = &f.columns.SampleSeed
	}
	return x, command.CheckDraw(x.Limit, dataset.Options{Sample: x.Sample})
}

// fromFlags makes the experiment that the flags say.
func fromFlags(f evalFlags) (spec, error) {
	x := spec{Config: experiment.Default()}
	x.Sample, x.SampleSeed = f.columns.Sample, &f.columns.SampleSeed
	x.Until = f.until
	x.Name, x.Limit, x.MaxTokens, x.JudgeMaxTokens = f.name, f.limit, f.maxTokens, f.judgeMaxTokens
	for _, target := range distinct(experiment.SplitList(f.targets)) {
		x.Targets = append(x.Targets, experiment.Target{Target: target, PromptColumn: f.columns.Prompt, ResponseColumn: f.responseColumn})
	}
	// The answers of a replay are its own; guards are asked about those of a dataset.
	response := ""
	if slices.ContainsFunc(x.Targets, experiment.Target.IsGuard) {
		response = f.responseColumn
	}
	for _, ref := range distinct(experiment.SplitList(f.datasets)) {
		x.Datasets = append(x.Datasets, experiment.Dataset{
			Dataset: ref, Prompt: f.columns.Prompt, Category: f.columns.Category, Labels: f.columns.Label, LabelValues: f.columns.LabelValues, Cluster: f.columns.Cluster, Pair: f.columns.Pair,
			Label: string(f.columns.Default), Response: response,
		})
	}
	x.Judges = distinct(judge.Split(strings.Join(f.judges, ",")))
	if f.seeded {
		x.Seed = &f.seed
	}
	system, err := experiment.ParseSystem(f.system)
	if err != nil {
		return x, err
	}
	temperature, err := experiment.ParseTemperature(f.temperature)
	if err != nil {
		return x, err
	}
	if f.samples < 1 {
		return x, command.InputError("--samples", "fewer than one answer", "give a positive number")
	}
	x.Variants.SystemPrompts = []experiment.System{system}
	x.Variants.Temperatures = []experiment.Temperature{{Value: temperature, Samples: f.samples}}
	for _, name := range distinct(f.framings) {
		x.Variants.Framings = append(x.Variants.Framings, experiment.Framing{Name: name})
	}
	for _, name := range distinct(f.turns) {
		x.Variants.Turns = append(x.Variants.Turns, experiment.Script{Name: name})
	}
	x.Variants.Languages, x.Variants.Translator = distinct(f.languages), f.translator
	for _, list := range f.defenses {
		x.Variants.Defenses = append(x.Variants.Defenses, defense.Split(list)...)
	}
	x.Variants.Defenses = distinct(x.Variants.Defenses)
	if fault := x.Check(); fault != nil {
		return x, x.placed(&run.SettingError{Path: fault.Path, Err: &orbench.InputError{Problem: fault.Problem, Hint: fault.Hint}})
	}
	return x, nil
}

// distinct leaves repetitions out.
func distinct(values []string) []string {
	var once []string
	for _, v := range values {
		if !slices.Contains(once, v) {
			once = append(once, v)
		}
	}
	return once
}

// flagOf has the flags by the beginnings of the paths of what they say, the longer
// ones first.
var flagOf = [][2]string{
	{"$.name", "--name"},
	{"$.targets", "--target"},
	{"$.datasets[0].label_values", "--label-values"},
	{"$.datasets[0].label", "--label"},
	{"$.datasets", "--dataset"},
	{"$.judges", "--judge"},
	{"$.limit", "--limit"},
	{"$.until", "--until"},
	{"$.sample_seed", "--sample-seed"},
	{"$.sample", "--sample"},
	{"$.max_tokens", "--max-tokens"},
	{"$.judge_max_tokens", "--judge-max-tokens"},
	{"$.base_urls", "--base-url"},
	{"$.variants.system_prompts", "--system"},
	{"$.variants.temperatures[0].samples", "--samples"},
	{"$.variants.temperatures", "--temperature"},
	{"$.variants.framings", "--framing"},
	{"$.variants.turns", "--turns"},
	{"$.variants.languages", "--language"},
	{"$.variants.translator", "--translator"},
	{"$.variants.defenses", "--defense"},
	{"$.variants", "--framing, --turns, --language, --defense"},
}

// placed puts the place of a setting to an error about it that names none: a line
// of the file, or a flag.
func (x spec) placed(err error) error {
	var setting *run.SettingError
	var input *orbench.InputError
	switch {
	case !errors.As(err, &setting), !errors.As(err, &input), input.Line > 0 && x.file == nil:
		return err
	case input.Line > 0:
		return settings.RenameError(input, inFile)
	}
	path := setting.Path
	placed := *input
	named := input.File != "" && !strings.HasPrefix(input.File, "-")
	if x.file == nil {
		if named {
			return err
		}
		for _, flag := range flagOf {
			if strings.HasPrefix(path, flag[0]) {
				placed.File = flag[1]
				break
			}
		}
		return &placed
	}
	if named {
		placed.Problem = input.File + ": " + input.Problem
	}
	placed.File, placed.Line = x.file.Path, x.file.Line(path)
	return settings.RenameError(&placed, inFile)
}

// inFile is what a setting is called where an experiment is in a file: by its key, but
// for what no file may say.
func inFile(setting string) string {
	if setting == "allow-host" {
		return command.FlagName(setting)
	}
	return experiment.Key(setting)
}
