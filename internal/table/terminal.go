package table

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// usualWidth is how many columns a line has where nothing says otherwise, so that
// output that goes into a file or a pipe is the same everywhere.
const usualWidth = 80

// leastWidth is the least width that lines are made for.
const leastWidth = 40

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f := FileOf(stream)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// FileOf is the file of a stream, also of one that writers lie upon which have an Unwrap,
// and nil where there is none.
func FileOf(stream any) *os.File {
	for {
		switch s := stream.(type) {
		case *os.File:
			return s
		case interface{ Unwrap() io.Writer }:
			stream = s.Unwrap()
		default:
			return nil
		}
	}
}

// WidthOf is how many columns a line of a stream has: as many as its terminal, or as
// COLUMNS says, or usualWidth. It is at least 40.
func WidthOf(stream any, getenv func(string) string) int {
	if f := FileOf(stream); f != nil {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return max(leastWidth, w)
		}
	}
	if w, err := strconv.Atoi(getenv("COLUMNS")); err == nil && w > 0 {
		return max(leastWidth, w)
	}
	return usualWidth
}

// Colored reports whether a stream shall have colors: on a terminal, unless NO_COLOR is
// set, CLICOLOR is 0 or TERM says that it can do nothing, and elsewhere where
// CLICOLOR_FORCE asks for them. See https://no-color.org and
// https://bixense.com/clicolors.
func Colored(stream any, getenv func(string) string) bool {
	if getenv("NO_COLOR") != "" {
		return false
	}
	if force := getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return IsTerminal(stream) && getenv("CLICOLOR") != "0" && getenv("TERM") != "dumb"
}
