package measurement

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/compare"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/internal/web"
	"github.com/orbench/orbench/model"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	store          string
	printed        command.Printed
	targets        [2]string
	judge, against string
	failIf         []string
	require        []string
	unpaired       bool
	oneModel       bool
	saidOneModel   bool
	label          int
	person         string
	out            string
	flips, junit   string
	gates          []compare.Gate
}

func (a app) compareCommand() *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use:   "compare BASE CANDIDATE",
		Short: "Compare two stored runs: did it get worse, where, is it real?",
		Long: `Compare the answers of two stored runs to the same prompts, judged by the same judge.
Nothing is asked. Over-refusal and toxic refusal are shown in all and by category: both
rates, their difference with an interval, McNemar's p (Holm's method for categories), and
the prompts that flipped. Intervals and tests count seeds where prompts share them. Runs
without a common prompt are independent samples; gates on them need --unpaired. To compare
two judges of one run, give --judge and --candidate-judge.

A gate can end the command with exit code 4: --fail-if (> or <) does so if the gate holds,
--require (>= or <=) unless the gate is shown to hold.

  METRIC[CATEGORY] >|<|>=|<= LIMIT [and significant | , significant or not][, by verdicts]

METRIC is over_refusal or toxic_refusal; [CATEGORY] restricts it to one category. LIMIT is
±NUMBERpp for the difference, candidate minus base, in percentage points, or NUMBER% for
the candidate's rate. A gate needs significance unless it says "significant or not". So
"toxic_refusal >= -1pp" passes if the lower bound of the difference's interval is -1pp or
more. A gate that would stop a better candidate is refused. With --full the output gives
the chance that an equal candidate passes, and that one twice the limit worse is caught.

A gate that is undecided ends with code 4 too: where missing prompts, answers that the token
limit cut, or the judge's error could turn it, or where too little was compared or asked
twice. Between two models that error may differ by as much as was measured; of one model
(--one-model) or variants of one target it is the same on both sides, but for a change of
manner. ", by verdicts" leaves it out.`,
		Example: `  orbench compare main-run branch-run
  orbench compare main-run branch-run --fail-if 'over_refusal > +2pp' --require 'toxic_refusal >= -1pp' --format md
  orbench compare mine mine --base-target sim/balanced --candidate-target sim/strict --flips flips.csv`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, names []string) error {
			if err := f.check(); err != nil {
				return err
			}
			f.saidOneModel = c.Flags().Changed("one-model")
			return a.compare(c.Context(), [2]string(names), f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.targets[0], "base-target", "", "`TARGET` of the base run, if it has several")
	flags.StringVar(&f.targets[1], "candidate-target", "", "`TARGET` of the candidate run, if it has several")
	flags.StringVar(&f.judge, "judge", "", "`JUDGE` whose verdicts to compare (default: the first judge that both runs have)")
	flags.StringVar(&f.against, "candidate-judge", "", "compare --judge with this `JUDGE` on the same answers; BASE and CANDIDATE must be one run")
	flags.StringArrayVar(&f.failIf, "fail-if", nil, "exit with code 4 when this `GATE` holds, such as 'over_refusal > +2pp'; repeatable")
	flags.StringArrayVar(&f.require, "require", nil, "exit with code 4 unless this `GATE` is shown to hold, such as 'toxic_refusal >= -1pp'; repeatable")
	flags.BoolVar(&f.unpaired, "unpaired", false, "compare the rates as if the samples were independent")
	flags.BoolVar(&f.oneModel, "one-model", false, "BASE and CANDIDATE are checkpoints of one model; kept with both runs (--one-model=false: two models)")
	flags.IntVar(&f.label, "label", 0, "label pairs of answers by hand first, at most this `NUMBER` of answers for each rate (--label alone: 60)")
	flags.Lookup("label").NoOptDefVal = strconv.Itoa(compare.DefaultLabels)
	personFlag(c, &f.person)
	flags.StringVar(&f.out, "out", "", "also write the figures, all flips and a page with both answers to each flipped prompt to this new `DIR`")
	flags.StringVar(&f.flips, "flips", "", "write the prompts that flipped, with both answers, to this new CSV `FILE`")
	flags.StringVar(&f.junit, "junit", "", "write the metrics and gates as JUnit XML to this `FILE`")
	f.printed.Register(c, command.Formats)
	a.StoreFlag(c, &f.store)
	return c
}

