package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/facet"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// OfTarget is a run.Figures for a run with one target, perhaps of several; see run.Only. It
// takes the rows from those that are kept of the whole run, without texts, spans and
// rationales, and the figures from those of the whole run. Where these are not kept, or no
// longer hold, it walks the target's answers.
func (x *Index) OfTarget(ctx context.Context, m store.Reader, r *run.Run, sinks evaluate.Sinks) (score.Result, error) {
	t, err := x.keptTarget(ctx, m, r, sinks.NoSubjects)
	x.fail(ctx, err)
	if t == nil || err != nil {
		return r.DeriveTo(ctx, m, sinks)
	}
	for _, of := range t.Used[t.sample] {
		sinks.Usage.AddUsage(map[model.Ref]price.Used{of.Of: of.Used})
	}
	return t.result, t.rows(ctx, sinks)
}

// target is what is kept of one target of a run.
type target struct {
	*Study
	// sample is its number among those of the study.
	sample int
	// kinds and subjects are those of the target's rows, and scores those of each judge, as
	// ranks; both of the latter are nil where nobody asks for subjects.
	kinds    []uint32
	subjects []orbench.Subject
	scores   [][]uint32
	// result has the figures of the target alone.
	result score.Result
}

// keptTarget reads what is kept of the only target of a run; nil if that is too little. All is
// read before any row is handed out, because no walk can take the place of half of them.
func (x *Index) keptTarget(ctx context.Context, m store.Reader, r *run.Run, noSubjects bool) (*target, error) {
	whole := r.Whole()
	rows, ok := x.keyOf(m, whole, "rows")
	if !ok || whole.Until != nil {
		return nil, nil
	}
	s, err := x.keptStudy(ctx, m, whole, rows)
	if s == nil || err != nil {
		return nil, err
	}
	t := &target{Study: s, sample: slices.Index(s.Samples, facet.Sample{Target: r.Targets[0].Name, Base: r.Targets[0].Base})}
	if t.sample < 0 {
		return nil, nil // a sample of several has other cells and figures alone
	}
	all, err := x.keptRuns(ctx, m, s)
	if all == nil || err != nil {
		return nil, err
	}
	for _, of := range all {
		if of.Target == r.Targets[0].Name {
			t.result.Runs = append(t.result.Runs, of)
		}
	}
	err = t.own(ctx, kindColumn, 4, func(kind []byte) { t.kinds = append(t.kinds, binary.LittleEndian.Uint32(kind)) })
	if err == nil && len(t.kinds) > 0 && int(slices.Max(t.kinds)) >= len(s.Kinds) {
		err = errDamaged
	}
	if err != nil || noSubjects {
		return t, err
	}
	t.scores = make([][]uint32, len(s.Judges))
	for k := range t.scores {
		err = errors.Join(err, t.own(ctx, scoreColumn(k), 4, func(rank []byte) { t.scores[k] = append(t.scores[k], binary.LittleEndian.Uint32(rank)) }))
	}
	return t, errors.Join(err, t.own(ctx, subjectColumn, subjectSize, func(one []byte) { t.subjects = append(t.subjects, orbench.Subject(one[:subjectSize-1])) }))
}

// keptRuns are those of the figures that are kept beside rows which hold; nil without any. Both
// sides of a comparison may be of one study, so those of the last one stay in memory.
func (x *Index) keptRuns(ctx context.Context, m store.Reader, s *Study) ([]score.RunResult, error) {
	said, err := saidOf(ctx, m, s.run)
	if err != nil {
		return nil, err
	}
	of := fmt.Sprint(s.id, said)
	x.last.Lock()
	defer x.last.Unlock()
	if x.last.of != of {
		all, found, err := x.keptFigures(ctx, m, s.run, nil)
		if !found || err != nil {
			return nil, err
		}
		x.last.of, x.last.runs = of, all.Runs
	}
	return x.last.runs, nil
}

// own passes the target's part of a column to take, which has so many bytes for each row.
func (t *target) own(ctx context.Context, name string, size int, take func([]byte)) error {
	return t.each(ctx, name, func(chunk int, data []byte) error {
		if len(data) != size*(t.starts[chunk+1]-t.starts[chunk]) {
			return errDamaged
		}
		for at := t.sample * size; at < len(data); at += len(t.Samples) * size {
			take(data[at:][:size])
		}
		return nil
	})
}

// rows hands out the rows.
func (t *target) rows(ctx context.Context, sinks evaluate.Sinks) error {
	byKind := make([]score.AnswerRow, len(t.Kinds))
	for k := range byKind {
		byKind[k] = t.row(t.Kinds[k])
	}
	n := 0
	for _, set := range t.run.Datasets {
		for p, err := range set.First(t.run.Limit) {
			if err == nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				return err
			}
			row := byKind[t.kinds[n]]
			row.Prompt = p
			if t.subjects != nil {
				row.Known = t.subjects[n]
			}
			if t.scores != nil {
				row.Verdicts = slices.Clone(row.Verdicts)
			}
			for k, scores := range t.scores {
				if k < len(row.Verdicts) {
					row.Verdicts[k].Score = scoreOf(scores[n])
				}
			}
			if err := sinks.Row(row); err != nil {
				return err
			}
			if n++; sinks.Walked != nil {
				sinks.Walked(n)
			}
		}
	}
	return nil
}

// row is what rows of a kind have in common. A verdict counts as simulated if any by its judge
// on the target's answers is.
func (t *target) row(k facet.Kind) score.AnswerRow {
	row := score.AnswerRow{
		Target: t.Samples[t.sample].Target, Dataset: k.Dataset, Cell: t.Cells[t.sample][cellName(k.Dataset, k.Label)],
		Status: k.Status, Ending: k.Ending, Simulated: k.Simulated,
	}
	for n, said := range k.Verdicts {
		v := score.JudgeVerdict{Judge: said.Judge, Simulated: t.Simulated[t.sample][n]}
		v.Class, v.Reason = said.Class, said.Reason
		row.Verdicts = append(row.Verdicts, v)
	}
	return row
}
