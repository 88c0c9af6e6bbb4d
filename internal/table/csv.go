package table

import (
	"cmp"
	"encoding/csv"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// AsCSV writes the rows of a view, for spreadsheets and scripts.
var AsCSV = Format{"csv", func(w io.Writer, _ Screen, v View) error { return CSV(w, v.Rows()) }}

// CSV writes a slice of structs under a header. Each field is a column, in the
// order of the fields; a nil value is an empty cell. These are the field types
// and their columns:
//
//   - a text (made safe by untrusted.Cell), a number (in full), a bool, a time, or
//     a pointer to one, a list of texts, or counts by a text: NAME
//   - *[2]float64, an interval: NAME_lo and NAME_hi
//   - stats.Rate, *stats.Rate or *stats.Estimate: NAME, and the ends of CI95 or of
//     its interval as NAME_ci95_lo and NAME_ci95_hi
//   - a struct, or a pointer to one: its own columns, prefixed by NAME_ unless it
//     is embedded
//
// NAME is the field's name in snake case, or the name in its csv tag. The tag
// "-" means no column. The tag "." names the column like the enclosing struct.
// "rate,ci95" names an interval's ends ci95_lo and ci95_hi.
func CSV(w io.Writer, rows any) error {
	all := reflect.ValueOf(rows)
	row := all.Type().Elem()
	out := csv.NewWriter(w)
	var header record
	header.add(row, reflect.Value{}, "")
	_ = out.Write(header.names) // Flush returns the writer's error
	for i := range all.Len() {
		var one record
		one.add(row, all.Index(i), "")
		_ = out.Write(one.cells)
	}
	out.Flush()
	return out.Error()
}

// record holds the names of a row's columns and its cells, which are empty if it has no value.
type record struct{ names, cells []string }

// add adds the cells of a row, or of a struct inside it. prefix is put before
// their names.
func (r *record) add(t reflect.Type, v reflect.Value, prefix string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("csv"), ",")
		if name == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if name = prefix + cmp.Or(name, snake(f.Name)); strings.HasSuffix(name, "_.") {
			name = strings.TrimSuffix(prefix, "_")
		}
		kind, value := f.Type, reflect.Value{}
		if v.IsValid() {
			value = v.Field(i)
		}
		if kind.Kind() == reflect.Pointer {
			kind, value = kind.Elem(), reflect.Indirect(value)
		}
		interval := name + "_ci95"
		if option != "" {
			interval = prefix + option
		}
		one := func(name, cell string) {
			r.names, r.cells = append(r.names, name), append(r.cells, cell)
		}
		ends := func(name string, ci *[2]float64) {
			lo, hi := "", ""
			if ci != nil {
				lo, hi = Number(ci[0]), Number(ci[1])
			}
			one(name+"_lo", lo)
			one(name+"_hi", hi)
		}
		switch kind {
		case reflect.TypeFor[stats.Rate](), reflect.TypeFor[stats.Estimate]():
			rate := figure(value)
			one(name, text(reflect.Indirect(reflect.ValueOf(rate.Share))))
			ends(interval, rate.CI95)
		case reflect.TypeFor[time.Time]():
			one(name, text(value))
		case reflect.TypeFor[[2]float64]():
			ends(name, figure(value).CI95)
		default:
			switch {
			case kind.Kind() != reflect.Struct:
				one(name, text(value))
			case f.Anonymous:
				r.add(kind, value, prefix)
			default:
				r.add(kind, value, name+"_")
			}
		}
	}
}

// figure returns a rate, an estimate or an interval as a rate. It may be
// undefined.
func figure(v reflect.Value) (r stats.Rate) {
	if v.IsValid() {
		switch x := v.Interface().(type) {
		case stats.Rate:
			r = x
		case stats.Estimate:
			r = stats.Rate{Share: &x.Value, CI95: x.Ends()}
		case [2]float64:
			r.CI95 = &x
		}
	}
	return r
}

// text formats a value; it returns "" if the value is not valid.
func text(v reflect.Value) string {
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
	switch all := v.Interface().(type) {
	case time.Time:
		return all.Format(time.RFC3339)
	case []string:
		return untrusted.Cell(strings.Join(all, "; "))
	case map[string]int:
		parts := RowsOf(slices.Sorted(maps.Keys(all)), func(name string) string { return name + " " + strconv.Itoa(all[name]) })
		return untrusted.Cell(strings.Join(parts, "; "))
	}
	panic("table: a row has a field of the type " + v.Type().String() + ", which is no cell")
}

// snake returns a field's name in snake case: DatasetSHA256 becomes
// dataset_sha256.
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

// Number formats a number in full, for a CSV cell.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
