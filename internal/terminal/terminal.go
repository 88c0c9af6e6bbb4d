package terminal

import (
	"os"
	"strconv"

	"golang.org/x/term"
)

// UsualWidth is how many columns a line has where nothing says otherwise, so that
// output that goes into a file or a pipe is the same everywhere.
const UsualWidth = 80

// narrowest is the least width that lines are made for.
const narrowest = 40

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width is how many columns a line of a stream has: as many as its terminal, or as
// COLUMNS says, or UsualWidth. It is at least 40.
func Width(stream any, getenv func(string) string) int {
	if f, ok := stream.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return max(narrowest, w)
		}
	}
	if w, err := strconv.Atoi(getenv("COLUMNS")); err == nil && w > 0 {
		return max(narrowest, w)
	}
	return UsualWidth
}

// Color reports whether a stream shall have colors: on a terminal, unless NO_COLOR is
// set, CLICOLOR is 0 or TERM says that it can do nothing, and elsewhere where
// CLICOLOR_FORCE asks for them. See https://no-color.org and
// https://bixense.com/clicolors.
func Color(stream any, getenv func(string) string) bool {
	if getenv("NO_COLOR") != "" {
		return false
	}
	if force := getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return Is(stream) && getenv("CLICOLOR") != "0" && getenv("TERM") != "dumb"
}
