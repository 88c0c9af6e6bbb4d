package rows

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// Object is a JSON object that is a row.
type Object struct {
	// line and number are as in Row.
	line, number int
	fields       map[string]json.RawMessage
	// inner are the fields of nested objects as far as they were looked for, if fields has
	// only those of the object itself; else nil.
	inner map[string]Object
	// said is as in Row.
	said *model.Response
}

// ParseObject makes an object from the text of a row at the place r. hint says how to
// write such rows. Nested values of a lazy one are parsed only when they are looked for.
func ParseObject(file string, r Row, b []byte, hint string, lazy bool) (Object, error) {
	problem := "not a JSON object"
	if !utf8.Valid(b) {
		// The JSON package would replace invalid bytes silently.
		return Object{}, r.Fault(file, "invalid UTF-8", UTF8Hint)
	}
	o := Object{line: r.Line, number: r.Number, inner: map[string]Object{}}
	parse := parseNested
	if lazy {
		parse = parseFields
	}
	var err error
	if o.fields, err = parse(b); err == nil {
		joinNumbered(o.fields)
	}
	var syntax *json.SyntaxError
	var names *orbench.InputError
	switch {
	case err == nil && o.fields != nil:
		return o, nil
	case errors.As(err, &names):
		problem, hint = names.Problem, names.Hint
	case r.Line > 0 && b[0] == '[':
		problem, hint = "a JSON array", "write one object a line, for example with: jq -c '.[]' OLD > NEW"
	case errors.As(err, &syntax):
		problem = "malformed JSON: " + syntax.Error()
	}
	return Object{}, r.Fault(file, problem, hint)
}

// maxNames is the most names in an object, including nested ones. It equals the most
// columns of a Parquet file. A row of 4 MB that consists of names takes seconds to read.
const maxNames = 20_000

// parseFields reads the fields of an object; a field is nil for null. It gives the errors
// of encoding/json, and an *orbench.InputError, also for nested objects: for too many names, or
// for a name that occurs twice, of which a reader would silently choose one.
func parseFields(b []byte) (map[string]json.RawMessage, error) {
	if hasManyNames(b) {
		return nil, &orbench.InputError{Problem: fmt.Sprintf("more than %d names in one row", maxNames), Hint: "write the values as a list, or delete it"}
	}
	fields, err := fieldsOf[json.RawMessage](b)
	if err == nil {
		return fields, nil
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName) {
		return nil, &orbench.InputError{Problem: untrusted.Quote(syntax.JSONPointer.LastToken()) + " is there twice", Hint: "remove one of the two"}
	}
	fields = nil
	err = json.Unmarshal(b, &fields)
	return fields, err
}

// fieldsOf gives the fields of an object as parts of b, without a copy.
func fieldsOf[V json.RawMessage | jsontext.Value](b []byte, options ...jsontext.Options) (map[string]V, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(b), append(options, jsontext.AllowInvalidUTF8(true))...)
	if open, err := dec.ReadToken(); err != nil || open.Kind() != '{' {
		return nil, errors.New("no object")
	}
	fields := map[string]V{}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		fields[key] = V(value)
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the object")
	}
	return fields, nil
}

// numbered is the name of a part of a message in a list, as older instrumentations write it:
// gen_ai.prompt.0.content (https://github.com/traceloop/openllmetry) or
// llm.input_messages.0.message.content (OpenInference).
var numbered = regexp.MustCompile(`^(.+)\.(\d{1,3})\.(?:message\.)?(role|content|finish_reason|tool_calls)$`)

