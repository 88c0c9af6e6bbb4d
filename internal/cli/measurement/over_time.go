package measurement

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/compare"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/study"
)

// look is a model as a run asked it, with the day of its answers.
type look struct {
	name   string
	date   time.Time
	of     score.RunResult
	judges []provenance.Judge
	result *score.Result
}

// key tells values apart.
func key(values ...any) string {
	b, err := json.Marshal(values)
	if err != nil {
		panic(err) // no field can fail to be written
	}
	return string(b)
}

// prompts identifies what was asked.
func (l look) prompts() string {
	return key(l.of.DatasetSHA256, l.of.Limit, l.of.Reading, l.of.N)
}

// answers identifies the stored answers that are counted, however many of them are.
func (l look) answers() string {
	return key(l.of.DatasetSHA256, l.of.Sample, l.of.Asked)
}

// version is that of a judge.
func (l look) version(judge string) string {
	for _, j := range l.judges {
		if j.Judge == judge {
			return j.Version
		}
	}
	return ""
}

// settings are how the model was asked. Another revision is another measurement of the same.
func (l look) settings() string {
	a := l.of.Asked
	a.Revision = ""
	return key(a)
}

// unlike says why a look is no night beside the others, which are in the order of their days:
// nights are asked and judged as most looks of the same judge are. It is empty for a night.
func unlike(looks []look, at int, j score.JudgeResult) string {
	l, reused := looks[at], false
	settings, versions := map[string]int{}, map[string]int{}
	for i, o := range looks {
		if o.of.Dataset != l.of.Dataset || o.of.Label != l.of.Label || !slices.ContainsFunc(o.of.Judges, func(k score.JudgeResult) bool { return k.Judge == j.Judge }) {
			continue
		}
		settings[o.settings()]++
		versions[o.version(j.Judge)]++
		reused = reused || i < at && o.answers() == l.answers()
	}
	most := func(counts map[string]int) int { return slices.Max(slices.Collect(maps.Values(counts))) }
	switch {
	case j.Judged == 0 || j.Withheld:
		return "it has no rate, since too many answers are missing or unjudged"
	case settings[l.settings()] < most(settings):
		return "it was asked with other settings than most runs"
	case versions[l.version(j.Judge)] < most(versions):
		return "its judge has another version than in most runs; orbench judge judges it anew"
	case reused:
		return "it counts the stored answers of an earlier run; --fresh asks again"
	}
	return ""
}

// overTime shows the runs of a model as nights.
func (a app) overTime(ctx context.Context, at, model string, out command.Output) (err error) {
	if err := errors.Join(out.Check(), out.RefuseAnswers("nights")); err != nil {
		return err
	}
	memory, err := a.OpenReading(ctx, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	studies, err := study.List(ctx, memory, study.Eval)
	if err != nil {
		return err
	}
	kept := a.OpenIndex(ctx, at, memory)
	defer kept.Close()
	var looks []look
	nights := compare.OverTime{Model: model}
	for _, s := range studies {
		r, err := a.OpenRun(ctx, memory, at, s.Name)
		if err != nil {
			return err
		}
		result, err := run.Derive(ctx, memory, []*run.Run{r}, evaluate.Sinks{}, kept.Figures)
		if err != nil {
			return err
		}
		made := result.Provenance.Runs[0]
		l := look{name: s.Name, date: s.Saved, judges: made.Judges, result: &result}
		if made.Answers != nil {
			l.date = made.Answers.Last
		}
		for _, of := range result.Runs {
			if of.Target == model && (of.Label == orbench.Safe || of.Label == orbench.Toxic) {
				nights.Simulated = nights.Simulated || result.Simulated
				looks = append(looks, l)
				looks[len(looks)-1].of = of
			}
		}
	}
	slices.SortStableFunc(looks, func(a, b look) int { return a.date.Compare(b.date) })
	for i := range looks {
		for _, j := range looks[i].of.Judges {
			if why := unlike(looks, i, j); why != "" {
				nights.LeftOut = append(nights.LeftOut, compare.LeftOut{Run: looks[i].name, Label: looks[i].of.Label, Judge: j.Judge, Why: why})
				continue
			}
			l := looks[i]
			night := compare.Night{Name: l.name, Date: l.date, Refused: j.Refused, N: j.Judged, Shares: l.result.Shares(&l.of, j.Judge)}
			nights.Add(compare.Series{Dataset: l.of.Dataset, Label: l.of.Label, Judge: j.Judge}, l.prompts(), night)
		}
	}
	if len(nights.Series) == 0 {
		return command.InputError("--over-time", "no run has a rate of the target "+model, "orbench report --list shows the targets of runs")
	}
	alarm := nights.Watch()
	if err := a.ShowOutput(out, folder.Subject{}, false, nights); err != nil {
		return err
	}
	if out.Dir != "" {
		if err := nights.Write(out.Dir); err != nil {
			return err
		}
		a.Infof("wrote %s", filepath.Join(out.Dir, compare.PageFile))
	}
	if alarm {
		return command.ErrGate
	}
	return nil
}
