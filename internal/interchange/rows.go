package interchange

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/orbench/orbench/internal/jsonappend"
	"github.com/orbench/orbench/internal/parquetfile"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// Endings lists the file name endings of the formats of Rows.
var Endings = []string{".csv", ".jsonl", ".parquet"}

// Column is a column of Rows. Its values are strings, bools, int64s or float64s according
// to Kind, or nil for none.
type Column struct {
	Name string
	Kind reflect.Kind
}

// Rows writes rows to a file. The values of a row are in the order of the columns.
type Rows interface {
	Write(values []any) error
	// Close writes what is buffered. It does not close the file.
	Close() error
}

// NewRows makes Rows in the format of path's ending, which is one of Endings. CSV is made
// safe for spreadsheets; the other formats hold the texts unchanged.
func NewRows(w io.Writer, path string, columns []Column) (Rows, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".jsonl":
		return jsonRows{untrusted.NewWriter(w), columns}, nil
	case ".parquet":
		return newParquetRows(w, columns), nil
	}
	c := csvRows{csv.NewWriter(w)}
	return c, c.Write(table.RowsOf(columns, func(c Column) any { return c.Name }))
}

// csvRows writes CSV. Missing values are empty.
type csvRows struct{ out *csv.Writer }

func (c csvRows) Write(values []any) error {
	cells := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case nil:
		case string:
			cells[i] = untrusted.Cell(v)
		default:
			cells[i] = fmt.Sprint(v)
		}
	}
	return c.out.Write(cells)
}

func (c csvRows) Close() error {
	c.out.Flush()
	return c.out.Error()
}

// jsonRows writes JSON Lines: one object per row, with the fields in the order
// of the columns. Missing values are null.
type jsonRows struct {
	w       io.Writer
	columns []Column
}

func (j jsonRows) Write(values []any) error {
	line, before := []byte(nil), byte('{')
	for i, v := range values {
		line = jsonappend.String(append(line, before), j.columns[i].Name, jsonappend.Plain)
		line = jsonappend.Value(append(line, ':'), v, jsonappend.Plain)
		before = ','
	}
	_, err := j.w.Write(append(line, "}\n"...))
	return err
}

func (j jsonRows) Close() error { return nil }

// parquetRows writes Parquet. Missing values are null.
type parquetRows struct {
	out  parquetfile.Writer
	rows int
}

// rowGroup is how many rows are buffered before they are written.
const rowGroup = 20_000

// optional has the types of values that may be missing.
var optional = map[reflect.Kind]reflect.Type{
	reflect.String: reflect.TypeFor[*string](), reflect.Int64: reflect.TypeFor[*int64](),
	reflect.Float64: reflect.TypeFor[*float64](), reflect.Bool: reflect.TypeFor[*bool](),
}

func newParquetRows(w io.Writer, columns []Column) Rows {
	var fields []reflect.StructField
	for i, c := range columns {
		tag := reflect.StructTag(fmt.Sprintf("parquet:%q", c.Name))
		fields = append(fields, reflect.StructField{Name: fmt.Sprint("C", i), Type: optional[c.Kind], Tag: tag})
	}
	row := reflect.Zero(reflect.StructOf(fields)).Interface()
	return &parquetRows{out: parquetfile.NewWriter(w, parquet.NewSchema("verdicts", parquet.SchemaOf(row)))}
}

func (p *parquetRows) Write(values []any) error {
	row := make(parquet.Row, len(values))
	for i, v := range values {
		defined := 1
		if v == nil {
			defined = 0
		}
		row[i] = parquet.ValueOf(v).Level(0, defined, i)
	}
	if _, err := p.out.WriteRows([]parquet.Row{row}); err != nil {
		return err
	}
	if p.rows++; p.rows%rowGroup == 0 {
		return p.out.Flush()
	}
	return nil
}

func (p *parquetRows) Close() error { return p.out.Close() }
