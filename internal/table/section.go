package table

import (
	"reflect"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// MaxWidth is how wide, in columns of a terminal, paragraphs and tables of many
// columns grow.
const MaxWidth = 110

// Section is one table of figures as text.
type Section struct {
	// Title stands above the table and Note below it.
	Title, Note string
	Header      []string
	// Left is how many leading columns are names; the rest are figures.
	Left int
	Rows [][]string
	// Spare are the headers of the columns that a narrow screen does without, the first
	// to go first.
	Spare []string
	// WrapNames has names take several lines before figures that are not spare are left
	// out.
	WrapNames bool
	// Detail is true of a section that a brief screen does without.
	Detail bool
}

// Add adds a row of what Cells makes of values.
func (s *Section) Add(values ...any) { s.Rows = append(s.Rows, Cells(values...)) }

// Cells shows values as cells: a text or a number as one, a rate, an estimated share or a
// kappa as two, itself and its interval, and a list of texts as they are.
func Cells(values ...any) []string {
	var cells []string
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

// RowsOf makes a row of each item.
func RowsOf[T any](items []T, row func(T) []string) [][]string {
	var rows [][]string
	for _, item := range items {
		rows = append(rows, row(item))
	}
	return rows
}

// Drop leaves out those of the columns that say nothing in any row, and gives
// their number.
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

// Pad fills s with spaces to n columns of a terminal, before it when right is true.
func Pad(s string, n int, right bool) string {
	fill := strings.Repeat(" ", max(0, n-untrusted.Width(s)))
	if right {
		return fill + s
	}
	return s + fill
}
