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

// each passes the lines of the rows to take.
func (s *rowFile) each(take func(row int, line []byte) error) error {
	if err := s.w.Flush(); err != nil {
		return err
	}
	in := bufio.NewReaderSize(io.NewSectionReader(s.file, 0, math.MaxInt64), 1<<20)
	for row := range s.rows {
		line, err := in.ReadBytes('\n')
		if err == nil {
			err = take(row, line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// write copies the rows and adds to each the sets that hold it.
func (s *rowFile) write(out io.Writer, sets map[int][]benchmark.SetName) error {
	return s.each(func(row int, line []byte) error {
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

// Lineage passes the rows of the lineage to take, in order.
func (b *Benchmark) Lineage(take func(*benchmark.Record)) error {
	return b.lineage.each(func(row int, line []byte) error {
		var r benchmark.Record
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		r.Sets = b.setsOf[row]
		take(&r)
		return nil
	})
}

// Close removes the file.
func (s *rowFile) Close() error {
	err := s.file.Close()
	if removed := os.Remove(s.file.Name()); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}
