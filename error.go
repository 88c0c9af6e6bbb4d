package orbench

import (
	"errors"
	"strconv"
)

// ErrInput marks an error that the user corrects by changing a file, a flag or a
// setting: bad usage or bad input. The command line exits with 2 for it.
var ErrInput = errors.New("bad input")

// InputError is a fault in the user's input: what is wrong, where, and how to correct it.
// errors.Is(err, ErrInput) holds for it.
//
// A setting is given by its bare name, such as label-column. Each front end can then show
// it in its own form: a flag, or a key of a file.
type InputError struct {
	// File and Line say where. Line counts from 1, 0 means that no line applies.
	File string
	Line int
	// Setting is the name of the setting at fault. It gives the place if File is empty.
	Setting string
	// Problem is what is wrong, in a clause without a final stop.
	Problem string
	// Hint says what to do about it, in a clause; it may be empty. Names of settings in
	// it are in backquotes.
	Hint string
	// Err is the cause, if any. Its text is not repeated by Error.
	Err error
}

// Error gives one line: place, problem and hint.
func (e *InputError) Error() string {
	s := e.Problem
	switch {
	case e.File != "" && e.Line > 0:
		s = e.File + ":" + strconv.Itoa(e.Line) + ": " + s
	case e.File != "":
		s = e.File + ": " + s
	case e.Setting != "":
		s = e.Setting + ": " + s
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Is reports that every InputError is an ErrInput.
func (e *InputError) Is(target error) bool { return target == ErrInput }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }
