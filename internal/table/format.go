package table

import "io"

// View is what a command shows: to people, as rows, and to programs.
type View interface {
	// Document is what people read.
	Document() Document
	// Rows are a slice of structs, of which CSV says how they are written.
	Rows() any
	// Data is what JSON has, in a documented form.
	Data() any
}

// Format is a way to write a view. The formats that commands offer are listed in
// internal/cli/command.
type Format struct {
	// Name is the value of --format.
	Name string
	// Write writes a view, for a screen where the format is made for one.
	Write func(io.Writer, Screen, View) error
}

// Of gives what writes a view into a file.
func (f Format) Of(v View) func(io.Writer) error {
	return func(w io.Writer) error { return f.Write(w, Screen{}, v) }
}
