package rows

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/orbench/orbench"
)

// openJSON reads a file with one JSON array of objects, or with objects one after the
// other. A nested value gets the names on its path, joined by dots. Objects are read one
// by one, so a long array takes no more memory than a short one.
func openJSON(file string, in input, choose Chooser) (nextFunc, error) {
	limit := newBounded(in)
	text, err := openText(file, limit)
	if err != nil {
		return nil, err
	}
	array, err := opensArray(file, text)
	if err != nil {
		return nil, err
	}
	objects := json.NewDecoder(text)
	if array {
		if _, err := objects.Token(); err != nil {
			return nil, jsonFault(file, 0, err)
		}
	}
	number := 0
	return openObjects(file, choose, func() (object, error) {
		limit.Next()
		if array && !objects.More() {
			if _, err := objects.Token(); err != nil {
				return object{}, jsonFault(file, number, err)
			}
			if _, err := objects.Token(); !errors.Is(err, io.EOF) {
				return object{}, &orbench.InputError{File: file, Problem: "something follows the end of the JSON", Hint: jsonHint}
			}
			return object{}, io.EOF
		}
		var raw json.RawMessage
		if err := objects.Decode(&raw); !array && err == io.EOF {
			return object{}, io.EOF
		} else if err != nil {
			return object{}, jsonFault(file, number, err)
		}
		number++
		return parseObject(file, Row{Number: number}, raw, jsonHint, in.traffic)
	})
}

// opensArray reports whether the text is an array. It refuses a text that is neither an
// array nor an object.
func opensArray(file string, text interface{ Peek(int) ([]byte, error) }) (bool, error) {
	for n := 1; ; n++ {
		head, err := text.Peek(n)
		if len(head) < n {
			if errors.Is(err, io.EOF) {
				return false, emptyFile(file)
			}
			return false, &orbench.InputError{File: file, Problem: "no JSON at the beginning of the file", Hint: jsonHint, Err: err}
		}
		switch head[n-1] {
		case ' ', '\t', '\r', '\n':
		case '[':
			return true, nil
		case '{':
			return false, nil
		default:
			return false, &orbench.InputError{File: file, Problem: "neither a JSON array nor a JSON object", Hint: jsonHint}
		}
	}
}

// jsonHint says what a .json file must contain.
const jsonHint = `write an array of objects, such as [{"prompt": "…", "label": "safe"}], or one object a line into a .jsonl file`

// jsonFault describes in plain words what the parser found after number objects.
func jsonFault(file string, number int, err error) error {
	if errors.Is(err, errLongRow) {
		return &orbench.InputError{
			File: file, Problem: fmt.Sprintf("row %d: more than %d bytes; a cell may have %d", number+1, MaxRow, MaxCell), Hint: "cut or delete it",
		}
	}
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the file ends too soon")
	case !errors.As(err, &syntax):
		return readFault(file, err)
	}
	return &orbench.InputError{File: file, Problem: fmt.Sprintf("malformed JSON after row %d: %s", number, err), Hint: jsonHint, Err: err}
}

// parseNested is parseFields, but also gives names to nested values.
func parseNested(b []byte) (map[string]json.RawMessage, error) {
	fields, err := parseFields(b)
	if err != nil || fields == nil {
		return nil, err
	}
	return fields, flatten(fields, "", fields, 0)
}

// maxNested bounds the depth of names.
const maxNested = 4

// flatten adds the fields of nested objects to a map under their full names, unless a
// field already has that name.
func flatten(into map[string]json.RawMessage, prefix string, fields map[string]json.RawMessage, depth int) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if fields[name][0] != '{' || depth == maxNested {
			continue
		}
		inner, err := parseFields(fields[name])
		if err != nil {
			return err
		}
		within := prefix + name + "."
		for name, value := range inner {
			if _, taken := into[within+name]; !taken {
				into[within+name] = value
			}
		}
		if err := flatten(into, within, inner, depth+1); err != nil {
			return err
		}
	}
	return nil
}
