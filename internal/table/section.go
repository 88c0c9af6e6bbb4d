package table

import (
	"reflect"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// MaxWidth is the greatest width of paragraphs and of tables with many columns,
// in terminal columns.
const MaxWidth = 110

// Section is one table of figures.
type Section struct {
	// Title is printed above the table and Note below it.
	Title, Note string
	// Tone is that of the title, empty for that of any.
	Tone   Tone
	Header []string
	// Left is the number of leading columns that hold names; the others hold
	// figures.
	Left int
	Rows [][]string
	// Groups are the columns of figures that belong together, from the left. A screen that is
	// too narrow for all shows one below the other. nil for none.
	Groups []Group
	// Spare lists the headers of the columns that a narrow screen leaves out,
	// the first to go first.
	Spare []string
	// WrapNames wraps names onto several lines before figures that are not
	// spare are left out.
	WrapNames bool
	// Detail is true if a brief screen leaves the section out.
	Detail bool
}

// Group is columns of a table under one name, which may be empty.
type Group struct {
	Name    string
	Columns int
}

// Add adds a row of the cells that Cells makes of values.
func (s *Section) Add(values ...any) { s.Rows = append(s.Rows, Cells(values...)) }

// Cells returns values as cells. A text or a number is one cell. A rate, an
// estimated share or a kappa is two: the value and its interval. A list of
// texts is used as it is.
func Cells(values ...any) (cells []string) {
	for _, value := range values {
		switch v := value.(type) {
		case []string:
			cells = append(cells, v...)
		case stats.Rate:
			cells = append(cells, Rate(v), Interval(v.Interval()))
		case *stats.Estimate:
			cells = append(cells, Estimate(v), EstimateInterval(v))
		case stats.Kappa:
			cells = append(cells, Kappa(v.Value), KappaInterval(v))
		case int:
			cells = append(cells, Count(v))
		default:
			cells = append(cells, reflect.ValueOf(v).String())
		}
	}
	return cells
}

// RowsOf makes a row, or a value for one, of each item.
func RowsOf[T, R any](items []T, row func(T) R) []R {
	rows := slices.Grow([]R(nil), len(items))
	for _, item := range items {
		rows = append(rows, row(item))
	}
	return rows
}

// Drop removes those of the given columns for which nothing is true in every
// row, and returns their number.
func (s *Section) Drop(nothing func(row []string, at int) bool, columns ...string) (dropped int) {
	for _, name := range columns {
		at := slices.Index(s.Header, name)
		if slices.ContainsFunc(s.Rows, func(row []string) bool { return !nothing(row, at) }) {
			continue
		}
		dropped++
		s.Header = slices.Delete(s.Header, at, at+1)
		for i := range s.Rows {
			s.Rows[i] = slices.Delete(s.Rows[i], at, at+1)
		}
	}
	return dropped
}

// Pad fills s with spaces to n terminal columns; right puts them before s.
func Pad(s string, n int, right bool) string {
	fill := strings.Repeat(" ", max(0, n-untrusted.Width(s)))
	if right {
		return fill + s
	}
	return s + fill
}