// joinNumbered adds lists of the messages whose parts have numbered names.
func joinNumbered(fields map[string]json.RawMessage) {
	lists := map[string]map[int]map[string]json.RawMessage{}
	for name, raw := range fields {
		if !strings.HasSuffix(name, ".content") && !strings.HasSuffix(name, ".role") && !strings.HasSuffix(name, "_reason") {
			continue
		}
		if m := numbered.FindStringSubmatch(name); m != nil {
			n, _ := strconv.Atoi(m[2])
			if lists[m[1]] == nil {
				lists[m[1]] = map[int]map[string]json.RawMessage{}
			}
			if lists[m[1]][n] == nil {
				lists[m[1]][n] = map[string]json.RawMessage{}
			}
			lists[m[1]][n][m[3]] = raw
		}
	}
	for name, list := range lists {
		all := table.RowsOf(slices.Sorted(maps.Keys(list)), func(n int) map[string]json.RawMessage { return list[n] })
		if raw, err := json.Marshal(all); err == nil {
			fields[name] = raw
		}
	}
}

// hasManyNames reports whether an object may have more than maxNames names. It counts the
// colons outside of texts.
func hasManyNames(b []byte) bool {
	const shortest = len(`"":0,`)
	return len(b) > maxNames*shortest && untrusted.Marks(b, ":") > maxNames
}

// OpenObjects reads the objects that next gives, up to its io.EOF. The columns are the
// keys of the first object. Later objects may instead have their prompt as a list of
// messages.
func OpenObjects(file string, choose Chooser, next func() (Object, error)) (func() (Row, error), error) {
	first, err := next()
	if errors.Is(err, io.EOF) {
		return nil, emptyFile(file)
	}
	if err != nil {
		return nil, err
	}
	columns, err := choose(file, slices.Sorted(maps.Keys(first.fields)), func(path string) bool {
		_, there := first.Value(path)
		return there
	})
	if err != nil {
		return nil, err
	}
	pending := true
	cells := make([]string, len(columns.Fields))
	return func() (Row, error) {
		o := first
		if !pending {
			var err error
			if o, err = next(); err != nil {
				return Row{}, err
			}
		}
		pending, first = false, Object{}
		return o.row(file, columns, cells)
	}, nil
}

// Value gives an object's value in a column: under its name, or at a path through a list,
// such as messages[-1].content. Negative numbers count from the end.
func (o Object) Value(column string) (value json.RawMessage, ok bool) {
	if value, ok = o.fields[column]; ok {
		return value, true
	}
	if value, ok = o.within(column); ok {
		return value, true
	}
	list, rest, listed := strings.Cut(column, "[")
	if !listed {
		return nil, false
	}
	number, rest, _ := strings.Cut(rest, "]")
	n, err := strconv.Atoi(number)
	var items []json.RawMessage
	if err != nil || json.Unmarshal(o.fields[list], &items) != nil {
		return nil, false
	}
	if n < 0 {
		n += len(items)
	}
	if n < 0 || n >= len(items) {
		return nil, false
	}
	name, deeper := strings.CutPrefix(rest, ".")
	if !deeper {
		return items[n], rest == ""
	}
	fields, err := parseNested(items[n])
	if err != nil {
		return nil, false
	}
	return Object{fields: fields}.Value(name)
}

