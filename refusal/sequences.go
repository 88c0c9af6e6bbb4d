package refusal

import (
	"math"
)

const (
	// maxSequenceWords bounds the words of an answer of which sequences are taken.
	// What follows mostly goes on as the answer began.
	maxSequenceWords = 100
	// wideWords is the number of single characters that count as one word against the
	// bounds here.
	wideWords = 6
	// headSentences and headWords bound the beginning, whose sequences count once
	// more by themselves.
	headSentences = 2
	headWords     = 40
	// sequenceWords is the greatest length of a sequence.
	sequenceWords = 3
	// maxSequences bounds the places of sequences.
	maxSequences = 1 << 15
)

// A window follows the words of an answer and tells which of the sequences that end
// with each are looked up.
type window struct {
	words int
	// wide counts those of words that are single characters.
	wide      int
	sentences int
	// open is true when a word has come since the last end of a sentence.
	open bool
}

// length is what the words come to against the bounds.
func (w *window) length() int { return w.words - w.wide + w.wide/wideWords }

// full reports whether no more sequences are taken.
func (w *window) full() bool { return w.length() >= maxSequenceWords }

// word moves on by one word, which may be wide: a single character. It gives the
// greatest length of the sequences that end with it, none past the bound, and whether
// they are of the beginning.
func (w *window) word(wide bool) (longest int, head bool) {
	w.open = true
	if wide && !w.full() {
		w.wide++
	}
	return w.next()
}

// stop moves on by the end of a sentence; one without words is passed over.
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
	// places are those of transitions through the numbers of a sequence's words, the last
	// one first. One move leads to each sequence, and it stands in the place of that.
	places []sequence
	// weights are the bits of the weights that there are, few enough to stay in the
	// cache.
	weights []uint64
	// stop and start are the numbers of stopWord and startWord.
	stop, start uint16
}

// A sequence, or what some end with, has the place that it is a word longer than,
// nowhere for none, the row of those that are longer, and where in weights its
// weight is, and that of it in the beginning.
type sequence struct {
	from, row uint16
	weights   [2]uint16
}

// A trail is the sequences of an answer up to where it is read: its last words, and
// which known sequences it has.
type trail struct {
	window
	last [sequenceWords - 1]uint16 // the last word first
	// seen has two bits for each place, one of them for the sequence in the beginning.
	seen [maxSequences / 32]uint64
}

// weigh adds up the weights of the sequences that end with the word of the given number,
// as its window tells their length, and were not seen before.
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
		// Without a branch that nobody could foretell: what was seen adds 0.
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

// logistic gives the probability of a sum.
func logistic(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
