package orbench

import (
	"errors"
	"strconv"
)

// ErrInput marks an error that the user corrects by changing a file, a flag or a
// setting: bad usage or bad input. The command line exits with 2 for it.
var ErrInput = errors.New("bad input")

// InputError is a fault in what the user gave: what, where, and how to correct it.
// errors.Is(err, ErrInput) holds for it.
//
// A setting is called by its name alone, such as label-column, so that each front
// can call it what its users do: a flag, or a key of a file.
type InputError struct {
	// File and Line say where. Line counts from 1, 0 means that no line applies.
	File string
	Line int
	// Setting is the name of the setting at fault; it is the place where File is
	// empty.
	Setting string
	// Problem is what is wrong, in a clause without a final stop.
	Problem string
	// Hint is what to do about it, in a clause; it may be empty. The names of
	// settings in it stand in backquotes.
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
