package evaluate

import (
	"context"
	"iter"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/stats"
)

// Until makes a run ask prompts in random order, and end when the rates of its
// targets are known precisely enough. A report on fewer targets, or other
// judges, shows the same prompts.
type Until struct {
	Rule
	// Targets are the targets whose rates decide, and Judge is the judge of
	// these rates. The rate of a target that is asked several times is the mean
	// over the prompts.
	Targets []Target
	Judge   judge.Judge
}

// over returns the run over other datasets, which are parts of its own.
func (r *Run) over(parts []*dataset.Dataset) *Run {
	part := *r
	part.Datasets, part.Until, part.whole = parts, nil, r.prompts()
	return &part
}

// prompts returns the number of prompts in all datasets, after Limit. If this
// is a part of a run, it is the number of the whole run.
func (r *Run) prompts() int {
	if r.whole > 0 {
		return r.whole
	}
	n := 0
	for _, set := range r.Datasets {
		n += set.Size(r.Limit)
	}
	return n
}

// ends reports whether the run ends by itself.
func (r *Run) ends() bool { return r.Until != nil }

// asked returns the run over the prompts that have been asked according to the
// store, including the unfinished round, and how they were drawn. For a run
// without Until it returns the run itself and nil.
func (r *Run) asked(ctx context.Context, m store.Reader) (*Run, *drawing, error) {
	if r.Until == nil {
		return r, nil, nil
	}
	s, err := r.remembered(ctx, m)
	if err != nil {
		return nil, nil, err
	}
	parts, err := s.draw.askedPrompts(r.Until.Judge.Name())
	return r.over(parts), s.draw, err
}

// remembered returns the rounds found in the store; nil for an empty store.
func (r *Run) remembered(ctx context.Context, m store.Reader) (*series, error) {
	s, err := r.newSeries()
	for settled := m != nil; err == nil && settled && s.drew; {
		settled, err = s.decide(ctx, m, false)
	}
	return s, err
}

// least returns the run over the smallest set of prompts that it will ask:
// those of the rounds in the store, and as many more as are needed if all
// further answers are alike.
func (r *Run) least(ctx context.Context, m store.Reader) (*Run, error) {
	s, err := r.remembered(ctx, m)
	if err != nil {
		return nil, err
	}
	for s.drew {
		s.count.assume()
		s.count.close()
		s.drew = s.draw.next()
	}
	parts, err := s.draw.askedPrompts(r.Until.Judge.Name())
	return r.over(parts), err
}

// series is the rounds of a run with Until.
type series struct {
	// deciding is the deciding part of the run, over the newest round.
	deciding *Run
	draw     *drawing
	count    *drawnCount
	// drew is false once no round is left.
	drew bool
}

// newSeries draws the first round.
func (r *Run) newSeries() (*series, error) {
	draw, err := newDrawing(r.Until.Rule, len(r.Until.Targets), r.Limit, r.Datasets)
	if err != nil {
		return nil, err
	}
	deciding := *r
	deciding.Targets, deciding.Judges = r.Until.Targets, []judge.Judge{r.Until.Judge}
	s := &series{deciding: &deciding, draw: draw, count: draw.newCount(len(deciding.Targets))}
	return s, s.next()
}

// next draws the next round.
func (s *series) next() error {
	if s.drew = s.draw.next(); !s.drew {
		return nil
	}
	parts, err := s.draw.parts(s.draw.newest, true)
	s.deciding = s.deciding.over(parts)
	return err
}

// decide counts the newest round and draws the next. It does not if answers or
// verdicts are missing that no call has failed to get, unless tried says that
// all calls were tried.
func (s *series) decide(ctx context.Context, m store.Reader, tried bool) (settled bool, err error) {
	var round [][]judgedChunk
	for chunk, err := range s.deciding.chunks() {
		if err != nil {
			return false, err
		}
		judged, err := s.deciding.judgeChunk(ctx, m, chunk, s.deciding.Judges, job.Scope{}, job.Scope{})
		if err != nil {
			return false, err
		}
		for _, j := range judged {
			if tried {
				break
			}
			if lacks, err := s.deciding.lacksAny(ctx, m, requestsOf(slices.Concat(j.ofTarget, j.ofJudges))); lacks || err != nil {
				return false, err
			}
		}
		round = append(round, judged)
	}
	s.count.walk(s.draw.newest)
	for _, judged := range round {
		s.deciding.addVerdicts(s.count, judged)
	}
	s.count.close()
	return true, s.next()
}

// lacksAny reports whether a request has no reply and has not failed.
func (r *Run) lacksAny(ctx context.Context, m store.Reader, lacking [][]model.Request) (bool, error) {
	failures, err := fill.Failures(ctx, m, lacking)
	if err != nil {
		return false, err
	}
	for i, requests := range lacking {
		if failures[i].Message == "" && len(requests) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// addVerdicts counts the verdicts on a chunk. There is a figure for each target
// and judge.
func (r *Run) addVerdicts(count *drawnCount, judged []judgedChunk) {
	for i := range judged[0].prompts {
		add := count.add(judged[0].dataset)
		for k := range r.Judges {
			verdicts, refused := make([]int, len(r.Targets)), make([]int, len(r.Targets))
			for _, j := range judged {
				if len(j.rows[i].Verdicts) == 0 || j.rows[i].Verdicts[k].Class == orbench.Unjudged {
					continue
				}
				if j.rows[i].Verdicts[k].Class.Refused() {
					refused[j.index]++
				}
				verdicts[j.index]++
			}
			for t, n := range verdicts {
				if n > 0 {
					add(t*len(r.Judges)+k, float64(refused[t])/float64(n))
				}
			}
		}
	}
}

// rounds returns the job of each round, for a run with Until; see job.Job. A run that asks
// no target has one round.
func (r *Run) rounds(ctx context.Context, m store.Reader) iter.Seq2[*job.Job, error] {
	return func(yield func(*job.Job, error) bool) {
		if r.Recorded {
			asked, _, err := r.asked(ctx, m)
			if err != nil {
				yield(nil, err)
				return
			}
			yield(asked.Job(), nil)
			return
		}
		s, err := r.newSeries()
		for err == nil && s.drew {
			if !yield(r.over(s.deciding.Datasets).Job(), nil) {
				return
			}
			_, err = s.decide(ctx, m, true)
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// addStopping sets the rates' intervals of a stopped run to those that made it
// stop.
func (r *Run) addStopping(result *score.Result, count *drawnCount) {
	targets := map[string]int{}
	for i, t := range r.Targets {
		targets[t.Name] = i
	}
	for i := range result.Runs {
		run := &result.Runs[i]
		at := slices.IndexFunc(r.Datasets, func(d *dataset.Dataset) bool { return d.Name == run.Dataset })
		for k := range run.Judges {
			if lo, hi, size, stopped := count.interval(at, run.Label, targets[run.Target]*len(r.Judges)+k); stopped {
				run.SetStopping(k, stats.Interval{Lo: lo, Hi: hi}, size)
			}
		}
	}
}
