package rows

import (
	"fmt"
	"io"
)

// errLongRow is the error of bounded at a row longer than MaxRow.
var errLongRow = fmt.Errorf("a row has more than %d bytes", MaxRow)

// bounded bounds how much is read between two calls of Next, and so how much a parser can
// collect for one row. A buffer's length may be read beyond the bound.
type bounded struct {
	in   io.Reader
	read int
}

// newBounded makes a bounded reader of in.
func newBounded(in io.Reader) *bounded { return &bounded{in: in} }

// Read implements io.Reader. It fails with errLongRow.
func (l *bounded) Read(p []byte) (int, error) {
	if l.read > MaxRow {
		return 0, errLongRow
	}
	n, err := l.in.Read(p)
	l.read += n
	return n, err
}

// Next marks the beginning of a row.
func (l *bounded) Next() { l.read = 0 }
