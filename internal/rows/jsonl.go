package rows

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/orbench/orbench"
)

// openJSONL reads a file of one JSON object a line.
func openJSONL(file string, in *io.SectionReader, choose Chooser) (nextFunc, error) {
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
				fields, err := parseObject(file, line, b)
				return object{line: line, number: number, fields: fields}, err
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

// parseObject parses one line.
func parseObject(file string, line int, b []byte) (map[string]json.RawMessage, error) {
	// The JSON package would replace invalid bytes without a word.
	if !utf8.Valid(b) {
		return nil, &orbench.InputError{File: file, Line: line, Problem: "invalid UTF-8", Hint: UTF8Hint}
	}
	fields, err := parseFields(b)
	if err == nil && fields != nil {
		return fields, nil
	}
	e := &orbench.InputError{
		File: file, Line: line, Err: err,
		Problem: "not a JSON object", Hint: "write one object a line, such as {\"prompt\": \"…\", \"label\": \"safe\"}",
	}
	var syntax *json.SyntaxError
	var names *namesError
	switch {
	case errors.As(err, &names):
		e.Problem, e.Hint = names.problem, names.hint
	case b[0] == '[':
		e.Problem, e.Hint = "a JSON array", "write one object a line, for example with: jq -c '.[]' OLD > NEW"
	case errors.As(err, &syntax):
		e.Problem = "malformed JSON: " + syntax.Error()
	}
	return nil, e
}
