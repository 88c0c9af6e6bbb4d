package measurement

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/judge"
)

// judgeFlags are the flags of judge.
type judgeFlags struct {
	judges         []string
	responses      string
	columns        dataset.Options
	goldColumn     string
	goldRefusal    []string
	judgeMaxTokens int
	// fresh is the revision by which verdicts are asked for anew, empty for those of the study.
	fresh  string
	blocks []string
	reread bool
	out    command.Output
	command.Asking
}

func (a app) judgeCommand() *cobra.Command {
	var f judgeFlags
	c := &cobra.Command{
		Use:   "judge [RUN] | --responses FILE",
		Short: "Judge stored or recorded answers again, without asking any target",
		Long: `Judge the answers of a stored run (by default the newest), or of a file, with other
judges. The judges are added after those of the run. No target is asked. Judges that are
models are asked only for verdicts that are not stored yet.

Judges are lexical (embedded, free), paper-keywords[:FAMILY], llm:PROVIDER/MODEL[@RUBRIC],
guard:FORMAT@PROVIDER/MODEL, classify:FORMAT[:LABEL]@PROVIDER/MODEL,
panel:RULE(JUDGE,...), column:NAME[=VALUE|...] and 'cascade:lexical>JUDGE', which asks the second where the first
is not sure. A rubric is paper, xstest, helpful or a YAML file with a question and classes
of your own; "orbench config init rubric" prints one. Formats of guards are
wildguard, qwen3guard, polyguard, granite-guardian and or-judge; formats of classifiers (on a server's /predict or /classify) are
` + strings.Join(judge.ClassifierFormats, " and ") + `. An llm judge sees prompt and answer between fences that they
cannot forge. Guards and classifiers have no fences, so an answer that imitates their
format may mislead them.

"orbench compare RUN RUN --judge A --candidate-judge B" then compares two judges on the
answers of one target: how far the rates shift, with McNemar's test and kappa.

With --responses a file of answers, such as another tool's log, becomes a run, which the
store keeps under a --name, without labels of prompts: "orbench report", "label", "compare"
and "serve" take it as any other. "orbench eval --target replay:FILE" makes the same run
with labels of prompts.

A column of the file is a judge of that run: column:NAME=VALUE|VALUE, where the values mean
a refusal; without them refusal, true, yes, 1 and the like do. The other judges are compared
with it: accuracy, precision, recall, F1, Cohen's kappa and the confusion table, where
refusal is the positive class. --gold-column names one, too; if all its labels mean an
answer, say --gold-refusal "".

"--responses -" judges lines of standard input as they come. It answers each with a line
of JSON, at once and in the same order, so that one process can serve another program. A
line is {"id": 1, "prompt": "...", "response": "..."}; prompt may be left out, or be
messages, a list with role and content; finish is stop, length, blocked or other. The
answer to a bad line is its error. Limits such as --max-cost hold for the whole process.`,
		Example: `  orbench judge --judge lexical,paper-keywords
  orbench judge run-1a2b3c4d --judge lexical,llm:openai/gpt-4o
  orbench judge run-1a2b3c4d --judge llm:openai/gpt-4o@xstest,llm:openai/gpt-4o@rubric.yaml
  orbench judge --responses answers.jsonl --judge lexical --out verdicts.parquet
  orbench judge --responses - --judge lexical
  orbench judge --responses answers.csv --gold-column final_label --gold-refusal 2_full_refusal,3_partial_refusal --judge lexical,paper-keywords`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("fresh") {
				f.fresh = time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
			}
			if f.responses != "" {
				if len(args) > 0 {
					return command.InputError("--responses", "a file and a run are both given", "name one of them")
				}
				if f.responses == standardInput {
					return a.judgeStream(c, f)
				}
				if err := a.LocalIfPeople(c, &f.Calls, f.responses, f.columns); err != nil {
					return err
				}
				return a.judgeFile(c.Context(), f)
			}
			return a.judgeRun(c.Context(), strings.Join(args, ""), f, c.Flags().Changed("local"))
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.judges, "judge", []string{"lexical"}, "`JUDGE` of the answers; repeatable or comma separated")
	flags.StringVar(&f.responses, "responses", "", "`FILE` of recorded answers: CSV, JSON Lines, Parquet, or another tool's log; - for lines of standard input")
	flags.StringVar(&f.columns.Prompt, "prompt-column", "", "`COLUMN` of the prompts (default: by its usual names)")
	flags.StringVar(&f.columns.Response, "response-column", "", "`COLUMN` of the answers (default: by its usual names)")
	flags.StringVar(&f.columns.Prompts, "prompts", "", "`FILE` that has the prompts of the answers, by an id")
	flags.StringVar(&f.columns.Join, "join", "", "`COLUMN` of the id, in both files (default: prompt_id or id)")
	flags.StringVar(&f.goldColumn, "gold-column", "", "`COLUMN` of people's labels: the judge column:COLUMN=VALUE|VALUE with the values of --gold-refusal")
	flags.StringSliceVar(&f.goldRefusal, "gold-refusal", nil, "`VALUES` of the gold column that mean a refusal")
	flags.Bool("fresh", false, "ask the judges that are models for all verdicts anew, such as after a judge's server changed; new runs go by the same judge, and older ones with this flag")
	f.judgeMaxTokens = 1000
	flags.BoolVar(&f.reread, "reread", false, "read the answers as orbench reads them now, not as when the run was made")
	command.AddSettings(
		c,
		command.Setting{Name: "blocks", Into: &f.blocks, Usage: "texts in place of an answer that was withheld; * stands for any text"},
		command.Setting{Name: "judge_max_tokens", Into: &f.judgeMaxTokens, Usage: "most output tokens of a judge's explanation (default 1000)"},
	)
	a.RegisterAsking(c, &f.Asking)
	f.Calls.RegisterLocal(c)
	f.Calls.RegisterBatch(c)
	f.Calls.RegisterWorkers(c)
	f.out.Register(c)
	return c
}

