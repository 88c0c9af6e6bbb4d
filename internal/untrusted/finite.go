package untrusted

import (
	"bufio"
	"bytes"
	"io"
)

// Finite writes empty texts over the constants NaN and Infinity, which Python puts into JSON
// (https://docs.python.org/3/library/json.html#infinite-and-nan-number-values), in place.
func Finite(b []byte) []byte {
	if bytes.Contains(b, []byte("NaN")) || bytes.Contains(b, []byte("Infinity")) {
		(&FiniteReader{}).write(b)
	}
	return b
}

// FiniteReader is Finite for a stream.
type FiniteReader struct {
	// In is what is read.
	In *bufio.Reader
	// text and escaped say where the next byte is: in a string, and after a backslash.
	text, escaped bool
	// left is the number of bytes of a constant that are yet to be written over.
	left int
	// first is true before the second of these.
	first bool
}

func (r *FiniteReader) Read(b []byte) (int, error) {
	n, err := r.In.Read(b)
	r.write(b[:n])
	if n > 0 && b[n-1] == '-' && !r.text {
		if next, _ := r.In.Peek(1); len(next) > 0 && next[0] == 'I' {
			b[n-1] = ' '
		}
	}
	return n, err
}

var _ io.Reader = (*FiniteReader)(nil)

// write writes over the constants in a part of the stream.
func (r *FiniteReader) write(b []byte) {
	for i, c := range b {
		switch {
		case r.left > 0:
			b[i] = ' '
			if r.left--; r.first {
				b[i], r.first = '"', false
			}
		case r.escaped:
			r.escaped = false
		case r.text && c == '\\':
			r.escaped = true
		case c == '"':
			r.text = !r.text
		case !r.text && (c == 'N' || c == 'I'):
			b[i], r.first = '"', true
			if r.left = len("aN"); c == 'I' {
				r.left = len("nfinity")
			}
			if i > 0 && b[i-1] == '-' {
				b[i-1] = ' '
			}
		}
	}
}
