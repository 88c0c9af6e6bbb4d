package measurement

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/interchange"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// measurement is a run with everything that measuring it takes.
type measurement struct {
	*run.Run
	clients *client.Set
	asking  command.Asking
	out     command.Output
	// judges are those that are asked, nil for all of the run.
	judges []judge.Judge
	// ofJudges says that the user asks about the judges; see report.View.
	ofJudges bool
	// again are words that the command lacks to mean the same run later.
	again []string
	// memory is the store where it is open already, nil where it is not.
	memory *store.Store
}

// measure fills what is missing of a run, derives its figures and shows them.
// All input has been checked before.
func (a app) measure(ctx context.Context, m measurement) error {
	asked := &m.Run.Run
	if m.judges != nil {
		some := m.Run.Run
		asked, some.Judges = &some, m.judges
	}
	var kept *index.Index
	defer func() { kept.Close() }()
	answers := 0 // that can be drawn for people
	return a.Run(ctx, command.Running{
		Asking: m.asking, Study: m.Study, Job: asked.Job(), Clients: m.clients, Memory: m.memory, Printed: m.out.Printed,
		Refused: m.Refused, Judged: m.Judged, Unused: m.unused, Differs: m.Differs,
		Precision: m.precision, Foretell: m.foretell, Again: func() string { return a.shownAgain(m, answers) }, Words: m.again,
		Check: func() error { return m.out.CheckPlaces(run.Subject(m.Run), a.published(m.Run)) },
		Known: func(ctx context.Context, memory store.Reader, used price.Usage) (calls map[model.Ref]int, ok bool) {
			kept = a.OpenIndex(ctx, m.asking.Store, memory)
			calls, ok = m.KnownCalls()
			return calls, ok && !m.asking.Calls.ByWorkers && kept.Whole(ctx, memory, m.Run, used)
		},
		Show: func(ctx context.Context, memory store.Reader, f command.Filled) (missing, unjudged []string, err error) {
			if m.Shard.Of > 1 {
				missing, err = a.showShard(ctx, m, memory, f)
				return missing, nil, err
			}
			result, err := a.derive(ctx, memory, figures{
				runs: []*run.Run{m.Run}, kept: kept, out: m.out, cost: run.Cost(f.Stats),
				unfinished: f.Unfinished(), ofJudges: m.ofJudges,
			})
			answers = 0
			for _, run := range result.Runs {
				answers += run.Answered + run.Blocked
			}
			return unanswered(result), nothingJudged(result, asked.Judges...), errors.Join(err, m.mixed(result))
		},
	})
}

// shownAgain says how to see all of a run, empty where it was shown, and how to check its
// judge on some of its answers.
func (a app) shownAgain(m measurement, answers int) string {
	if m.out.Dir != "" || a.Quiet || m.Shard.Of > 1 {
		return ""
	}
	name := untrusted.Shell(m.Name)
	next := fmt.Sprintf("next:\n  orbench serve %s    read every answer", name)
	if size := min(annotation.StepLabels, answers); size > 0 {
		next += fmt.Sprintf("\n  orbench label %s    check the judge on %d of them, %s", name, size, table.LabelTime(size))
	}
	return next
}

// unused says which stored answers the run leaves unused; see run.Run.Unused.
func (m measurement) unused(ctx context.Context, memory store.Reader) (string, error) {
	u, err := m.Unused(ctx, memory)
	if err != nil || u.N == 0 {
		return "", err
	}
	line, reuse := m.Name+" is a new measurement: ", ": --reuse "+untrusted.Shell(u.Run)
	switch _, err := memory.Run(ctx, m.Name); {
	case err == nil:
		line, reuse = m.Name+" makes ", ""
	case m.Config.Mark == "":
		reuse = ": --name NAME --reuse " + untrusted.Shell(u.Run)
	}
	line += table.Counted(u.Calls, "call", "calls")
	width := 0
	for _, t := range m.Targets {
		width = max(width, m.asking.Calls.Concurrency(m.clients.Client(t.Provider, t.Endpoint)))
	}
	if minutes := u.Latency.Minutes() / float64(u.N*max(1, width)) * float64(u.Calls); minutes >= 1 {
		line += fmt.Sprintf(", about %.0f min", minutes)
	}
	if u.Run == m.Name {
		return line + fmt.Sprintf(" again; its %s %s stay in the store", table.Counted(u.N, "answer", "answers"), u.Made.In(time.Local)), nil
	}
	return line + fmt.Sprintf(". Run %s has %s of them, %s", u.Run, table.Count(u.N), u.Made.In(time.Local)) + reuse, nil
}

