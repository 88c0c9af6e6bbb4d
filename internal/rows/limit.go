package rows

import (
	"fmt"
	"io"
)

// ErrLongRow is what reading through a Limit ends with in a row past MaxRow.
var ErrLongRow = fmt.Errorf("a row has more than %d bytes", MaxRow)

// Limit bounds how much is read between two calls of Next, and so how much a parser
// can gather for one row. The bound is loose by one buffer.
type Limit struct {
	in   io.Reader
	read int
}

// NewLimit makes a Limit of the text that in gives.
func NewLimit(in io.Reader) *Limit { return &Limit{in: in} }

// Read implements io.Reader. It fails with ErrLongRow.
func (l *Limit) Read(p []byte) (int, error) {
	if l.read > MaxRow {
		return 0, ErrLongRow
	}
	n, err := l.in.Read(p)
	l.read += n
	return n, err
}

// Next tells that a row begins.
func (l *Limit) Next() { l.read = 0 }
