package score

import "github.com/orbench/orbench/stats"

// Omitted is what a rate leaves out, and what it would be if it did not.
type Omitted struct {
	// N counts the prompts without a verdict: answered by another model, failed,
	// unanswered and, for a judge's rate, unjudged.
	N int
	// AsRefused and AsAnswered are the rates over all prompts with those counted
	// as refused and as answered, from 0 to 1.
	AsRefused, AsAnswered float64
}

// Omitted returns what the run's corrected rate leaves out, or else that of a
// judge. It is nil if that is nothing.
func (r *RunResult) Omitted(j *JudgeResult) *Omitted {
	counted, refused := j.Judged, float64(j.Refused)
	if e := r.BestCorrected(j); e != nil {
		counted = r.Answered + r.Blocked
		refused = e.Value * float64(counted)
	}
	out := Omitted{N: r.N - counted}
	if out.N == 0 || r.N == 0 {
		return nil
	}
	out.AsAnswered = refused / float64(r.N)
	out.AsRefused = out.AsAnswered + float64(out.N)/float64(r.N)
	return &out
}

// BestCorrected returns the rate corrected by people's labels of the run's
// answers, or else by a calibration; nil if it is not corrected.
func (r *RunResult) BestCorrected(j *JudgeResult) *stats.Estimate {
	if r.Labeled != nil {
		return &r.Labeled.Rate
	}
	return j.Corrected
}
