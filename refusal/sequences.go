package refusal

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench/model"
)

//go:embed sequences.txt
var sequencesText string

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

// The words of sequences.txt that stand for no word: the end of a sentence, the
// beginning before a sequence of it, and the start of the text.
const (
	stopWord  = "."
	headWord  = ">"
	startWord = "^"
)

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

// parseSequences reads lines of a weight and a sequence, which is of the beginning
// when it starts with headWord. Lines that start with # are passed over. It adds the
// words to v.
func parseSequences(text string, v vocabulary) (*sequenceTable, error) {
	t := &sequenceTable{}
	numbered := uint16(0)
	number := func(folded string) uint16 {
		w := v.of(folded)
		if w.number == 0 {
			numbered++
			w.number = numbered
		}
		return w.number
	}
	t.stop, t.start = number(stopWord), number(startWord)
	nodes, at := make([][]branch, 1), make([][2]uint16, 1)
	t.weights = []uint64{0}
	known := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		value, sequence, _ := strings.Cut(line, " ")
		weight, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if known[sequence] {
			return nil, fmt.Errorf("line %d: %q has a weight already", i+1, sequence)
		}
		known[sequence] = true
		words := strings.Fields(sequence)
		head := 0
		if len(words) > 1 && words[0] == headWord {
			head, words = 1, words[1:]
		}
		if len(words) > sequenceWords {
			return nil, fmt.Errorf("line %d: %q is longer than %d words", i+1, sequence, sequenceWords)
		}
		n := uint32(0)
		for _, w := range slices.Backward(words) {
			symbol := number(w)
			i, ok := slices.BinarySearchFunc(nodes[n], symbol, func(b branch, s uint16) int { return int(b.symbol) - int(s) })
			if !ok {
				nodes[n] = slices.Insert(nodes[n], i, branch{symbol: symbol, to: uint16(len(nodes))})
				nodes, at = append(nodes, nil), append(at, [2]uint16{})
			}
			n = uint32(nodes[n][i].to)
		}
		i := slices.Index(t.weights, math.Float64bits(weight))
		if i < 0 {
			i = len(t.weights)
			t.weights = append(t.weights, math.Float64bits(weight))
		}
		at[n][head] = uint16(i)
	}
	// The nodes are placed breadth first, so that those which are met most stand together.
	moves := newTransitions(numbered)
	rows, places := make([]uint32, len(nodes)), make([]uint16, len(nodes))
	for order := []uint32{0}; len(order) > 0; order = order[1:] {
		n := order[0]
		rows[n] = moves.add(n, nodes[n])
		for _, b := range nodes[n] {
			places[b.to] = uint16(rows[n]) + b.symbol
			order = append(order, uint32(b.to))
		}
	}
	if len(moves.moves) > maxSequences {
		return nil, fmt.Errorf("more than %d places of sequences", maxSequences)
	}
	for _, m := range moves.moves {
		s := sequence{from: nowhere}
		if m.from != nowhere {
			s = sequence{places[m.from], uint16(rows[m.to]), at[m.to]}
		}
		t.places = append(t.places, s)
	}
	return t, nil
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

// Sequences gives the sequences of words of an answer that Detect looks up in its
// table of weights, each once: to train the weights anew. They are of one to three
// words, folded, with a point for the end of a sentence and ^ for the start of the
// text; those of the beginning are given a second time after a >. Code is left out.
func Sequences(answer string) []string {
	answer, _ = model.CutThinking(answer)
	var (
		s     = scanner{text: answer, lineStart: true}
		w     window
		words = []string{startWord}
		code  bool
		list  []string
		seen  = map[string]bool{}
	)
	add := func(text string) {
		if !seen[text] {
			seen[text] = true
			list = append(list, text)
		}
	}
	for {
		var word string
		var longest int
		var head bool
		switch s.next() {
		case tokenEnd:
			return list
		case tokenFence:
			code = !code
		case tokenWord:
			if !code {
				word = foldWord(answer[s.start:s.end])
				longest, head = w.word(s.wide())
			}
		case tokenStop, tokenItem:
			word = stopWord
			longest, head = w.stop()
		}
		if longest == 0 {
			continue
		}
		words = append(words, word)
		for n := range longest {
			if words[len(words)-1-n] == "" {
				break // a word of marks alone cannot be written down
			}
			text := strings.Join(words[len(words)-1-n:], " ")
			add(text)
			if head {
				add(headWord + " " + text)
			}
		}
	}
}

// logistic gives the probability of a sum.
func logistic(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
