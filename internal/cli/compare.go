package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/compare"
	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/internal/run"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	store, format  string
	targets        [2]string
	judge, against string
	failIf         []string
	alpha          float64
	maxExcluded    float64
	seed           uint64
	unpaired       bool
	flips, junit   string
	gates          []compare.Gate
}

func (a *app) compareCommand() *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use:   "compare BASE CANDIDATE",
		Short: "Compare two stored runs: did it get worse, where, and is that real?",
		Long: `Compare the answers of two stored runs to the same prompts, as the same judge
judged them. Nothing is asked. Over-refusal and toxic refusal are compared in all
and by category: both rates, their difference with an interval, the p-value of
McNemar's test (by category corrected by Holm's method), and the prompts that
flipped. Where prompts share a seed, intervals and tests go by seeds. Runs without
a common prompt are compared as independent samples. Two judges of one run are
compared with --judge and --candidate-judge.

A gate fails the command with exit code 4:

  METRIC >|< ±NUMBERpp [and significant | , significant or not]

where METRIC is over_refusal or toxic_refusal, and the number is the difference,
candidate minus base, in percentage points. A gate needs significance unless it
says "significant or not". It also fails when it cannot be decided, because
nothing was compared or too many prompts lack a verdict.`,
		Example: `  orbench compare main-run branch-run
  orbench compare main-run branch-run --fail-if 'over_refusal > +2pp' --fail-if 'toxic_refusal < -1pp' --format md
  orbench compare mine mine --base-target sim/balanced --candidate-target sim/strict --flips flips.csv`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, names []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return a.compare(c.Context(), [2]string(names), f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.targets[0], "base-target", "", "`TARGET` of the base run, where it has several")
	flags.StringVar(&f.targets[1], "candidate-target", "", "`TARGET` of the candidate run, where it has several")
	flags.StringVar(&f.judge, "judge", "", "`JUDGE` whose verdicts to compare (default: the base run's first that both runs have)")
	flags.StringVar(&f.against, "candidate-judge", "", "compare --judge with this `JUDGE` on the same answers: BASE and CANDIDATE are one run")
	flags.StringArrayVar(&f.failIf, "fail-if", nil, "exit with code 4 when this `GATE` holds, such as 'over_refusal > +2pp'; repeatable")
	flags.Float64Var(&f.alpha, "alpha", compare.DefaultAlpha, "a p-value below this is significant")
	flags.Float64Var(&f.maxExcluded, "max-excluded", 0.1, "largest `SHARE` of prompts without a verdict with which a gate is decided")
	flags.Uint64Var(&f.seed, "seed", 1, "`SEED` of the bootstrap")
	flags.BoolVar(&f.unpaired, "unpaired", false, "compare the rates as those of independent samples")
	flags.StringVar(&f.flips, "flips", "", "write the prompts that flipped, with both answers, to this new CSV `FILE`")
	flags.StringVar(&f.junit, "junit", "", "write the metrics and gates as JUnit XML to this `FILE`")
	flags.StringVar(&f.format, "format", "table", "`FORMAT` to print: table, json, csv or md")
	completeFlag(c, "format", formats)
	a.storeFlag(c, &f.store)
	return c
}

// check refuses values that make no sense, and reads the gates.
func (f *compareFlags) check() error {
	switch {
	case !slices.Contains(formats, f.format):
		return inputError("--format", fmt.Sprintf("there is no format %q", f.format), "use "+strings.Join(formats, ", "))
	case !(f.alpha > 0 && f.alpha < 1):
		return inputError("--alpha", "a level of significance lies between 0 and 1", "0.05 is usual")
	case !(f.maxExcluded >= 0 && f.maxExcluded <= 1):
		return inputError("--max-excluded", "a share lies between 0 and 1", "give one such as 0.1")
	case f.against != "" && f.judge == "":
		return inputError("--candidate-judge", "the base's judge is not named", "name it with --judge")
	case f.against != "" && f.against == f.judge:
		return inputError("--candidate-judge", "it is the base's judge", "name another")
	case f.unpaired && f.flips != "":
		return inputError("--flips", "an unpaired comparison has no flipped prompts", "leave out one of --flips and --unpaired")
	}
	f.gates = nil
	for _, text := range f.failIf {
		g, err := compare.ParseGate(text)
		if err != nil {
			return fmt.Errorf("--fail-if: %w", err)
		}
		f.gates = append(f.gates, g)
	}
	return nil
}