// check refuses values that make no sense, and reads the gates.
func (f *compareFlags) check() error {
	switch {
	case f.label < 0 || f.label > 0 && (f.unpaired || f.against != ""):
		return command.InputError("--label", "pairs of answers to the same prompts are labeled, some of them", "give a number above 0, and no --unpaired or --candidate-judge")
	case f.person != "" && f.label == 0:
		return command.InputError("--as", "nobody is to label", "add --label, or leave it out")
	case f.against != "" && f.judge == "":
		return command.InputError("--candidate-judge", "the base's judge is not named", "name it with --judge")
	case f.against != "" && f.against == f.judge:
		return command.InputError("--candidate-judge", "it is the base's judge", "name another")
	case f.unpaired && f.flips != "":
		return command.InputError("--flips", "an unpaired comparison has no flipped prompts", "leave out one of --flips and --unpaired")
	}
	f.gates = nil
	for i, texts := range [][]string{f.failIf, f.require} {
		flag, required := []string{"--fail-if", "--require"}[i], i == 1
		for _, text := range texts {
			g, err := compare.ParseGate(text)
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", flag, err)
			case g.Requirement() && !required:
				return command.InputError(flag, fmt.Sprintf("gate %q says what must hold", text), "give it with --require")
			case !g.Requirement() && required:
				return command.InputError(flag, fmt.Sprintf("gate %q says what must not hold", text), "give it with --fail-if, or write >= or <=")
			}
			f.gates = append(f.gates, g)
		}
	}
	return nil
}

