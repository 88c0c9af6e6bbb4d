package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// checked are the kinds of rows, in the order in which they are told of. read fails for a
// row that is not what was written. It gives the key of a row that others name, and the keys of
// the rows of the kind before that the row names.
var checked = []struct {
	kind, table, columns string
	read                 func(Scan) (key Key, names []Key, err error)
}{
	{"calls", "calls", recordColumns, func(scan Scan) (Key, []Key, error) { return only(readRecord(new(int64)))(scan) }},
	{"failures", "failures", failureColumns, only(readFailure)},
	{"pieces of prompts", "pieces", "hash, prompts", func(scan Scan) (_ Key, _ []Key, err error) {
		var hash, text []byte
		if err = scan(&hash, &text); err == nil && sha256.Sum256(text) != HashOf(hash) {
			err = ErrChanged
		}
		return Key(HashOf(hash)), nil, err
	}},
	{"datasets", "datasets", datasetColumns, func(scan Scan) (_ Key, names []Key, err error) {
		var key, about []byte
		p, err := readPieces(&key, &about)(scan)
		for hash := range p.Each() {
			names = append(names, Key(hash))
		}
		return Key(HashOf(key)), names, err
	}},
	{"runs", "runs", runColumns, func(scan Scan) (Key, []Key, error) {
		r, err := readRun(scan)
		return Key{}, r.Datasets, err
	}},
	{"annotations", "annotations", "id, annotation", only(readAnnotation)},
	{"batches", "batches", batchColumns, only(readBatch)},
	{"calls out in batches", "batch_calls", "hash, request", only(readBatchCall)},
}

// only is read without what it gives.
func only[Row any](read func(Scan) (Row, error)) func(Scan) (Key, []Key, error) {
	return func(scan Scan) (Key, []Key, error) {
		_, err := read(scan)
		return Key{}, nil, err
	}
}

// Check reads all rows and holds each to its checksum and its hash. Those that are not what
// was written are lost, and so are those that others name and that are not there. A kind that
// cannot be read to its end is a fault.
func (t *Tables) Check(ctx context.Context) (Health, error) {
	h := Health{Kinds: []KindHealth{}, Faults: []string{}}
	var before map[Key]bool
	for _, k := range checked {
		var of KindHealth
		var keys, named map[Key]bool
		err := t.Query(ctx, func() {
			of, keys, named = KindHealth{Kind: k.kind}, map[Key]bool{}, map[Key]bool{}
		}, func(scan Scan) error {
			key, names, err := k.read(scan)
			keys[key] = true
			for _, name := range names {
				named[name] = true
			}
			if err != nil && !errors.Is(err, ErrDamaged) {
				return err
			}
			if err != nil {
				of.Lost++
			} else {
				of.Good++
			}
			return nil
		}, fmt.Sprintf("SELECT %s FROM %s", k.columns, k.table))
		if errors.Is(err, ErrDamaged) {
			h.Faults = append(h.Faults, k.kind+": the rest cannot be read")
		} else if err != nil {
			return h, err
		}
		for name := range named {
			if !before[name] {
				h.Kinds[len(h.Kinds)-1].Lost++
			}
		}
		before, h.Kinds = keys, append(h.Kinds, of)
	}
	return h, nil
}

// Damage is an error that is ErrDamaged, and says what is damaged.
type Damage string

// Error says what is damaged.
func (d Damage) Error() string { return string(d) }

// Is reports whether target is ErrDamaged.
func (d Damage) Is(target error) bool { return target == ErrDamaged }

// SaveRest says how what is intact of a damaged store is saved, whose file is quoted for a
// shell.
func SaveRest(file string) string {
	return "Save the rest with sqlite3 " + file + " .recover | sqlite3 recovered.db, then orbench store merge recovered.db `out` saved.db"
}

// Health is what a check of a store found.
type Health struct {
	// Kinds are the kinds of things that a store holds, such as calls.
	Kinds []KindHealth `json:"kinds"`
	// Faults are what is wrong with the structure of the file: of its pages only the first
	// fault.
	Faults []string `json:"faults"`
}

// KindHealth counts what is there of a kind. What cannot be read, and what is not what
// its checksum or its hash says, is lost.
type KindHealth struct {
	Kind string `json:"kind"`
	Good int    `json:"good"`
	Lost int    `json:"lost"`
}

// Sound reports whether nothing is wrong.
func (h Health) Sound() bool {
	return len(h.Faults) == 0 && !slices.ContainsFunc(h.Kinds, func(k KindHealth) bool { return k.Lost > 0 })
}
