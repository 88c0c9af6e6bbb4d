package table

import (
	"encoding/csv"
	"io"

	"github.com/orbench/orbench/stats"
)

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

// CSVCells writes rows, the header first.
func CSVCells(w io.Writer, rows [][]string) error { return csv.NewWriter(w).WriteAll(rows) }
