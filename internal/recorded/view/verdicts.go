package view

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/recorded"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/untrusted"
)

// VerdictFormats are the endings of files of verdicts.
var VerdictFormats = []string{".csv", ".jsonl", ".parquet"}

// Verdicts writes every answer with what each judge made of it, one row an answer:
// where it stands, people's label if there are any, the texts, and for each judge
// its class (or unjudged), whether that is a refusal, the score, the reason, the
// piece of the answer that decided and the explanation. CSV is safe in
// spreadsheets; the other formats hold the texts as they are.
type Verdicts struct {
	columns []column
	out     rowWriter
}

// column is a column of a file of verdicts. Of gives its value: a string, a bool,
// an int64 or a float64 as kind is, or nil where there is none.
type column struct {
	name string
	kind reflect.Kind
	of   func(recorded.Row) any
}

// rowWriter writes rows in a format. A value is as column.of gives it.
type rowWriter interface {
	write(values []any) error
	close() error
}

// NewVerdicts makes a Verdicts that writes to w in the format of path's ending,
// which is one of VerdictFormats. gold says whether people labeled.
func NewVerdicts(w io.Writer, path string, judges []string, gold bool) (*Verdicts, error) {
	v := &Verdicts{columns: columnsOf(judges, gold)}
	var err error
	switch strings.ToLower(filepath.Ext(path)) {
	case ".jsonl":
		v.out, err = newJSONRows(w, v.columns)
	case ".parquet":
		v.out = newParquetRows(w, v.columns)
	default:
		v.out, err = newCSVRows(w, v.columns)
	}
	return v, err
}

// Add writes a row.
func (v *Verdicts) Add(r recorded.Row) error {
	values := make([]any, len(v.columns))
	for i, c := range v.columns {
		values[i] = c.of(r)
	}
	return v.out.write(values)
}

// Close writes out what is buffered. It does not close the writer below.
func (v *Verdicts) Close() error { return v.out.close() }

// columnsOf lists the columns of a file.
func columnsOf(judges []string, gold bool) []column {
	columns := []column{
		{"number", reflect.Int64, func(r recorded.Row) any { return int64(r.Answer.Number) }},
		{"line", reflect.Int64, func(r recorded.Row) any {
			if r.Answer.Line == 0 {
				return nil
			}
			return int64(r.Answer.Line)
		}},
		{"group", reflect.String, func(r recorded.Row) any { return r.Answer.Group }},
	}
	if gold {
		columns = append(columns,
			column{"gold", reflect.String, func(r recorded.Row) any { return r.Answer.Gold }},
			column{"gold_refusal", reflect.Bool, func(r recorded.Row) any {
				if r.Refusal == nil {
					return nil
				}
				return *r.Refusal
			}})
	}
	columns = append(columns,
		column{"prompt", reflect.String, func(r recorded.Row) any { return r.Answer.Asked().Transcript() }},
		column{"response", reflect.String, func(r recorded.Row) any { return r.Answer.Response }})
	for i, name := range judges {
		// judged gives nothing for an answer without a verdict.
		judged := func(of func(recorded.Row, orbench.Verdict) any) func(recorded.Row) any {
			return func(r recorded.Row) any {
				if r.Verdicts[i].Class == orbench.Unjudged {
					return nil
				}
				return of(r, r.Verdicts[i].Verdict)
			}
		}
		columns = append(columns,
			column{name + " class", reflect.String, func(r recorded.Row) any { return verdictName(r.Verdicts[i].Class) }},
			column{name + " refused", reflect.Bool, judged(func(_ recorded.Row, v orbench.Verdict) any { return v.Class.Refused() })},
			column{name + " score", reflect.Float64, judged(func(_ recorded.Row, v orbench.Verdict) any { return v.Score })},
			column{name + " reason", reflect.String, judged(func(_ recorded.Row, v orbench.Verdict) any { return string(v.Reason) })},
			column{name + " span", reflect.String, judged(func(r recorded.Row, v orbench.Verdict) any { return spanOf(v.Span, r.Text()) })},
			column{name + " rationale", reflect.String, func(r recorded.Row) any { return r.Verdicts[i].Rationale }},
			column{name + " simulated", reflect.Bool, func(r recorded.Row) any { return r.Verdicts[i].Simulated }})
	}
	return columns
}

// csvRows writes CSV. What is missing is empty.
type csvRows struct{ out *csv.Writer }

func newCSVRows(w io.Writer, columns []column) (rowWriter, error) {
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = untrusted.Cell(c.name)
	}
	out := csv.NewWriter(w)
	return csvRows{out}, out.Write(header)
}

func (c csvRows) write(values []any) error {
	cells := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case string:
			cells[i] = untrusted.Cell(v)
		case bool:
			cells[i] = strconv.FormatBool(v)
		case int64:
			cells[i] = strconv.FormatInt(v, 10)
		case float64:
			cells[i] = strconv.FormatFloat(v, 'g', -1, 64)
		}
	}
	return c.out.Write(cells)
}

func (c csvRows) close() error {
	c.out.Flush()
	return c.out.Error()
}

// jsonRows writes JSON Lines: an object a row, whose fields stand in the order of
// the columns. What is missing is null.
type jsonRows struct {
	w    io.Writer
	keys []string
}

func newJSONRows(w io.Writer, columns []column) (rowWriter, error) {
	j := jsonRows{w: untrusted.NewWriter(w)}
	for i, c := range columns {
		key, err := marshal(c.name)
		if err != nil {
			return nil, err
		}
		opens := ","
		if i == 0 {
			opens = "{"
		}
		j.keys = append(j.keys, opens+key+":")
	}
	return j, nil
}

func (j jsonRows) write(values []any) error {
	var b strings.Builder
	for i, v := range values {
		value, err := marshal(v)
		if err != nil {
			return err
		}
		b.WriteString(j.keys[i])
		b.WriteString(value)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(j.w, b.String())
	return err
}

func (j jsonRows) close() error { return nil }

// marshal writes a value as JSON in which <, > and & stand for themselves.
func marshal(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// parquetRows writes Parquet. What is missing is null.
type parquetRows struct {
	out  rows.ParquetWriter
	rows int
}

// rowGroup is how many rows are held until they are written.
const rowGroup = 20_000

func newParquetRows(w io.Writer, columns []column) rowWriter {
	group := orderedGroup{Group: parquet.Group{}}
	for _, c := range columns {
		leaf := parquet.String()
		switch c.kind {
		case reflect.Int64:
			leaf = parquet.Int(64)
		case reflect.Float64:
			leaf = parquet.Leaf(parquet.DoubleType)
		case reflect.Bool:
			leaf = parquet.Leaf(parquet.BooleanType)
		}
		leaf = parquet.Optional(leaf)
		group.Group[c.name] = leaf
		group.fields = append(group.fields, namedField{leaf, c.name})
	}
	return &parquetRows{out: rows.NewParquetWriter(w, parquet.NewSchema("verdicts", group))}
}

func (p *parquetRows) write(values []any) error {
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

func (p *parquetRows) close() error { return p.out.Close() }

// orderedGroup is a group whose fields keep their order, where parquet.Group sorts
// them by name.
type orderedGroup struct {
	parquet.Group
	fields []parquet.Field
}

func (g orderedGroup) Fields() []parquet.Field { return g.fields }

// namedField is a field of an orderedGroup.
type namedField struct {
	parquet.Node
	name string
}

func (f namedField) Name() string { return f.name }

// Value is there for parquet.Field; rows are written value by value, without it.
func (f namedField) Value(base reflect.Value) reflect.Value {
	return base.MapIndex(reflect.ValueOf(f.name))
}
