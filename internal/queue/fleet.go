package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"github.com/orbench/orbench/model"
)

const (
	// beat is how often a worker looks what there is to do, and says that it runs. After the
	// silence gone it is not counted on, and after dead others take its shards. One that was
	// frozen may come back: then who holds the claim on a call makes it.
	beat = time.Second
	gone = 5 * time.Second
	dead = 15 * time.Second
	// patience is for how long a fill is followed before it is said that nobody works on it.
	patience = 5 * time.Second
)

// laneName names the queue of the shards with which a fill asks an endpoint. Each has its
// own, so that calls that wait for a limit hold up no others.
func laneName(fill int64, of model.Ref) string {
	sum := sha256.Sum256([]byte(of.Provider + "\x00" + of.Endpoint))
	return fmt.Sprintf("fill-%d-%s", fill, hex.EncodeToString(sum[:4]))
}

// lane is whom a fill asks.
type lane struct {
	fill int64
	name string
	at   model.Ref
	how  Halt
}

// lanes lists those with calls that wait.
func (q *Queue) lanes(ctx context.Context) (all []lane, err error) {
	var l lane
	err = q.each(ctx, []any{&l.fill, &l.name, &l.at.Provider, &l.at.Endpoint, &l.how}, func() error {
		all = append(all, l)
		return nil
	}, `SELECT l.fill, l.name, l.provider, l.endpoint, coalesce(h.how, '') FROM lanes AS l LEFT JOIN halts AS h ON h.fill = l.fill
		WHERE EXISTS (SELECT 1 FROM queued_calls AS c WHERE c.fill = l.fill AND NOT c.failed) OR h.how = 'canceled'`)
	return all, err
}

// lookAround takes up the lanes of what is queued and leaves those that are done or refused,
// and says that the worker runs. taken are the lanes that are taken up.
func (w *Worker) lookAround(ctx context.Context, queues *river.QueueBundle, taken map[string]bool) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	var looked time.Time
	if err := w.queue.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&looked); err != nil {
		return err
	}
	lanes, err := w.queue.lanes(ctx)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, l := range lanes {
		w.mu.Lock()
		// The shards of a fill that is paused or canceled are cut short, and others go on.
		switch f := w.fills[l.fill]; {
		case f == nil:
		case l.how != Running:
			f.cut(errHalted)
		case f.running.Err() != nil:
			f.running, f.cut = context.WithCancelCause(context.Background())
		}
		w.mu.Unlock()
		if l.how != Running {
			// A paused shard waits by itself.
			wanted[l.name] = l.how == Paused
			continue
		}
		if _, err := w.connection(ctx, l.at); err != nil {
			w.refuse(l.at, err)
		}
		if w.refused(l.at) {
			continue
		}
		if wanted[l.name] = true; !taken[l.name] {
			if err := queues.Add(l.name, river.QueueConfig{MaxWorkers: max(1, w.Shards)}); err != nil {
				return err
			}
			taken[l.name] = true
		}
	}
	w.mu.Lock()
	refuses := maps.Clone(w.refuses)
	for job := range w.shards {
		wanted[job.Queue] = true // leaving its queue would wait for it
	}
	w.mu.Unlock()
	// Who halts a run waits for a look that began later.
	_, err = w.queue.pool.Exec(ctx, `INSERT INTO workers VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET seen = excluded.seen, refuses = excluded.refuses`, w.id, w.Name, looked, refuses)
	if err != nil {
		return err
	}
	_, err = w.queue.pool.Exec(ctx, `UPDATE river_job AS j SET state = 'available', scheduled_at = now()
		FROM workers AS w WHERE `+keptBy+` AND w.seen <= clock_timestamp() - $1::interval`, dead)
	if err != nil {
		return err
	}
	for name := range taken {
		if !wanted[name] {
			if err := queues.Remove(ctx, name); err != nil {
				return err
			}
			delete(taken, name)
		}
	}
	return nil
}

// keptBy is true of a shard under way and the worker that keeps it.
const keptBy = `j.state = 'running' AND w.id = j.attempted_by[array_upper(j.attempted_by, 1)]`

// address is an endpoint as it is told of.
func address(at model.Ref) string { return strings.TrimSpace(at.Provider + " " + at.Endpoint) }

// refuse leaves a provider to other workers, and says why.
func (w *Worker) refuse(at model.Ref, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuses[address(at)] == "" {
		w.refuses[address(at)] = why.Error()
		w.Log.Warn("calls are left to other workers", "provider", at.Provider, "reason", why.Error())
	}
}

// refused reports whether an endpoint is left to others.
func (w *Worker) refused(at model.Ref) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refuses[address(at)] != ""
}

// bye tells other processes that the worker runs no more.
func (w *Worker) bye(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), gone)
	defer cancel()
	if _, err := w.queue.pool.Exec(ctx, `DELETE FROM workers WHERE id = $1 OR seen < now() - interval '1 day'`, w.id); err != nil {
		w.Log.Debug("the worker could not sign off", slog.String("error", err.Error()))
	}
}

// watchWorkers says, once each, that a fill is paused, that nobody works on it, and which
// workers leave a provider to others. A fill that was canceled is ErrCanceled.
func (f *Filler) watchWorkers(ctx context.Context, open int) error {
	var how Halt
	err := f.queue.pool.QueryRow(ctx, `SELECT coalesce(max(how), '') FROM halts WHERE fill = $1`, f.id).Scan(&how)
	switch {
	case err != nil:
		return err
	case how == Canceled:
		return ErrCanceled
	case open == 0:
		return nil
	}
	lanes, err := f.queue.lanes(ctx)
	if err != nil {
		return err
	}
	workers := 0
	refused := map[string][]string{}
	var name string
	var refuses map[string]string
	err = f.queue.each(ctx, []any{&name, &refuses}, func() error {
		workers++
		for _, at := range slices.Sorted(maps.Keys(refuses)) {
			refused[at] = append(refused[at], fmt.Sprintf("%s: %s", name, refuses[at]))
		}
		refuses = nil
		return nil
	}, `SELECT name, refuses FROM workers WHERE seen > clock_timestamp() - $1::interval ORDER BY name`, gone)
	if err != nil {
		return err
	}
	now := map[string]bool{}
	if how == Paused {
		now["the queued calls are paused; to have them made: orbench worker resume "+f.settings.Run] = true
	}
	if time.Since(f.began) > patience && workers == 0 {
		now["the queued calls wait, because no worker runs: start orbench worker on this store"] = true
	}
	err = f.queue.each(ctx, []any{&name}, func() error {
		now[name+" has fallen silent; others take over its calls within 30 seconds"] = true
		return nil
	}, `SELECT DISTINCT w.name FROM river_job AS j JOIN workers AS w ON `+keptBy+` WHERE j.queue LIKE $1 AND w.seen <= clock_timestamp() - $2::interval`,
		fmt.Sprintf("fill-%d-%%", f.id), gone)
	if err != nil {
		return err
	}
	for _, l := range lanes {
		who := refused[address(l.at)]
		if l.fill != f.id || len(who) == 0 {
			continue
		}
		for _, one := range who {
			now[fmt.Sprintf("calls to %s are left to other workers by %s", l.at.Provider, one)] = true
		}
		if len(who) == workers {
			now[fmt.Sprintf("none of the running workers can ask %s, so its calls wait for one that can", l.at.Provider)] = true
		}
	}
	for _, words := range slices.Sorted(maps.Keys(now)) {
		if !f.said[words] {
			log.Print(words)
		}
	}
	f.said = now // what ends and comes back is said again
	return nil
}
