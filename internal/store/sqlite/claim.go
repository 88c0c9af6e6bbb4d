package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// Claim implements store.Backend. A claim is one row, whatever it has of calls, so that it
// costs little for each of them.
func (s *Store) Claim(ctx context.Context, hashes []model.Hash, term time.Duration, seen int64) (c store.Claim, err error) {
	if len(hashes) == 0 {
		return c, nil
	}
	err = s.inBriefTx(ctx, func(conn *sql.Conn, tx *sql.Tx) error {
		var unchanged bool
		if c.Seen, unchanged, err = s.foreign.look(ctx, conn, tx.StmtContext(ctx, s.dataVersion), seen); err != nil {
			return err
		}
		if !unchanged {
			has := lookUp{tx.StmtContext(ctx, s.has.few), tx.StmtContext(ctx, s.has.many)}
			if c.Answered, err = present(ctx, has, hashes); err != nil {
				return err
			}
		}
		wanted := make(map[model.Hash]bool, len(hashes))
		for _, h := range hashes {
			wanted[h] = !c.Answered[h]
		}
		if c.Taken, err = s.taken(ctx, tx, wanted, term); err != nil {
			return err
		}
		var free []byte
		for _, h := range hashes {
			if wanted[h] && !c.Taken[h] {
				free = append(free, h[:]...)
			}
		}
		if len(free) == 0 {
			return nil
		}
		if c.Batched, err = s.inBatches(ctx, tx, free); err != nil {
			return err
		}
		c.ID = s.claims.Add(1)
		_, err = tx.StmtContext(ctx, s.claim).ExecContext(ctx, s.owner, c.ID, s.place, os.Getpid(), s.now().Add(term).UnixNano(), free)
		return err
	})
	if err != nil {
		return store.Claim{}, err
	}
	return c, nil
}

// foreign tells whether another handle, of this process or another, has written to the store.
type foreign struct {
	// It is looked at in transactions on conn, one at a time. version is the data_version of
	// that connection, which tells only of changes by others.
	conn    any
	version int64
	// looks counts the looks, and changed is that at which version was last found to be
	// another.
	looks, changed int64
}

// look counts a look and reports whether others have written nothing since an earlier one,
// 0 for none.
func (f *foreign) look(ctx context.Context, on *sql.Conn, dataVersion *sql.Stmt, earlier int64) (look int64, unchanged bool, err error) {
	var version int64
	if err := dataVersion.QueryRowContext(ctx).Scan(&version); err != nil {
		return 0, false, err
	}
	f.looks++
	err = on.Raw(func(conn any) error {
		// Versions of two connections are not to be compared.
		if conn != f.conn || version != f.version {
			f.conn, f.version, f.changed = conn, version, f.looks
		}
		return nil
	})
	return f.looks, err == nil && earlier != 0 && earlier >= f.changed, err
}

// inBatches finds which calls, of hashes one after another, are out in a batch.
func (s *Store) inBatches(ctx context.Context, tx *sql.Tx, free []byte) (map[model.Hash]bool, error) {
	var any bool
	if err := tx.StmtContext(ctx, s.anyBatched).QueryRowContext(ctx).Scan(&any); err != nil || !any {
		return nil, err
	}
	var hashes []model.Hash
	for ; len(free) > 0; free = free[len(model.Hash{}):] {
		hashes = append(hashes, store.HashOf(free[:len(model.Hash{})]))
	}
	return present(ctx, lookUp{tx.StmtContext(ctx, s.batched.few), tx.StmtContext(ctx, s.batched.many)}, hashes)
}

// taken finds which of the wanted calls other handles hold, and deletes claims that are over:
// those whose process is gone, and those that stood still for a term.
func (s *Store) taken(ctx context.Context, tx *sql.Tx, wanted map[model.Hash]bool, term time.Duration) (map[model.Hash]bool, error) {
	type key struct {
		owner  string
		number int64
	}
	var ended []key
	taken := map[model.Hash]bool{}
	others, err := tx.StmtContext(ctx, s.others).QueryContext(ctx, s.owner)
	if err != nil {
		return nil, err
	}
	err = scanAll(others, func(rows *sql.Rows) error {
		var k key
		var where string
		var pid int
		var until int64
		var claimed sql.RawBytes
		if err := rows.Scan(&k.owner, &k.number, &where, &pid, &until, &claimed); err != nil {
			return err
		}
		if where != "" && where == s.place && store.ProcessGone(pid) || s.Watch.Over(fmt.Sprint(k.owner, " ", k.number), until, term) {
			ended = append(ended, k)
			return nil
		}
		const size = len(model.Hash{})
		for ; len(claimed) >= size; claimed = claimed[size:] {
			if h := model.Hash(claimed[:size]); wanted[h] {
				taken[h] = true
			}
		}
		return nil
	})
	for _, k := range ended {
		if err == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM claims WHERE owner = ? AND number = ?`, k.owner, k.number)
		}
	}
	return taken, err
}

// Renew implements store.Backend.
func (s *Store) Renew(ctx context.Context, term time.Duration) (held []int64, err error) {
	err = s.inBriefTx(ctx, func(_ *sql.Conn, tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `UPDATE claims SET until = max(until + 1, ?) WHERE owner = ? RETURNING number`, s.now().Add(term).UnixNano(), s.owner)
		if err != nil {
			return err
		}
		return scanAll(rows, func(rows *sql.Rows) error {
			var number int64
			err := rows.Scan(&number)
			held = append(held, number)
			return err
		})
	})
	return held, err
}

// Release implements store.Backend.
func (s *Store) Release(ctx context.Context, claims []int64) error {
	if len(claims) == 0 {
		return nil
	}
	return s.inBriefTx(ctx, func(_ *sql.Conn, tx *sql.Tx) error {
		args := []any{s.owner}
		for _, c := range claims {
			args = append(args, c)
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM claims WHERE owner = ? AND number IN (?`+strings.Repeat(",?", len(claims)-1)+`)`, args...)
		return err
	})
}

// releaseAll ends the claims of this handle.
func (s *Store) releaseAll(ctx context.Context) error {
	if s.claims.Swap(0) == 0 {
		return nil
	}
	return s.inBriefTx(ctx, func(_ *sql.Conn, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM claims WHERE owner = ?`, s.owner)
		return err
	})
}

// inBriefTx does something in a transaction that does not wait for the disk: a claim that
// is lost when the machine fails is the claim of a process that is gone.
func (s *Store) inBriefTx(ctx context.Context, do func(*sql.Conn, *sql.Tx) error) error {
	if err := s.brieflyWrite(ctx, do); err != nil {
		return s.at(err)
	}
	return s.written(ctx)
}

func (s *Store) brieflyWrite(ctx context.Context, do func(*sql.Conn, *sql.Tx) error) (err error) {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, `PRAGMA synchronous = NORMAL`); err != nil {
		return err
	}
	defer func() {
		// What follows on the connection is durable again, or is not done at all.
		if _, failed := conn.ExecContext(context.WithoutCancel(ctx), `PRAGMA synchronous = FULL`); failed != nil {
			err = errors.Join(err, failed, conn.Raw(func(any) error { return sqldriver.ErrBadConn }))
		}
	}()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	// Without this a panic would wait forever for the connection; after Commit it does
	// nothing.
	defer func() { _ = tx.Rollback() }()
	if err := do(conn, tx); err != nil {
		return err
	}
	return tx.Commit()
}
