package command

import (
	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/dataset"
)

// NameFlags registers the flags that name the columns of prompts and labels in a file.
func NameFlags(c *cobra.Command, o *dataset.Options) {
	flags := c.Flags()
	flags.StringVar(&o.Prompt, "prompt-column", "", "`COLUMN` of the prompts in a file (default: by its usual names)")
	flags.StringVar(&o.Label, "label-column", "", "`COLUMN` of the labels in a file")
}

// ColumnFlags registers the flags that say how the file of a dataset is read.
func ColumnFlags(c *cobra.Command, o *dataset.Options) {
	NameFlags(c, o)
	flags := c.Flags()
	flags.StringVar(&o.LabelValues, "label-values", "", "what `VALUES` of the label column mean if they are not labels, such as 'contrast_*=toxic,*=safe'")
	flags.StringVar((*string)(&o.Default), "label", "", "`LABEL` of a file without a label column: safe (the default), toxic, controversial or undecided")
	AddSettings(c, Setting{Name: "category_column", Into: &o.Category, Usage: "column of the categories in a file (default: by its usual names)"})
}

// DrawFlags registers the flags that choose among the prompts of each dataset.
func DrawFlags(c *cobra.Command, limit *int, o *dataset.Options) {
	flags := c.Flags()
	flags.IntVar(limit, "limit", 0, "only the first `N` prompts of each dataset, in the order of the file; --sample draws")
	flags.IntVar(&o.Sample, "sample", 0, "`N` prompts of each dataset, drawn at random by category and label; a larger draw has all of a smaller one")
	o.SampleSeed = dataset.UsualSampleSeed
}

// CheckDraw refuses a limit beside a draw, and negative ones of either.
func CheckDraw(limit int, o dataset.Options) error {
	switch {
	case limit < 0:
		return InputError("--limit", "a negative number", "give a positive one, or leave it out")
	case o.Sample < 0:
		return InputError("--sample", "a negative number", "give a positive one, or leave it out")
	case limit > 0 && o.Sample > 0:
		return InputError("--limit, --sample", "they cannot be combined", "give one of them")
	}
	return nil
}

// SayDraw tells which prompts are taken where not all are: the first, which are seldom
// like the others, or a draw.
func (e *Env) SayDraw(limit int, sets ...*dataset.Dataset) {
	for _, set := range sets {
		if limit > 0 && limit < set.Count {
			e.Infof("%s: only the first %d of %d prompts, in the order of the file; --sample %[2]d draws as many at random", set.Name, limit, set.Count)
		}
		if s := set.Sample; s != nil {
			e.Infof("%s: %d of %d prompts, drawn at random by category and label with seed %d", set.Name, s.Size, s.Of, s.Seed)
		}
	}
}
