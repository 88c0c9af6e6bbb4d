package refusal

import "math"

const (
	// maxSequenceWords bounds the words of an answer from which sequences are taken. The
	// rest mostly continues as the answer began.
	maxSequenceWords = 100
	// wideWords is the number of single characters that count as one word for the bounds
	// here.
	wideWords = 6
	// headSentences and headWords bound the beginning. Its sequences count a second time,
	// separately.
	headSentences = 2
	headWords     = 40
	// sequenceWords is the length of the longest sequence.
	sequenceWords = 3
	// maxSequences is the most places for sequences.
	maxSequences = 1 << 15
)

// A window follows the words of an answer and decides which sequences ending with each
// word are looked up.
type window struct {
	words int
	// wide counts the words that are single characters.
	wide      int
	sentences int
	// open is true if a word has come since the last end of a sentence.
	open bool
}

// length is the number of words for the bounds.
func (w *window) length() int { return w.words - w.wide + w.wide/wideWords }

// full reports whether no more sequences are taken.
func (w *window) full() bool { return w.length() >= maxSequenceWords }

// word advances by one word, which may be wide: a single character. It gives the length
// of the longest sequences that end with it, 0 beyond the bound, and whether they are in
// the beginning.
func (w *window) word(wide bool) (longest int, head bool) {
	w.open = true
	if wide && !w.full() {
		w.wide++
	}
	return w.next()
}

// stop advances past the end of a sentence; a sentence without words is skipped.
func (w *window) stop() (longest int, head bool) {
	if !w.open {
		return 0, false
	}
	w.open = false
	longest, head = w.next()
	w.sentences++
	return longest, head
}

func (w *window) next() (longest int, head bool) {
	if w.full() {
		return 0, false
	}
	w.words++
	return min(w.words+1, sequenceWords), w.sentences < headSentences && w.length() <= headWords
}

// A sequenceTable has the weights of the known sequences.
type sequenceTable struct {
	// places are the places of transitions on the numbers of a sequence's words, the last
	// word first. Exactly one move leads to each sequence, and the sequence is stored at
	// the place of that move.
	places []sequence
	// weights are the bits of the distinct weights, few enough to stay in the cache.
	weights []uint64
	// stop and start are the numbers of stopWord and startWord.
	stop, start uint16
}

// A sequence is a known sequence or an ending of one. It has the place of the sequence
// that is one word shorter (nowhere for none), the row of the longer ones, and the
// indexes in weights of its weight and of its weight in the beginning.
type sequence struct {
	from, row uint16
	weights   [2]uint16
}

// A trail is the state of an answer's sequences up to the point reached: the last words,
// and which known sequences have occurred.
type trail struct {
	window
	last [sequenceWords - 1]uint16 // the last word first
	// seen has two bits for each place; one of them is for the sequence in the beginning.
	seen [maxSequences / 32]uint64
}

// weigh adds up the weights of the sequences that end with the word of the given number,
// up to the length from its window, and have not occurred before.
func (t *trail) weigh(table *sequenceTable, number uint16, longest int, head bool) (sum float64) {
	if longest == 0 {
		return 0
	}
	if t.words == 1 {
		t.last[0] = table.start
	}
	inHead := uint64(0)
	if head {
		inHead = 1
	}
	from, at := uint16(0), number
	for n := 0; ; n++ {
		s := &table.places[at]
		if s.from != from {
			break
		}
		seen := &t.seen[at>>5]
		// This avoids an unpredictable branch: a sequence already seen adds 0.
		bits := (1 | inHead<<1) << (2 * (at & 31))
		fresh := (bits &^ *seen) >> (2 * (at & 31))
		*seen |= bits
		sum += math.Float64frombits(table.weights[s.weights[0]] & -(fresh & 1))
		sum += math.Float64frombits(table.weights[s.weights[1]] & -(fresh >> 1))
		if n+1 >= longest {
			break
		}
		from, at = at, s.row+t.last[n]
	}
	t.last[0], t.last[1] = number, t.last[0]
	return sum
}

// logistic turns a sum of weights into a probability.
func logistic(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
