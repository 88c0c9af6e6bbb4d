package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
)

// checked are the kinds of rows, in the order in which they are told of. read fails for a
// row that is not what was written, and gives the keys of the rows of the kind before that a
// row names.
var checked = []struct {
	kind, table, key, columns string
	read                      func(Scan) (names [][]byte, err error)
	// named is true for a kind that others name, and seldom for one that is told of only where
	// there is any.
	named, seldom bool
}{
	{kind: "calls", table: "calls", key: "hash", columns: recordColumns, read: only(readRecord(new(int64)))},
	{kind: "failures", table: "failures", key: "hash", columns: failureColumns, read: only(readFailure)},
	{kind: "pieces of prompts", table: "pieces", key: "hash", columns: "hash, prompts", named: true, read: func(scan Scan) ([][]byte, error) {
		var hash, text []byte
		err := scan(&hash, &text)
		if err == nil && sha256.Sum256(text) != HashOf(hash) {
			err = ErrChanged
		}
		return nil, err
	}},
	{kind: "datasets", table: "datasets", key: "key", columns: datasetColumns, named: true, read: func(scan Scan) ([][]byte, error) {
		var about []byte
		p, err := readPieces(&about)(scan)
		return slices.Collect(p.Each()), err
	}},
	{kind: "runs", table: "runs", key: "name", columns: runColumns, read: func(scan Scan) (names [][]byte, err error) {
		r, err := readRun(scan)
		for i := range r.Datasets {
			names = append(names, r.Datasets[i][:])
		}
		return names, err
	}},
	{kind: "annotations", table: "annotations", key: "id", columns: "id, annotation", read: only(readAnnotation)},
	{kind: "batches", table: "batches", key: "id", columns: batchColumns, read: only(readBatch), seldom: true},
	{kind: "calls out in batches", table: "batch_calls", key: "hash", columns: "hash, request", read: only(readBatchCall), seldom: true},
}

// only is read without what it gives.
func only[Row any](read func(Scan) (Row, error)) func(Scan) ([][]byte, error) {
	return func(scan Scan) ([][]byte, error) {
		_, err := read(scan)
		return nil, err
	}
}

// Check reads all rows and holds each to its checksum and its hash. Those that are not what
// was written are lost, and so are those that others name and that are not there. A kind that
// cannot be read to its end is a fault.
func (t *Tables) Check(ctx context.Context) (Health, error) {
	h := Health{Kinds: []KindHealth{}, Faults: []string{}}
	var before map[string]bool
	for _, k := range checked {
		of := KindHealth{Kind: k.kind}
		keys, named := map[string]bool{}, map[string]bool{}
		by, after := k.key, any([]byte{})
		if t.RowNumber != "" {
			by, after = t.RowNumber, any(int64(math.MinInt64))
		}
		// No query holds all of a table.
		query := fmt.Sprintf(`SELECT %s, %s, %s FROM %s WHERE %[1]s > $1 ORDER BY %[1]s LIMIT %[5]d`, by, k.key, k.columns, k.table, hashesPerQuery)
		for more := true; more; {
			last, good, lost := after, 0, 0
			err := t.Query(ctx, func() { good, lost = 0, 0 }, func(scan Scan) error {
				var key []byte
				names, err := k.read(func(into ...any) error { return scan(append([]any{&last, &key}, into...)...) })
				if k.named {
					keys[string(key)] = true
				}
				for _, name := range names {
					named[string(name)] = true
				}
				switch {
				case err == nil:
					good++
				case errors.Is(err, ErrDamaged):
					lost++
				default:
					return err
				}
				return nil
			}, query, after)
			if errors.Is(err, ErrDamaged) {
				h.Faults = append(h.Faults, k.kind+": the rest cannot be read")
			} else if err != nil {
				return h, err
			}
			of.Good, of.Lost = of.Good+good, of.Lost+lost
			after, more = last, err == nil && good+lost == hashesPerQuery
		}
		for name := range named {
			if !before[name] {
				h.Kinds[len(h.Kinds)-1].Lost++
			}
		}
		before = keys
		if !k.seldom || of.Good+of.Lost > 0 {
			h.Kinds = append(h.Kinds, of)
		}
	}
	return h, nil
}
