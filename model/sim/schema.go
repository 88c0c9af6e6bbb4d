package sim

import (
	"bytes"
	"encoding/json"
)

// structured is what a reply says in its parts.
type structured struct {
	// choose picks one of the words that a property allows.
	choose func(enum []string) string
	text   string
	list   []string
}

// fill gives a JSON object that fits a schema of an object with properties that
// are words to choose from, text or lists of text, which is what structured
// requests here consist of. A property of another type becomes null. A schema that
// cannot be read gives an empty object.
func (s structured) fill(schema json.RawMessage) string {
	var object struct {
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &object) != nil || len(object.Properties) == 0 {
		return "{}"
	}
	// A decoder gives the properties in their written order, which a map loses:
	// explanations come before verdicts.
	dec := json.NewDecoder(bytes.NewReader(object.Properties))
	if _, err := dec.Token(); err != nil {
		return "{}"
	}
	out := []byte{'{'}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return "{}"
		}
		var property struct {
			Type string   `json:"type"`
			Enum []string `json:"enum"`
		}
		if dec.Decode(&property) != nil {
			return "{}"
		}
		var value any
		switch {
		case len(property.Enum) > 0:
			value = s.choose(property.Enum)
		case property.Type == "string":
			value = s.text
		case property.Type == "array":
			value = s.list
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, encode(name)...)
		out = append(out, ':')
		out = append(out, encode(value)...)
	}
	return string(append(out, '}'))
}

// always chooses one word, whatever else there is.
func always(word string) func([]string) string { return func([]string) string { return word } }
