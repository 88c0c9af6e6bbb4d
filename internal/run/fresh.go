package run

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/store"
)

// unborn is the revision of targets that are to be asked afresh, until Refresh knows it. A run
// without a name is named by it, so that the same settings are the same run.
const unborn = "fresh"

func isUnborn(t evaluate.Target) bool { return t.Revision == unborn }

// Refresh gives the targets of a run that reuses no older answer their revision: that of the
// kept run of its name, which goes on, or one made of the time, also where that is to be
// replaced. m is nil for a store that is not there yet.
func (r *Run) Refresh(ctx context.Context, m store.Reader, now time.Time, replace bool) error {
	if !slices.ContainsFunc(r.Targets, isUnborn) {
		return nil
	}
	fresh := now.UTC().Format(time.RFC3339)
	if m != nil && !replace {
		switch kept, err := m.Run(ctx, r.Name); {
		case errors.Is(err, store.ErrNoRun):
		case err != nil:
			return err
		default:
			// One of another kind has no such setting, and whoever keeps the run refuses it.
			var was EvalConfig
			if json.Unmarshal(kept.Config, &was) == nil && was.Fresh != "" {
				fresh = was.Fresh
			}
		}
	}
	for i, t := range r.Targets {
		if isUnborn(t) {
			r.Targets[i].Revision = fresh
		}
	}
	r.Config.Targets, r.Config.Fresh = r.Targets, fresh
	return r.resolve()
}
