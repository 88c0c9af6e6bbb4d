package wire

import (
	"cmp"
	"encoding/json"
)

// Said is the message of an error body, or the body, and the fault's codes.
func Said(body []byte) (message string, codes []string) {
	var f struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  string          `json:"detail"`
	}
	_ = json.Unmarshal(body, &f) // a field of another type leaves the others
	// The error is an object with a message, or a text.
	var inner struct {
		Message string `json:"message"`
		Code    any    `json:"code"` // Google's is a number
		Details []struct {
			Reason string `json:"reason"`
		} `json:"details"`
	}
	var text string
	_ = json.Unmarshal(f.Error, &inner)
	_ = json.Unmarshal(f.Error, &text)
	code, _ := inner.Code.(string)
	codes = append(codes, code)
	for _, d := range inner.Details {
		codes = append(codes, d.Reason)
	}
	return cmp.Or(inner.Message, text, f.Message, f.Detail, string(body)), codes
}
