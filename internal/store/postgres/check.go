package postgres

import (
	"context"

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
