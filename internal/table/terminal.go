package table

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// usualWidth is the number of columns of a line if nothing else sets it. Output
// to a file or a pipe is then the same everywhere.
const usualWidth = 80

// leastWidth is the smallest width that lines are laid out for.
const leastWidth = 40

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f := FileOf(stream)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// FileOf returns the file behind a stream, or nil if there is none. It looks
// through writers that have an Unwrap method.
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

// WidthOf returns the number of columns of a stream's lines: the width of its
// terminal, or COLUMNS, or usualWidth. It is at least 40.
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

// Colored reports whether a stream gets colors. A terminal does, unless
// NO_COLOR is set, CLICOLOR is 0 or TERM names a terminal without colors.
// Anything else does only if CLICOLOR_FORCE asks for it. See
// https://no-color.org and https://bixense.com/clicolors.
func Colored(stream any, getenv func(string) string) bool {
	if getenv("NO_COLOR") != "" {
		return false
	}
	if force := getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return IsTerminal(stream) && getenv("CLICOLOR") != "0" && getenv("TERM") != "dumb"
}