// foretell says what the calls of a plan come of, and which judges may be misled.
func (m measurement) foretell(plans []job.Plan) []string {
	var lines []string
	for _, name := range m.Config.JudgeNames() {
		if judge.Unfenced(name) {
			lines = append(lines, name+" has no room for a fence around the answer, so an answer that imitates its format may mislead it")
		}
	}
	return append(lines, m.Describe(plans))
}

// precision says how narrow the figures of the run will be.
func (m measurement) precision() string {
	if m.Limit > 0 || m.Config.Ends() || len(m.Judges) == 0 {
		return "" // how many prompts of each label are asked is not known
	}
	// Rates are those of a set. The smallest has the widest interval.
	prompts, several := map[orbench.Label]int{}, ""
	for _, set := range m.Datasets {
		for label, n := range set.Labels {
			switch {
			case prompts[label] == 0:
				prompts[label] = n
			case n > 0:
				prompts[label], several = min(n, prompts[label]), " of the smallest set"
			}
		}
	}
	return score.Precision(prompts, several, m.Judges[0].Name())
}

// unanswered says which answers are missing, but for recorded ones, of which it was said.
func unanswered(r score.Result) (lines []string) {
	for _, run := range r.Runs {
		if run.Unanswered > 0 && run.Asked.Provider != model.Replay {
			lines = append(lines, fmt.Sprintf("missing: %d of %d answers of %s on %s (%s)", run.Unanswered, run.N, run.Target, run.Dataset, run.Label))
		}
	}
	return lines
}

// mixed is an error where a server that runs weights described itself otherwise with some answers of
// a model than with others: workers began before and after it was exchanged, a batch went on, or
// stores were merged.
func (m measurement) mixed(r score.Result) error {
	for _, target := range m.Targets {
		said, all := map[client.Description]int{}, 0
		for _, run := range r.Runs {
			if slices.ContainsFunc(m.Targets, func(t evaluate.Target) bool { return t.Name == run.Target && t.Ref() == target.Ref() }) {
				for d, n := range run.Described {
					said[client.Description(d)] += n
					all += n
				}
			}
		}
		if runs, _ := m.clients.RunsWeights(target.Ref()); !runs || len(said) < 2 {
			continue
		}
		most := slices.MaxFunc(slices.Sorted(maps.Keys(said)), func(a, b client.Description) int { return said[a] - said[b] })
		differs, n := "", 0
		for d, of := range said {
			if by := most.Differs(d); by != "" {
				differs, n = max(differs, by), n+of
			}
		}
		if n > 0 {
			return command.OtherWeights(job.Asked{Ref: target.Ref()}, fmt.Sprintf("%s described itself otherwise with %d of %d answers: %s", target.Name, n, all, differs))
		}
	}
	return nil
}

// nothingJudged says why a judge could judge none of a target's answers. It looks at the judges
// that were asked; where none were, at all, but for those that wait for their first verdict.
func nothingJudged(r score.Result, asked ...judge.Judge) (lines []string) {
	judged := map[[2]string]int{}
	for run, j := range r.Judged() {
		judged[[2]string{run.Target, j.Judge}] += j.Judged
	}
	for run, j := range r.Judged() {
		by := func(one judge.Judge) bool { return one.Name() == j.Judge }
		tried := slices.ContainsFunc(asked, by) || len(asked) == 0 && j.Why() != score.Unjudged && !strings.HasPrefix(j.Judge, "column:")
		if tried && judged[[2]string{run.Target, j.Judge}] == 0 && j.Unjudged > 0 && j.Failed == 0 {
			lines = append(lines, fmt.Sprintf("%s judged none of the %d answers of %s: %s", j.Judge, j.Unjudged, run.Target, j.UnjudgedFor))
		}
	}
	return lines
}

