package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/orbench/orbench"
)

// Fault is an invalid setting.
type Fault struct {
	// Path is the place, as a YAML path such as "$.seeds.generators[1]".
	Path string
	// Problem and Hint are as in orbench.InputError.
	Problem, Hint string
}

// Wrong makes a Fault.
func Wrong(path, problem, hint string) *Fault {
	return &Fault{Path: path, Problem: problem, Hint: hint}
}

// ReadFile gives the text of a settings file, or its beginning if it is too long for
// Decode. The error is an *orbench.InputError with the hint.
func ReadFile(path, hint string) ([]byte, error) {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		var text []byte
		if text, err = io.ReadAll(io.LimitReader(f, maxText+1)); err == nil {
			return text, nil
		}
	}
	// The error names the path already.
	problem := cmp.Or(errors.Unwrap(err), err).Error()
	return nil, &orbench.InputError{File: path, Problem: "cannot be read: " + problem, Hint: hint, Err: err}
}

// Decode reads the text of a file into a struct that contains the defaults. A setting
// that the struct does not have is an error. Errors call the file name; they are
// *orbench.InputErrors with the line and the hint. A text that would cost too much to
// read is one of them.
func Decode(name string, text []byte, into any, hint string) error {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	err := safely(func() error {
		if err := bound(name, text); err != nil {
			return err
		}
		return yaml.UnmarshalWithOptions(text, into, yaml.Strict())
	})
	if err == nil {
		if line := secondDocument(text); line > 0 {
			return &orbench.InputError{File: name, Line: line, Problem: "a second YAML document begins here and would be ignored", Hint: "put all settings into one"}
		}
		return nil
	}
	var inner *orbench.InputError
	if errors.As(err, &inner) && inner.File != "" {
		// A file that this one names reports its own faults.
		return inner
	}
	e := &orbench.InputError{File: name, Line: 1, Problem: err.Error(), Hint: hint, Err: err}
	if inner != nil {
		e.Problem, e.Hint = inner.Problem, inner.Hint
	}
	var placed yaml.Error
	if errors.As(err, &placed) {
		e.Problem = placed.GetMessage()
		if wrong := new(yaml.TypeError); errors.As(err, &wrong) {
			e.Problem = "this is not " + kindText(wrong.DstType)
			if t := placed.GetToken(); t != nil {
				e.Problem = fmt.Sprintf("%q is not %s", t.Value, kindText(wrong.DstType))
			}
		}
		if t := placed.GetToken(); t != nil && t.Position != nil {
			e.Line = t.Position.Line
		}
	}
	e.Problem = plainKinds.Replace(strings.Join(strings.Fields(e.Problem), " "))
	if lines := strings.Split(string(text), "\n"); e.Line <= len(lines) && strings.Contains(lines[e.Line-1], "\t") && strings.Contains(e.Problem, "cannot start any token") {
		e.Problem, e.Hint = "a tab stands here, and YAML has none before a setting", "indent with blanks"
	}
	if _, unknown, ok := strings.Cut(e.Problem, "unknown field "); ok {
		unknown = strings.Trim(unknown, `"`)
		if hint := Gone(unknown); hint != "" {
			e.Problem, e.Hint = "there is no setting "+unknown+" any more", hint
			return e
		}
		paths := pathsOf(reflect.TypeOf(into), "", map[reflect.Type]bool{})
		called := func(name string) []string { // in the singular or the plural
			return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
				return strings.TrimSuffix(path[strings.LastIndexByte(path, '.')+1:], "s") != strings.TrimSuffix(name, "s")
			})
		}
		meant := called(unknown)
		if len(meant) == 0 {
			meant = called(Nearest(unknown, strings.FieldsFunc(strings.Join(paths, " "), func(r rune) bool { return strings.ContainsRune(" .[*]", r) })))
		}
		// What is within a setting that is named is found there.
		meant = slices.DeleteFunc(slices.Clone(meant), func(path string) bool {
			return slices.ContainsFunc(meant, func(other string) bool {
				return strings.HasPrefix(path, other+".") || strings.HasPrefix(path, other+"[")
			})
		})
		if len(meant) > 0 {
			e.Hint = fmt.Sprintf("did you mean %s? %s", strings.Join(meant[:min(len(meant), 3)], " or "), e.Hint)
		}
	}
	return e
}

// pathsOf lists all settings that a type holds and those within it, as --set takes them. within are
// the types around it.
func pathsOf(t reflect.Type, at string, within map[reflect.Type]bool) (paths []string) {
	for ; t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map; t = t.Elem() {
		if t.Kind() == reflect.Slice && at != "" {
			at += "[*]"
		}
	}
	if t.Kind() != reflect.Struct || within[t] {
		return nil
	}
	within[t] = true
	for f := range t.Fields() {
		path := at
		if name, _, _ := strings.Cut(cmp.Or(f.Tag.Get("yaml"), f.Tag.Get("json")), ","); name != "" && name != "-" {
			path = strings.TrimPrefix(at+"."+name, ".")
			paths = append(paths, path)
		}
		paths = append(paths, pathsOf(f.Type, path, within)...)
	}
	delete(within, t)
	return paths
}

// plainKinds says in the words of kindText what stands in place of what.
var plainKinds = strings.NewReplacer("string was used where", "a text stands where", "int was used where", "a number stands where", "sequence was used where", "a list stands where", "mapping was used where", "settings by name stand where", "sequence is expected", "a list is expected", "mapping is expected", "settings by name are expected")

