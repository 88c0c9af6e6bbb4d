package recorded

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/jsonappend"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/untrusted"
)

// VerdictFormats lists the file name extensions of files of verdicts.
var VerdictFormats = []string{".csv", ".jsonl", ".parquet"}

// Sheet writes judged answers to a file, one row each.
type Sheet struct {
	columns []column
	out     rowWriter
	// only leaves out the rows for which it is false; nil leaves out none.
	only func(JudgedAnswer) bool
}

// column is a column of a file of answers. of returns its value, a string, a
// bool, an int64 or a float64 according to kind, or nil if there is none.
type column struct {
	name string
	kind reflect.Kind
	of   func(JudgedAnswer) any
}

// rowWriter writes rows in a format. Values are those that column.of returns.
type rowWriter interface {
	write(values []any) error
	close() error
}

// NewVerdicts makes a Sheet of every answer with what each judge made of it. A
// row has the answer's position, people's label if there are any (gold), and
// the texts. For each judge it has the class (or unjudged), whether that is a
// refusal, the score, the reason, the deciding part of the answer, and the
// explanation. The format follows from path's extension, which is one of
// VerdictFormats. CSV is made safe for spreadsheets; the other formats hold the
// texts unchanged.
func NewVerdicts(w io.Writer, path string, judges []string, gold bool) (*Sheet, error) {
	s := &Sheet{columns: columnsOf(judges, gold)}
	var err error
	switch strings.ToLower(filepath.Ext(path)) {
	case ".jsonl":
		s.out = jsonRows{untrusted.NewWriter(w), s.columns}
	case ".parquet":
		s.out = newParquetRows(w, s.columns)
	default:
		s.out, err = newCSVRows(w, s.columns)
	}
	return s, err
}

// NewDisagreements makes a Sheet, as CSV, of the answers on which a judge
// differs from people or, without gold labels, from another judge. A row has
// the answer's position, people's label, the texts, and each judge's class with
// what decided it (a part of the answer, or the judge's explanation).
func NewDisagreements(w io.Writer, judges []string) (*Sheet, error) {
	s := &Sheet{only: JudgedAnswer.Disagrees}
	s.columns = append(s.columns, column{"line", reflect.Int64, func(r JudgedAnswer) any {
		if r.Answer.Line == 0 {
			return int64(r.Answer.Number)
		}
		return int64(r.Answer.Line)
	}}, groupColumn)
	s.columns = append(s.columns, goldColumns...)
	s.columns = append(s.columns, textColumns...)
	for i, name := range judges {
		s.columns = append(s.columns,
			column{name, reflect.String, func(r JudgedAnswer) any { return verdictName(r.Verdicts[i].Class) }},
			column{name + " why", reflect.String, func(r JudgedAnswer) any {
				if why := spanOf(r.Verdicts[i].Span, r.Text()); why != "" {
					return why
				}
				return r.Verdicts[i].Rationale
			}})
	}
	var err error
	s.out, err = newCSVRows(w, s.columns)
	return s, err
}

// Add writes a row, unless the Sheet leaves it out.
func (s *Sheet) Add(r JudgedAnswer) error {
	if s.only != nil && !s.only(r) {
		return nil
	}
	values := make([]any, len(s.columns))
	for i, c := range s.columns {
		values[i] = c.of(r)
	}
	return s.out.write(values)
}

// Close writes what is buffered. It does not close the underlying writer.
func (s *Sheet) Close() error { return s.out.close() }

var (
	groupColumn = column{"group", reflect.String, func(r JudgedAnswer) any { return r.Answer.Group }}
	goldColumns = []column{
		{"gold", reflect.String, func(r JudgedAnswer) any { return r.Answer.Gold }},
		{"gold_refusal", reflect.Bool, func(r JudgedAnswer) any {
			if r.Refusal == nil {
				return nil
			}
			return *r.Refusal
		}},
	}
	textColumns = []column{
		{"prompt", reflect.String, func(r JudgedAnswer) any { return r.Answer.Asked().Transcript() }},
		{"response", reflect.String, func(r JudgedAnswer) any { return r.Answer.Response }},
	}
)

