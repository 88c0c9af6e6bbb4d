package words

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
)

// Lists has, for each word, the texts that have it. Texts are named by numbers. New makes
// one.
type Lists struct {
	lists map[string]*list
	bytes int
	word  []byte
}

// list has the texts that have a word, in order: each as a varint of the distance to the one
// before, which is -1 for the first.
type list struct {
	last  uint32
	texts []byte
}

// New makes empty Lists.
func New() *Lists { return &Lists{lists: map[string]*list{}} }

// Bytes is about how much memory the lists take.
func (l *Lists) Bytes() int { return l.bytes }

// Add adds the words of a text, whose number is higher than that of any before.
func (l *Lists) Add(number uint32, text string) {
	l.word = Each(text, l.word, func(word []byte) {
		of := l.lists[string(word)]
		switch {
		case of == nil:
			of = &list{}
			l.lists[string(word)] = of
			l.bytes += len(word) + 120
			of.texts = binary.AppendUvarint(of.texts, uint64(number)+1)
		case of.last == number:
			return
		default:
			of.texts = binary.AppendUvarint(of.texts, uint64(number-of.last))
		}
		of.last = number
		l.bytes += 2
	})
}

// Write passes the lists to put as blocks of about a size in bytes, larger where a list is
// longer. A block has consecutive words in order, each with its length before it, followed
// by its list, likewise; lengths are varints. A block is named by its first word.
func (l *Lists) Write(size int, put func(first string, block []byte) error) error {
	words := slices.Sorted(maps.Keys(l.lists))
	var block []byte
	first := ""
	for i, w := range words {
		if len(block) == 0 {
			first = w
		}
		texts := l.lists[w].texts
		block = binary.AppendUvarint(block, uint64(len(w)))
		block = append(block, w...)
		block = binary.AppendUvarint(block, uint64(len(texts)))
		block = append(block, texts...)
		if len(block) >= size || i == len(words)-1 {
			if err := put(first, block); err != nil {
				return err
			}
			block = block[:0]
		}
	}
	return nil
}

// Set is a set of numbers, such as those of texts or of rows.
type Set []uint64

// NewSet makes an empty set for numbers below n.
func NewSet(n int) Set { return make(Set, (n+63)/64) }

// Add adds a number.
func (s Set) Add(n int) { s[n/64] |= 1 << (n % 64) }

// Has reports whether a number is in the set.
func (s Set) Has(n int) bool { return n >= 0 && n/64 < len(s) && s[n/64]>>(n%64)&1 != 0 }

// Empty reports whether the set has no number.
func (s Set) Empty() bool {
	return !slices.ContainsFunc(s, func(some uint64) bool { return some != 0 })
}

// And is the numbers that are in another set too. A nil set has all.
func (s Set) And(other Set) Set {
	if s == nil {
		return other
	}
	both := slices.Clone(s)
	for i := range both {
		both[i] &= other[i]
	}
	return both
}

// Find adds to has those texts that a block lists for a word, or for all
// words that begin with it. It reports false where the block is damaged.
func Find(block []byte, word string, prefix bool, has Set) bool {
	for len(block) > 0 {
		w, rest, ok := cut(block)
		var list []byte
		if ok {
			list, block, ok = cut(rest)
		}
		if !ok {
			return false
		}
		if string(w) != word && !(prefix && strings.HasPrefix(string(w), word)) {
			continue
		}
		number := -1
		for len(list) > 0 {
			more, size := binary.Uvarint(list)
			if number += int(more); size <= 0 || number < 0 || number/64 >= len(has) {
				return false
			}
			list = list[size:]
			has.Add(number)
		}
	}
	return true
}

// cut takes bytes after their length from the start of others.
func cut(data []byte) (part, rest []byte, ok bool) {
	n, size := binary.Uvarint(data)
	if size <= 0 || n > uint64(len(data)-size) {
		return nil, nil, false
	}
	return data[size:][:n], data[size:][n:], true
}
