package rows

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
)

// textBuffer is the size of the read buffer of text files.
const textBuffer = 64 << 10

// openText refuses a file that is not UTF-8 text, judging by its first bytes, and skips a
// byte order mark.
func openText(file string, in io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(in, textBuffer)
	head, err := b.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, readFault(file, err)
	}
	bad := func(problem, hint string) error {
		return &orbench.InputError{File: file, Problem: problem, Hint: hint}
	}
	switch {
	case len(head) == 0:
		return nil, emptyFile(file)
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return nil, bad("the file is UTF-16 text, as Excel may save it",
			"save it as \"CSV UTF-8\", or convert it with: iconv -f UTF-16 -t UTF-8 OLD > NEW")
	case bytes.HasPrefix(head, []byte(zipMagic)):
		return nil, bad("the file is a zip archive or an Excel workbook", "save it as \"CSV UTF-8\"")
	case bytes.HasPrefix(head, []byte(parquetMagic)):
		return nil, bad("the file is in the Parquet format", "give its name the ending .parquet")
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		if _, err := b.Discard(3); err != nil {
			return nil, readFault(file, err)
		}
	}
	return b, nil
}

// separatedBy opens files with a separator.
func separatedBy(comma rune) func(string, input, Chooser) (nextFunc, error) {
	return func(file string, in input, choose Chooser) (nextFunc, error) {
		if !in.traffic {
			return openSeparated(file, in, comma, choose)
		}
		var header []string
		next, err := openSeparated(file, in, comma, func(_ string, have []string, _ func(string) bool) (Layout, error) {
			header = have
			return Layout{Whole: true}, nil
		})
		if err != nil {
			return nil, err
		}
		ordered := func(file string, _ []string, at func(string) bool) (Layout, error) { return choose(file, header, at) }
		rows := 0
		return OpenObjects(file, ordered, func() (Object, error) {
			row, err := next()
			if rows++; rows == 1 && errors.Is(err, io.EOF) {
				err = nil // a header alone, whose columns are looked at
			}
			o := Object{line: row.Line, number: row.Number, fields: map[string]json.RawMessage{}, inner: map[string]Object{}}
			for _, name := range header {
				cell, _ := row.Fields[name].(string)
				o.fields[name], _ = jsontext.AppendQuote(nil, cell) // what is not UTF-8 is replaced
			}
			joinNumbered(o.fields)
			return o, err
		})
	}
}

// beforeRows reads the first lines of a file up to its header. It gives comment lines
// before the header as empty ones. The header shows the separator: another replaces the comma
// where the header has none. A line that begins with # is a
// comment unless it names the columns.
func beforeRows(file string, text *bufio.Reader, comma rune, choose Chooser) (lines string, _ rune, err error) {
	for {
		line, err := text.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", comma, csvFault(file, err, 1)
		}
		if said := strings.Trim(line, " \r\n"); lines == "" && len(said) == len("sep=;") && strings.HasPrefix(strings.ToLower(said), "sep=") && strings.ContainsRune(",;|\t", rune(said[4])) {
			comma, lines = rune(said[4]), "\n" // Excel's
			continue
		}
		between, names := comma, cellsOf(line, comma)
		for _, other := range ";\t|" {
			if apart := cellsOf(line, other); comma == ',' && len(names) <= 1 && len(apart) > 1 {
				between, names = other, apart
			}
		}
		if !strings.HasPrefix(line, "#") || err != nil {
			return lines + line, between, nil
		}
		if _, err := choose(file, names, nil); err == nil {
			return lines + line, between, nil
		}
		lines += "\n"
	}
}

// oldLines reads lines that end with a carriage return alone, as old Macs and some exports of
// Excel end them.
type oldLines struct{ in io.Reader }

func (r *oldLines) Read(b []byte) (int, error) {
	n, err := r.in.Read(b)
	for i, c := range b[:n] {
		if c == '\r' {
			b[i] = '\n'
		}
	}
	return n, err
}

// cellsOf divides a line into cells. The line may not be a complete row.
func cellsOf(line string, comma rune) []string {
	r := csv.NewReader(strings.NewReader(line))
	r.Comma = comma
	cells, _ := r.Read()
	return cells
}

// isBlank reports whether a row is empty.
func isBlank(cells []string) bool {
	return !slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) != "" })
}

