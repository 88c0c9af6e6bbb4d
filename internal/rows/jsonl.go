package rows

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/orbench/orbench/internal/untrusted"
)

// openJSONL reads a file of one JSON object a line.
func openJSONL(file string, in input, choose Chooser) (nextFunc, error) {
	next, err := linesOf(file, in, MaxRow)
	if err != nil {
		return nil, err
	}
	number := 0
	return OpenObjects(file, choose, func() (Object, error) {
		line, b, err := next()
		if errors.Is(err, errLongRow) {
			return Object{}, longRow(file, line)
		}
		if err != nil {
			return Object{}, err
		}
		number++
		return ParseObject(file, Row{Line: line, Number: number}, b, `write one object a line, such as {"prompt": "…"}`, in.traffic)
	})
}

// linesOf gives the lines of a text that are not blank, each with its number and without
// white space around it, then io.EOF. A line longer than most bytes is an errLongRow.
func linesOf(file string, in io.Reader, most int) (func() (line int, b []byte, err error), error) {
	text, err := openText(file, in)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(make([]byte, 0, textBuffer), most)
	line := 0
	return func() (int, []byte, error) {
		for lines.Scan() {
			line++
			if b := bytes.TrimSpace(lines.Bytes()); len(b) > 0 {
				return line, untrusted.Finite(b), nil
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			return line + 1, nil, errLongRow
		case err != nil:
			return line, nil, readFault(file, err)
		}
		return line, nil, io.EOF
	}, nil
}