// prepareJudges checks the flags and makes the judges, which ask at some addresses by provider
// unless the flags name others.
func (a app) prepareJudges(f judgeFlags, addresses map[string]string) (*client.Set, []judge.Judge, error) {
	if err := errors.Join(f.out.Check(), f.Calls.Check()); err != nil {
		return nil, nil, err
	}
	clients, err := a.Clients(f.Calls, experiment.Providers(f.judges), addresses)
	if err != nil {
		return nil, nil, err
	}
	judges, err := clients.Judges(f.judges, f.judgeMaxTokens)
	return clients, judges, err
}

// judgeRun judges the answers of a stored run. If a command that made it was local, this one
// is too, unless the user says whether it is.
func (a app) judgeRun(ctx context.Context, name string, f judgeFlags, saysLocal bool) (err error) {
	if f.Name != "" || f.Replace {
		return command.InputError("--name, --replace", "a run has its name", "give them with --responses")
	}
	if f.columns != (dataset.Options{}) || f.goldColumn != "" || f.goldRefusal != nil {
		return command.InputError("judge", "columns and gold labels need a file of answers", "name it with --responses")
	}
	memory, err := a.OpenExisting(ctx, f.Store)
	if err != nil {
		return command.NotStored(name, err)
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	r, err := a.OpenRun(ctx, memory, f.Store, name)
	if err != nil {
		return err
	}
	if f.reread {
		if err := r.Reread(); err != nil {
			return err
		}
	}
	if !saysLocal {
		f.Calls.Local = r.History.Local()
	}
	clients, judges, err := a.prepareJudges(f, r.Config.Addresses(judge.Split(strings.Join(f.judges, ","))))
	if err != nil {
		return err
	}
	if err := r.AddJudges(ctx, memory, judges, f.judgeMaxTokens, clients, f.fresh); err != nil {
		return err
	}
	m := measurement{Run: r, judges: judges, clients: clients, asking: f.Asking, out: f.out, memory: memory, ofJudges: true}
	m.asking.Replace = true
	if name == "" {
		// Another run may be the newest by then.
		m.again = []string{r.Name}
	}
	return a.measure(ctx, m)
}

// judgeFile makes a run of a file of recorded answers.
func (a app) judgeFile(ctx context.Context, f judgeFlags) error {
	if f.fresh != "" || f.reread {
		return command.InputError("--fresh, --reread", "they are for a run that is kept", "name the run that was made of the file in place of it")
	}
	switch {
	case f.goldColumn == "" && f.goldRefusal != nil:
		return command.InputError("--gold-refusal", "no gold column is named", "name it with --gold-column")
	case f.goldColumn != "" && f.goldRefusal == nil:
		return command.InputError("--gold-column", "no value is named as a refusal", "list them with --gold-refusal, separated by commas, or with --judge column:"+f.goldColumn+"=VALUE|VALUE")
	case f.goldColumn != "":
		f.judges = append(f.judges, "column:"+f.goldColumn+"="+strings.Join(f.goldRefusal, "|"))
	}
	x := &experiment.File{Experiment: experiment.Default()}
	x.Name, x.Judges, x.JudgeMaxTokens, x.Blocks = f.Name, f.judges, f.judgeMaxTokens, f.blocks
	x.Targets = []experiment.Target{{Target: dataset.ReplayPrefix + f.responses, Name: f.responses}}
	x.Datasets = []experiment.Dataset{{
		Dataset: dataset.ReplayPrefix + f.responses, Prompt: f.columns.Prompt, Response: f.columns.Response, Prompts: f.columns.Prompts, Join: f.columns.Join,
		Label: string(orbench.Undecided), Unlabeled: true,
	}}
	m, err := a.newMeasurement(ctx, x, evalFlags{Asking: f.Asking, out: f.out})
	if err != nil {
		return err
	}
	m.ofJudges = true
	return a.measure(ctx, m)
}

// fileEnding checks that a file, empty for none, ends in one of those given.
func fileEnding(flag, path string, endings ...string) error {
	if path != "" && !slices.Contains(endings, strings.ToLower(filepath.Ext(path))) {
		return command.InputError(flag, path+" must end in "+strings.Join(endings, " or "), "name such a file")
	}
	return nil
}
