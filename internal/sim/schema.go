package sim

import (
	"bytes"
	"encoding/json"
	"strings"
)

// structured gives a JSON object that fits a schema of an object with properties that
// are words to choose from, text or lists of text, which is what structured
// requests here consist of. A property of another type becomes null. A schema that
// cannot be read gives an empty object.
func structured(schema json.RawMessage, choose func(enum []string) string, text string, list []string) string {
	var object struct {
		Properties json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(schema, &object) // what cannot be read has no properties
	// A decoder gives the properties in their written order, which a map loses:
	// explanations come before verdicts.
	dec := json.NewDecoder(bytes.NewReader(object.Properties))
	var members []string
	for opens, _ := dec.Token(); opens == json.Delim('{') && dec.More(); {
		name, _ := dec.Token()
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
			value = choose(property.Enum)
		case property.Type == "string":
			value = text
		case property.Type == "array":
			value = list
		}
		members = append(members, string(encode(name))+":"+string(encode(value)))
	}
	return "{" + strings.Join(members, ",") + "}"
}
