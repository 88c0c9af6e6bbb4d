package construct

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/orbench/orbench/internal/benchmark"
)

// rowFile keeps the rows of the lineage in a temporary file until the sets are known. The
// sets depend on all rows; there are many rows, and explanations are long.
type rowFile struct {
	file   *os.File
	w      *bufio.Writer
	encode func(any) error
	rows   int
}

func newRowFile() (*rowFile, error) {
	f, err := os.CreateTemp("", "orbench-lineage-*.jsonl")
	if err != nil {
		return nil, fmt.Errorf("the lineage needs a temporary file: %w", err)
	}
	// If the system lets us remove an open file, a killed build leaves none behind.
	// Otherwise Close removes it.
	_ = os.Remove(f.Name())
	w := bufio.NewWriterSize(f, 1<<20)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return &rowFile{file: f, w: w, encode: e.Encode}, nil
}

// add appends a row and gives its number, from 0.
func (s *rowFile) add(r *benchmark.Record) (row int, err error) {
	if err := s.encode(r); err != nil {
		return 0, fmt.Errorf("the lineage: %w", err)
	}
	s.rows++
	return s.rows - 1, nil
}

// each passes the lines of the rows to take, with the place of each in the file.
func (s *rowFile) each(take func(row int, at int64, line []byte) error) error {
	if err := s.w.Flush(); err != nil {
		return err
	}
	in := bufio.NewReaderSize(io.NewSectionReader(s.file, 0, math.MaxInt64), 1<<20)
	at := int64(0)
	for row := range s.rows {
		line, err := in.ReadBytes('\n')
		if err == nil {
			err = take(row, at, line)
		}
		if err != nil {
			return err
		}
		at += int64(len(line))
	}
	return nil
}

// write copies the rows and adds to each the sets that hold it.
func (s *rowFile) write(out io.Writer, sets map[int][]benchmark.SetName) error {
	return s.each(func(row int, _ int64, line []byte) error {
		if len(sets[row]) > 0 {
			// sets is the last field of a row, and the rows do not have it yet.
			names, err := json.Marshal(sets[row])
			if err != nil {
				return err
			}
			line = append(append(append(bytes.TrimSuffix(line, []byte("}\n")), `,"sets":`...), names...), "}\n"...)
		}
		_, err := out.Write(line)
		return err
	})
}

// Place is where a row of the lineage is kept: its number and its place in the file.
type Place struct {
	row int
	at  int64
}

// Lineage passes the rows of the lineage to take, in order, each with its place.
func (b *Benchmark) Lineage(take func(Place, *benchmark.Record) error) error {
	return b.lineage.each(func(row int, at int64, line []byte) error {
		var r benchmark.Record
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		r.Sets = b.setsOf[row]
		return take(Place{row, at}, &r)
	})
}

// Row reads the row of the lineage at a place that Lineage gave.
func (b *Benchmark) Row(p Place) (*benchmark.Record, error) {
	r := &benchmark.Record{}
	err := json.NewDecoder(io.NewSectionReader(b.lineage.file, p.at, math.MaxInt64-p.at)).Decode(r)
	r.Sets = b.setsOf[p.row]
	return r, err
}

// Close removes the file.
func (s *rowFile) Close() error {
	err := s.file.Close()
	if removed := os.Remove(s.file.Name()); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}
