package store

import "iter"

// Paged streams the rows that next gives a page at a time, so that no query of a store
// stays open while the caller works with what was found. next gives the rows after a
// place, which is zero before the first, and the place of the last; no rows end it.
func Paged[Row, Place any](next func(after Place) ([]Row, Place, error)) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var at Place
		for {
			rows, last, err := next(at)
			if err != nil {
				var none Row
				yield(none, err)
				return
			}
			if len(rows) == 0 {
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			at = last
		}
	}
}
