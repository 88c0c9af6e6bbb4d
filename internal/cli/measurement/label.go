package measurement

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/logs"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

func (a app) labelCommand() *cobra.Command {
	var at, person string
	var prompts, disputes bool
	c := &cobra.Command{
		Use:   "label [RUN|BUILD|SHEET]",
		Short: "Label answers by hand, and correct the rates with the labels",
		Long: `Label the drawn answers of a run (by default the newest) one by one, without the model's
name or the judges' verdicts. One key labels an answer, and the label is stored at once.
Where nothing is drawn, 25 answers of one rate are, the later ones by what you say of the
first. From the second step on, five are asked again, which says how often you agree with
yourself. The same command goes on later. No rate is shown while you label, so that nobody
stops at one they like.

The key ? lists the keys. --prompts labels the prompts alone, as safe, toxic or
controversial. Of a build, prompts that its moderators voted on are labeled. Of a sheet of
"orbench logs draw", which keeps the labels, two questions are asked about each exchange:
was it refused, and is the message safe or toxic?

--disputes shows the answers on which people differ, with each person's label, to a third
person (--as cem) or to all of them together (--as "ana and ben"). Then only the label that
settles a dispute counts.`,
		Example: `  orbench label --as ana
  orbench label sheet.csv
  orbench report`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch sheet, err := a.openSheet(args, person); {
			case err != nil:
				return err
			case sheet != nil && (prompts || disputes):
				return command.InputError(sheet.Path, "a sheet has one person's answers to two questions", "leave out --prompts and --disputes")
			case sheet != nil:
				return a.labelSheet(c.Context(), sheet)
			}
			return a.ofStudy(c.Context(), at, args, func(memory *store.Store, v voted) error {
				return a.labelVoted(c.Context(), memory, v, a.person(person), disputes, at)
			}, func(memory *store.Store, r *run.Run, kept *index.Index) error {
				return a.labelQueue(c.Context(), memory, r, kept, a.person(person), labelHow{
					what: "answers", prompts: prompts, disputes: disputes, store: at, see: "report", keep: memory.Annotate,
				})
			})
		},
	}
	a.StoreFlag(c, &at)
	personFlag(c, &person)
	c.Flags().BoolVar(&prompts, "prompts", false, "label the prompts of the drawn answers instead")
	c.Flags().BoolVar(&disputes, "disputes", false, "settle the answers that some people call refusals and others do not")
	c.MarkFlagsMutuallyExclusive("prompts", "disputes")
	c.AddCommand(a.labelPlanCommand(), a.labelDrawCommand(), a.labelExportCommand(), a.labelImportCommand())
	return c
}

func personFlag(c *cobra.Command, person *string) {
	c.Flags().StringVar(person, "as", "", "`NAME` of the person who labels (default: the user's)")
}

// person is who labels.
func (a app) person(named string) string {
	return cmp.Or(named, a.Getenv("USER"), "somebody")
}

