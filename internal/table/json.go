package table

import (
	"encoding/json"
	"io"
)

// AsJSON writes the data of a view, for programs.
var AsJSON = Format{"json", func(w io.Writer, _ Screen, v View) error { return JSON(w, v.Data()) }}

// JSON writes a value indented, with a final newline and without escaping HTML
// characters.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
