package rows

import (
	"encoding/json"
	"io"
)

// WriteJSONLines writes each row as JSON on its own line. It does not escape <, > and &.
func WriteJSONLines[T any](w io.Writer, rows []T) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, row := range rows {
		if err := e.Encode(row); err != nil {
			return err
		}
	}
	return nil
}
