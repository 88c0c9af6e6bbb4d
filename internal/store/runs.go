package store

import (
	"context"
	"time"

	json "github.com/go-json-experiment/json/v1"
)

// SaveRun implements Keeper.
func (t *Tables) SaveRun(ctx context.Context, r Run) error {
	if r.Saved.IsZero() {
		now, err := t.Now(ctx)
		if err != nil {
			return err
		}
		r.Saved = now
	}
	datasets, err := json.Marshal(append([]Key{}, r.Datasets...))
	if err != nil {
		return err
	}
	saved := r.Saved.UnixNano()
	return t.Write(ctx, []Statement{{
		`INSERT INTO runs (name, config, datasets, made, saved, checksum) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (name) DO UPDATE SET config = excluded.config, datasets = excluded.datasets, made = excluded.made, saved = excluded.saved, checksum = excluded.checksum`,
		[]any{r.Name, string(r.Config), string(datasets), string(r.Made), saved, RunChecksum([]byte(r.Name), r.Config, datasets, r.Made, saved)},
	}})
}

// Run implements Reader.
func (t *Tables) Run(ctx context.Context, name string) (Run, error) {
	r, ok, err := single(ctx, t, readRun, selectRuns+`WHERE name = $1 OR $2 ORDER BY saved DESC, name LIMIT 1`, name, name == "")
	if err == nil && !ok {
		err = t.At(ErrNoRun)
	}
	return r, err
}

// Runs implements Reader.
func (t *Tables) Runs(ctx context.Context) ([]Run, error) {
	return found(ctx, t, readRun, selectRuns+`ORDER BY saved DESC, name`)
}

const (
	runColumns = `name, config, datasets, made, saved, checksum`
	selectRuns = `SELECT ` + runColumns + ` FROM runs `
)

func readRun(scan Scan) (r Run, err error) {
	var name, datasets []byte
	var saved int64
	var sum any
	if err := scan(&name, &r.Config, &datasets, &r.Made, &saved, &sum); err != nil {
		return r, err
	}
	if json.Unmarshal(datasets, &r.Datasets) != nil {
		return r, ErrChanged
	}
	r.Name, r.Saved = string(name), time.Unix(0, saved).UTC()
	return r, verify(sum, RunChecksum(name, r.Config, datasets, r.Made, saved))
}
