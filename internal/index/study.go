package index

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
)

// Study is the rows of a run, as they were when they were kept. A row is named by its
// position, from 0, in the order of datasets, prompts, and targets with their samples. It is
// safe for concurrent use.
type Study struct {
	about
	x     *Index
	id    int64
	key   []byte
	run   *run.Run
	basis basis
	// starts has the position of the first row of each chunk, and after the last.
	starts []int

	mu sync.Mutex
	// columns are the columns of 4 bytes that were read before.
	columns map[string][]uint32
}

// Answers is the number of rows.
func (s *Study) Answers() int { return s.starts[len(s.starts)-1] }

// each reads the chunks of a column, in their order, until take gives an error. The error
// errStop is none.
func (s *Study) each(ctx context.Context, name string, take func(chunk int, data []byte) error) error {
	db := s.x.usable()
	if db == nil {
		return ErrGone
	}
	found, err := db.QueryContext(ctx, `SELECT piece, data, sum FROM columns WHERE study = ? AND name = ? ORDER BY piece`, s.id, name)
	if err != nil {
		return err
	}
	defer found.Close()
	n := 0
	for ; found.Next(); n++ {
		var chunk int
		var data sql.RawBytes
		var sum int64
		if err := found.Scan(&chunk, &data, &sum); err != nil {
			return err
		}
		if chunk != n || sum != store.Checksum(s.key, []byte(name), data) {
			return errDamaged
		}
		switch err := take(chunk, data); {
		case errors.Is(err, errStop):
			return nil
		case err != nil:
			return err
		}
	}
	if err := errors.Join(found.Err(), found.Close()); err != nil {
		return err
	}
	switch {
	case n == 0 && len(s.Chunks) > 0:
		return ErrGone
	case n != len(s.Chunks):
		return errDamaged
	}
	return nil
}

