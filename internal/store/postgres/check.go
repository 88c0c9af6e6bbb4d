package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"

	json "github.com/go-json-experiment/json/v1"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// kind is a kind of rows. Each is read by its key, in its order, so that no query holds all
// of a table.
type kind struct {
	name, table, key string
	// columns are bytes, and then numbers.
	columns string
	bytes   int
	// good reports whether a row is what was written.
	good func(b [][]byte, n []int64) bool
	// seldom is true for a kind that is told of only where there is any.
	seldom bool
}

var kinds = []kind{
	{name: "calls", table: "calls", key: "hash", columns: "hash, request, response, checksum", bytes: 3, good: func(b [][]byte, n []int64) bool {
		var r model.Response
		return model.HashCanonical(b[1]) == store.HashOf(b[0]) && n[0] == store.Checksum(b[0], b[2]) && json.Unmarshal(b[2], &r) == nil
	}},
	{name: "failures", table: "failures", key: "hash", columns: "hash, kind, message, checksum", bytes: 3, good: func(b [][]byte, n []int64) bool {
		return n[0] == store.Checksum(b...)
	}},
	{name: "pieces of prompts", table: "pieces", key: "hash", columns: "hash, prompts", bytes: 2, good: func(b [][]byte, _ []int64) bool {
		return sha256.Sum256(b[1]) == store.HashOf(b[0])
	}},
	{name: "datasets", table: "datasets", key: "key", columns: "key, about, sum, pieces, prompts, checksum", bytes: 4, good: func(b [][]byte, n []int64) bool {
		p := store.Pieces{Prompts: int(n[0]), Sum: store.HashOf(b[2]), Hashes: b[3]}
		return store.KeyOf(b[1]) == store.Key(store.HashOf(b[0])) && n[1] == p.Checksum(b[0], b[1])
	}},
	{name: "runs", table: "runs", key: "name", columns: "name, config, datasets, made, saved, checksum", bytes: 4, good: func(b [][]byte, n []int64) bool {
		return n[1] == store.RunChecksum(b[0], b[1], b[2], b[3], n[0])
	}},
	{name: "annotations", table: "annotations", key: "id", columns: "id, annotation", bytes: 2, good: func(b [][]byte, _ []int64) bool {
		var a orbench.Annotation
		return json.Unmarshal(b[1], &a) == nil && a.ID() == store.HashOf(b[0])
	}},
	{name: "batches", table: "batches", key: "id", columns: "id, about, open::int::bigint, checksum", bytes: 2, seldom: true, good: func(b [][]byte, n []int64) bool {
		return n[1] == store.BatchChecksum(b[0], b[1], n[0])
	}},
	{name: "calls out in batches", table: "batch_calls", key: "hash", columns: "hash, request", bytes: 2, seldom: true, good: func(b [][]byte, _ []int64) bool {
		return model.HashCanonical(b[1]) == store.HashOf(b[0])
	}},
}

// Check reads all of the store and holds every row to its checksum and its hash. Rows that
// are not what was written are lost, and so are the pieces and datasets that others name
// and that are not there. It sees what the server gives; that its files are in order,
// pg_amcheck and the checksums of its pages tell.
func (s *Store) Check(ctx context.Context) (h store.Health, err error) {
	h.LostCalls, h.Faults = []store.LostCall{}, []string{}
	for _, k := range kinds {
		found := store.KindHealth{Kind: k.name}
		err := s.rows(ctx, k, func(b [][]byte, n []int64) {
			if k.good(b, n) {
				found.Good++
				return
			}
			found.Lost++
			if k.table == "calls" {
				h.LostCalls = append(h.LostCalls, store.LostCallOf(b[0], b[1]))
			}
		})
		if err != nil {
			return h, err
		}
		if missing, ok := missing[k.table]; ok {
			n := 0
			if _, err := s.one(ctx, []any{&n}, missing); err != nil {
				return h, err
			}
			found.Lost += n
		}
		if !k.seldom || found.Good+found.Lost > 0 {
			h.Kinds = append(h.Kinds, found)
		}
	}
	return h, nil
}

// missing count the rows that others name and that are not there.
var missing = map[string]string{
	"pieces": `SELECT count(*) FROM (
		SELECT DISTINCT substring(pieces FROM i * 32 + 1 FOR 32) AS hash FROM datasets, generate_series(0, octet_length(pieces) / 32 - 1) AS i) AS named
		WHERE hash <> decode(repeat('00', 32), 'hex') AND NOT EXISTS (SELECT 1 FROM pieces WHERE pieces.hash = named.hash)`,
	"datasets": `SELECT count(*) FROM (
		SELECT DISTINCT decode(jsonb_array_elements_text(convert_from(datasets, 'UTF8')::jsonb), 'hex') AS key FROM runs) AS named
		WHERE NOT EXISTS (SELECT 1 FROM datasets WHERE datasets.key = named.key)`,
}

// rows reads all rows of a kind.
func (s *Store) rows(ctx context.Context, k kind, see func(b [][]byte, n []int64)) error {
	type row struct {
		bytes   [][]byte
		numbers []int64
	}
	last := []byte{}
	for first := true; ; first = false {
		var page []row
		after := ">"
		if first {
			after = ">="
		}
		err := s.query(ctx, func() { page = nil }, func(rows pgx.Rows) error {
			width := len(rows.FieldDescriptions())
			r := row{make([][]byte, k.bytes), make([]int64, width-k.bytes)}
			into := make([]any, width)
			for i := range into {
				if i < k.bytes {
					into[i] = (*pgtype.PreallocBytes)(&r.bytes[i])
				} else {
					into[i] = &r.numbers[i-k.bytes]
				}
			}
			page = append(page, r)
			return rows.Scan(into...)
		}, fmt.Sprintf(`SELECT %s FROM %s WHERE %s %s $1 ORDER BY %[3]s LIMIT 256`, k.columns, k.table, k.key, after), last)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, r := range page {
			see(r.bytes, r.numbers)
		}
		last = page[len(page)-1].bytes[0]
	}
}
