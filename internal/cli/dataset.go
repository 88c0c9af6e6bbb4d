package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// openDataset reads the dataset that the options describe.
func (a app) openDataset(c *cobra.Command, ref string, o dataset.Options) (*dataset.Dataset, error) {
	o.Answers, o.Cache = true, a.CacheDir()
	set, err := dataset.Open(c.Context(), ref, o)
	if err == nil {
		a.Infos(set.Notes())
	}
	return set, err
}

func (a app) datasetCommand() *cobra.Command {
	return command.Group("dataset", "List, fetch, look into and compare sets of prompts", "",
		a.datasetListCommand(), a.datasetPullCommand(), a.datasetShowCommand(), a.datasetStatsCommand(), a.datasetCompareCommand())
}

func (a app) datasetListCommand() *cobra.Command {
	var sources bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the built-in and published datasets",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			sets := table.Section{
				Header: []string{"name", "labels", "license", "here", "prompts"}, Left: 4,
				Note: "orbench dataset pull NAME fetches one. Some licenses restrict use (!): say --accept-license once.",
			}
			var unchecked []table.Part
			for _, e := range dataset.List(a.CacheDir()) {
				license, here := e.License, "no"
				if e.Restricts != "" {
					license += " !"
				}
				if e.Present {
					here = "yes"
				}
				sets.Add(e.Name, e.Label, license, here, e.Rows)
				if sources && e.Unchecked != "" {
					unchecked = append(unchecked, table.Paragraph(e.Name+": "+e.Unchecked))
				}
			}
			var d table.Document
			d.Add(sets)
			d.Add(unchecked...)
			return d.Text(a.Stdout, a.Screen(false))
		},
	}
	c.Flags().BoolVar(&sources, "sources", false, "also say what each entry rests on that could not be checked against its source")
	return c
}

func (a app) datasetPullCommand() *cobra.Command {
	var accept bool
	var from string
	c := &cobra.Command{
		Use:   "pull NAME...",
		Short: "Fetch published datasets from the Hugging Face hub or GitHub into the cache",
		Long: `Fetch published datasets from the Hugging Face hub or from GitHub, at pinned revisions.
They are kept in the cache folder ($ORBENCH_CACHE, by default orbench in the user's
cache) and checked against their known checksums and number of rows. You accept a
restrictive license once.

HF_ENDPOINT names another hub, and ORBENCH_GITHUB another server of GitHub's files. For
gated datasets, the token in HF_TOKEN or the one that "hf auth login" stored is sent to
the hub.`,
		Example: "  orbench dataset pull or-bench-hard-1k or-bench-toxic",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			cache := a.CacheDir()
			if cache == "" {
				return command.InputError("ORBENCH_CACHE", "there is no cache folder", "set ORBENCH_CACHE to one")
			}
			token := a.HubToken()
			if hub := (provider.Recipient{Address: a.Getenv("HF_ENDPOINT")}); token != "" && hub.Exposed() {
				a.Infof("warning: the hub is asked over plain http at %s: your token can be read on the way; use https in HF_ENDPOINT", hub.Host())
			}
			for _, name := range names {
				set, err := dataset.Pull(c.Context(), name, dataset.PullOptions{
					Cache: cache, Endpoint: a.Getenv("HF_ENDPOINT"), GitHub: a.Getenv("ORBENCH_GITHUB"),
					Token: token, AcceptLicense: accept, From: from,
					Progress: func(line string) { a.Infof("%s", line) },
				})
				if err != nil {
					return err
				}
				fmt.Fprintf(a.Stdout, "%s: %d prompts, sha256 %.12s, in %s\n", set.Name, set.Count, set.SHA256, set.Source)
			}
			return nil
		},
	}
	c.Flags().StringVar(&from, "from", "", "take the files from this `DIR or FILE`, such as a clone of the repository or a browser's download, and fetch nothing")
	c.Flags().BoolVar(&accept, "accept-license", false, "accept the restrictive licenses of these datasets, once and for all")
	return c
}

func (a app) datasetShowCommand() *cobra.Command {
	var o dataset.Options
	var format string
	var limit int
	c := &cobra.Command{
		Use:   "show NAME|FILE",
		Short: "Print the prompts of a dataset, as JSON Lines or as text",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := command.CheckDraw(limit, o); err != nil {
				return err
			}
			set, err := a.openDataset(c, args[0], o)
			if err != nil {
				return err
			}
			a.SayDraw(limit, set)
			n := 0
			for p, err := range set.Prompts() {
				if err != nil {
					return err
				}
				if limit > 0 && n == limit {
					break
				}
				n++
				if err := showPrompt(a.Stdout, format, p); err != nil {
					return err
				}
			}
			return nil
		},
	}
	command.ColumnFlags(c, &o)
	command.FormatFlag(c, &format, command.TwoFormats)
	command.DrawFlags(c, &limit, &o)
	command.AddSettings(c, command.Setting{Name: "sample_seed", Into: &o.SampleSeed, Usage: "seed of the draw (default 1)"})
	return c
}

// showPrompt prints a prompt on one line.
func showPrompt(w io.Writer, format string, p orbench.Prompt) error {
	if format == "json" {
		return json.NewEncoder(w).Encode(p)
	}
	// %q keeps control characters away from the terminal.
	_, err := fmt.Fprintf(w, "%s  %-13s  %-12s  %q\n", p.ID, p.Label, untrusted.Terminal(string(p.Category)), p.Transcript())
	return err
}

func (a app) datasetStatsCommand() *cobra.Command {
	var o dataset.Options
	var format string
	c := &cobra.Command{
		Use:   "stats NAME|FILE",
		Short: "Count a dataset's labels, categories, lengths and near-duplicates",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			set, err := a.openDataset(c, args[0], o)
			if err != nil {
				return err
			}
			stats, err := set.Stats(c.Context())
			if err != nil {
				return err
			}
			if format == "json" {
				return table.JSON(a.Stdout, struct {
					*dataset.Dataset
					Stats dataset.Stats `json:"stats"`
				}{set, stats})
			}
			d := statsDocument(set, stats)
			return d.Text(a.Stdout, a.Screen(false))
		},
	}
	command.ColumnFlags(c, &o)
	command.FormatFlag(c, &format, command.TwoFormats)
	return c
}
