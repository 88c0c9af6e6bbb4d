package index

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// keptPerStudy is how many sets of figures are kept for one study: it may be shown beside
// other studies, and with other judges.
const keptPerStudy = 8

// keptFigures are the figures of a run.
type keptFigures struct {
	Result score.Result
	Used   []keptUsage
}

// keptUsage is an entry of a price.Usage.
type keptUsage struct {
	Of   model.Ref
	Used price.Used
}

// keyOf is the key under which the figures of a run in a store are kept, or its rows; of says
// which. ok is false where nothing is kept of it.
func (x *Index) keyOf(m store.Reader, r *run.Run, of string) (key []byte, ok bool) {
	own, ok := r.Key()
	built, told := program()
	sum := digest(own, built, of)
	return sum[:], ok && told && x.usable() != nil && m.LeftOut().Sound()
}

// Figures is a run.Figures that keeps the figures, and the rows that they were counted from.
// It walks the run only if they are not kept, no longer hold, or the caller wants the rows.
func (x *Index) Figures(ctx context.Context, m store.Reader, r *run.Run, sinks evaluate.Sinks) (score.Result, error) {
	if sinks.Row == nil && sinks.Chunk == nil {
		result, found, err := x.keptFigures(ctx, m, r, sinks.Usage)
		if found {
			return result, nil
		}
		x.fail(ctx, err)
	}
	return x.derive(ctx, m, r, sinks)
}

// Whole reports whether figures of the run are kept that lack no call, so that nothing is
// left to ask. It counts the replies that the run rests on in used, unless that is nil.
func (x *Index) Whole(ctx context.Context, m store.Reader, r *run.Run, used price.Usage) bool {
	key, ok := x.keyOf(m, r, "figures")
	db := x.usable()
	if !ok || db == nil {
		return false
	}
	if used != nil {
		kept, b, _, err := readFigures(ctx, db, key)
		used.AddUsage(usageOf(kept.Used))
		return err == nil && len(b.lacking) == 0
	}
	var lacking int
	err := db.QueryRowContext(ctx, `SELECT length(lacking) FROM figures WHERE key = ?`, key).Scan(&lacking)
	return err == nil && lacking == 0
}

// readFigures reads what is kept under a key: figures, what they depend on, and what was said.
func readFigures(ctx context.Context, db *sql.DB, key []byte) (kept keptFigures, b basis, said []byte, err error) {
	var figures []byte
	var sum int64
	err = db.QueryRowContext(ctx, `SELECT lacking, failed, said, figures, sum FROM figures WHERE key = ?`, key).Scan(&b.lacking, &b.failed, &said, &figures, &sum)
	if err == nil && (sum != store.Checksum(key, b.lacking, b.failed, said, figures) || json.Unmarshal(figures, &kept) != nil) {
		err = errDamaged
	}
	return kept, b, said, err
}

// saidOf has two digests of the annotations of a store that a run's figures may follow from: of
// those of prompts, and of all. A run that ends by itself is named by what was asked until then,
// so all may.
func saidOf(ctx context.Context, m store.Reader, r *run.Run) ([]byte, error) {
	all, err := m.Annotations(ctx)
	if r.Until == nil {
		all = annotation.Of(all, r.Design().Cells())
	}
	labeled := map[orbench.Subject]bool{}
	for i := range all {
		labeled[all[i].Subject] = labeled[all[i].Subject] || all[i].Label != ""
	}
	var prompts, ids [][]byte
	for i := range all {
		id := all[i].ID()
		if ids = append(ids, id[:]); labeled[all[i].Subject] {
			prompts = append(prompts, id[:])
		}
	}
	ofPrompts, ofAll := digest(prompts), digest(ids)
	return append(ofPrompts[:], ofAll[:]...), err
}

// keptFigures gives figures that hold, and counts their replies in used. Where only labels of
// answers have changed, these are counted anew.
func (x *Index) keptFigures(ctx context.Context, m store.Reader, r *run.Run, used price.Usage) (result score.Result, found bool, err error) {
	key, ok := x.keyOf(m, r, "figures")
	db := x.usable()
	if !ok || db == nil {
		return result, false, nil
	}
	said, err := saidOf(ctx, m, r)
	if err != nil {
		return result, false, err
	}
	kept, b, was, err := readFigures(ctx, db, key)
	if err != nil {
		return result, false, err
	}
	if ok, err := b.holds(ctx, m); !ok || err != nil {
		return result, false, err
	}
	counted := usageOf(kept.Used)
	if !bytes.Equal(was, said) {
		if !bytes.Equal(was[:sha256.Size], said[:sha256.Size]) {
			return result, false, nil // rows do not have the texts of prompts
		}
		if ok, err := x.relabel(ctx, m, r, &kept.Result); !ok || err != nil {
			return result, false, err
		}
		x.fail(ctx, x.write(ctx, m, func(tx *sql.Tx) error { return putFigures(ctx, tx, r.Name, key, said, b, &kept.Result, counted) }))
	}
	if used != nil {
		used.AddUsage(counted)
	}
	return kept.Result, true, nil
}

// putFigures keeps figures.
func putFigures(ctx context.Context, tx *sql.Tx, study string, key, said []byte, b basis, result *score.Result, used price.Usage) error {
	figures, err := json.Marshal(keptFigures{*result, keptUsageOf(used)})
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO figures (key, study, lacking, failed, said, figures, sum) VALUES (?,?,?,?,?,?,?)`,
		key, study, notNil(b.lacking), b.failed, said, figures, store.Checksum(key, b.lacking, b.failed, said, figures))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM figures WHERE study = ?1 AND rowid NOT IN
		(SELECT rowid FROM figures WHERE study = ?1 ORDER BY rowid DESC LIMIT ?2)`, study, keptPerStudy)
	return err
}

func keptUsageOf(used price.Usage) (kept []keptUsage) {
	for of, u := range used {
		kept = append(kept, keptUsage{of, u})
	}
	return kept
}

func usageOf(kept []keptUsage) price.Usage {
	used := price.Usage{}
	for _, of := range kept {
		used[of.Of] = of.Used
	}
	return used
}

// notNil is b as the database takes it for bytes.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
