package parquetfile

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/rows"
)

// valuesRead is the number of values read from a column at a time.
const valuesRead = 256

// Open reads the chosen columns of a Parquet file of some size, and no others; see rows.Parquet.
func Open(file string, in io.ReaderAt, size int64, choose rows.Chooser) (_ func() (rows.Row, error), err error) {
	defer damaged(file, &err)
	// This makes a memory fault in the library's assembly code a panic like any other.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	f, err := openBounded(in, size)
	if err != nil {
		return nil, notParquet(file, err)
	}
	var names []string
	for _, c := range f.Root().Columns() {
		names = append(names, c.Name())
	}
	nested := nestedColumns{file: file, opened: f}
	columns, err := choose(file, names, nested.at())
	if err != nil {
		// A Parquet file has no first line to point at.
		if input, ok := errors.AsType[*orbench.InputError](err); ok {
			input.Line = 0
		}
		return nil, err
	}
	if !columns.Whole && nested.needed(columns) {
		return rows.OpenObjects(file, func(string, []string, func(string) bool) (rows.Layout, error) { return columns, nil }, nested.reader())
	}
	p := &reader{file: file, opened: f, groups: f.RowGroups(), cells: make([]string, len(columns.Fields))}
	next := p.next
	if columns.Whole {
		next = p.nextWhole
	}
	for _, field := range append([]rows.Field{{Name: columns.Prompt}}, columns.Fields...) {
		leaf, err := textLeaf(file, f.Root(), field)
		if err != nil {
			return nil, err
		}
		p.columns = append(p.columns, column{field: field, leaf: leaf})
		if leaf >= 0 && !slices.Contains(p.leaves, leaf) {
			p.leaves = append(p.leaves, leaf)
		}
	}
	return func() (_ rows.Row, err error) {
		defer damaged(file, &err)
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		r, err := next()
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, orbench.ErrInput) {
			return rows.Row{}, notParquet(file, err)
		}
		return r, err
	}, nil
}

// textLeaf gives the index of a column that fits the field, or -1 for a field without a
// name.
func textLeaf(file string, root *parquet.Column, field rows.Field) (int, error) {
	name := field.Name
	if name == "" {
		return -1, nil
	}
	c := root.Column(name)
	if c == nil || !c.Leaf() || c.Repeated() || c.Type().Kind() != parquet.ByteArray && !(field.Scalar && slices.Contains(scalars, c.Type().Kind())) {
		if field.Lenient {
			return -1, nil
		}
		if field.Whole {
			return 0, &orbench.InputError{
				File: file, Problem: fmt.Sprintf("column %q holds nested values, which orbench cannot send yet", name),
				Hint: "leave it out where the prompts mean the same without it",
			}
		}
		kind := "a nested value"
		if c != nil && c.Leaf() && !c.Repeated() {
			kind = c.Type().String()
		}
		return 0, &orbench.InputError{
			File: file, Problem: fmt.Sprintf("column %q holds %s, not text", name, kind),
			Hint: "convert the column to text, or name another",
		}
	}
	return c.Index(), nil
}

// scalars are the kinds of numbers and booleans.
var scalars = []parquet.Kind{parquet.Boolean, parquet.Int32, parquet.Int64, parquet.Float, parquet.Double}

// reader reads the columns of a row group in step, one row group after the other.
type reader struct {
	file   string
	opened *boundedFile
	groups []parquet.RowGroup
	// group counts the row groups begun. leaves are the indexes of the columns in the
	// file.
	group  int
	leaves []int
	// columns are the prompt and then the fields of the Layout.
	columns []column
	cells   []string
	left    int64
	number  int
	// whole reads the current group with all of its columns.
	whole parquet.Rows
}

