package run

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"

	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
)

// Figures gives the figures of one run, and counts its replies in sinks.Usage. Walk derives
// them; an index may have kept them.
type Figures func(ctx context.Context, m store.Reader, r *Run, sinks evaluate.Sinks) (score.Result, error)

// Walk is the Figures that derives them.
func Walk(ctx context.Context, m store.Reader, r *Run, sinks evaluate.Sinks) (score.Result, error) {
	return r.DeriveTo(ctx, m, sinks)
}

// Key is the hash of all that the rows of the run follow from, beside the calls that the
// store holds, the annotations, and the program. ok is false if they may follow from more.
// That is so for a run that the store does not keep, a part of a run, and a run of which
// the store lost prompts.
func (r *Run) Key() (key [sha256.Size]byte, ok bool) {
	if r.Shard.Of > 1 || len(r.Keys) != len(r.Datasets) || slices.ContainsFunc(r.lost, func(n int) bool { return n > 0 }) {
		return key, false
	}
	of := struct {
		Config          EvalConfig
		Targets         Targets
		Samples         []int
		Known           []string
		Datasets        []string
		Keys            []store.Key
		Limit           int
		Judges, Version []string
		Accepted        []string
	}{Config: r.Config, Targets: r.Targets, Keys: r.Keys, Limit: r.Limit, Accepted: r.Accepted}
	for _, t := range r.Targets {
		of.Samples, of.Known = append(of.Samples, t.Times()), append(of.Known, t.LabelName)
	}
	for _, d := range r.Datasets {
		of.Datasets = append(of.Datasets, d.Name)
	}
	for _, j := range r.Judges {
		of.Judges, of.Version = append(of.Judges, j.Name()), append(of.Version, judge.Version(j))
	}
	by, known := r.endedBy()
	if !known {
		return key, false
	}
	if by != nil {
		of.Judges, of.Version = append(of.Judges, by.Name()), append(of.Version, judge.Version(by))
	}
	b, err := json.Marshal(of)
	if err != nil {
		return key, false
	}
	return sha256.Sum256(b), true
}
