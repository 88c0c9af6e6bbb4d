package rows

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// openJSON reads a file with one JSON array of objects, which may stand in an object (see
// listed), or with objects one after the other. A nested value gets the names on its path,
// joined by dots. Objects are read one by one, so a long array takes no more memory than a
// short one; one in an object has at most MaxRow bytes.
func openJSON(file string, in input, choose Chooser) (nextFunc, error) {
	limit := &bounded{in: in, most: MaxRow}
	text, err := openText(file, limit)
	if err != nil {
		return nil, err
	}
	// What is wrong within an object is told with its row.
	objects := jsontext.NewDecoder(&untrusted.FiniteReader{In: text}, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	array := objects.PeekKind() == '['
	if kind := objects.PeekKind(); kind != '{' {
		_, err := objects.ReadToken()
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return nil, emptyFile(file)
		case !array:
			return nil, &orbench.InputError{File: file, Problem: "neither a JSON array nor a JSON object", Hint: jsonHint, Err: err}
		}
	}
	number := 0
	return OpenObjects(file, choose, func() (Object, error) {
		limit.Next()
		ended := array && objects.PeekKind() == ']'
		if ended {
			if _, err := objects.ReadToken(); err != nil {
				return Object{}, jsonFault(file, number, err)
			}
		}
		switch raw, err := objects.ReadValue(); {
		case err == io.EOF && ended == array:
			return Object{}, io.EOF
		case ended:
			return Object{}, &orbench.InputError{File: file, Problem: "something follows the end of the JSON", Hint: jsonHint}
		case err != nil:
			return Object{}, jsonFault(file, number, err)
		default:
			if number++; number == 1 && !array {
				raw = raw.Clone()
				if key, list := listed(raw); list != nil && objects.PeekKind() == 0 {
					note := fmt.Sprintf("%s: its rows are the list in %s", file, untrusted.Quote(key))
					if key == "" {
						note = fmt.Sprintf("%s: its rows are the objects in one, by their names", file)
					}
					*in.notes = append(*in.notes, note)
					objects, array = jsontext.NewDecoder(io.MultiReader(bytes.NewReader(list), bytes.NewReader(objects.UnreadBuffer())), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), true
					_, _ = objects.ReadToken() // it was read before, as is the first row
					raw, _ = objects.ReadValue()
				}
			}
			return ParseObject(file, Row{Number: number}, raw, jsonHint, in.traffic)
		}
	})
}

// listed gives the rows of an object that holds a list of them, and its key, such as
// {"data": [{"prompt": "…"}]}. Such a list is most of the object, and the only one whose first
// item has a usual name of a prompt and is no turn; or all of the object is rows by names, such as
// {"q1": {"prompt": "…", "answer": "…"}}. It is nil for an object that is a row.
func listed(object []byte) (key string, rows []byte) {
	asks := func(fields map[string]jsontext.Value) bool {
		return slices.ContainsFunc(partNames[partPrompt], func(name string) bool { return fields[name] != nil })
	}
	var fields map[string]jsontext.Value
	_ = json.Unmarshal(object, &fields) // a fault is told with its row
	lists, each := 0, []jsontext.Value{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		list := fields[name]
		var one map[string]jsontext.Value
		if json.Unmarshal(list, &one) == nil && len(one) > 1 && asks(one) {
			each = append(each, list)
		}
		var items []map[string]jsontext.Value
		if json.Unmarshal(list, &items) == nil && len(items) > 0 && items[0]["role"] == nil && asks(items[0]) {
			key, rows, lists = name, list, lists+1
		}
	}
	if len(each) > 1 && len(each) == len(fields) && !asks(fields) {
		rows, _ = json.Marshal(each) // of values that were read
		return "", rows
	}
	if lists != 1 || asks(fields) || 2*len(rows) < len(object) {
		return "", nil
	}
	return key, rows
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
	var syntax *jsontext.SyntacticError
	problem := "the file ends too soon"
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
	case errors.As(err, &syntax):
		problem = brief(strings.TrimPrefix(err.Error(), "jsontext: "))
	default:
		return readFault(file, err)
	}
	// Like place.fault it does not wrap the error, which may be an io.EOF.
	return &orbench.InputError{File: file, Problem: fmt.Sprintf("malformed JSON after row %d: %s", number, problem), Hint: jsonHint}
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