// compare compares two stored runs and decides the gates.
func (a app) compare(ctx context.Context, names [2]string, f compareFlags) (err error) {
	memory, err := a.OpenReading(ctx, f.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	runs, err := a.OpenRuns(ctx, memory, f.store, names[:])
	if err != nil {
		return err
	}
	sides := [2]*run.Run{runs[0], runs[len(runs)-1]}
	for i := range sides {
		if sides[i], err = f.only(sides[i], i); err != nil {
			return err
		}
	}
	if err := compare.CheckCategories(f.gates, sides); err != nil {
		return err
	}
	if f.out != "" {
		if err := folder.Vacant(f.out, f.subject(sides)); err != nil {
			return err
		}
	}
	if f.saidOneModel {
		if err := a.sayKin(ctx, sides, f); err != nil {
			return err
		}
	}
	if f.label > 0 {
		if err := a.labelPairs(ctx, sides, f); err != nil {
			return err
		}
	}
	_, result, err := a.compareRuns(ctx, memory, sides, f)
	if err != nil {
		return err
	}
	result.Provenance.Program = a.Version
	return a.showComparison(ctx, memory, sides, result, f)
}

// sayKin keeps whether both runs asked one model, so that reports and the page know it too.
func (a app) sayKin(ctx context.Context, sides [2]*run.Run, f compareFlags) error {
	if sides[0].Name == sides[1].Name {
		return command.InputError("--one-model", "both sides are of one run, which says itself whether they are one model", "leave it out")
	}
	memory, err := a.OpenExisting(ctx, f.store)
	if err != nil {
		return err
	}
	said := compare.Kin(sides, f.oneModel).Annotation(time.Now())
	return errors.Join(memory.Annotate(ctx, []orbench.Annotation{said}), memory.Close())
}

// compareRuns derives both sides and compares them.
func (a app) compareRuns(ctx context.Context, memory store.Reader, sides [2]*run.Run, f compareFlags) (*compare.Comparison, compare.Result, error) {
	c, err := compare.Between(sides, f.judge, f.against)
	if err != nil {
		return nil, compare.Result{}, err
	}
	kept := a.OpenIndex(ctx, f.store, memory)
	defer kept.Close()
	walked, end := a.Walking(sides[:]...)
	defer end()
	o := f.options()
	o.Commands = f.commands(sides, a.StoreArgument(f.store))
	o.Walked = walked
	result, err := c.Runs(ctx, memory, sides, o, kept.OfTarget)
	return c, result, err
}

// commands are those that a comparison proposes, with the argument for the store.
func (f *compareFlags) commands(sides [2]*run.Run, store string) compare.Commands {
	write := func(words ...string) string {
		for i, w := range words {
			words[i] = untrusted.Shell(w)
		}
		return strings.Join(words[:2], " ") + store + " " + strings.Join(words[2:], " ")
	}
	again := []string{"orbench", "compare", sides[0].Name, sides[1].Name}
	for i, target := range f.targets {
		if target != "" {
			again = append(again, []string{"--base-target", "--candidate-target"}[i], target)
		}
	}
	if f.judge != "" {
		again = append(again, "--judge", f.judge)
	}
	c := compare.Commands{
		Label: func(labels int, gate *compare.Gate) string {
			words := append(slices.Clone(again), fmt.Sprintf("--label=%d", labels))
			switch {
			case gate == nil:
			case gate.Requirement():
				words = append(words, "--require", gate.String())
			default:
				words = append(words, "--fail-if", gate.String())
			}
			return write(words...)
		},
	}
	for i, side := range sides {
		c.Ask[i] = write("orbench", "eval", "--name", side.Name)
		if asked := side.Targets[0]; asked.Provider != model.Replay && asked.Params.MaxTokens > 0 {
			c.Longer[i] = write("orbench", "eval", "--name", side.Name, "--max-tokens", strconv.Itoa(4*asked.Params.MaxTokens), "--replace")
		}
	}
	if sides[0].Name != sides[1].Name {
		c.Fresh = write("orbench", "eval", "--name", sides[1].Name, "--fresh")
		if !f.saidOneModel {
			c.OneModel = "--one-model"
		}
	}
	return c
}

func (f *compareFlags) options() compare.Options {
	return compare.Options{Seed: 1, Unpaired: f.unpaired, Gates: f.gates, Labeling: f.label > 0}
}

// labelPairs draws pairs of answers, and lets a person label them.
func (a app) labelPairs(ctx context.Context, sides [2]*run.Run, f compareFlags) (err error) {
	memory, err := a.OpenExisting(ctx, f.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	c, _, err := a.compareRuns(ctx, memory, sides, f)
	if err != nil {
		return err
	}
	most := 0
	// Labels decide which answers are drawn next.
	draw := func() (annotation.Words, []annotation.Entry, error) {
		all, err := memory.Annotations(ctx)
		if err != nil {
			return annotation.Words{}, nil, err
		}
		var drawn []orbench.Annotation
		drawn, most = c.Draw(f.label, f.options(), all, time.Now().UTC())
		if err := memory.Annotate(ctx, drawn); err != nil {
			return annotation.Words{}, nil, err
		}
		words := annotation.NewWords(append(all, drawn...))
		entries, err := c.Entries(ctx, memory, sides, words)
		return words, entries, err
	}
	words, entries, err := draw()
	if err != nil {
		return err
	}
	queue := annotation.NewQueue(entries, words, a.person(f.person), orbench.Blind)
	if p := queue.Progress(); p.Labeled < p.All {
		queue.Most = most
		a.Infof("at most %s to label; the screen does not say which run an answer is from", table.Labels(most-p.Labeled))
	}
	// What is printed at the end goes to the output, so the answers do not.
	sitting := annotation.Sitting{
		In: a.Stdin, Out: a.Stderr,
		Size: a.Size,
		Keep: func(said orbench.Annotation) error { return memory.Annotate(ctx, []orbench.Annotation{said}) },
		More: func() ([]annotation.Entry, error) {
			_, entries, err := draw()
			return entries, err
		},
	}
	err = annotation.Sit(queue, sitting)
	fmt.Fprintln(a.Stderr)
	if p := queue.Progress(); p.Labeled < p.All {
		a.Infof("%d of at most %d answers are labeled by %s; the same command goes on", p.Labeled, most, a.person(f.person))
	} else {
		a.Infof("done: all %s are labeled by %s", table.Counted(p.All, "drawn answer", "drawn answers"), a.person(f.person))
	}
	return err
}

// only leaves a run the one target that is compared. side is 0 for the base and 1 for the
// candidate.
func (f *compareFlags) only(r *run.Run, side int) (*run.Run, error) {
	flag := []string{"--base-target", "--candidate-target"}[side]
	target := f.targets[side]
	switch {
	case target != "":
		all := r
		if r = all.Only(target); r == nil {
			return nil, command.InputError(flag, fmt.Sprintf("the run %s has no target %q", all.Name, target), "it has "+strings.Join(all.Config.TargetNames(), ", "))
		}
	case len(r.Targets) > 1:
		return nil, command.InputError("run "+r.Name, "has several targets", "choose one with "+flag+": "+strings.Join(r.Config.TargetNames(), ", "))
	}
	return r, nil
}

// showComparison writes the files that were asked for, prints the comparison, and
// turns a gate that did not pass into the command's error.
func (a app) showComparison(ctx context.Context, memory store.Reader, sides [2]*run.Run, result compare.Result, f compareFlags) error {
	flips := result.Flips.Shown
	result.Flips.Shown = flips[:min(compare.ShownFlips, len(flips))]
	if f.flips == "" && f.out == "" {
		flips = result.Flips.Shown
	}
	if err := compare.AddAnswers(ctx, memory, sides, flips); err != nil {
		return err
	}
	if f.out != "" {
		if err := writeComparison(ctx, memory, sides, result, flips, f); err != nil {
			return err
		}
	}
	if f.flips != "" {
		if err := folder.WriteNew(f.flips, func(w io.Writer) error { return compare.WriteFlips(w, flips) }); err != nil {
			return err
		}
	}
	if f.junit != "" {
		if err := folder.WriteOver(f.junit, result.JUnit); err != nil {
			return err
		}
	}
	if err := a.Show(f.printed, result); err != nil {
		return err
	}
	var gate error
	for _, m := range result.Metrics {
		for _, side := range []compare.SideCounts{m.BaseCounts, m.CandidateCounts} {
			if side.Judged == 0 && side.Unjudged > 0 {
				gate = command.ErrFailures // what the first lines say
			}
		}
	}
	// On a terminal, the text above has just said why.
	seen := f.printed.Format == table.AsText.Name && table.IsTerminal(a.Stdout)
	for _, g := range result.Gates {
		if g.Status != compare.Passed {
			gate = command.ErrGate
			if !seen {
				a.Infof("%s", g)
			}
		}
	}
	if errors.Is(gate, command.ErrGate) && !result.Paired && !f.unpaired {
		a.Infof("--unpaired decides gates although the prompts differ; to compare the same prompts, run both on one dataset")
	}
	return gate
}

// subject is that of the folder of the comparison.
func (f *compareFlags) subject(sides [2]*run.Run) folder.Subject {
	of := "comparison of " + sides[0].Name + " and " + sides[1].Name
	return folder.NewSubject(of, run.Subject(sides[:]...), sides[0].Targets[0].Name, sides[1].Targets[0].Name, f.judge, f.against)
}

// The files of the folder of a comparison.
const (
	comparePage = "compare.html"
	compareJSON = "compare.json"
	flipsFile   = "flips.csv"
)

// writeComparison writes the folder of a comparison, all flips of which have their answers.
func writeComparison(ctx context.Context, memory store.Reader, sides [2]*run.Run, result compare.Result, flips []compare.Flip, f compareFlags) error {
	files, err := folder.Create(f.out, f.subject(sides))
	if err != nil {
		return err
	}
	whole := result
	whole.Flips.Shown = flips
	for name, write := range map[string]func(io.Writer) error{
		comparePage: func(w io.Writer) error { return web.WriteComparison(ctx, w, memory, sides, whole, flipsFile) },
		compareJSON: table.AsJSON.Of(result),
		flipsFile:   func(w io.Writer) error { return compare.WriteFlips(w, flips) },
	} {
		if _, err := files.Write(name, write); err != nil {
			return errors.Join(fmt.Errorf("write the comparison %s: %w", f.out, err), files.Discard())
		}
	}
	return files.Finish()
}
