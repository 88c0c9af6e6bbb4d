package rows

import (
	"encoding/csv"
	"io"
	"reflect"
)

// WriteCSV writes rows of a struct of texts, under a header with the fields' `parquet` tags.
// Texts stay as they are: escaping cells for spreadsheets would change the prompts.
func WriteCSV[T any](w io.Writer, rows []T) error {
	row := reflect.TypeFor[T]()
	written := make([][]string, 1+len(rows))
	for i := range row.NumField() {
		written[0] = append(written[0], row.Field(i).Tag.Get("parquet"))
		for n, one := range rows {
			written[1+n] = append(written[1+n], reflect.ValueOf(one).Field(i).String())
		}
	}
	return csv.NewWriter(w).WriteAll(written)
}
