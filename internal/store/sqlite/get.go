package sqlite

import (
	"context"
	"database/sql"
	"slices"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// lookUp is a query for hashes, once for exactly fewHashes of them and once for
// hashesPerQuery.
type lookUp struct{ few, many *sql.Stmt }

// hashesPerQuery is how many hashes are looked up together; fewHashes do for the
// few that were not where the others lie.
const (
	hashesPerQuery = 256
	fewHashes      = 16
)

// Get implements store.Backend.
func (s *Store) Get(ctx context.Context, hashes []model.Hash) (map[model.Hash]model.Response, error) {
	found := make(map[model.Hash]model.Response, len(hashes))
	err := s.at(s.getInto(ctx, found, hashes))
	if err == nil && s.verifyCalls != nil && len(found) < len(hashes) {
		err = s.verifyCalls()
	}
	return found, err
}

// getInto adds the responses that are present to found.
//
// What is looked up together was mostly written together, by a run that walked
// its prompts in the same order. Reading a row in a stretch of rows takes an
// eighth of the time of finding it through the index of hashes. So hashes whose
// rows lie close are read as one stretch; others are parted, until they lie close
// or are few; and the index finds what is left.
func (s *Store) getInto(ctx context.Context, found map[model.Hash]model.Response, hashes []model.Hash) error {
	if len(hashes) >= nearAtLeast {
		first, last, err := s.stretch(ctx, hashes)
		if err != nil {
			return err
		}
		switch half := len(hashes) / 2; {
		case last > 0:
			rest, err := s.read(ctx, found, hashes, first, last)
			if err != nil || len(rest) == 0 {
				return err
			}
			if len(rest) < len(hashes) {
				return s.getInto(ctx, found, rest)
			}
		case len(hashes) > hashesPerQuery:
			if err := s.getInto(ctx, found, hashes[:half]); err != nil {
				return err
			}
			return s.getInto(ctx, found, hashes[half:])
		}
	}
	return each(ctx, s.get, hashes, func(rows *sql.Rows) error { return s.addResponse(rows, found, nil) })
}

const (
	// nearAtLeast is the least number of hashes for which to look where they lie.
	nearAtLeast = 32
	// nearFactor is how many rows a stretch may have for each that is wanted.
	nearFactor = 4
	// probes is how many of the hashes tell where all of them lie.
	probes = 5
)

// stretch finds a stretch of rows in which most of the hashes lie, if there is one
// that is not too long; last is 0 otherwise.
func (s *Store) stretch(ctx context.Context, hashes []model.Hash) (first, last int64, err error) {
	args := make([]any, probes)
	for i := range args {
		args[i] = hashes[i*(len(hashes)-1)/(probes-1)][:]
	}
	rows, err := s.locate.QueryContext(ctx, args...)
	if err != nil {
		return 0, 0, err
	}
	var ids []int64
	err = scanAll(rows, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil || len(ids) < probes-1 {
		return 0, 0, err
	}
	slices.Sort(ids)
	// A call that was tried again lies far behind the others.
	if n := len(ids); n == probes && ids[n-1]-ids[n-2] > ids[n-2]-ids[0] {
		ids = ids[:n-1]
	}
	// Calls that were under way at once came back in any order.
	margin := int64(len(hashes) / 8)
	if len(ids) < probes {
		margin += (ids[len(ids)-1] - ids[0]) / (probes - 2)
	}
	first, last = ids[0]-margin, ids[len(ids)-1]+margin
	if last-first >= int64(nearFactor*len(hashes)) {
		return 0, 0, nil
	}
	return first, last, nil
}

// read adds what a stretch has of the hashes, and gives the hashes that it has not.
func (s *Store) read(ctx context.Context, found map[model.Hash]model.Response, hashes []model.Hash, first, last int64) ([]model.Hash, error) {
	wanted := make(map[model.Hash]bool, len(hashes))
	for _, h := range hashes {
		wanted[h] = true
	}
	rows, err := s.between.QueryContext(ctx, first, last)
	if err != nil {
		return nil, err
	}
	if err := scanAll(rows, func(rows *sql.Rows) error { return s.addResponse(rows, found, wanted) }); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(hashes), func(h model.Hash) bool {
		_, ok := found[h]
		return ok
	}), nil
}

// addResponse adds the row's response if it is wanted; nil wants all.
func (s *Store) addResponse(rows *sql.Rows, found map[model.Hash]model.Response, wanted map[model.Hash]bool) error {
	var hash, response sql.RawBytes
	var stored any
	if err := rows.Scan(&hash, &response, &stored); err != nil {
		return err
	}
	if wanted != nil && !wanted[store.HashOf(hash)] {
		return nil
	}
	r, err := store.ReadResponse(hash, response, stored)
	if s.LeavesOut(err) {
		return nil
	}
	if err != nil {
		return err
	}
	found[store.HashOf(hash)] = r
	return nil
}

// Has implements store.Backend.
func (s *Store) Has(ctx context.Context, hashes []model.Hash) (map[model.Hash]bool, error) {
	found, err := present(ctx, s.has, hashes)
	return found, s.at(err)
}

// present finds which hashes a look-up finds.
func present(ctx context.Context, has lookUp, hashes []model.Hash) (map[model.Hash]bool, error) {
	found := make(map[model.Hash]bool, len(hashes))
	err := each(ctx, has, hashes, func(rows *sql.Rows) error {
		var hash sql.RawBytes
		if err := rows.Scan(&hash); err != nil {
			return err
		}
		found[store.HashOf(hash)] = true
		return nil
	})
	return found, err
}

// each runs a look-up for the hashes, in groups, and calls scan for every row.
func each(ctx context.Context, of lookUp, hashes []model.Hash, scan func(*sql.Rows) error) error {
	for len(hashes) > 0 {
		query, size := of.many, hashesPerQuery
		if len(hashes) <= fewHashes {
			query, size = of.few, fewHashes
		}
		group := hashes[:min(size, len(hashes))]
		hashes = hashes[len(group):]
		args := make([]any, size)
		for i := range args {
			// A group that is not full is filled up with its own last hash.
			args[i] = group[min(i, len(group)-1)][:]
		}
		rows, err := query.QueryContext(ctx, args...)
		if err == nil {
			err = scanAll(rows, scan)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scanAll calls scan for every row and closes the rows.
func scanAll(rows *sql.Rows, scan func(*sql.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