// verify reads columns, and checks that they are what was written.
func (s *Study) verify(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := s.each(ctx, name, func(int, []byte) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// column gives a column of 4 bytes, which stays in memory.
func (s *Study) column(ctx context.Context, name string) ([]uint32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.columns[name]; ok {
		return c, nil
	}
	c := make([]uint32, 0, s.Answers())
	err := s.each(ctx, name, func(_ int, data []byte) error {
		for ; len(data) >= 4; data = data[4:] {
			c = append(c, binary.LittleEndian.Uint32(data))
		}
		return nil
	})
	if err == nil && (len(c) != s.Answers() || name == kindColumn && len(c) > 0 && int(slices.Max(c)) >= len(s.Kinds)) {
		err = errDamaged
	}
	if err != nil {
		return nil, err
	}
	if s.columns == nil {
		s.columns = map[string][]uint32{}
	}
	s.columns[name] = c
	return c, nil
}

// kinds is the column of kinds.
func (s *Study) kinds(ctx context.Context) ([]uint32, error) { return s.column(ctx, kindColumn) }

// items passes the answers that people may look at, with their positions, to each until
// that returns false. The order is that of a walk: for some prompts together, by target.
func (s *Study) items(ctx context.Context, each func(position int, item annotation.Item) bool) error {
	kinds, err := s.kinds(ctx)
	if err != nil {
		return err
	}
	cells := make([][]*annotation.Cell, len(s.Samples))
	for n := range cells {
		cells[n] = make([]*annotation.Cell, len(s.Kinds))
		for k, kind := range s.Kinds {
			if c, ok := s.Cells[n][cellName(kind.Dataset, kind.Label)]; ok {
				cells[n][k] = &c
			}
		}
	}
	return s.each(ctx, subjectColumn, func(chunk int, data []byte) error {
		if len(data) != subjectSize*(s.starts[chunk+1]-s.starts[chunk]) {
			return errDamaged
		}
		for n := range s.Samples {
			for i := range s.Chunks[chunk].Prompts {
				at := i*len(s.Samples) + n
				one := data[subjectSize*at:][:subjectSize]
				if one[subjectSize-1] == noAnswer {
					continue
				}
				position := s.starts[chunk] + at
				cell := cells[n][kinds[position]]
				if cell == nil {
					return errDamaged
				}
				item := annotation.Item{Cell: *cell, Subject: orbench.Subject(one[:subjectSize-1]), Group: annotation.Group(one[subjectSize-1])}
				if !each(position, item) {
					return errStop
				}
			}
		}
		return nil
	})
}

// Read gives the rows at some positions with all their fields. Texts come from the store,
// and verdicts are derived again.
func (s *Study) Read(ctx context.Context, m store.Reader, positions []int) ([]score.AnswerRow, error) {
	asked := make([]evaluate.Asked, len(positions))
	// wanted has the places in the store of the prompts of each dataset.
	wanted := make([]map[int]*orbench.Prompt, len(s.Datasets))
	place := make([]int, len(positions))
	prompts := map[int][]byte{}
	for i, position := range positions {
		n := sort.SearchInts(s.starts, position+1) - 1
		if _, ok := prompts[n]; !ok {
			list, err := s.prompts(ctx, n)
			if err != nil {
				return nil, err
			}
			prompts[n] = list
		}
		p, at := s.Chunks[n], position-s.starts[n]
		place[i] = int(binary.LittleEndian.Uint32(prompts[n][at/len(s.Samples)*promptSize+8:]))
		asked[i].Dataset, asked[i].Sample = p.Dataset, at%len(s.Samples)
		if wanted[p.Dataset] == nil {
			wanted[p.Dataset] = map[int]*orbench.Prompt{}
		}
		wanted[p.Dataset][place[i]] = nil
	}
	keys := s.run.Keys
	for d, some := range wanted {
		at := slices.Sorted(maps.Keys(some))
		found, err := m.PromptsAt(ctx, keys[d], at)
		if err != nil {
			return nil, err
		}
		for i := range found {
			some[at[i]] = &found[i]
		}
	}
	for i := range asked {
		asked[i].Prompt = *wanted[asked[i].Dataset][place[i]]
	}
	return s.run.Rows(ctx, m, asked)
}

// prompts reads the prompts of a chunk.
func (s *Study) prompts(ctx context.Context, chunk int) (data []byte, err error) {
	db := s.x.usable()
	if db == nil {
		return nil, ErrGone
	}
	var sum int64
	err = db.QueryRowContext(ctx, `SELECT data, sum FROM columns WHERE study = ? AND name = ? AND piece = ?`, s.id, promptColumn, chunk).Scan(&data, &sum)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, ErrGone
	case err != nil:
		return nil, err
	case sum != store.Checksum(s.key, []byte(promptColumn), data) || len(data) != promptSize*s.Chunks[chunk].Prompts:
		return nil, errDamaged
	}
	return data, nil
}

// FindPrompts gives the positions of the first answers to some prompts of a dataset. Those
// that the study does not have are left out.
func (s *Study) FindPrompts(ctx context.Context, dataset string, ids []orbench.PromptID) (map[orbench.PromptID]int, error) {
	wanted := make(map[uint64]orbench.PromptID, len(ids))
	for _, id := range ids {
		wanted[promptName(id)] = id
	}
	found := make(map[orbench.PromptID]int, len(ids))
	err := s.each(ctx, promptColumn, func(chunk int, data []byte) error {
		if s.Datasets[s.Chunks[chunk].Dataset] != dataset {
			return nil
		}
		for i := range len(data) / promptSize {
			id, ok := wanted[binary.LittleEndian.Uint64(data[i*promptSize:])]
			if _, twice := found[id]; ok && !twice {
				found[id] = s.starts[chunk] + i*len(s.Samples)
			}
		}
		if len(found) == len(wanted) {
			return errStop
		}
		return nil
	})
	return found, err
}

// Prompt gives the position of the first answer to the prompt of a row, and the number of
// answers to it, which are next to each other.
func (s *Study) Prompt(position int) (first, answers int) {
	// Chunks hold whole prompts, so rows of a prompt begin at a multiple.
	return position - position%len(s.Samples), len(s.Samples)
}

// Holds reports whether the rows are still those of the store. They are not once a missing
// call has arrived, or has failed in another way.
func (s *Study) Holds(ctx context.Context, m store.Reader) (bool, error) {
	return s.basis.holds(ctx, m)
}
