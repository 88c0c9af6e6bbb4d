package command

import (
	"github.com/spf13/cobra"

	"github.com/orbench/orbench/dataset"
)

// ColumnFlags registers the flags that say how the file of a dataset is read.
func ColumnFlags(c *cobra.Command, o *dataset.Options) {
	flags := c.Flags()
	flags.StringVar(&o.Prompt, "prompt-column", "", "`COLUMN` of the prompts in a file (default: by its usual names)")
	flags.StringVar(&o.Category, "category-column", "", "`COLUMN` of the categories in a file")
	flags.StringVar(&o.Label, "label-column", "", "`COLUMN` of the labels in a file")
	flags.StringVar(&o.LabelValues, "label-values", "", "what the `VALUES` of the label column mean, where they are no labels, such as 'contrast_*=toxic,*=safe'")
	flags.StringVar((*string)(&o.Default), "label", "", "`LABEL` of a file without a label column: safe (the default), toxic, controversial or undecided")
}

// ClusterFlag registers the flag of the column of clusters.
func ClusterFlag(c *cobra.Command, o *dataset.Options) {
	c.Flags().StringVar(&o.Cluster, "cluster-column", "", "`COLUMN` of a file whose equal values tell prompts that are not independent, such as their seed")
}