// ofStudy opens a store and does something with the votes of the build that the first argument
// names, or else with the run that it names, by default the newest.
func (a app) ofStudy(ctx context.Context, at string, args []string, ofBuild func(*store.Store, voted) error, ofRun func(*store.Store, *run.Run, *index.Index) error) (err error) {
	memory, err := a.OpenExisting(ctx, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	name := ""
	if len(args) > 0 {
		name = args[0]
		// Whoever looks for a run says what is wrong with a name.
		if s, err := study.Find(ctx, memory, name); err == nil && s.Kind == study.Build && ofBuild != nil {
			v, err := a.voted(ctx, memory, at, name)
			if err != nil {
				return err
			}
			return ofBuild(memory, v)
		}
	}
	r, err := a.OpenRun(ctx, memory, at, name)
	if err != nil {
		return err
	}
	kept := a.OpenIndex(ctx, at, memory)
	defer kept.Close()
	return ofRun(memory, r, kept)
}

// labelDrawFlags are the flags of label draw.
type labelDrawFlags struct {
	size   int
	seed   uint64
	target string
	label  string
	store  string
}

func (a app) labelDrawCommand() *cobra.Command {
	var f labelDrawFlags
	c := &cobra.Command{
		Use:   "draw [RUN]",
		Short: "Draw answers at random for people to label",
		Long: `Draw answers of a run at random for people to label. Each target gets an equal share for
each label of prompts, until 100 answers are drawn (of more than 1,000: a tenth, up to
1,000). Answers on which judges disagree or often err are more likely. If judges flag at
most 6% of 1,000 or more answers, half of the draw are flagged ones, and half are an audit
of the others. A second draw adds to the first.

Of a build, prompts that its moderators voted on are drawn, in proportion to categories. To
compare two runs by labels, see "orbench compare --label".`,
		Example: `  orbench label draw main --size 100
  orbench label draw main --size 60 --target openai/gpt-4o --label safe`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.ofStudy(c.Context(), f.store, args, func(memory *store.Store, v voted) error {
				return a.drawVoted(c.Context(), memory, v, f)
			}, func(memory *store.Store, r *run.Run, kept *index.Index) error {
				return a.labelDraw(c.Context(), memory, r, kept, f)
			})
		},
	}
	flags := c.Flags()
	flags.IntVar(&f.size, "size", 0, "`NUMBER` of answers to draw, in all")
	flags.Uint64Var(&f.seed, "seed", 1, "`SEED` of the draw")
	flags.StringVar(&f.target, "target", "", "only answers of this `TARGET`")
	flags.StringVar(&f.label, "label", "", "only answers to prompts of this `LABEL`, such as safe")
	a.StoreFlag(c, &f.store)
	return c
}

// labelDraw draws answers.
func (a app) labelDraw(ctx context.Context, memory *store.Store, r *run.Run, kept *index.Index, f labelDrawFlags) error {
	if f.size <= 0 {
		return command.InputError("--size", "the number of answers to draw is missing", "give a number")
	}
	items := a.items(ctx, memory, r, kept, f.target, f.label)
	earlier, err := memory.Annotations(ctx)
	if err != nil {
		return err
	}
	drawn, strata, err := annotation.Draw(items, annotation.NewWords(earlier), f.size, f.seed, time.Now().UTC())
	if err != nil {
		return err
	}
	if err := memory.Annotate(ctx, drawn); err != nil {
		return err
	}
	if err := annotation.PrintStrata(a.Stdout, "drawn", strata); err != nil {
		return err
	}
	others, err := kept.Others(ctx, memory, r)
	if err != nil {
		return err
	}
	if others > 0 {
		a.Infof("%s of another model cannot be drawn", table.Counted(others, "answer", "answers"))
	}
	if n := annotation.MissingLabels(strata); n > 0 {
		a.Infof("with so few labels for each rate, intervals can be too narrow; --size %d is enough", n)
	}
	a.Infof("label them with: orbench label %s", untrusted.Shell(r.Name))
	return nil
}

// items is index.Index.Items that shows how far it is.
func (a app) items(ctx context.Context, memory store.Reader, r *run.Run, kept *index.Index, target, label string) iter.Seq2[annotation.Item, error] {
	return func(yield func(annotation.Item, error) bool) {
		walked, end := a.Walking(r)
		defer end()
		for item, err := range kept.Items(ctx, memory, r, target, label, walked) {
			if !yield(item, err) {
				return
			}
		}
	}
}

func (a app) labelExportCommand() *cobra.Command {
	var at, out, person string
	c := &cobra.Command{
		Use:   "export [RUN] --out FILE",
		Short: "Write the drawn answers, with the labels that there are, as a table",
		Long: `Write the drawn answers of a run as a table for people to fill in: a row for each person's
label of an answer, or one with an empty class. --as writes one person's labels alone. The
table does not show who answered or what judges said; chance says how likely the answer was
to be drawn. FILE is CSV that is safe to open in a spreadsheet, or JSON Lines if its name
ends in .jsonl. "orbench label import" reads it back.`,
		Example: `  orbench label export main --out labels.csv`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return command.InputError("--out", "no output file is named", "name a new file, such as labels.csv")
			}
			return a.ofStudy(c.Context(), at, args, func(_ *store.Store, v voted) error {
				entries, err := v.drawn()
				if err != nil {
					return err
				}
				return a.writeSheet(out, v.words().Rows(entries, person))
			}, func(memory *store.Store, r *run.Run, kept *index.Index) error {
				entries, words, err := a.drawn(c.Context(), memory, r, kept, false)
				if err != nil {
					return err
				}
				return a.writeSheet(out, words.Rows(entries, person))
			})
		},
	}
	a.StoreFlag(c, &at)
	c.Flags().StringVar(&out, "out", "", "new CSV or JSON Lines `FILE` to write")
	c.Flags().StringVar(&person, "as", "", "`NAME` of the person whose sheet it is (default: all people's labels)")
	return c
}