// figures says which figures are derived, and how they are shown.
type figures struct {
	runs []*run.Run
	// kept is the index whose figures are taken where it has them; nil for none.
	kept *index.Index
	out  command.Output
	cost score.Cost
	// unfinished says that answers are still to come.
	unfinished bool
	// choice and the others say which of the figures are shown; see report.View.
	choice           report.Choice
	table            string
	beside, ofJudges bool
	// show gives what is shown, nil for a report of targets.
	show func(report.View) table.View
}

// derive computes figures, or takes those that are kept, and shows them.
func (a app) derive(ctx context.Context, memory store.Reader, f figures) (score.Result, error) {
	out, subject := f.out, run.Subject(f.runs...)
	var pages *report.Folder
	var sinks evaluate.Sinks
	// An output that cannot be written does not stop the others.
	var failed error
	if out.Dir != "" {
		if pages, failed = report.Create(out.Dir, subject, out.Redact); failed == nil {
			defer pages.Discard()
			sinks.Chunk = pages.Add
		}
	}
	writers, err := out.Create(subject, a.published(f.runs...))
	defer writers.Discard()
	failed = errors.Join(failed, err)
	if writers.Any() {
		sinks.Row = func(row score.AnswerRow) error { return writers.Add(&row) }
	}
	var end func()
	sinks.Walked, end = a.Walking(f.runs...)
	result, err := run.Derive(ctx, memory, f.runs, sinks, f.kept.Figures)
	end()
	if err != nil {
		return result, err
	}
	result.Cost, result.Provenance.Program = f.cost, a.Version
	failed = errors.Join(failed, writers.Finish(result, f.unfinished), a.showChosen(f, subject, result))
	if pages != nil {
		if err := pages.Finish(result); err != nil {
			return result, errors.Join(failed, err)
		}
		a.Infof("wrote %s", filepath.Join(out.Dir, report.PageFile))
	}
	return result, failed
}

// published describes runs for other tools.
func (a app) published(runs ...*run.Run) interchange.Study {
	s := interchange.StudyOf(a.Version, runs...)
	s.Organization = a.Getenv("ORBENCH_ORGANIZATION")
	return s
}

// showChosen shows the chosen figures, or draws the plot that was asked for.
func (a app) showChosen(f figures, subject folder.Subject, result score.Result) error {
	chosen, err := f.choice.Of(result)
	if err != nil {
		return err
	}
	if f.out.Plot != "" {
		drawn, err := report.Plot(chosen, f.out.Plot)
		if err != nil {
			return err
		}
		return a.Draw(f.out, subject, drawn)
	}
	v := report.View{Result: chosen, Table: f.table, Beside: f.beside, OfJudges: f.ofJudges}
	if err := v.Check(); err != nil {
		return err
	}
	var view table.View = v
	if f.show != nil {
		view = f.show(v)
	}
	return a.ShowOutput(f.out, subject, f.unfinished, view)
}

// showShard says how far a shard is. It shows no figures: those of some of the prompts
// would pass for the run's.
func (a app) showShard(ctx context.Context, m measurement, memory store.Reader, f command.Filled) (missing []string, err error) {
	plans, err := m.Job().Plan(ctx, memory, job.AtMost, nil)
	if err != nil {
		return nil, err
	}
	whole := *m.Run
	whole.Shard = evaluate.Shard{}
	s := evaluate.ShardResult{
		Run: m.Name, Shard: m.Shard.String(), Prompts: m.Prompts(), Of: whole.Prompts(), Calls: f.Requests, Remembered: f.Present,
	}
	for _, p := range plans {
		s.Missing += p.Calls
	}
	if m.out.Format == "json" {
		err = table.JSON(a.Stdout, s)
	} else {
		_, err = fmt.Fprintf(a.Stdout, "Shard %s of run %s: %d of its %d prompts; %d calls made now, %d remembered, %d missing.\n",
			s.Shard, untrusted.Terminal(s.Run), s.Prompts, s.Of, s.Calls, s.Remembered, s.Missing)
	}
	if err != nil {
		return nil, err
	}
	if s.Missing > 0 && !f.Unfinished() {
		missing = []string{fmt.Sprintf("missing: %d calls of the shard", s.Missing)}
	}
	if !a.Quiet {
		a.Infof("once all %d shards are done: orbench store merge STORE... --out FILE, then orbench report --store FILE %s", m.Shard.Of, untrusted.Shell(m.Name))
	}
	return missing, nil
}