// kindText describes a value of a type in words.
func kindText(t reflect.Type) string {
	switch k := t.Kind(); {
	case t == reflect.TypeFor[time.Duration]():
		return "a time with its unit, such as 30s or 10m"
	case k == reflect.Bool:
		return "true or false"
	case k == reflect.String:
		return "a text"
	case k == reflect.Float32 || k == reflect.Float64:
		return "a number"
	case k >= reflect.Int && k <= reflect.Uint64:
		return "a whole number"
	case k == reflect.Slice:
		return "a list"
	}
	return "settings by name"
}

// Value reads one value that was given outside a file, in from. A list may omit its
// brackets. Errors are as in Decode.
func Value(from, text string, into any, hint string) error {
	list := reflect.TypeOf(into).Elem().Kind() == reflect.Slice
	if t := strings.TrimSpace(text); list && t != "" && t != "null" && !strings.HasPrefix(t, "[") && !strings.HasPrefix(t, "- ") {
		text = "[" + text + "]"
	}
	err := Decode(from, []byte(text), into, hint)
	if input := new(orbench.InputError); errors.As(err, &input) {
		input.Line = 0 // it is no file
	}
	return err
}

// List reads a file with one YAML list of entries, which may be JSON, and checks each
// entry. Errors call the file name. Every fault of the text, and every error of check, is
// an *orbench.InputError with the line of the entry or setting. Other errors come from r.
func List[T any](r io.Reader, name string, check func(T) error) (list []T, err error) {
	const hint = "give a YAML or JSON list of entries"
	text, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if err := Decode(name, text, &list, hint); err != nil {
		return nil, err
	}
	if list == nil {
		return nil, &orbench.InputError{File: name, Line: 1, Problem: "this is not a list of entries", Hint: hint}
	}
	for i, entry := range list {
		if err := check(entry); err != nil {
			line := max(1, Line(text, fmt.Sprintf("$[%d]", i)))
			return nil, &orbench.InputError{File: name, Line: line, Problem: err.Error(), Err: err}
		}
	}
	return list, nil
}

// Merge reads a list of entries as List does and merges it into old. An entry replaces
// the old one with the same key, or is appended. Keys ignore letter case and may appear
// only once in the list.
func Merge[T any](old []T, r io.Reader, name string, key func(T) string, check func(T) error) ([]T, error) {
	seen := map[string]bool{}
	list, err := List(r, name, func(entry T) error {
		k := strings.ToLower(key(entry))
		if seen[k] {
			return fmt.Errorf("%s is listed twice", key(entry))
		}
		seen[k] = true
		return check(entry)
	})
	all := slices.Clone(old)
	for _, entry := range list {
		i := slices.IndexFunc(all, func(o T) bool { return strings.EqualFold(key(o), key(entry)) })
		if i < 0 {
			all = append(all, entry)
			continue
		}
		all[i] = entry
	}
	return all, err
}

// secondDocument gives the line of the first setting in a second YAML document, 0 if
// there is no second document.
func secondDocument(text []byte) (line int) {
	if !bytes.Contains(text, []byte("---")) {
		return 0
	}
	_ = safely(func() error {
		file, err := parser.ParseBytes(text, 0)
		if err != nil {
			return err
		}
		found := 0
		for _, d := range file.Docs {
			if d.Body == nil || d.Body.Type() == ast.DirectiveType {
				continue
			}
			if found++; found == 2 {
				line = firstLine(d.Body)
			}
		}
		return nil
	})
	return line
}

// BuiltIn gives a table of JSON that is part of the program, and reads it the first time. A
// test of each table reads it, so that nobody meets the panic.
func BuiltIn[T any](name string, text []byte) func() T {
	return sync.OnceValue(func() (table T) {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&table); err != nil {
			panic(name + ": " + err.Error())
		}
		return table
	})
}

// safely turns a panic into an error. The YAML reader panics on some texts that it should
// refuse, such as a tag with no value in place of a list.
func safely(read func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("this YAML cannot be read (%v)", r)
		}
	}()
	return read()
}

// Error is the fault as an error about its file.
func (f Fault) Error(name string, text []byte) *orbench.InputError {
	return &orbench.InputError{File: name, Line: Line(text, f.Path), Problem: f.Problem, Hint: f.Hint}
}

// Line finds the line of the setting at a YAML path, or of the nearest enclosing setting
// in the text. It is 0 if there is none.
func Line(text []byte, path string) (line int) {
	// A text has its faults even if their lines cannot be found.
	_ = safely(func() error {
		file, err := parser.ParseBytes(bytes.TrimPrefix(text, []byte("\ufeff")), 0)
		for err == nil && line == 0 && path != "$" && path != "" {
			var at *yaml.Path
			if at, err = yaml.PathString(path); err == nil {
				if node, err := at.FilterFile(file); err == nil && node != nil {
					line = firstLine(node)
				}
			}
			path = path[:max(0, strings.LastIndexByte(path, '.'), strings.LastIndexByte(path, '['))]
		}
		return err
	})
	return line
}

// firstLine is the line on which a node begins. For a mapping or a list it is the line of
// its first key or item, since the node's own token is the colon or the hyphen.
func firstLine(n ast.Node) int {
	switch n := n.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 {
			return firstLine(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return firstLine(n.Key)
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// Either reads a text, or an object in its place.
func Either(unmarshal func(any) error, text *string, object any) error {
	if unmarshal(text) == nil {
		return nil
	}
	return unmarshal(object)
}

// IsName reports whether s is suitable as a name in files and addresses: up to 100
// letters, digits, dots, hyphens and underscores, not beginning with a dot or a hyphen.
func IsName(s string) bool { return isName.MatchString(s) }

var isName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$`)
