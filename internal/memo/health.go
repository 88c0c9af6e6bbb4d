package memo

// Health is what a check of a store found.
type Health struct {
	// Kinds are the kinds of things that a store holds, such as calls.
	Kinds []KindHealth `json:"kinds"`
	// Faults are what the database says of its own structure, at most some of it.
	Faults []string `json:"faults"`
}

// KindHealth counts what is there of a kind. What cannot be read, and what is not what
// its hash says, is lost.
type KindHealth struct {
	Kind string `json:"kind"`
	Good int    `json:"good"`
	Lost int    `json:"lost"`
}

// Sound reports whether nothing is wrong.
func (h Health) Sound() bool {
	for _, k := range h.Kinds {
		if k.Lost > 0 {
			return false
		}
	}
	return len(h.Faults) == 0
}
