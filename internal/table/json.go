package table

import (
	"encoding/json"
	"io"
)

// AsJSON is the format for programs: the data of a view.
var AsJSON = Format{"json", func(w io.Writer, _ Screen, v View) error { return JSON(w, v.Data()) }}

// JSON writes a value indented, with a final newline, and HTML's signs as they are.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
