package table

import (
	"cmp"
	"encoding/csv"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// AsCSV is the format for spreadsheets and scripts: the rows of a view.
var AsCSV = Format{"csv", func(w io.Writer, _ Screen, v View) error { return CSV(w, v.Rows()) }}

// CSV writes a slice of structs under a header. The fields are the columns, in their order,
// and what is nil is an empty cell:
//
//   - a text, made fit by untrusted.Cell; a number, in full; a bool; or a pointer to one
//   - *[2]float64, an interval: NAME_lo and NAME_hi
//   - stats.Rate or *stats.Estimate: NAME, and the ends of CI95 or of its interval as NAME_ci95_lo and NAME_ci95_hi
//   - map[orbench.Class]int: NAME_ and the class, of each class
//   - a struct, or a pointer to one: its columns, after NAME_ unless it is embedded
//
// NAME is that of the field in snake case, or what the tag csv says. The tag "-" is of a
// field without a column, "rate,ci95" has an interval's ends called ci95_lo and ci95_hi,
// and ",omitempty" leaves the columns out where the field is nil in all rows.
func CSV(w io.Writer, rows any) error {
	all := reflect.ValueOf(rows)
	columns := slices.DeleteFunc(columnsOf(all.Type().Elem(), "", nil, nil), func(c column) bool {
		for i := range all.Len() {
			if at, ok := follow(all.Index(i), c.optional); c.optional == nil || ok && !at.IsZero() {
				return false
			}
		}
		return true
	})
	out := csv.NewWriter(w)
	if err := out.Write(names(columns)); err != nil {
		return err
	}
	for i := range all.Len() {
		if err := out.Write(cells(columns, all.Index(i))); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// RowWriter writes rows one by one, as CSV writes them, with every column.
type RowWriter[T any] struct {
	out     *csv.Writer
	columns []column
}

// NewRowWriter writes the header to w.
func NewRowWriter[T any](w io.Writer) *RowWriter[T] {
	r := &RowWriter[T]{csv.NewWriter(w), columnsOf(reflect.TypeFor[T](), "", nil, nil)}
	_ = r.out.Write(names(r.columns)) // an error stays with the writer, and Flush gives it
	return r
}

// Add writes a row.
func (r *RowWriter[T]) Add(row T) error { return r.out.Write(cells(r.columns, reflect.ValueOf(row))) }

// Flush writes what is buffered, and gives the first error of all writes.
func (r *RowWriter[T]) Flush() error {
	r.out.Flush()
	return r.out.Error()
}

// column is a field of rows, which has a cell for each of its names.
type column struct {
	names []string
	// path leads to the field, and optional to the one whose absence from all rows leaves
	// the column out, nil for none.
	path, optional []int
	cells          func(reflect.Value) []string
}

func names(columns []column) []string {
	var all []string
	for _, c := range columns {
		all = append(all, c.names...)
	}
	return all
}

func cells(columns []column, row reflect.Value) []string {
	var all []string
	for _, c := range columns {
		if field, ok := follow(row, c.path); ok {
			all = append(all, c.cells(field)...)
		} else {
			all = append(all, make([]string, len(c.names))...)
		}
	}
	return all
}

// follow gives the field at the end of a path. It reports false where a struct on the way,
// or the field, is nil.
func follow(v reflect.Value, path []int) (reflect.Value, bool) {
	for _, i := range path {
		v = reflect.Indirect(v)
		if !v.IsValid() {
			return v, false
		}
		v = v.Field(i)
	}
	return v, v.Kind() != reflect.Pointer || !v.IsNil()
}

// columnsOf lists the columns of a row, or of a struct in it, at a path and with a prefix to
// its names.
func columnsOf(t reflect.Type, prefix string, path, optional []int) []column {
	var all []column
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("csv"), ",")
		if name == "-" {
			continue
		}
		if name == "" {
			name = snake(f.Name)
		}
		c := column{path: append(slices.Clone(path), i), optional: optional}
		if option == "omitempty" {
			option, c.optional = "", c.path
		}
		interval := cmp.Or(option, name+"_ci95")
		kind := f.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		switch kind {
		case reflect.TypeFor[stats.Rate]():
			c.names = []string{name, interval + "_lo", interval + "_hi"}
			c.cells = func(v reflect.Value) []string {
				r := v.Interface().(stats.Rate)
				return append([]string{cell(reflect.ValueOf(r.Share))}, ends(r.CI95)...)
			}
		case reflect.TypeFor[stats.Estimate]():
			c.names = []string{name, interval + "_lo", interval + "_hi"}
			c.cells = func(v reflect.Value) []string {
				e := v.Interface().(*stats.Estimate)
				return append([]string{Number(e.Value)}, ends(e.Ends())...)
			}
		case reflect.TypeFor[[2]float64]():
			c.names = []string{name + "_lo", name + "_hi"}
			c.cells = func(v reflect.Value) []string { return ends(v.Interface().(*[2]float64)) }
		case reflect.TypeFor[map[orbench.Class]int]():
			for _, class := range orbench.Classes {
				c.names = append(c.names, name+"_"+string(class))
			}
			c.cells = func(v reflect.Value) []string {
				cells := make([]string, len(orbench.Classes))
				for i, class := range orbench.Classes {
					if !v.IsNil() {
						cells[i] = strconv.Itoa(v.Interface().(map[orbench.Class]int)[class])
					}
				}
				return cells
			}
		default:
			if kind.Kind() == reflect.Struct {
				inner := prefix
				if !f.Anonymous {
					inner += name + "_"
				}
				all = append(all, columnsOf(kind, inner, c.path, c.optional)...)
				continue
			}
			c.names = []string{name}
			c.cells = func(v reflect.Value) []string { return []string{cell(v)} }
		}
		for i := range c.names {
			c.names[i] = prefix + c.names[i]
		}
		all = append(all, c)
	}
	return all
}

// cell shows a value, or what a pointer points at.
func cell(v reflect.Value) string {
	v = reflect.Indirect(v)
	switch {
	case !v.IsValid():
		return ""
	case v.Kind() == reflect.String:
		return untrusted.Cell(v.String())
	case v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10)
	case v.CanFloat():
		return Number(v.Float())
	}
	panic("table: a row has a field of the type " + v.Type().String() + ", which is no cell")
}

// ends are those of an interval, empty where it is undefined.
func ends(ci *[2]float64) []string {
	if ci == nil {
		return []string{"", ""}
	}
	return []string{Number(ci[0]), Number(ci[1])}
}

// snake is the name of a field in the style of columns: DatasetSHA256 is dataset_sha256.
func snake(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		if i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Number shows a number in full, for a cell of CSV.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