func (a app) labelImportCommand() *cobra.Command {
	var at, person string
	var random bool
	var o annotation.ReadOptions
	c := &cobra.Command{
		Use:   "import RUN FILE",
		Short: "Read labels from a table, exported or made elsewhere",
		Long: `Read people's labels into the store, from a table that "orbench label export" wrote, or your
own. Yours needs a column class (or label) and the columns prompt and answer (or response),
by which rows are found among the answers of the run; without answers, the labels are those
of the prompts. The columns by, note and chance are optional.

Labels correct a rate if "orbench label draw" drew the answers, if a column chance gives
their chances, or if all answers of a target are labeled. --random says that they were drawn
at random from those of each target and label of prompts.`,
		Example: `  orbench label import main labels.csv
  orbench label import main old.csv --as ana --class-column verdict --refusal refused,partly --random`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			sheet, err := os.Stat(args[0])
			if _, missing := os.Stat(args[1]); missing != nil && err == nil && sheet.Mode().IsRegular() {
				return command.InputError(args[0], "is a file, and the run comes before it", "give it so: orbench label import"+a.StoreArgument(at)+" "+untrusted.Shell(args[1])+" "+untrusted.Shell(args[0]))
			}
			o.By, o.At = person, time.Now().UTC()
			return a.ofStudy(c.Context(), at, args, func(memory *store.Store, v voted) error {
				return a.labelImport(c.Context(), memory, v.name, func(func(annotation.Item, error) bool) {}, args[1], o, random, at)
			}, func(memory *store.Store, r *run.Run, kept *index.Index) error {
				return a.labelImport(c.Context(), memory, r.Name, a.items(c.Context(), memory, r, kept, "", ""), args[1], o, random, at)
			})
		},
	}
	a.StoreFlag(c, &at)
	c.Flags().StringVar(&person, "as", "", "`NAME` of the person, if the table names none")
	c.Flags().StringVar(&o.Column, "class-column", "", "`COLUMN` of the labels (default: class or label)")
	c.Flags().StringSliceVar(&o.Refusal, "refusal", nil, "`VALUES` of the class column that mean a refusal, in any letter case; all others then mean an answer")
	c.Flags().BoolVar(&random, "random", false, "the labeled answers were drawn at random")
	return c
}

// runOf names the newest run of the store that has most of the labeled answers; empty for none.
func (a app) runOf(ctx context.Context, memory *store.Store, at string, labels []orbench.Annotation) string {
	kept := a.OpenIndex(ctx, at, memory)
	defer kept.Close()
	all, _ := run.List(ctx, memory) // it is for a hint alone
	for _, s := range all {
		if r, err := a.OpenRun(ctx, memory, at, s.Name); err == nil {
			if _, done, err := annotation.Place(labels, a.items(ctx, memory, r, kept, "", ""), annotation.Words{}, false); err == nil && 2*done.Unknown < len(labels) {
				return s.Name
			}
		}
	}
	return ""
}

