package postgres

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

var _ store.Backend = (*Store)(nil)

//go:embed *.sql
var schemaFiles embed.FS

// migrations are the files that turn version i of the schema into version i+1.
var migrations = []string{"schema.sql", "place.sql", "queue.sql", "keys.sql", "identity.sql", "shares.sql", "packed.sql"}

// leastVersion is the oldest server that understands what it is asked, as
// server_version_num has it.
const leastVersion = 120000

// Store is a store.Backend in a schema of a PostgreSQL database.
type Store struct {
	store.Tables
	pool Pool
	// shown is the address without its password, user who connects, and schema has the
	// tables.
	shown, user, schema string
	// owner names this handle in claims, of which it has made so many, and place where it
	// runs.
	owner, place string
	claims       atomic.Int64
	notes        []string
	closed       atomic.Bool
	// told is true once it was said that the server does not answer.
	told atomic.Bool
}

// Open opens the store at an address, postgres://USER@HOST:PORT/DATABASE, and makes its
// tables where there are none. A server that cannot be reached or does not let the user
// in, a database that is not there, and a store that a newer version wrote, are an
// *orbench.InputError.
func Open(ctx context.Context, address string) (*Store, error) { return open(ctx, address, true) }

// OpenExisting is Open for a store that must be there; where the database has none, the
// error is store.ErrNoStore.
func OpenExisting(ctx context.Context, address string) (*Store, error) {
	return open(ctx, address, false)
}

// Pool gives the connections of the store, for other tables in its schema, whose name it
// gives too. They are closed with the store.
func (s *Store) Pool() (pool Pool, schema string) { return s.pool, s.schema }

func open(ctx context.Context, address string, make bool) (*Store, error) {
	config, schema, err := parse(address)
	if err != nil {
		return nil, err
	}
	s := &Store{shown: untrusted.Shown(address), user: config.ConnConfig.User, schema: schema, owner: rand.Text(), place: store.ProcessPlace()}
	s.Tables = s.tables()
	config.AfterConnect = prepareConn
	config.ConnConfig.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		f := pgproto3.NewFrontend(r, w)
		f.SetMaxBodyLen(store.MaxValue)
		return f
	}
	if s.pool.pgx, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, s.at(err)
	}
	// A server that says that it stops or starts is waited for. Where none answers from the
	// first, the address may be wrong.
	there := false
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		err := s.prepare(ctx, make)
		if err == nil {
			return s, nil
		}
		c := code(err)
		there = there || c == startingUp || c == shutDown || c == crashed
		if !there || !Away(err) || ctx.Err() != nil || time.Since(began) > connectTime {
			s.pool.pgx.Close()
			return nil, err
		}
	}
}

// prepareConn has a connection answer as the store needs it. A commit must be on the disk
// when it returns, and a statement must see what others have committed before it got its lock,
// whatever the server's defaults. A plan that was made while a table was
// small must not read all of it when it has become large, and compiling one takes longer
// than any query here.
func prepareConn(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SET enable_seqscan = off; SET jit = off; SET default_transaction_isolation = 'read committed';
		SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`)
	return err
}

// prepare checks the server and the schema, and brings that up to date.
func (s *Store) prepare(ctx context.Context, make bool) error {
	var number int
	var server, fsync string
	err := s.pool.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_version'), current_setting('fsync')`).
		Scan(&number, &server, &fsync)
	if err != nil {
		return s.at(err)
	}
	if number < leastVersion {
		return s.input(fmt.Sprintf("the server is PostgreSQL %s, which is too old", server), "use version 12 or newer")
	}
	if fsync != "on" {
		s.notes = append(s.notes[:0], s.shown+": the server has fsync off: if its machine fails, answers that were paid for are lost")
	}
	version, err := s.version(ctx, s.pool)
	switch {
	case err != nil:
		return s.at(err)
	case version == 0 && !make:
		return fmt.Errorf("%s: %w", s.shown, store.ErrNoStore)
	case version == len(migrations):
		return nil
	}
	return s.migrate(ctx)
}

