package question

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
)

// Delimiters separate untrusted text from the question about it.
//
// Both parts are derived from the text alone, so that the same case gives the same
// request and is found in the store again. Neither part occurs in the text. The text's
// author cannot insert them: they follow from a hash of the whole text, so inserting them
// changes them.
type Delimiters struct {
	// Fence is the code on the lines that open and close the text.
	Fence string
	// Marker is the word that announces the verdict in the reply. It is the plain word
	// given to Delimit, which small models copy reliably. If the text contains that word,
	// plainly or in disguise, a code follows it. So a reply that repeats a part of the
	// text, unchanged or cleaned up, never repeats a marker.
	Marker string
}

// Delimit derives the delimiters of texts. word is the marker to use if possible, in
// lower case, such as "verdict".
func Delimit(word string, texts ...string) Delimiters {
	lower := make([]string, len(texts))
	for i, t := range texts {
		lower[i] = lowerASCII(t)
	}
	occurs := func(s string) bool {
		return slices.ContainsFunc(lower, func(t string) bool { return strings.Contains(t, s) })
	}
	d := Delimiters{Marker: word}
	taken := occurs(word) || slices.ContainsFunc(texts, func(t string) bool { return disguised(word, t) })
	for n := uint64(0); ; n++ {
		code := codeOf(n, texts)
		d.Fence = code[:16]
		if taken {
			d.Marker = word + "_" + code[16:24]
		}
		if !occurs(d.Fence) && !occurs(d.Marker) {
			return d
		}
	}
}

// lowerASCII is strings.ToLower for who looks for ASCII alone.
func lowerASCII(text string) string {
	if strings.Contains(text, "\u0130") || strings.Contains(text, "\u212a") {
		return strings.ToLower(text) // a dotted I and the sign of Kelvin become ASCII
	}
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// codeOf hashes the texts with their lengths, so that moving a boundary
// between them changes the code.
func codeOf(n uint64, texts []string) string {
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