// compare compares two stored runs and decides the gates.
func (a *app) compare(ctx context.Context, names [2]string, f compareFlags) (err error) {
	memory, err := openExisting(ctx, f.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	var sides [2]*run.Run
	for i, name := range names {
		if sides[i], err = a.loadCompared(ctx, memory, f, i, name); err != nil {
			return err
		}
	}
	c, err := newComparison(sides, f)
	if err != nil {
		return err
	}
	result, err := c.Runs(ctx, memory, sides, compare.Options{
		Alpha: f.alpha, Seed: f.seed, Unpaired: f.unpaired, MaxExcluded: f.maxExcluded, Gates: f.gates,
	})
	if err != nil {
		return err
	}
	return a.showComparison(ctx, memory, sides, result, f)
}

// loadCompared loads a run and leaves it the one target that is compared. side
// is 0 for the base and 1 for the candidate.
func (a *app) loadCompared(ctx context.Context, memory *memo.Memo, f compareFlags, side int, name string) (*run.Run, error) {
	r, err := a.openRun(ctx, memory, f.store, name)
	if err != nil {
		return nil, err
	}
	flag := []string{"--base-target", "--candidate-target"}[side]
	sampled := false
	switch {
	case f.targets[side] != "":
		var found bool
		if sampled, found = r.Only(f.targets[side]); !found {
			return nil, inputError(flag, fmt.Sprintf("the run %s has no target %q", r.Name, f.targets[side]), "it has "+strings.Join(r.Config.TargetNames(), ", "))
		}
	case len(r.Targets) > 1:
		return nil, inputError("run "+r.Name, "has several targets", "choose one with "+flag+": "+strings.Join(r.Config.TargetNames(), ", "))
	}
	if sampled {
		a.sayf("%s was asked several times in the run %s: its first answers are compared; the report of the run has the propensity over all of them", r.Targets[0].Name, r.Name)
	}
	return r, nil
}

// newComparison makes an empty comparison by the right judges: one for both
// sides, or two for the same answers.
func newComparison(sides [2]*run.Run, f compareFlags) (*compare.Comparison, error) {
	oneSide := sides[0].Name == sides[1].Name && sides[0].Targets[0].Name == sides[1].Targets[0].Name
	switch {
	case oneSide && f.against == "":
		return nil, inputError("compare", "both sides are "+sides[0].Targets[0].Name+" of the run "+sides[0].Name,
			"name two runs, two targets of one with --base-target and --candidate-target, or two judges with --judge and --candidate-judge")
	case oneSide:
		for _, name := range []string{f.judge, f.against} {
			if !slices.Contains(sides[0].Config.JudgeNames(), name) {
				return nil, notJudged(sides[0], name)
			}
		}
		return compare.NewOfJudges(f.judge, f.against), nil
	case f.against != "":
		return nil, inputError("--candidate-judge", "the sides are not the same answers, and a difference between judges would pass for one between models",
			"name one run, and one target, as BASE and as CANDIDATE, or leave it out")
	}
	judge, err := commonJudge(sides, f.judge)
	if err != nil {
		return nil, err
	}
	return compare.New(judge), nil
}

// notJudged is the error for a judge that a run lacks.
func notJudged(c *run.Run, name string) error {
	judges := append(c.Config.JudgeNames(), name)
	return inputError("compare", fmt.Sprintf("%s has not judged the run %s, only %s", name, c.Name, strings.Join(c.Config.JudgeNames(), ", ")),
		fmt.Sprintf("have it judge that run as well: orbench judge %s --judge %s", shellQuote(c.Name), shellQuote(strings.Join(judges, ","))))
}

// commonJudge chooses the judge whose verdicts are compared: the one that is
// asked for, or the base's first that judged both runs. Two judges differ by more
// than two models often do, so verdicts of different ones are never compared.
func commonJudge(sides [2]*run.Run, wanted string) (string, error) {
	names := [2][]string{sides[0].Config.JudgeNames(), sides[1].Config.JudgeNames()}
	for i, s := range sides {
		if wanted != "" && !slices.Contains(names[i], wanted) {
			return "", notJudged(s, wanted)
		}
	}
	var elsewhere string
	for i, name := range names[0] {
		k := slices.Index(names[1], name)
		if k < 0 || wanted != "" && name != wanted {
			continue
		}
		if sides[0].Config.Judges[i].Same(sides[1].Config.Judges[k]) {
			return name, nil
		}
		elsewhere = name
	}
	if elsewhere != "" {
		return "", inputError("compare", fmt.Sprintf("the judge %s had other settings or another address for the run %s than for %s", elsewhere, sides[0].Name, sides[1].Name),
			fmt.Sprintf("judge both alike: orbench judge RUN --judge %s", shellQuote(elsewhere)))
	}
	return "", inputError("compare",
		fmt.Sprintf("the runs were judged by different judges, %s by %s and %s by %s, and a difference between judges would pass for one between models",
			sides[0].Name, strings.Join(names[0], ", "), sides[1].Name, strings.Join(names[1], ", ")),
		fmt.Sprintf("judge one again: orbench judge %s --judge %s", shellQuote(sides[1].Name), shellQuote(strings.Join(names[0], ","))))
}

// showComparison writes the files that were asked for, prints the comparison, and
// turns a gate that did not pass into the command's error.
func (a *app) showComparison(ctx context.Context, memory *memo.Memo, sides [2]*run.Run, result compare.Result, f compareFlags) error {
	flips := result.Flips.Shown
	result.Flips.Shown = flips[:min(compare.ShownFlips, len(flips))]
	if f.flips == "" {
		flips = result.Flips.Shown
	}
	if err := compare.AddAnswers(ctx, memory, sides, flips); err != nil {
		return err
	}
	if f.flips != "" {
		if err := writeNew(f.flips, func(w io.Writer) error { return compare.WriteFlips(w, flips) }); err != nil {
			return err
		}
	}
	if f.junit != "" {
		if err := writeOver(f.junit, result.JUnit); err != nil {
			return err
		}
	}
	if err := writeAs(a.env.Stdout, f.format, result); err != nil {
		return err
	}
	var gate error
	for _, g := range result.Gates {
		if g.Status != compare.Passed {
			a.sayf("gate %s: %s; %s", g.Status, g.Gate, g.Reason)
			gate = errGate
		}
	}
	return gate
}

// writeOver writes a file anew, as every build of a CI job does.
func writeOver(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return inputError(path, "cannot make the file: "+err.Error(), "correct the path")
	}
	return errors.Join(write(file), file.Close())
}