func (s *Store) input(problem, hint string) error {
	return &orbench.InputError{File: s.shown, Problem: problem, Hint: hint}
}

// database is a pool of connections or a transaction.
type database interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// version finds the version of the schema, 0 where there is none.
func (s *Store) version(ctx context.Context, db database) (version int, err error) {
	var ours, tables int
	const query = `SELECT count(*) FILTER (WHERE tablename = 'schema_version'), count(*) FROM pg_tables WHERE schemaname = $1`
	if err := db.QueryRow(ctx, query, s.schema).Scan(&ours, &tables); err != nil {
		return 0, err
	}
	if ours > 0 {
		if err := db.QueryRow(ctx, `SELECT max(version) FROM schema_version`).Scan(&version); err != nil {
			return 0, err
		}
	} else if tables > 0 {
		return 0, s.input("the schema "+s.schema+" has tables of another program", "name another in the address, as ?search_path=NAME")
	}
	if version > len(migrations) {
		return 0, s.input(fmt.Sprintf("was written by a newer orbench (schema %d, this one knows %d)", version, len(migrations)),
			"use that version, or name another with `store`")
	}
	return version, nil
}

// migrate brings the schema up to date, in one transaction. Of several processes that
// start together one does so, while the others wait.
func (s *Store) migrate(ctx context.Context) error {
	err := s.pool.InTx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('orbench schema ' || $1, 0))`, s.schema); err != nil {
			return err
		}
		version, err := s.version(ctx, tx)
		if err != nil {
			return err
		}
		if version == 0 {
			// Where the schema is there, its owner need not have the right to make one.
			var there bool
			err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)`, s.schema).Scan(&there)
			if err == nil && !there {
				_, err = tx.Exec(ctx, `CREATE SCHEMA `+pgx.Identifier{s.schema}.Sanitize())
			}
			if err != nil {
				return err
			}
		}
		for from := version; from < len(migrations); from++ {
			text, err := schemaFiles.ReadFile(migrations[from])
			if err == nil {
				_, err = tx.Exec(ctx, string(text))
			}
			if err != nil {
				return fmt.Errorf("schema %d: %w", from+1, err)
			}
		}
		if _, err := tx.Exec(ctx, `INSERT INTO identity SELECT $1::text WHERE NOT EXISTS (SELECT 1 FROM identity)`, rand.Text()); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, fmt.Sprintf(`DELETE FROM schema_version; INSERT INTO schema_version VALUES (%d)`, len(migrations)))
		return err
	})
	return s.at(err)
}

// Notes implements store.Reader.
func (s *Store) Notes() []string { return s.notes }

// Close ends the claims of this handle and its connections. Claims that cannot be ended,
// since the server does not answer, end in their time.
func (s *Store) Close() error {
	var err error
	if s.claims.Swap(0) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), connectTime)
		defer cancel()
		if _, err = s.pool.Exec(ctx, `DELETE FROM claims WHERE owner = $1`, s.owner); err != nil && passes(err) {
			err = nil
		}
	}
	s.closed.Store(true)
	s.pool.pgx.Close()
	return s.at(err)
}

// query reads the rows that a query finds, and starts again where the connection breaks:
// scan must then forget what it has read, which begin tells it.
func (s *Store) query(ctx context.Context, begin func(), scan func(pgx.Rows) error, query string, args ...any) error {
	return s.again(ctx, func(ctx context.Context) error {
		begin()
		return s.pool.Each(ctx, scan, query, args...)
	})
}