func (a app) labelImport(ctx context.Context, memory *store.Store, name string, items iter.Seq2[annotation.Item, error], path string, o annotation.ReadOptions, random bool, at string) error {
	file, err := os.Open(path)
	if err != nil {
		return command.InputError(path, "cannot be read: "+errors.Unwrap(err).Error(), "correct the path")
	}
	defer file.Close()
	labels, err := annotation.Read(path, file, o)
	if err != nil {
		return err
	}
	before, err := memory.Annotations(ctx)
	if err != nil {
		return err
	}
	placed, done, err := annotation.Place(labels, items, annotation.NewWords(before), random)
	if err != nil {
		return err
	}
	if 10*done.Unknown > 9*len(labels) {
		if of := a.runOf(ctx, memory, at, labels); of != "" {
			return command.InputError(path, fmt.Sprintf("%d of its %d answers are not in %s", done.Unknown, len(labels), name), "it is a sheet of another run: orbench label import "+untrusted.Shell(of)+" "+untrusted.Shell(path))
		}
		if done.Unknown == len(labels) {
			return command.InputError(path, "none of its answers is in "+name, "name the run whose answers were labeled")
		}
	}
	placed, replaced := annotation.Unsaid(placed, before)
	if err := memory.Annotate(ctx, placed); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "%d labels on answers and %d on prompts are in the store\n", done.Found+done.Unknown, done.Prompts)
	if replaced > 0 {
		a.Infof("%s replaced by the same person since; the later labels stand", table.Counted(replaced, "was", "were"))
	}
	if done.Unknown > 0 {
		a.Infof("%d belong to answers that %s does not have", done.Unknown, name)
	}
	if done.Swapped {
		a.Infof("the labels say of most answers the contrary of what the judges say; are the values of --refusal the other way round?")
	}
	if done.Sighted > 0 {
		a.Infof("%d were given with a judge's verdict in sight, so they correct no rate", done.Sighted)
	}
	if done.Alone > 0 {
		a.Infof("%d do not correct any rate, because it is unknown how their answers were chosen; give --random if they were drawn at random", done.Alone)
	}
	return nil
}

// drawn is index.Index.Drawn that shows how far it is.
func (a app) drawn(ctx context.Context, memory store.Reader, r *run.Run, kept *index.Index, prompts bool) ([]annotation.Entry, annotation.Words, error) {
	walked, end := a.Walking(r)
	defer end()
	return kept.Drawn(ctx, memory, r, prompts, walked)
}

// labelHow says how a person labels something.
type labelHow struct {
	// what is labeled, such as answers; prompts if it is the prompts of a run's answers.
	what              string
	prompts, disputes bool
	// store keeps what is labeled, and see is the command that shows what labels change.
	store, see string
	// keep stores labels.
	keep func(context.Context, []orbench.Annotation) error
	// more is as in annotation.Sitting. outlook is that of the rates that labels correct, and
	// labeled prints what they have made of them, told whether all are given; nil where
	// they make nothing.
	more    func() ([]annotation.Entry, error)
	outlook func() *annotation.Outlook
	labeled func(whole bool) error
}

// openSheet opens the sheet of exchanges that the only argument names, nil if it names none.
func (a app) openSheet(args []string, person string) (*logs.Sheet, error) {
	if len(args) != 1 || fileEnding("", args[0], ".csv", ".jsonl") != nil {
		return nil, nil
	}
	return logs.OpenSheet(args[0], a.person(person))
}

// labelSheet shows a person one exchange of a sheet after the other.
func (a app) labelSheet(ctx context.Context, sheet *logs.Sheet) error {
	said, err := sheet.Annotations(ctx)
	if err != nil {
		return err
	}
	return a.sit(ctx, sheet.Path, sheet.Entries(), annotation.NewWords(said), sheet.Person, labelHow{what: "questions", see: "logs report", keep: sheet.Annotate})
}

