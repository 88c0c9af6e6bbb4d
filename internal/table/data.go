package table

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"

	"github.com/orbench/orbench/stats"
)

// Figures are what write themselves in every format.
type Figures interface {
	Text(*Printer) error
	JSON(io.Writer) error
	CSV(io.Writer) error
	Markdown(io.Writer) error
}

// JSON writes a value indented, with a final newline, and HTML's signs as they are.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// CSV writes rows, the header first. Texts from outside are to be made fit by
// untrusted.Cell.
func CSV(w io.Writer, rows [][]string) error { return csv.NewWriter(w).WriteAll(rows) }

// Number shows a number in full, for a cell of CSV.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// NumberCell is a number in full, empty when it is undefined.
func NumberCell(v *float64) string {
	if v == nil {
		return ""
	}
	return Number(*v)
}

// RateCells are a rate and the ends of CI95, empty where undefined.
func RateCells(r stats.Rate) []string {
	return append([]string{NumberCell(r.Share)}, IntervalCells(r.CI95)...)
}

// IntervalCells are the ends of an interval, empty where it is undefined.
func IntervalCells(ci *[2]float64) []string {
	if ci == nil {
		return []string{"", ""}
	}
	return []string{Number(ci[0]), Number(ci[1])}
}

// EstimateCells are an estimate and the ends of its interval, empty where it is
// undefined.
func EstimateCells(e *stats.Estimate) []string {
	if e == nil {
		return make([]string, 3)
	}
	return []string{Number(e.Value), Number(e.Lo), Number(e.Hi)}
}
