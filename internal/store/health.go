package store

import "slices"

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
	// Faults are what is wrong with the structure of the file: of its pages only the first
	// fault.
	Faults []string `json:"faults"`
}

// KindHealth counts what is there of a kind. What cannot be read, and what is not what
// its checksum or its hash says, is lost.
type KindHealth struct {
	Kind string `json:"kind"`
	Good int    `json:"good"`
	Lost int    `json:"lost"`
}

// Sound reports whether nothing is wrong.
func (h Health) Sound() bool {
	return len(h.Faults) == 0 && !slices.ContainsFunc(h.Kinds, func(k KindHealth) bool { return k.Lost > 0 })
}
