package data

import (
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/audit"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/construct"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/policy"
	"github.com/orbench/orbench/internal/settings"
)

func (a app) auditCommand() *cobra.Command {
	return command.Group("audit", "Compare a benchmark's moderators with people's labels", `Check how far the labels of a benchmark can be trusted. Plan how many prompts people
must label, draw them, and compare the labels of people and moderators.`,
		a.auditPlanCommand(), a.auditDrawCommand(), a.auditReportCommand())
}

func (a app) auditPlanCommand() *cobra.Command {
	var config audit.PlanConfig
	var printed command.Printed
	c := &cobra.Command{
		Use:   "plan",
		Short: "Compute how many prompts people must label",
		Long: `Compute how many prompts people must label so that the Wilson interval of a rate is as
narrow as you want. Two rates are planned: one over all prompts, such as the moderators'
error, and the false-positive rate, which needs enough toxic prompts.

Write shares as 0.02, 2% or 2pp.`,
		Example: `  orbench audit plan --half-width 2pp
  orbench audit plan --half-width 5pp --expect-fpr 16% --prevalence 10% --population 80359`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			plan, err := audit.NewPlan(config)
			if err != nil {
				return err
			}
			return a.Show(printed, plan)
		},
	}
	command.ShareFlag(c, &config.HalfWidth, "half-width", "2pp", "largest half-width of the interval, a `SHARE`")
	command.ShareFlag(c, &config.Expect, "expect", "0.05", "expected rate over all prompts, a `SHARE`")
	command.ShareFlag(c, &config.ExpectFPR, "expect-fpr", "0.16", "expected `SHARE` of toxic prompts that pass as safe")
	command.ShareFlag(c, &config.Prevalence, "prevalence", "0.10", "`SHARE` of toxic prompts in the population")
	command.ShareFlag(c, &config.Confidence, "confidence", "0.95", "confidence level of the intervals, a `SHARE`")
	c.Flags().IntVar(&config.Population, "population", 0, "`NUMBER` of prompts to draw from (default: unlimited)")
	printed.Register(c, command.Formats)
	return c
}

// drawFlags are the flags of audit draw.
type drawFlags struct {
	size   int
	seed   uint64
	out    string
	from   string
	raters []string
	// policy and guidelines are what people label by, and where to write it.
	policy, guidelines string
	prompt             string
	category           string
}

