package store

import (
	"encoding/hex"
	"slices"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench/model"
)

// Damage is an error that is ErrDamaged, and says what is damaged.
type Damage string

// Error says what is damaged.
func (d Damage) Error() string { return string(d) }

// Is reports whether target is ErrDamaged.
func (d Damage) Is(target error) bool { return target == ErrDamaged }

// SaveRest says how what is intact of a damaged store is saved, whose file is quoted for a
// shell.
func SaveRest(file string) string {
	return "Save the rest with sqlite3 " + file + " .recover | sqlite3 recovered.db, then orbench store merge recovered.db `out` saved.db"
}

// Health is what a check of a store found.
type Health struct {
	// Kinds are the kinds of things that a store holds, such as calls.
	Kinds []KindHealth `json:"kinds"`
	// LostCalls names the calls that are lost, by their hash. Those of which nothing is
	// left are not among them.
	LostCalls []LostCall `json:"lost_calls"`
	// Faults are what is wrong with the structure of the file, at most some of it.
	Faults []string `json:"faults"`
}

// KindHealth counts what is there of a kind. What cannot be read, and what is not what
// its checksum or its hash says, is lost.
type KindHealth struct {
	Kind string `json:"kind"`
	Good int    `json:"good"`
	Lost int    `json:"lost"`
	// Unchecked counts those of Good that an older version wrote, without a checksum.
	Unchecked int `json:"unchecked"`
}

// LostCall is a call whose answer is lost.
type LostCall struct {
	// Hash is that of its request, in hex digits.
	Hash string `json:"hash"`
	// Model and Prompt say what was asked, where that is left; Prompt is the last
	// message.
	Model  string `json:"model,omitempty"`
	Prompt string `json:"prompt,omitempty"`
}

// Sound reports whether nothing is wrong.
func (h Health) Sound() bool { return !h.Lost() && len(h.Faults) == 0 }

// Lost reports whether anything is lost.
func (h Health) Lost() bool {
	return slices.ContainsFunc(h.Kinds, func(k KindHealth) bool { return k.Lost > 0 })
}

// LostCallOf names a call whose answer is lost, by its hash and what is left of its request.
func LostCallOf(hash, canonical []byte) LostCall {
	lost := LostCall{Hash: hex.EncodeToString(hash)}
	var request model.Request
	if len(canonical) == 0 || json.Unmarshal(canonical, &request) != nil {
		return lost
	}
	lost.Model = model.Ref{Provider: request.Provider, Endpoint: request.Endpoint, Model: request.Model}.String()
	if n := len(request.Messages); n > 0 {
		lost.Prompt = request.Messages[n-1].Content
	}
	return lost
}
