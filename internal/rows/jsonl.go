package rows

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// openJSONL reads a file of one JSON object a line.
func openJSONL(file string, in input, choose Chooser) (nextFunc, error) {
	text, err := openText(file, in)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(make([]byte, 0, textBuffer), MaxRow)
	line, number := 0, 0
	return openObjects(file, choose, func() (object, error) {
		for lines.Scan() {
			line++
			if b := bytes.TrimSpace(lines.Bytes()); len(b) > 0 {
				number++
				return parseObject(file, Row{Line: line, Number: number}, b, `write one object a line, such as {"prompt": "…", "label": "safe"}`)
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			return object{}, longRow(file, line+1)
		case err != nil:
			return object{}, fmt.Errorf("read %s: %w", file, err)
		}
		return object{}, io.EOF
	})
}
