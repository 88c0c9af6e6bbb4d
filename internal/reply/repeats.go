package reply

import (
	"hash/crc32"
	"hash/maphash"
	"slices"
	"strings"
)

// The bounds of a fixed text: a reply of at most mostFixed bytes that came word for word, but
// for numbers, to at least leastUnlike messages that are unlike each other.
const (
	mostFixed   = 1000
	leastUnlike = 5
	// leastWord is the length of the shortest word in bytes that says what a message is about.
	leastWord = 4
)

// sketch has the smallest hashes of the words of a message, without short ones, which most
// messages share. Two messages that share at most half of them are unlike.
type sketch [4]uint32

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sketchOf makes the sketch of a message. Places that it has no word for are 0. It is the
// same in every process, so that a log always has the same fixed texts.
func sketchOf(message string) (s sketch) {
	n := 0
	for word := range strings.FieldsSeq(message) {
		if len(word) < leastWord {
			continue
		}
		h := crc32.Checksum([]byte(strings.ToLower(word)), castagnoli) | 1
		if slices.Contains(s[:n], h) {
			continue
		}
		if n < len(s) {
			s[n] = h
			n++
		} else if h < s[n-1] {
			s[n-1] = h
		} else {
			continue
		}
		slices.Sort(s[:n])
	}
	return s
}

func (s sketch) unlike(other sketch) bool {
	shared, words := 0, 0
	for i, h := range s {
		if h != 0 && slices.Contains(other[:], h) {
			shared++
		}
		if h != 0 || other[i] != 0 {
			words++
		}
	}
	return 2*shared <= words && s != other
}

// keyOf is the number of a reply, which is never 0. Replies that differ in numbers alone, such
// as that of a ticket, have one.
func keyOf(seed maphash.Seed, reply string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for at := 0; at < len(reply); {
		end := at
		for end < len(reply) && (reply[end] < '0' || reply[end] > '9') {
			end++
		}
		_, _ = h.WriteString(reply[at:end]) // a hash takes all
		for at = end; at < len(reply) && reply[at] >= '0' && reply[at] <= '9'; at++ {
		}
		if at > end {
			_ = h.WriteByte('0')
		}
	}
	return h.Sum64() | 1
}

// Repeat is a reply that came more than once.
type Repeat struct {
	// N is how often it came, and Text the first of it.
	N    int
	Text string
	// unlike are messages that are unlike each other.
	unlike []sketch
}

// Repeats counts replies. Most come once; of these it keeps only the sketch of their message,
// in once.
type Repeats struct {
	seed maphash.Seed
	once map[uint64]sketch
	more map[uint64]*Repeat
}

// NewRepeats makes a counter of no replies.
func NewRepeats() Repeats {
	return Repeats{maphash.MakeSeed(), map[uint64]sketch{}, map[uint64]*Repeat{}}
}

// IsFixed reports whether the reply with a number is a fixed text.
func (r Repeats) IsFixed(reply uint64) bool {
	one := r.more[reply]
	return one != nil && len(one.unlike) >= leastUnlike
}

// Fixed yields the fixed texts with their numbers, in no order.
func (r Repeats) Fixed(yield func(uint64, *Repeat) bool) {
	for key, one := range r.more {
		if r.IsFixed(key) && !yield(key, one) {
			return
		}
	}
}

// Add counts a reply and gives its number, 0 for one that is too long or empty.
func (r Repeats) Add(prompt, reply string) uint64 {
	reply = strings.TrimSpace(reply)
	if len(reply) > mostFixed || reply == "" {
		return 0
	}
	key := keyOf(r.seed, reply)
	one := r.more[key]
	if one == nil {
		first, again := r.once[key]
		if !again {
			r.once[key] = sketchOf(prompt)
			return key
		}
		delete(r.once, key)
		one = &Repeat{N: 1, Text: strings.Clone(reply), unlike: []sketch{first}}
		r.more[key] = one
	}
	one.N++
	if len(one.unlike) >= leastUnlike {
		return key
	}
	s := sketchOf(prompt)
	if !slices.ContainsFunc(one.unlike, func(o sketch) bool { return !s.unlike(o) }) {
		one.unlike = append(one.unlike, s)
	}
	return key
}
