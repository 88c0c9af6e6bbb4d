package generator

import (
	"encoding/json"
	"strings"
)

// textFields are the names of fields that hold an item. A number may follow, or
// stand alone.
var textFields = map[string]bool{
	"": true, "prompt": true, "text": true, "request": true, "rewrite": true, "rewritten": true, "rewritten_prompt": true,
	"rewritten_request": true, "new_request": true, "question": true, "content": true, "seed": true, "item": true, "query": true,
	"sentence": true,
}

// jsonItems finds the items of a reply that holds JSON: from the first line that
// begins with { or with [ and goes on as JSON does. What is complete before an
// error counts where the reply was cut, and otherwise where the error comes
// behind the value, in remarks, or is a comma too many.
func jsonItems(reply string, cut bool) []string {
	start := jsonStart(reply)
	if start < 0 {
		return nil
	}
	w := walker{dec: json.NewDecoder(strings.NewReader(reply[start:]))}
	err := w.walk()
	behind := len(w.stack) == 0
	if err != nil && !behind && !cut {
		rest := strings.TrimSpace(reply[start+int(w.dec.InputOffset()):])
		if rest != "" && !strings.HasPrefix(rest, ",") && rest[0] != ']' && rest[0] != '}' {
			return nil
		}
	}
	return clean(w.items)
}

// jsonStart is where JSON may start: an opening bracket at the beginning of a
// line, with a mark behind it that goes on as JSON does.
func jsonStart(s string) int {
	at := 0
	for line := range strings.Lines(s) {
		trimmed := strings.TrimLeft(line, " \t")
		if trimmed != "" && (trimmed[0] == '[' || trimmed[0] == '{') {
			start := at + len(line) - len(trimmed)
			rest := strings.TrimLeft(s[start:], " \t\n[{")
			if strings.HasPrefix(rest, `"`) {
				return start
			}
			return -1
		}
		at += len(line)
	}
	return -1
}

// walker goes through the tokens of JSON values and collects the strings that
// are items.
type walker struct {
	dec   *json.Decoder
	stack []level
	items []string
}

// level is a list or an object that is open.
type level struct {
	object bool
	// key is the name of the field that is being read, once known is set.
	key   string
	known bool
}

// walk reads to the first error, which is io.EOF at the end.
func (w *walker) walk() error {
	for {
		token, err := w.dec.Token()
		if err != nil {
			return err
		}
		var top *level
		if len(w.stack) > 0 {
			top = &w.stack[len(w.stack)-1]
		}
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '[', '{':
				w.stack = append(w.stack, level{object: t == '{'})
				continue // the value is not over
			default:
				w.stack = w.stack[:len(w.stack)-1]
				if len(w.stack) > 0 {
					w.stack[len(w.stack)-1].known = false
				}
				continue
			}
		case string:
			switch {
			case top == nil:
				// A bare string is a remark.
			case top.object && !top.known:
				top.key, top.known = t, true
				continue
			case !top.object || isTextField(top.key):
				w.items = append(w.items, t)
			}
		}
		if top != nil {
			top.known = false
		}
	}
}

// isTextField reports whether a field of this name holds an item.
func isTextField(name string) bool {
	return textFields[strings.TrimRight(strings.ToLower(name), "_- 0123456789")]
}
