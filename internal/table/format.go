package table

import "io"

// View is the result of a command, in a form for people and in two for
// programs.
type View interface {
	// Document returns what people read.
	Document() Document
	// Rows returns a slice of structs; CSV documents how they are written.
	Rows() any
	// Data returns what JSON holds, in a documented form.
	Data() any
}

// Format is a way to write a view. The formats that commands offer are listed in
// internal/cli/command.
type Format struct {
	// Name is the value of --format.
	Name string
	// Write writes a view. The Screen matters only to formats made for a
	// screen.
	Write func(io.Writer, Screen, View) error
}

// Of returns a function that writes a view to a file.
func (f Format) Of(v View) func(io.Writer) error {
	return func(w io.Writer) error { return f.Write(w, Screen{}, v) }
}