// labelQueue shows a person one answer of a run, or one prompt, after the other. Where all
// that is drawn has their label, it draws a step of further answers, in two phases.
func (a app) labelQueue(ctx context.Context, memory *store.Store, r *run.Run, kept *index.Index, person string, how labelHow) error {
	if how.prompts || how.disputes {
		entries, words, err := a.drawn(ctx, memory, r, kept, how.prompts)
		if err != nil {
			return err
		}
		if how.prompts {
			how.what = "prompts"
		}
		return a.sit(ctx, r.Name, entries, words, person, how)
	}
	var words annotation.Words
	var outlook *annotation.Outlook
	// asked draws what labels call for, by a size as for index.Step; nothing where it is negative.
	asked := func(size int) (entries []annotation.Entry, err error) {
		walked, end := a.Walking(r)
		defer end()
		if size >= 0 {
			if err = kept.Step(ctx, memory, r, size, walked); err != nil {
				return nil, err
			}
		}
		if entries, words, outlook, err = kept.Asked(ctx, memory, r, walked); err != nil {
			return nil, err
		}
		return append(entries, words.Repeats(entries, person, outlook.Rare)...), nil
	}
	how.more = func() ([]annotation.Entry, error) {
		return asked(min(0, outlook.Rest-1))
	}
	how.outlook = func() *annotation.Outlook { return outlook }
	how.labeled = func(whole bool) error {
		result, err := run.Derive(ctx, memory, []*run.Run{r}, evaluate.Sinks{}, kept.Figures)
		if err != nil {
			return err
		}
		lines := report.Labeled(result)
		var rows *index.Study
		if whole && len(r.Judges) > 0 { // before that no verdict is shown
			rows, err = kept.Study(ctx, memory, r, nil)
		}
		if rows != nil {
			of, differ, failed := rows.Differ(ctx, memory, person, r.Judges[0].Name())
			if lines = append(lines, differ...); !of.Empty() {
				lines = append(lines, "See them with: orbench serve "+untrusted.Shell(r.Name)+", at "+page.Query{}.With("study", r.Name, "differs", person).Address("/answers"))
			}
			err = failed
		}
		out := table.NewPrinter(a.Stdout, a.Screen(false))
		for _, line := range lines {
			out.Line(line)
		}
		return errors.Join(err, out.Flush())
	}
	entries, err := asked(-1)
	if err == nil && annotation.NewQueue(entries, words, person, orbench.Blind).Progress().Open() == 0 {
		entries, err = asked(annotation.StepLabels - annotation.Repeated)
	}
	if err != nil {
		return err
	}
	return a.sit(ctx, r.Name, entries, words, person, how)
}

// sit shows a person the entries of a study or a sheet one after the other, and says at the end
// how to go on.
func (a app) sit(ctx context.Context, name string, entries []annotation.Entry, words annotation.Words, person string, as labelHow) error {
	how := orbench.Blind
	if as.disputes {
		how, entries = orbench.Settled, words.Disputes(entries)
		if len(entries) == 0 {
			fmt.Fprintf(a.Stdout, "People differ on none of the %s of %s that several labeled.\n", as.what, untrusted.Terminal(name))
			return nil
		}
	}
	sitting := annotation.Sitting{
		In: a.Stdin, Out: a.Stdout,
		Size: a.Size, Outlook: as.outlook, More: as.more,
		Keep: func(said orbench.Annotation) error { return as.keep(ctx, []orbench.Annotation{said}) },
	}
	queue := annotation.NewQueue(entries, words, person, how)
	if as.outlook != nil {
		queue.Most = queue.Progress().All + as.outlook().Rest
	}
	err := annotation.Sit(queue, sitting)
	p := queue.Progress()
	fmt.Fprintf(a.Stdout, "\n%d of %d %s are labeled by %s", p.Labeled, p.All, as.what, untrusted.Terminal(person))
	if p.Undecided > 0 {
		fmt.Fprintf(a.Stdout, ", %d of them undecided", p.Undecided)
	}
	fmt.Fprintln(a.Stdout, ".")
	if err == nil && as.labeled != nil {
		err = as.labeled(p.Labeled == p.All)
	}
	at := a.StoreArgument(as.store)
	again := "orbench label" + at + " " + untrusted.Shell(name) + " --as " + untrusted.Shell(person)
	see := "orbench " + as.see + at + " " + untrusted.Shell(name)
	if as.prompts {
		again, see = again+" --prompts", see+" --full"
	}
	if as.disputes {
		again += " --disputes"
	}
	switch {
	case err != nil:
		return err
	case p.Labeled < p.All:
		fmt.Fprintf(a.Stdout, "Go on with: %s\n", again)
	case as.outlook != nil && as.outlook().Next > 0:
		fmt.Fprintf(a.Stdout, "The same command draws %d more. See all figures with: %s\n", as.outlook().Next, see)
	default:
		fmt.Fprintf(a.Stdout, "See what the labels change with: %s\n", see)
	}
	return nil
}
