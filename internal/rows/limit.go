package rows

import (
	"errors"
	"io"
)

// errLongRow is the error of bounded at a row that is too long.
var errLongRow = errors.New("a row is too long")

// bounded bounds how much is read between two calls of Next, and so how much a parser can
// collect for one row.
type bounded struct {
	in   io.Reader
	most int
	read int
}

// Read implements io.Reader. It fails with errLongRow.
func (l *bounded) Read(p []byte) (int, error) {
	if l.read > l.most {
		return 0, errLongRow
	}
	n, err := l.in.Read(p[:min(len(p), l.most-l.read+1)])
	l.read += n
	return n, err
}

// Next marks the beginning of a row.
func (l *bounded) Next() { l.read = 0 }
