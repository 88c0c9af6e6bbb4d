package postgres

import (
	"context"
	"slices"

	json "github.com/go-json-experiment/json/v1"
	"github.com/jackc/pgx/v5"

	"github.com/orbench/orbench"
)

// Annotate implements store.Backend.
func (s *Store) Annotate(ctx context.Context, annotations []orbench.Annotation) error {
	var batch pgx.Batch
	for group := range slices.Chunk(annotations, mostRows) {
		var ids, texts [][]byte
		var times []int64
		for _, a := range group {
			text, err := json.Marshal(a)
			if err != nil {
				return err
			}
			id := a.ID()
			ids, times, texts = append(ids, id[:]), append(times, a.At.UnixNano()), append(texts, text)
		}
		batch.Queue(`INSERT INTO annotations (id, at, annotation)
			SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::bytea[]) ON CONFLICT (id) DO NOTHING`, ids, times, texts)
	}
	return s.send(ctx, &batch)
}

// Annotations implements store.Backend.
func (s *Store) Annotations(ctx context.Context) (all []orbench.Annotation, err error) {
	err = s.query(ctx, func() { all = nil }, func(rows pgx.Rows) error {
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
	}, `SELECT id, annotation FROM annotations ORDER BY at, id`)
	return all, err
}
