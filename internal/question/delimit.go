package question

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// Seal is what sets hostile text apart from the question about it.
//
// Both parts are derived from the text alone, so that the same case gives the
// same request and is found in the memo again. Neither part occurs in the text.
// Its author can put neither there: they follow from a hash of the whole text,
// so that writing them into it changes them.
type Seal struct {
	// Fence is the code on the lines that open and close the text.
	Fence string
	// Marker is the word that announces the verdict in the reply: the plain word
	// that For was given, which small models copy without fail, or that word with
	// a code after it when the text itself holds it. A reply that repeats a part
	// of the text therefore never repeats a marker.
	Marker string
}

// For derives the seal of texts. word is the marker to use where it can be, in
// lower case, such as "verdict".
func For(word string, texts ...string) Seal {
	lower := make([]string, len(texts))
	for i, t := range texts {
		lower[i] = strings.ToLower(t)
	}
	occurs := func(s string) bool {
		for _, t := range lower {
			if strings.Contains(t, s) {
				return true
			}
		}
		return false
	}
	s := Seal{Marker: word}
	for n := uint64(0); ; n++ {
		code := sealCode(n, texts)
		s.Fence = code[:16]
		if occurs(word) {
			s.Marker = word + "_" + code[16:24]
		}
		if !occurs(s.Fence) && !occurs(s.Marker) {
			return s
		}
	}
}

// sealCode hashes the texts with their lengths, so that moving a boundary
// between them changes the code.
func sealCode(n uint64, texts []string) string {
	h := sha256.New()
	h.Write([]byte("orbench judge seal 1\n"))
	var word [8]byte
	number := func(n uint64) {
		binary.BigEndian.PutUint64(word[:], n)
		h.Write(word[:])
	}
	number(n)
	for _, t := range texts {
		number(uint64(len(t)))
		h.Write([]byte(t))
	}
	return hex.EncodeToString(h.Sum(nil))
}
