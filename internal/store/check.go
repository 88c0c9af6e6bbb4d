package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
)

// checked are the kinds of rows, in the order in which they are told of. read fails for a
// row that is not what was written, and gives the request that is left of a call.
var checked = []struct {
	kind, table, key, columns string
	read                      func(Scan) (request []byte, err error)
	// seldom is true for a kind that is told of only where there is any.
	seldom bool
}{
	{kind: "calls", table: "calls", key: "hash", columns: recordColumns, read: func(scan Scan) ([]byte, error) {
		var number int64
		r, err := readRecord(&number)(scan)
		return r.Request, err
	}},
	{kind: "failures", table: "failures", key: "hash", columns: failureColumns, read: only(readFailure)},
	{kind: "pieces of prompts", table: "pieces", key: "hash", columns: "hash, prompts", read: func(scan Scan) ([]byte, error) {
		var hash, text []byte
		err := scan(&hash, &text)
		if err == nil && sha256.Sum256(text) != HashOf(hash) {
			err = ErrChanged
		}
		return nil, err
	}},
	{kind: "datasets", table: "datasets", key: "key", columns: datasetColumns, read: func(scan Scan) ([]byte, error) {
		var about []byte
		_, err := readPieces(&about)(scan)
		return nil, err
	}},
	{kind: "runs", table: "runs", key: "name", columns: runColumns, read: only(readRun)},
	{kind: "annotations", table: "annotations", key: "id", columns: "id, annotation", read: only(readAnnotation)},
	{kind: "batches", table: "batches", key: "id", columns: batchColumns, read: only(readBatch), seldom: true},
	{kind: "calls out in batches", table: "batch_calls", key: "hash", columns: "hash, request", read: only(readBatchCall), seldom: true},
}

// only is read without what it gives.
func only[Row any](read func(Scan) (Row, error)) func(Scan) ([]byte, error) {
	return func(scan Scan) ([]byte, error) {
		_, err := read(scan)
		return nil, err
	}
}

// CheckRows reads all rows, each kind by its key, so that no query holds all of a table. Those
// that are not what was written are lost.
func (t *Tables) CheckRows(ctx context.Context) (Health, error) {
	h := Health{LostCalls: []LostCall{}, Faults: []string{}}
	for _, k := range checked {
		of := KindHealth{Kind: k.kind}
		type row struct {
			key, request []byte
			lost         bool
		}
		read := func(scan Scan) (r row, err error) {
			r.request, err = k.read(func(into ...any) error { return scan(append([]any{&r.key}, into...)...) })
			if r.lost = errors.Is(err, ErrDamaged); r.lost {
				err = nil
			}
			return r, err
		}
		rows := paged(func(after []byte) ([]row, []byte, error) {
			beyond := ">"
			if after == nil {
				beyond, after = ">=", []byte{}
			}
			page, err := found(ctx, t, read, fmt.Sprintf(`SELECT %s, %s FROM %s WHERE %[1]s %[4]s $1 ORDER BY %[1]s LIMIT 256`, k.key, k.columns, k.table, beyond), after)
			if len(page) > 0 {
				after = page[len(page)-1].key
			}
			return page, after, err
		})
		for r, err := range rows {
			switch {
			case err != nil:
				return h, err
			case !r.lost:
				of.Good++
				continue
			case k.table == "calls":
				h.LostCalls = append(h.LostCalls, LostCallOf(r.key, r.request))
			}
			of.Lost++
		}
		if !k.seldom || of.Good+of.Lost > 0 {
			h.Kinds = append(h.Kinds, of)
		}
	}
	return h, nil
}
