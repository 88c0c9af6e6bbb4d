package index_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
)

// ofTarget is what OfTarget gives, and a walk too.
type ofTarget struct {
	Rows []score.AnswerRow
	Used price.Usage
	// Runs are the figures that are compared.
	Runs []score.RunResult
	// Simulated says of each judge whether any of its verdicts is.
	Simulated map[string]bool
}

func (p *place) ofTarget(m store.Reader, r *run.Run, of run.Figures) (all ofTarget) {
	p.t.Helper()
	all.Used, all.Simulated = price.Usage{}, map[string]bool{}
	result, err := of(p.t.Context(), m, r, evaluate.Sinks{Usage: all.Used, Row: func(row score.AnswerRow) error {
		kept := score.AnswerRow{
			Target: row.Target, Dataset: row.Dataset, Prompt: row.Prompt, Cell: row.Cell, Ending: row.Ending, Status: row.Status, Simulated: row.Simulated,
		}
		if row.Status == score.Answered || row.Status == score.Blocked {
			kept.Known = row.Subject()
		}
		for _, v := range row.Verdicts {
			kept.Verdicts = append(kept.Verdicts, score.JudgeVerdict{Judge: v.Judge, Verdict: orbench.Verdict{Class: v.Class, Reason: v.Reason, Score: v.Score}})
			all.Simulated[v.Judge] = all.Simulated[v.Judge] || v.Simulated
		}
		all.Rows = append(all.Rows, kept)
		return nil
	}})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, of := range result.Runs {
		kept := score.RunResult{About: score.About{Label: of.Label, Language: of.Language}, Labeled: of.Labeled, ServedBy: of.ServedBy}
		for _, j := range of.Judges {
			kept.Judges = append(kept.Judges, score.JudgeResult{Judge: j.Judge, ServedBy: j.ServedBy})
		}
		all.Runs = append(all.Runs, kept)
	}
	return all
}

// TestOfTarget holds the rows, the figures and the usage of one target of a run to those of a
// walk over its answers, and says when that walk is taken.
func TestOfTarget(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "m.db"))
	kept := 0
	want := func(why string, r *run.Run, mayKeep bool) {
		t.Helper()
		for _, name := range r.Config.TargetNames() {
			one := r.Only(name)
			if one.Whole() != r {
				t.Fatal("the run of one target has forgotten the others")
			}
			p.reads.Store(0)
			got := p.ofTarget(p.counted(), one, p.index.OfTarget)
			walked := p.reads.Load() > 0
			if diff := cmp.Diff(p.ofTarget(p.store, one, run.Walk), got, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
				t.Errorf("%s: %s of %s (walked %v) is not what a walk gives: %.2000s", why, name, r.Name, walked, diff)
			}
			if !walked {
				kept++
			}
			if walked && mayKeep && one.Targets[0].Times() == 1 {
				alone := true
				for _, of := range r.Targets {
					alone = alone && of.Times() == 1
				}
				if alone {
					t.Errorf("%s: %s of %s was walked", why, name, r.Name)
				}
			}
		}
	}
	for _, text := range []string{rich, plain, until} {
		r := p.open(text)
		p.fill(r, 40)
		want("nothing kept", r, false)
		for _, how := range []string{"some calls", "all calls"} {
			if _, err := p.index.Study(t.Context(), p.store, r, nil); err != nil {
				t.Fatal(err)
			}
			want(how, r, text != until)
			p.fill(r, everything)
		}
		p.label(r, 20)
		want("labels that the figures lack", r, text != until)
	}
	if kept < 20 {
		t.Errorf("only %d targets were not walked", kept)
	}
	if len(p.said) > 0 {
		t.Error(p.said)
	}
}