func (a app) auditDrawCommand() *cobra.Command {
	var f drawFlags
	c := &cobra.Command{
		Use:   "draw DIR|FILE",
		Short: "Draw prompts for people to label",
		Long: `Draw prompts at random and write a table for people to fill in with safe, toxic or
controversial. The prompts come from the folder of a built benchmark, a file or a
dataset. Each category gets its share, and at least one prompt. The order is random, and
the table does not show what the moderators said. The same seed draws the same prompts.
"orbench label draw" draws answers of a run instead, to check its judge.

For a built benchmark, --from voted draws from every rewrite that moderators voted on:
use it to measure their errors. --from full draws from the prompts that passed as safe:
use it to measure how much toxicity is left.`,
		Example: `  orbench audit draw my-benchmark --size 400 --out sample.csv
  orbench audit draw my-benchmark --size 400 --raters ana,ben,cleo --out sample.csv
  orbench audit draw or-bench-80k --size 200 --out sample.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.auditDraw(c, args[0], f) },
	}
	flags := c.Flags()
	flags.IntVar(&f.size, "size", 0, "`NUMBER` of prompts to draw (see audit plan)")
	flags.Uint64Var(&f.seed, "seed", 1, "`SEED` of the draw")
	flags.StringVar(&f.out, "out", "", "new CSV `FILE` to write")
	command.ChoiceFlag(c, &f.from, "from", []string{audit.Voted, audit.Full}, "there are no prompts called", "prompts of a built benchmark to draw from: voted or full")
	flags.StringVar(&f.guidelines, "guidelines", "", "also write the instructions for people (the benchmark's policy, or --policy) to this new Markdown `FILE`")
	flags.StringVar(&f.policy, "policy", "", "`POLICY` for --guidelines: a name (see \"orbench policy list\") or a YAML file (default: the benchmark's, else paper)")
	flags.StringSliceVar(&f.raters, "raters", nil, "`NAMES` of people, to give each a column")
	flags.StringVar(&f.prompt, "prompt-column", "", "`COLUMN` of the prompts in a file (default: by its usual names)")
	command.AddSettings(c, command.CategorySetting(&f.category))
	return c
}

func (a app) auditDraw(c *cobra.Command, source string, f drawFlags) error {
	if f.out == "" {
		return command.InputError("--out", "no output file is named", "name a new CSV file")
	}
	if err := audit.CheckRaters(f.raters); err != nil {
		return err
	}
	if f.policy != "" && f.guidelines == "" {
		return command.InputError("--policy", "a sample is the same under every policy", "name the file for it with --guidelines, or leave it out")
	}
	guidelines, err := guidelinesOf(source, f.policy)
	if err != nil {
		return err
	}
	if !c.Flags().Changed("from") {
		f.from = ""
	}
	items, err := audit.Population(c.Context(), source, f.from, dataset.Options{Prompt: f.prompt, Category: f.category, Cache: a.CacheDir(), AssumeSafe: true})
	if err != nil {
		return err
	}
	if len(items) == 0 && f.from != "" {
		return command.InputError(filepath.Join(source, benchmark.LineageFile), "the benchmark has no prompts for --from "+f.from, "use --from voted, or build it again")
	}
	sample, err := audit.Draw(items, f.size, f.seed)
	if err != nil {
		return err
	}
	if err := folder.WriteNew(f.out, func(w io.Writer) error { return audit.WriteSheet(w, sample, f.raters) }); err != nil {
		return err
	}
	if f.guidelines != "" {
		if err := folder.WriteNew(f.guidelines, func(w io.Writer) error { return audit.WriteGuidelines(w, guidelines) }); err != nil {
			return err
		}
	}
	categories := map[orbench.Category]bool{}
	for _, it := range sample {
		categories[it.Category] = true
	}
	a.Infof("drew %d of %d prompts in %d categories with seed %d into %s", len(sample), len(items), len(categories), f.seed, f.out)
	return nil
}

// guidelinesOf is the policy that people label by: the one that is named, or that of
// the benchmark, or the default.
func guidelinesOf(source, named string) (policy.Policy, error) {
	if named != "" {
		return policy.Open(named)
	}
	if info, err := os.Stat(source); err == nil && info.IsDir() {
		return audit.PolicyOf(source)
	}
	return policy.Open(policy.Default)
}

// auditFlags are the flags of audit report.
type auditFlags struct {
	build      string
	truth      string
	positive   string
	prevalence float64
	printed    command.Printed
}

func (a app) auditReportCommand() *cobra.Command {
	var f auditFlags
	c := &cobra.Command{
		Use:   "report LABELS.csv...",
		Short: "Compare people, moderators and their ensemble",
		Long: `Compare every rater with the truth. Raters are the people, the moderators of the build
that the prompts were drawn from, and the moderators' ensemble. The report prints
accuracy, the rate of toxic prompts that passed as safe, agreement, each ensemble with one
moderator left out, and how much toxicity is left in the benchmark.

A column label holds the labels of one rater, who is named after the file. Columns
rater:NAME hold the labels of several. Votes are read from --build, or from columns
moderator:NAME and ensemble. What people found is also written into the card (README.md)
of --build. The truth is what most people say, unless --truth names a
column or majority(COLUMN,COLUMN,COLUMN).`,
		Example: `  orbench audit report sample.csv --build my-benchmark
  orbench audit report ana.csv ben.csv cleo.csv --build my-benchmark --format json
  orbench audit report sample.csv --build my-benchmark --truth "majority(ana,ben,ensemble)"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.auditReport(args, f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.build, "build", "", "folder `DIR` of the benchmark that the prompts were drawn from")
	flags.StringVar(&f.truth, "truth", "", "`COLUMN` that is the truth, or majority(COLUMNS) (default: the people's majority)")
	flags.StringVar(&f.positive, "positive", string(orbench.Safe), "`LABEL` that counts as positive: safe, as in the paper, or toxic")
	command.ShareFlag(c, &f.prevalence, "prevalence", "0.10", "`SHARE` of toxic prompts before moderation, for residual toxicity")
	command.CompleteFlag(c, "positive", []string{string(orbench.Safe), string(orbench.Toxic)})
	f.printed.Register(c, command.Formats)
	return c
}

func (a app) auditReport(files []string, f auditFlags) error {
	config := audit.Examination{Positive: orbench.Label(f.positive), Prevalence: f.prevalence}
	var err error
	if config.Truth, err = audit.ParseTruth(f.truth); err != nil {
		return err
	}
	for _, path := range files {
		sheet, err := audit.OpenSheet(path, config.Truth.Columns)
		if err != nil {
			return err
		}
		config.Sheets = append(config.Sheets, sheet)
	}
	if f.build != "" {
		if config.Build, err = audit.OpenBuild(f.build); err != nil {
			return err
		}
	}
	result, err := audit.Examine(config)
	if err != nil {
		return err
	}
	for i, note := range result.Notes {
		result.Notes[i] = settings.Rename(note, a.FlagOf)
	}
	if err := a.Show(f.printed, result); err != nil || f.build == "" || result.Truth.Moderators {
		return err
	}
	built, err := benchmark.Open(f.build)
	if err != nil {
		return err
	}
	written, err := construct.WriteAudit(built, result.Summary())
	if written {
		a.Infof("wrote what people found into %s", filepath.Join(f.build, benchmark.CardFile))
	}
	return err
}