// each calls scan for every row and closes the rows.
func each(rows pgx.Rows, scan func(pgx.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// one reads the value of the single row that a query always finds.
func (s *Store) one(ctx context.Context, into any, query string) error {
	return s.again(ctx, func(ctx context.Context) error { return s.pool.QueryRow(ctx, query).Scan(into) })
}

// tables are those of the store. Now is by the clock of the server.
func (s *Store) tables() store.Tables {
	return store.Tables{
		Query: func(ctx context.Context, begin func(), row func(store.Scan) error, query string, args ...any) error {
			return s.query(ctx, begin, func(rows pgx.Rows) error { return row(rows.Scan) }, query, bytesOf(args)...)
		},
		Write: func(ctx context.Context, statements []store.Statement) error {
			var batch pgx.Batch
			for _, do := range statements {
				batch.Queue(do.Query, bytesOf(do.Args)...)
			}
			return s.send(ctx, &batch)
		},
		Transact: s.transact, Briefly: s.briefly,
		Among: func(hashes []model.Hash, after int) (string, []any) {
			return fmt.Sprintf("= ANY ($%d)", after+1), []any{texts(hashes)}
		},
		At: s.at,
		Now: func(ctx context.Context) (now time.Time, err error) {
			err = s.one(ctx, &now, `SELECT clock_timestamp()`)
			return now, err
		},
		DatasetNumber: "id", BatchNumber: "number",
	}
}

// transact does something in one transaction, alone: two that put the same chunks in another
// order would wait for each other forever.
func (s *Store) transact(ctx context.Context, do func(exec func(query string, args ...any) error) error) error {
	err := s.pool.InTx(ctx, func(tx pgx.Tx) error {
		exec := func(query string, args ...any) error {
			_, err := tx.Exec(ctx, query, bytesOf(args)...)
			return err
		}
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('orbench datasets ' || $1, 0))`, s.schema); err != nil {
			return err
		}
		return do(exec)
	})
	return s.at(err)
}

// briefly does something in one transaction, alone, that is not waited for on the disk and can be
// repeated.
func (s *Store) briefly(ctx context.Context, do func(query func(row func(store.Scan) error, query string, args ...any) error, exec func(string, ...any) error) error) error {
	return s.again(ctx, func(ctx context.Context) error {
		return s.pool.InTx(ctx, func(tx pgx.Tx) error {
			const alone = `SELECT set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock(hashtextextended('orbench shares ' || $1, 0))`
			if _, err := tx.Exec(ctx, alone, s.schema); err != nil {
				return err
			}
			return do(func(row func(store.Scan) error, query string, args ...any) error {
				rows, _ := tx.Query(ctx, query, bytesOf(args)...) // each gives the error
				return each(rows, func(rows pgx.Rows) error { return row(rows.Scan) })
			}, func(query string, args ...any) error {
				_, err := tx.Exec(ctx, query, bytesOf(args)...)
				return err
			})
		})
	})
}

// bytesOf are arguments with bytes in place of texts, as all columns have them.
func bytesOf(args []any) []any {
	all := slices.Clone(args)
	for i, arg := range all {
		if text, ok := arg.(string); ok {
			all[i] = []byte(text)
		}
	}
	return all
}

// Vacuum writes the tables of texts anew, so that their files have nothing that was deleted.
// The log of writes of the server and its backups keep it for as long as they are set to.
func (s *Store) Vacuum(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, "VACUUM (FULL, ANALYZE) calls, pieces, datasets, runs, failures, annotations, batches, batch_calls")
	return s.at(err)
}

// Forget implements store.Backend. It refuses while calls wait for workers, which hold their
// texts.
func (s *Store) Forget(ctx context.Context, datasets []store.Key, calls []model.Hash, annotations [][sha256.Size]byte) error {
	var waiting int
	if err := s.one(ctx, &waiting, `SELECT count(*) FROM queued_calls WHERE NOT failed`); err != nil {
		return s.at(err)
	}
	if waiting > 0 {
		return s.input(fmt.Sprintf("%d calls wait for workers", waiting), "let the workers finish, then forget")
	}
	if _, err := s.pool.Exec(ctx, `TRUNCATE queued_calls`); err != nil {
		return s.at(err)
	}
	return s.Tables.Forget(ctx, datasets, calls, annotations)
}