// columnsOf lists the columns of a file of verdicts.
func columnsOf(judges []string, gold bool) []column {
	columns := []column{
		{"number", reflect.Int64, func(r JudgedAnswer) any { return int64(r.Answer.Number) }},
		{"line", reflect.Int64, func(r JudgedAnswer) any {
			if r.Answer.Line == 0 {
				return nil
			}
			return int64(r.Answer.Line)
		}},
		groupColumn,
	}
	if gold {
		columns = append(columns, goldColumns...)
	}
	columns = append(columns, textColumns...)
	for i, name := range judges {
		// judged returns a function that gives nil for an answer without a
		// verdict.
		judged := func(of func(JudgedAnswer, orbench.Verdict) any) func(JudgedAnswer) any {
			return func(r JudgedAnswer) any {
				if r.Verdicts[i].Class == orbench.Unjudged {
					return nil
				}
				return of(r, r.Verdicts[i].Verdict)
			}
		}
		columns = append(columns,
			column{name + " class", reflect.String, func(r JudgedAnswer) any { return verdictName(r.Verdicts[i].Class) }},
			column{name + " refused", reflect.Bool, judged(func(_ JudgedAnswer, v orbench.Verdict) any { return v.Class.Refused() })},
			column{name + " score", reflect.Float64, judged(func(_ JudgedAnswer, v orbench.Verdict) any { return v.Score })},
			column{name + " reason", reflect.String, judged(func(_ JudgedAnswer, v orbench.Verdict) any { return string(v.Reason) })},
			column{name + " span", reflect.String, judged(func(r JudgedAnswer, v orbench.Verdict) any { return spanOf(v.Span, r.Text()) })},
			column{name + " rationale", reflect.String, func(r JudgedAnswer) any { return r.Verdicts[i].Rationale }},
			column{name + " simulated", reflect.Bool, func(r JudgedAnswer) any { return r.Verdicts[i].Simulated }})
	}
	return columns
}

// verdictName returns the name of a class, or of an unjudged answer.
func verdictName(c orbench.Class) string {
	if c == orbench.Unjudged {
		return "unjudged"
	}
	return string(c)
}

// spanOf returns the text of a span, or "" if the span marks nothing in it.
func spanOf(s orbench.Span, text string) string {
	if s.Start < 0 || s.End > len(text) || s.Start >= s.End {
		return ""
	}
	return text[s.Start:s.End]
}

// csvRows writes CSV. Missing values are empty.
type csvRows struct{ out *csv.Writer }

func newCSVRows(w io.Writer, columns []column) (rowWriter, error) {
	header := make([]any, len(columns))
	for i, c := range columns {
		header[i] = c.name
	}
	c := csvRows{csv.NewWriter(w)}
	return c, c.write(header)
}

func (c csvRows) write(values []any) error {
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

func (c csvRows) close() error {
	c.out.Flush()
	return c.out.Error()
}

// jsonRows writes JSON Lines: one object per row, with the fields in the order
// of the columns. Missing values are null.
type jsonRows struct {
	w       io.Writer
	columns []column
}

func (j jsonRows) write(values []any) error {
	line, before := []byte(nil), byte('{')
	for i, v := range values {
		line = jsonappend.String(append(line, before), j.columns[i].name, jsonappend.Plain)
		line = jsonappend.Value(append(line, ':'), v, jsonappend.Plain)
		before = ','
	}
	_, err := j.w.Write(append(line, "}\n"...))
	return err
}

func (j jsonRows) close() error { return nil }

// parquetRows writes Parquet. Missing values are null.
type parquetRows struct {
	out  rows.ParquetWriter
	rows int
}

// rowGroup is how many rows are buffered before they are written.
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

// orderedGroup is a group whose fields keep their order; parquet.Group sorts
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

// Value implements parquet.Field. It is not used, because rows are written
// value by value.
func (f namedField) Value(base reflect.Value) reflect.Value {
	return base.MapIndex(reflect.ValueOf(f.name))
}