// next gives the next row, or io.EOF.
func (p *reader) next() (rows.Row, error) {
	for p.left == 0 {
		if err := p.close(); err != nil {
			return rows.Row{}, err
		}
		if len(p.groups) == 0 {
			return rows.Row{}, io.EOF
		}
		group := p.groups[0]
		if err := p.opened.Check(p.group, p.leaves); err != nil {
			return rows.Row{}, err
		}
		p.group++
		p.groups, p.left = p.groups[1:], group.NumRows()
		chunks := group.ColumnChunks()
		for i := range p.columns {
			if c := &p.columns[i]; c.leaf >= 0 {
				c.values = parquet.NewColumnChunkValueReader(chunks[c.leaf])
			}
		}
	}
	p.left--
	p.number++
	r := rows.Row{Number: p.number, Cells: p.cells}
	for i := range p.columns {
		c := &p.columns[i]
		if c.values == nil {
			continue
		}
		text, present, err := c.next()
		switch {
		case err != nil:
			return rows.Row{}, fmt.Errorf("row %d: %w", p.number, err)
		case !present && c.field.Required:
			return rows.Row{}, r.Missing(p.file, c.field.Name)
		case i == 0:
			r.Text = text
		default:
			p.cells[i-1] = text
		}
	}
	return r, nil
}

// nextWhole gives the next row with all of its columns, or io.EOF.
func (p *reader) nextWhole() (rows.Row, error) {
	one := make([]parquet.Row, 1)
	for p.group < len(p.groups) {
		group := p.groups[p.group]
		if p.whole == nil {
			if err := p.opened.Check(p.group, nil); err != nil {
				return rows.Row{}, err
			}
			p.whole = group.Rows()
		}
		n, err := p.whole.ReadRows(one)
		if n == 1 {
			p.number++
			fields := map[string]any{}
			err := group.Schema().Reconstruct(&fields, one[0])
			for name, value := range fields {
				fields[name] = jsonOf(value)
			}
			return rows.Row{Number: p.number, Fields: fields}, err
		}
		if err == nil {
			err = io.ErrNoProgress
		}
		if !errors.Is(err, io.EOF) {
			return rows.Row{}, err
		}
		if err := p.whole.Close(); err != nil {
			return rows.Row{}, err
		}
		p.whole = nil
		p.group++
	}
	return rows.Row{}, io.EOF
}

func (p *reader) close() error {
	for i := range p.columns {
		c := &p.columns[i]
		if c.values == nil {
			continue
		}
		err := c.values.Close()
		c.values, c.i, c.n = nil, 0, 0
		if err != nil {
			return err
		}
	}
	return nil
}

// column reads a column without repeated values: one a row.
type column struct {
	field rows.Field
	// leaf is the column's index in the file, -1 if there is none.
	leaf int
	// values is nil outside of a row group, and if there is no column.
	values parquet.ColumnChunkValueReader
	buf    [valuesRead]parquet.Value
	i, n   int
}

// next gives the next value as text, and whether there is one. Null is the empty text.
func (c *column) next() (text string, present bool, err error) {
	for c.i == c.n {
		n, err := c.values.ReadValues(c.buf[:])
		c.i, c.n = 0, n
		if n == 0 && errors.Is(err, io.EOF) {
			return "", false, io.ErrUnexpectedEOF
		}
		if n == 0 && err != nil {
			return "", false, err
		}
	}
	v := c.buf[c.i]
	c.i++
	switch {
	case v.IsNull():
		return "", false, nil
	case v.Kind() == parquet.ByteArray:
		return string(v.ByteArray()), true, nil
	}
	return v.String(), true, nil
}

// notParquet is the fault of a file that the library cannot read.
func notParquet(file string, err error) error {
	return &orbench.InputError{
		File: file, Problem: "not a readable Parquet file: " + err.Error(),
		Hint: "fetch or export it again", Err: err,
	}
}

// damaged turns a panic into an error. The library panics on some damaged files, and a
// damaged file is not a programming error.
func damaged(file string, err *error) {
	if p := recover(); p != nil {
		*err = notParquet(file, fmt.Errorf("%v", p))
	}
}
