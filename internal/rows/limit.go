package rows

import (
	"fmt"
	"io"
)

// errLongRow is what reading through bounded ends with in a row past MaxRow.
var errLongRow = fmt.Errorf("a row has more than %d bytes", MaxRow)

// bounded bounds how much is read between two calls of Next, and so how much a parser
// can gather for one row. The bound is loose by one buffer.
type bounded struct {
	in   io.Reader
	read int
}

// newBounded makes one of the text that in gives.
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

// Next tells that a row begins.
func (l *bounded) Next() { l.read = 0 }
