package sqlite

import (
	"context"
	"database/sql"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench"
)

// Annotate implements store.Backend.
func (s *Store) Annotate(ctx context.Context, annotations []orbench.Annotation) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		for _, a := range annotations {
			text, err := json.Marshal(a)
			if err != nil {
				return err
			}
			id := a.ID()
			_, err = tx.ExecContext(ctx, `INSERT INTO annotations (id, at, annotation) VALUES (?,?,?) ON CONFLICT (id) DO NOTHING`,
				id[:], a.At.UnixNano(), string(text))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Annotations implements store.Backend.
func (s *Store) Annotations(ctx context.Context) ([]orbench.Annotation, error) {
	found, err := s.readers.QueryContext(ctx, `SELECT id, annotation FROM annotations ORDER BY at, id`)
	if err != nil {
		return nil, s.at(err)
	}
	var all []orbench.Annotation
	err = scanAll(found, func(rows *sql.Rows) error {
		var id, text []byte
		if err := rows.Scan(&id, &text); err != nil {
			return err
		}
		var a orbench.Annotation
		if json.Unmarshal(text, &a) != nil || a.ID() != hashOf(id) {
			return errChanged
		}
		all = append(all, a)
		return nil
	})
	if err != nil {
		return nil, s.at(err)
	}
	return all, nil
}
