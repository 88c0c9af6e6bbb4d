package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/orbench/orbench/internal/store"
)

// Check reads all of the store and holds every row to its checksum and its hash. Rows that
// are not what was written are lost, and so are the chunks and datasets that others name
// and that are not there. It sees what the server gives; that its files are in order,
// pg_amcheck and the checksums of its pages tell.
func (s *Store) Check(ctx context.Context) (store.Health, error) {
	h, err := s.CheckRows(ctx)
	if err != nil {
		return h, err
	}
	for i := range h.Kinds {
		n := 0
		if query, ok := missing[h.Kinds[i].Kind]; ok {
			if err := s.one(ctx, &n, query); err != nil {
				return h, err
			}
		}
		h.Kinds[i].Lost += n
	}
	return h, nil
}

// missing count the rows that others name and that are not there.
var missing = map[string]string{
	"pieces of prompts": `SELECT count(*) FROM (
		SELECT DISTINCT substring(pieces FROM i * 32 + 1 FOR 32) AS hash FROM datasets, generate_series(0, octet_length(pieces) / 32 - 1) AS i) AS named
		WHERE hash <> decode(repeat('00', 32), 'hex') AND NOT EXISTS (SELECT 1 FROM pieces WHERE pieces.hash = named.hash)`,
	"datasets": `SELECT count(*) FROM (
		SELECT DISTINCT decode(jsonb_array_elements_text(convert_from(datasets, 'UTF8')::jsonb), 'hex') AS key FROM runs) AS named
		WHERE NOT EXISTS (SELECT 1 FROM datasets WHERE datasets.key = named.key)`,
}

// Vacuum writes the tables of texts anew, so that their files have nothing that was deleted.
// The log of writes of the server and its backups keep it for as long as they are set to.
func (s *Store) Vacuum(ctx context.Context) error {
	for _, table := range []string{"calls", "pieces", "datasets", "runs", "failures", "annotations", "batches", "batch_calls"} {
		if _, err := s.pool.Exec(ctx, "VACUUM (FULL, ANALYZE) "+pgx.Identifier{s.schema, table}.Sanitize()); err != nil {
			return s.at(err)
		}
	}
	return nil
}

// Forget implements store.Backend. It refuses while calls wait for workers, which hold their
// texts.
func (s *Store) Forget(ctx context.Context, f store.Forgetting) error {
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
	return s.Tables.Forget(ctx, f)
}