// within gives the value at a path through nested objects that are not parsed yet.
func (o Object) within(path string) (json.RawMessage, bool) {
	if o.inner == nil {
		return nil, false
	}
	for at := strings.IndexByte(path, '.'); at > 0; {
		name := path[:at]
		inner, known := o.inner[name]
		if raw := o.fields[name]; !known && len(raw) > 2 && (raw[0] == '{' || raw[0] == '"' && raw[1] == '{') {
			if text, ok := jsonText(raw, false); ok { // JSON as a text
				raw = json.RawMessage(text)
			}
			inner.fields, _ = parseFields(raw)
			joinNumbered(inner.fields)
			inner.inner = map[string]Object{}
			o.inner[name] = inner
		}
		if value, ok := inner.Value(path[at+1:]); ok {
			return value, true
		}
		next := strings.IndexByte(path[at+1:], '.')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return nil, false
}

// unsent names the content of a list of messages that is not text, empty if there is
// none.
func unsent(messages json.RawMessage) string {
	var turns []struct {
		Content json.RawMessage `json:"content"`
		Calls   json.RawMessage `json:"tool_calls"`
	}
	if json.Unmarshal(messages, &turns) != nil {
		return ""
	}
	for _, t := range turns {
		var parts []struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(t.Content, &parts) == nil {
			for _, p := range parts {
				if p.Type != "text" && p.Type != "" {
					return p.Type
				}
			}
		}
		if Holds(string(t.Calls)) {
			return "tool_calls"
		}
	}
	return ""
}

// row reads the columns from an object.
func (o Object) row(file string, columns Layout, cells []string) (Row, error) {
	r := Row{Line: o.line, Number: o.number, Cells: cells, said: o.said}
	if columns.Whole {
		r.Fields = map[string]any{}
		for name, raw := range o.fields {
			var value any
			if err := json.Unmarshal(raw, &value); err != nil {
				return Row{}, r.Fault(file, "malformed JSON: "+err.Error(), "correct it")
			}
			r.Fields[name] = value
		}
	}
	if columns.Prompt != "" {
		prompt, ok := o.Value(columns.Prompt)
		column := columns.Prompt
		if !ok {
			if prompt, ok = o.fields[MessagesColumn]; !ok {
				return Row{}, r.Fault(file, fmt.Sprintf("no %q", columns.Prompt), "every row needs the prompt column of the first")
			}
			column = MessagesColumn
		}
		if bytes.HasPrefix(prompt, []byte("[")) {
			if what := unsent(prompt); what != "" {
				id, _ := jsonText(o.fields["id"], true)
				return Row{}, r.Unsent(file, id, what)
			}
			if err := json.Unmarshal(prompt, &r.Messages); err != nil || len(r.Messages) == 0 {
				return Row{}, r.Fault(file, fmt.Sprintf("%q is not a list of messages", column),
					"write [{\"role\": \"user\", \"content\": \"…\"}]")
			}
			if r.Messages[0].Role == "" { // such as from and value
				r.Messages, _ = ask(jsontext.Value(prompt))
			}
		} else if text, ok := jsonText(prompt, false); ok {
			r.Text = text
		} else { // what a request has besides messages would be lost
			return Row{}, r.Fault(file, fmt.Sprintf("%q is not text", column), "write the prompt as a JSON string, or name a value inside it, such as "+column+".messages, with `prompt-column`")
		}
	}
	for i, f := range columns.Fields {
		raw, _ := o.Value(f.Name)
		if f.Required && (raw == nil || string(raw) == "null") {
			return Row{}, r.Missing(file, f.Name)
		}
		var ok bool
		r.Cells[i], ok = jsonText(raw, f.Scalar)
		nested := !ok && (raw[0] == '{' || raw[0] == '[')
		if nested && r.nested == nil {
			r.nested = make([]bool, len(cells))
		}
		if nested {
			r.nested[i] = true
		}
		if !ok && f.Whole && (nested || f.Scalar) {
			r.Cells[i] = string(raw)
		} else if !ok && !f.Lenient {
			return Row{}, r.Fault(file, fmt.Sprintf("%q is not text", f.Name), "write it as a JSON string")
		}
	}
	for _, name := range columns.Stray {
		if _, stray := o.fields[name]; stray {
			return Row{}, r.Fault(file, fmt.Sprintf("a %q, but the first row has none", name), "give every row a label or none")
		}
	}
	return r, nil
}

// jsonText reads a string or, if scalar is true, also a number or boolean in its written
// form. An absent or null value is the empty text.
func jsonText(raw json.RawMessage, scalar bool) (string, bool) {
	switch {
	case raw == nil || string(raw) == "null":
		return "", true
	case scalar && raw[0] != '"' && raw[0] != '{' && raw[0] != '[':
		return string(raw), true
	case raw[0] != '"':
		return "", false
	case bytes.IndexByte(raw, '\\') < 0:
		return string(raw[1 : len(raw)-1]), true
	}
	if b, err := jsontext.AppendUnquote(nil, raw); err == nil {
		return string(b), true
	}
	var text string
	err := json.Unmarshal(raw, &text)
	return text, err == nil
}
