package sheet

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/jsonappend"
	"github.com/orbench/orbench/internal/untrusted"
)

// MaxSize is the size in bytes of the largest table that can be read: some 25,000 long
// texts.
const MaxSize = 64 << 20

// Sheet is a table that has been read.
type Sheet struct {
	// File is its name.
	File string
	// Header has the names of the columns.
	Header []string
	Rows   []TextRow
}

// TextRow is a row of a Sheet.
type TextRow struct {
	// Line is where the row starts, from 1.
	Line int
	// Cells are in the order of the header, one for each column.
	Cells []string
}

// Read reads a table: JSON Lines if the file's name ends in .jsonl, otherwise CSV with
// commas, semicolons or tabs (spreadsheets in some countries write the latter two).
// Errors in the table are *orbench.InputError with the file and the line.
func Read(file string, in io.Reader) (*Sheet, error) {
	data, err := io.ReadAll(io.LimitReader(in, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	s := &Sheet{File: file}
	if len(data) > MaxSize {
		return nil, s.Fault(0, "the file is larger than 64 MiB", "give a table of labels")
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(data, 0) >= 0 && (bytes.HasPrefix(data, []byte("PK")) || bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff})) {
		return nil, s.Fault(0, "the file is a workbook or UTF-16 text", "save it as \"CSV UTF-8\"")
	}
	read := s.readCSV
	if strings.HasSuffix(strings.ToLower(file), ".jsonl") {
		read = s.readLines
	}
	if err := read(data); err != nil {
		return nil, err
	}
	switch {
	case len(s.Header) == 0:
		return nil, s.Fault(0, "the file is empty", "give a table with labels")
	case len(s.Rows) == 0:
		return nil, s.Fault(0, "the file has no rows below the header", "give a table with labels")
	}
	return s, nil
}

func (s *Sheet) readCSV(data []byte) error {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma = separator(data)
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return s.csvFault(err)
		}
		for i := range record {
			record[i] = untrusted.FromCell(record[i])
		}
		if s.Header == nil {
			s.Header = record
			continue
		}
		line, _ := r.FieldPos(0)
		s.Rows = append(s.Rows, TextRow{line, record})
	}
}

// csvFault is a fault found by the CSV reader.
func (s *Sheet) csvFault(err error) error {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return fmt.Errorf("read %s: %w", s.File, err)
	}
	if errors.Is(parse.Err, csv.ErrFieldCount) {
		return s.Fault(parse.Line, "the row and the header have different numbers of cells", "put texts with commas between quotation marks")
	}
	return s.Fault(parse.StartLine, "not CSV: "+parse.Err.Error(), "save the table again as CSV")
}

// separator finds the separator of the cells from the header.
func separator(data []byte) rune {
	header, _, _ := bytes.Cut(data, []byte("\n"))
	best, most := ',', bytes.Count(header, []byte(","))
	for _, c := range ";\t" {
		if n := bytes.Count(header, []byte(string(c))); n > most {
			best, most = c, n
		}
	}
	return best
}

// readLines reads objects. A list or an object in one is a cell of JSON. The columns are all
// names that occur.
func (s *Sheet) readLines(data []byte) error {
	type object struct {
		line  int
		cells map[string]string
	}
	var objects []object
	names := map[string]bool{}
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		var values map[string]any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&values); err != nil || d.More() {
			return s.Fault(line, "the line is no JSON object", "correct it")
		}
		o := object{line, map[string]string{}}
		for name, v := range values {
			switch v := v.(type) {
			case string:
				o.cells[name] = v
			case json.Number, bool:
				o.cells[name] = fmt.Sprint(v)
			case nil:
			default:
				text, err := json.Marshal(v)
				if err != nil {
					return s.Fault(line, err.Error(), "correct it")
				}
				o.cells[name] = string(text)
			}
			names[name] = true
		}
		objects = append(objects, o)
	}
	s.Header = slices.Sorted(maps.Keys(names))
	for _, o := range objects {
		row := TextRow{o.line, make([]string, len(s.Header))}
		for i, name := range s.Header {
			row.Cells[i] = o.cells[name]
		}
		s.Rows = append(s.Rows, row)
	}
	return nil
}

// Column finds the column headed by the first possible name, ignoring case; -1 if there
// is none.
func (s *Sheet) Column(names ...string) int {
	for _, name := range names {
		for i, h := range s.Header {
			if strings.EqualFold(strings.TrimSpace(h), name) {
				return i
			}
		}
	}
	return -1
}

// Fault is an error about a line of the table, or about the whole table if line is 0.
func (s *Sheet) Fault(line int, problem, hint string) error {
	return &orbench.InputError{File: s.File, Line: line, Problem: problem, Hint: hint}
}

// Write writes a table that Read can read, as JSON Lines or as CSV. Rows have a cell for
// each name in the header.
func Write(w io.Writer, jsonLines bool, header []string, rows [][]string) error {
	if !jsonLines {
		written := [][]string{header}
		for _, row := range rows {
			safe := make([]string, len(row))
			for i, cell := range row {
				safe[i] = untrusted.Cell(cell)
			}
			written = append(written, safe)
		}
		return csv.NewWriter(w).WriteAll(written)
	}
	var text []byte
	for _, row := range rows {
		for i, name := range header {
			text = jsonappend.String(append(text, "{,"[min(i, 1)]), name, jsonappend.HTML)
			text = jsonappend.String(append(text, ':'), row[i], jsonappend.HTML)
		}
		text = append(text, "}\n"...)
	}
	_, err := w.Write(text)
	return err
}
