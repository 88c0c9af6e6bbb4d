package construct

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/orbench/orbench"
)

// spool keeps the rows of the lineage in a temporary file until the sets, which
// depend on all of them, are known: rows are many and explanations long.
type spool struct {
	file *os.File
	w    *bufio.Writer
	rows int
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "orbench-lineage-*.jsonl")
	if err != nil {
		return nil, fmt.Errorf("the lineage needs a temporary file: %w", err)
	}
	// Where a file can be removed while it is open, a killed build leaves none
	// behind; elsewhere Close removes it.
	_ = os.Remove(f.Name())
	return &spool{file: f, w: bufio.NewWriterSize(f, 1<<20)}, nil
}

// add appends a row and gives its number, from 0.
func (s *spool) add(r *Record) (row int, err error) {
	line, err := encode(r)
	if err != nil {
		return 0, err
	}
	if _, err := s.w.Write(line); err != nil {
		return 0, fmt.Errorf("the lineage: %w", err)
	}
	s.rows++
	return s.rows - 1, nil
}

// lines streams the rows as JSON, each with the sets of its number.
func (s *spool) lines(sets map[int][]SetName) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		err := s.w.Flush()
		if err == nil {
			_, err = s.file.Seek(0, io.SeekStart)
		}
		if err != nil {
			yield(nil, fmt.Errorf("the lineage: %w", err))
			return
		}
		row := 0
		for line, err := range jsonLines(s.file) {
			if err == nil && len(sets[row]) > 0 {
				// sets is the last field of a row, and absent so far.
				var names []byte
				if names, err = json.Marshal(sets[row]); err == nil {
					line = append(append(append(bytes.TrimSuffix(line, []byte("}")), `,"sets":`...), names...), '}')
				}
			}
			if !yield(line, err) || err != nil {
				return
			}
			row++
		}
	}
}

// Close removes the file.
func (s *spool) Close() error {
	err := s.file.Close()
	if removed := os.Remove(s.file.Name()); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// encode writes a value as a line of JSON in which <, > and & stand for
// themselves.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// jsonLines streams the lines of a file, which may be long.
func jsonLines(in io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		r := bufio.NewReaderSize(in, 1<<20)
		for {
			line, err := r.ReadBytes('\n')
			if line = bytes.TrimSuffix(line, []byte("\n")); len(line) > 0 && !yield(line, nil) {
				return
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// records streams the rows of a lineage; name stands for the file in errors.
func records(name string, lines iter.Seq2[[]byte, error]) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		n := 0
		for line, err := range lines {
			n++
			var r Record
			if err == nil {
				if err = json.Unmarshal(line, &r); err != nil {
					err = &orbench.InputError{
						File: name, Line: n, Problem: "not a row of a lineage: " + err.Error(),
						Hint: "the file was changed; build the benchmark again, its replies are in the store", Err: err,
					}
				}
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}