// openSeparated reads a file with a header line and the given separator.
func openSeparated(file string, in io.Reader, comma rune, choose Chooser) (nextFunc, error) {
	limit := &bounded{in: in, most: MaxRow}
	text, err := openText(file, limit)
	if err != nil {
		return nil, err
	}
	if head, _ := text.Peek(textBuffer); bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') >= 0 {
		text = bufio.NewReaderSize(&oldLines{text}, textBuffer)
	}
	lines, comma, err := beforeRows(file, text, comma, choose)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(io.MultiReader(strings.NewReader(lines), text))
	r.Comma = comma
	r.ReuseRecord = true
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, emptyFile(file)
	}
	if err != nil {
		return nil, csvFault(file, err, 1)
	}
	names := slices.Clone(header)
	columns, err := choose(file, names, nil)
	if err != nil {
		var input *orbench.InputError
		if errors.As(err, &input) && input.Line == 1 {
			input.Line, _ = r.FieldPos(0)
		}
		return nil, err
	}
	at := func(name string) int {
		if name == "" {
			return -1
		}
		return slices.Index(names, name)
	}
	prompt := at(columns.Prompt)
	fields := table.RowsOf(columns.Fields, func(f Field) int { return at(f.Name) })
	cells := make([]string, len(fields))

	number := 0
	// lastLine and lastField say where the previous row ended, for the one fault that the
	// parser reports without a place.
	lastLine, lastField := 1, ""
	return func() (Row, error) {
		var record []string
		for record == nil || columns.PassBlank && isBlank(record) {
			limit.Next()
			var err error
			record, err = r.Read()
			if errors.Is(err, io.EOF) {
				return Row{}, io.EOF
			}
			if err != nil && !(errors.Is(err, csv.ErrFieldCount) && columns.PassBlank && isBlank(record)) {
				return Row{}, csvFault(file, err, lastLine+strings.Count(lastField, "\n")+1)
			}
			number++
			lastLine, _ = r.FieldPos(len(record) - 1)
			lastField = record[len(record)-1]
		}
		out := Row{Number: number, Cells: cells}
		out.Line, _ = r.FieldPos(max(prompt, 0))
		if prompt >= 0 {
			out.Text = record[prompt]
		}
		for i, at := range fields {
			if at >= 0 {
				cells[i] = record[at]
			}
		}
		if columns.Whole {
			out.Fields = map[string]any{}
			for i, name := range names {
				out.Fields[name] = record[i]
			}
		}
		return out, nil
	}, nil
}

func emptyFile(file string) error {
	return &orbench.InputError{File: file, Problem: "the file is empty", Hint: "give a file with at least one row"}
}

// csvFault describes in plain words what the parser found. line is the line where the row
// starts, for faults that the parser reports without a place.
func csvFault(file string, err error, line int) error {
	var parse *csv.ParseError
	switch {
	case errors.Is(err, errLongRow):
		return longRow(file, line)
	case !errors.As(err, &parse):
		return readFault(file, err)
	}
	e := &orbench.InputError{File: file, Line: parse.StartLine, Err: err}
	switch {
	case errors.Is(err, csv.ErrFieldCount):
		e.Problem = "the row and the header have different numbers of cells"
		e.Hint = "quote cells that hold a separator"
	case errors.Is(err, csv.ErrBareQuote):
		e.Line = parse.Line
		e.Problem = fmt.Sprintf("a quotation mark inside an unquoted cell, at column %d", parse.Column)
		e.Hint = "quote the whole cell and double the marks inside it"
	case errors.Is(err, csv.ErrQuote):
		e.Problem = "a quotation mark is left open or stands in the wrong place"
		if parse.Line != parse.StartLine {
			e.Problem += fmt.Sprintf(", found at line %d", parse.Line)
		}
		e.Hint = "close it, and double the marks inside a quoted cell"
	default:
		e.Problem = "malformed CSV: " + parse.Err.Error()
	}
	return e
}

// longRow is the fault of a row past MaxRow.
func longRow(file string, line int) error {
	return &orbench.InputError{
		File: file, Line: line,
		Problem: fmt.Sprintf("the row that starts here has more than %d bytes; a cell may have %d", MaxRow, MaxCell),
		Hint:    "cut or delete it, or close the quotation mark that is left open",
	}
}
