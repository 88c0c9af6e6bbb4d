package refusal

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

//go:embed phrases/*.txt
var phraseFiles embed.FS

//go:embed sequences.txt
var sequencesText string

// languagesText is the table of languages and of the words by which each is told; its
// format stands at its top.
//
//go:embed languages.txt
var languagesText string

//go:embed weights.txt
var weightsText string

//go:embed unable.txt
var unableText string

// nowhere is the from of free places. All states have smaller numbers.
const nowhere = math.MaxUint16

// What is built in may be of older tables, and is made of these.
func init() {
	if Version() != tablesVersion() {
		l := newLexicon(sequencesText)
		embedded = func() *lexicon { return l }
	}
}

// phraseTables are the files of phrases, by their paths, in order.
func phraseTables() []string {
	names, err := fs.Glob(phraseFiles, "phrases/*.txt")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	return names
}

// phraseText is the text of a file of phrases.
func phraseText(name string) string {
	text, err := phraseFiles.ReadFile(name)
	if err != nil {
		panic(err) // the files are embedded
	}
	return string(text)
}

// phraseLanguages are the codes of the languages that have phrases.
func phraseLanguages() (codes []string) {
	for _, name := range phraseTables() {
		codes = append(codes, strings.TrimSuffix(path.Base(name), ".txt"))
	}
	return codes
}

// tablesVersion is what Version is of these tables.
func tablesVersion() string {
	h := sha256.New()
	for _, text := range []string{languagesText, sequencesText, weightsText, unableText} {
		io.WriteString(h, text)
	}
	for _, name := range phraseTables() {
		io.WriteString(h, phraseText(name))
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}

// sentenceStart is the word of the tables that stands for the start of a sentence.
const sentenceStart = "^"

// buildAutomaton reads every table of fsys and joins them to one machine. It adds
// their words to v.
func buildAutomaton(fsys fs.FS, v vocabulary) (*automaton, error) {
	t := newTable()
	names, err := fs.Glob(fsys, "phrases/*.txt")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		if err := parseTable(name, string(text), t); err != nil {
			return nil, err
		}
	}
	a := &automaton{}
	symbols, most := symbolsOf(t)
	if err := t.check(symbols); err != nil {
		return nil, err
	}
	for folded, n := range t.numbers {
		v.of(folded).symbol = symbols[n]
	}
	for _, folded := range t.skip {
		v.of(folded).symbol = symbolSkip
	}
	for _, folded := range slices.Sorted(maps.Keys(t.alias)) {
		v.of(folded).symbol = symbolExpand + uint16(len(a.expand))
		var seq []uint16
		for _, w := range t.alias[folded] {
			seq = append(seq, symbols[t.numbers[w]])
		}
		a.expand = append(a.expand, seq)
	}
	a.moves = newTransitions(most)
	if !a.addPhrases(positionsOf(t, symbols)) {
		return nil, fmt.Errorf("the phrases need more than %d states, or as many ends", nowhere)
	}
	a.begin = a.moves.start(symbols[t.numbers[sentenceStart]])
	return a, nil
}

// symbolsOf gives the symbols of words by their numbers, from 2 on, and the greatest.
// All words that stand in exactly the same places of the phrases have one symbol; one
// that another word is read as has its own.
func symbolsOf(t *table) (symbols []uint16, most uint16) {
	stands := make([][]byte, len(t.numbers)+1)
	n := uint32(0)
	for _, p := range t.phrases {
		for _, place := range p.places {
			n++
			for _, w := range place.words {
				stands[w] = binary.LittleEndian.AppendUint32(stands[w], n)
			}
			for _, text := range place.texts {
				for _, w := range text {
					n++
					stands[w] = binary.LittleEndian.AppendUint32(stands[w], n)
				}
			}
		}
	}
	for _, words := range t.alias {
		for _, w := range words {
			stands[t.numbers[w]] = binary.LittleEndian.AppendUint32(nil, n+uint32(t.numbers[w]))
		}
	}
	symbols, most = make([]uint16, len(stands)), symbolSkip
	known := map[string]uint16{}
	for w := range stands {
		if stands[w] == nil {
			continue // in no phrase
		}
		if known[string(stands[w])] == 0 {
			most++
			known[string(stands[w])] = most
		}
		symbols[w] = known[string(stands[w])]
	}
	return symbols, most
}

// A position is where reading a phrase can be (Glushkov, 1961): before it, or just past
// one of its words.
type position struct {
	symbols []uint16
	meaning meaning
	// next are those that a further word can lead to, and ends is true when none is needed.
	next []uint32
	ends bool
}

// positionsOf gives the positions of all phrases, and where they begin.
func positionsOf(t *table, symbols []uint16) (all []position, begins []uint32) {
	for _, p := range t.phrases {
		// add makes a position after others.
		add := func(after []uint32, words ...uint16) uint32 {
			s := position{meaning: p.meaning}
			for _, w := range words {
				s.symbols = append(s.symbols, symbols[w])
			}
			slices.Sort(s.symbols)
			s.symbols = slices.Compact(s.symbols)
			at := uint32(len(all))
			all = append(all, s)
			for _, from := range after {
				all[from].next = append(all[from].next, at)
			}
			return at
		}
		reached := []uint32{add(nil)}
		begins = append(begins, reached[0])
		for _, place := range p.places {
			var next []uint32
			if len(place.words) > 0 {
				next = append(next, add(reached, place.words...))
			}
			for _, text := range place.texts {
				after := reached
				for _, w := range text {
					after = []uint32{add(after, w)}
				}
				next = append(next, after...)
			}
			if place.optional {
				next = append(next, reached...)
			}
			reached = next
		}
		for _, at := range reached {
			all[at].ends = true
		}
	}
	return all, begins
}

// addPhrases makes the states of all phrases at once. A state stands for all words that
// can have been read alike: those that lead to the same positions, are as many, and have
// the same next shorter state, so that the same follows from them. It stops and gives
// false where the states or the ends become too many to be numbered.
func (a *automaton) addPhrases(positions []position, begins []uint32) bool {
	type reached struct {
		at    []uint32 // the positions, in order
		words uint8
	}
	all := []reached{{at: begins}} // by state
	known := map[string]uint32{}
	a.states, a.ends = make([]state, 1), make([]end, 1)
	var passed []uint64 // a symbol, and the position that it leads to
	var next []branch
	var key []byte
	for n := 0; n < len(all); n++ {
		from, fail := all[n], uint32(a.states[n].fail)
		a.states[n].first = a.endsOf(positions, from.at, from.words, a.states[fail].first)
		passed = passed[:0]
		for _, i := range from.at {
			for _, to := range positions[i].next {
				for _, s := range positions[to].symbols {
					passed = append(passed, uint64(s)<<32|uint64(to))
				}
			}
		}
		slices.Sort(passed)
		passed = slices.Compact(passed)
		next = next[:0]
		for i := 0; i < len(passed); {
			first, symbol, shorter := i, uint16(passed[i]>>32), uint32(0)
			if n > 0 {
				shorter = a.step(fail, symbol)
			}
			key = binary.LittleEndian.AppendUint32(append(key[:0], from.words), shorter)
			for ; i < len(passed) && uint16(passed[i]>>32) == symbol; i++ {
				key = binary.LittleEndian.AppendUint32(key, uint32(passed[i]))
			}
			to, ok := known[string(key)]
			if !ok {
				to = uint32(len(all))
				known[string(key)] = to
				at := make([]uint32, 0, i-first)
				for _, p := range passed[first:i] {
					at = append(at, uint32(p))
				}
				all = append(all, reached{at, from.words + 1})
				a.states = append(a.states, state{fail: uint16(shorter)})
			}
			next = append(next, branch{symbol: symbol, to: uint16(to)})
		}
		if len(a.states) > nowhere || len(a.ends) > math.MaxUint16 {
			return false
		}
		a.states[n].row = a.moves.add(uint32(n), next)
	}
	return true
}

// endsOf adds the ends of phrases in a state that is at some positions after some words:
// the first of the phrases that end there, one of kindUnable or kindPermit beside it, and those of the
// next shorter state. It gives where in ends they begin, 0 for none.
func (a *automaton) endsOf(positions []position, at []uint32, words uint8, shorter uint16) uint16 {
	if words == 0 {
		return 0
	}
	first, more := uint16(len(a.ends)), a.endsFrom(shorter)
	var here []end
	for _, unable := range []bool{false, true} {
		for _, i := range at {
			if p := positions[i]; p.ends && (p.meaning.kind == kindUnable || p.meaning.kind == kindPermit) == unable {
				here = append(here, end{meaning: p.meaning, words: words})
				break
			}
		}
	}
	if here == nil {
		return shorter
	}
	for i := range here {
		here[i].more = uint8(len(here) - 1 - i + len(more))
	}
	a.ends = slices.Concat(a.ends, here, more)
	return first
}

// A phrase is one parsed line of a table.
type phrase struct {
	places  []phrasePlace
	meaning meaning
}

// A phrasePlace has the numbers of the words of which one may stand there, and the
// texts of several words that may stand there instead.
type phrasePlace struct {
	words    []uint16
	texts    [][]uint16
	optional bool
}

// A table is what the tables of phrases say, words by their numbers, from 1 on.
type table struct {
	numbers map[string]uint16
	phrases []phrase
	skip    []string
	alias   map[string][]string
}

func newTable() *table {
	return &table{numbers: map[string]uint16{}, alias: map[string][]string{}}
}

// number gives a word its number.
func (t *table) number(word string) uint16 {
	n, ok := t.numbers[word]
	if !ok {
		n = uint16(len(t.numbers) + 1)
		t.numbers[word] = n
	}
	return n
}

// parseTable reads a phrase table. Its format is explained in phrases/en.txt.
func parseTable(name, text string, t *table) error {
	classes := map[string]phrasePlace{}
	section := meaning{kind: kinds}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		line = foldWord(strings.TrimSpace(line))
		if line == "" {
			continue
		}
		fail := func(problem string) error {
			return fmt.Errorf("%s:%d: %s", name, i+1, problem)
		}
		if head, rest, ok := strings.Cut(line, ":"); ok {
			what, arg, _ := strings.Cut(head, " ")
			switch what {
			case "class":
				class := classes[arg]
				for _, w := range strings.Fields(rest) {
					if problem := t.alternative(&class, classes, w); problem != "" {
						return fail(problem)
					}
				}
				classes[arg] = class
			case "skip":
				t.skip = append(t.skip, strings.Fields(rest)...)
			case "alias":
				t.alias[arg] = strings.Fields(rest)
				for _, w := range t.alias[arg] {
					t.number(w)
				}
			default:
				return fail("unknown word before the colon: " + what)
			}
			continue
		}
		if inner, ok := strings.CutPrefix(line, "["); ok {
			fields := strings.Fields(strings.TrimSuffix(inner, "]"))
			k := slices.Index(kindNames, fields[0])
			if k < 0 {
				return fail("unknown kind " + fields[0])
			}
			section = meaning{kind: kind(k)}
			if len(fields) > 1 {
				r := slices.Index(reasonNames[:], fields[1])
				if r < 0 {
					return fail("unknown reason " + fields[1])
				}
				section.reason = uint8(r)
			}
			continue
		}
		if section.kind == kinds {
			return fail("a phrase stands before the first [kind]")
		}
		p := phrase{meaning: section}
		line, p.meaning.own = strings.CutPrefix(line, "@ ")
		for _, field := range strings.Fields(line) {
			var place phrasePlace
			field, place.optional = strings.CutSuffix(field, "?")
			for alt := range strings.SplitSeq(field, "|") {
				if problem := t.alternative(&place, classes, alt); problem != "" {
					return fail(problem)
				}
			}
			p.places = append(p.places, place)
		}
		t.phrases = append(t.phrases, p)
	}
	return nil
}

// alternative adds what may stand at a place: all of a class, a word, or a text of Chinese
// characters, syllables and the like, which are a word each. It says what is wrong with it.
func (t *table) alternative(place *phrasePlace, classes map[string]phrasePlace, alt string) (problem string) {
	if inner, ok := strings.CutPrefix(alt, "<"); ok {
		class, ok := classes[strings.TrimSuffix(inner, ">")]
		if !ok {
			return "unknown class " + alt
		}
		place.words, place.texts = append(place.words, class.words...), append(place.texts, class.texts...)
		return ""
	}
	if alt == "" {
		return "nothing stands beside a |"
	}
	if chars := []rune(alt); !isIdeograph(chars[0]) || len(chars) == 1 {
		place.words = append(place.words, t.number(alt))
		return ""
	}
	var text []uint16
	s := scanner{text: alt}
	for kind := s.next(); kind != tokenEnd; kind = s.next() {
		if kind == tokenWord {
			text = append(text, t.number(alt[s.start:s.end]))
		}
	}
	place.texts = append(place.texts, text)
	return ""
}

// check refuses words that are used in two ways, of which one would be lost.
func (t *table) check(symbols []uint16) error {
	for _, w := range t.skip {
		if symbols[t.numbers[w]] != 0 || t.alias[w] != nil {
			return fmt.Errorf("%q is skipped, so no phrase can have it", w)
		}
	}
	for _, w := range slices.Sorted(maps.Keys(t.alias)) {
		if len(t.alias[w]) > maxAlias {
			return fmt.Errorf("%q is read as %d words, want %d or fewer", w, len(t.alias[w]), maxAlias)
		}
		if symbols[t.numbers[w]] != 0 {
			return fmt.Errorf("%q is read as other words, so no phrase can have it", w)
		}
	}
	return nil
}

// vocabulary collects the words of the tables, folded.
type vocabulary map[string]*word

// of gives what is known of a word, to be added to.
func (v vocabulary) of(folded string) *word {
	if v[folded] == nil {
		v[folded] = new(word)
	}
	return v[folded]
}

// newLexicon builds a lexicon with the given weights of sequences.
func newLexicon(sequences string) *lexicon {
	l, v := new(lexicon), vocabulary{}
	var err error
	if l.phrases, err = buildAutomaton(phraseFiles, v); err != nil {
		panic("refusal: the embedded phrase tables are broken: " + err.Error())
	}
	if l.sequences, err = parseSequences(sequences, v); err != nil {
		panic("refusal: sequences.txt is broken; go generate ./refusal makes it anew: " + err.Error())
	}
	var tongues map[string]uint16
	if l.languages, tongues, err = parseLanguages(); err != nil {
		panic("refusal: languages.txt is broken: " + err.Error())
	}
	if l.weights, err = parseWeights(weightsText); err != nil {
		panic("refusal: weights.txt is broken; go generate ./refusal makes it anew: " + err.Error())
	}
	if err := parseLacking(unableText, l, v); err != nil {
		panic("refusal: unable.txt is broken; go generate ./refusal makes it anew: " + err.Error())
	}
	for folded, set := range tongues {
		v.of(folded).tongues = set
	}
	for _, w := range selfWords {
		v.of(w).self = true
	}
	entries := make([]entry, 0, len(v))
	for folded, w := range v {
		entries = append(entries, entry{hashWord(folded), *w})
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.hash, b.hash) })
	l.index(entries)
	return l
}

// selfWords are the words that stand for the model.
var selfWords = []string{
	"i", "we", "my", "me", "ai", "im", "i'm", "i'd", "our", "i'll", "i've", "team", "we're", "we'll", "model", "system", "chatbot", "assistant",
}

// appendBuilt writes a lexicon behind a line of its version.
func (l *lexicon) appendBuilt(b []byte) []byte {
	c := codec{text: append(append(b, tablesVersion()...), '\n')}
	entries := slices.DeleteFunc(slices.Clone(l.entries), func(e entry) bool { return e.hash == 0 })
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.hash, b.hash) })
	l.code(&c, &entries)
	return c.text
}

// A branch is a move of a state whose row is being added.
type branch struct{ symbol, to uint16 }

// newTransitions makes a table of symbols up to the greatest.
func newTransitions(most uint16) transitions {
	t := transitions{most: most, free: uint32(most) + 1}
	t.grow(int(t.free))
	return t
}

// add gives a state its moves, in the order of their symbols, and returns its row, by
// which next finds them. A state is added once, and is below nowhere.
func (t *transitions) add(state uint32, next []branch) (row uint32) {
	if state == 0 || len(next) == 0 {
		for _, b := range next {
			t.moves[b.symbol] = move{0, b.to}
		}
		return 0
	}
	for int(t.free) < len(t.moves) && t.moves[t.free].from != nowhere {
		t.free++
	}
	row = t.free - uint32(next[0].symbol)
	if len(next) > 1 {
		for row = max(row, t.several); !t.fits(row, next); {
			row++
		}
		t.several = row
	}
	t.grow(int(row) + int(t.most) + 1)
	for _, b := range next {
		t.moves[row+uint32(b.symbol)] = move{uint16(state), b.to}
	}
	return row
}

// grow makes room for n moves.
func (t *transitions) grow(n int) {
	for len(t.moves) < n {
		t.moves = append(t.moves, move{from: nowhere})
	}
}

// fits reports whether the places of all branches in a row are free.
func (t *transitions) fits(row uint32, next []branch) bool {
	for _, b := range next {
		if to := int(row) + int(b.symbol); to < len(t.moves) && t.moves[to].from != nowhere {
			return false
		}
	}
	return true
}

// The words of sequences.txt that stand for no word: the end of a sentence, the
// beginning before a sequence of it, and the start of the text.
const (
	stopWord  = "."
	headWord  = ">"
	startWord = "^"
)

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

// measured are the languages of which labeled answers, or a good number of plain
// refusals, were looked at.
var measured = []string{"en", "fr", "de", "es", "it", "pt", "zh", "ko"}

// sure are the languages that are read well enough to judge uncertain answers.
var sure = []string{"en", "fr", "de", "es", "it", "pt", "zh"}

// parseLanguages reads languagesText. It also gives the sets of languages that have a
// word, by the folded word; 0 is that of none.
func parseLanguages() (t *languageTable, sets map[string]uint16, err error) {
	t = &languageTable{sets: [][]uint8{nil}}
	known := map[string][]uint8{}
	for i, line := range strings.Split(languagesText, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		head, words, ok := strings.Cut(line, ":")
		code, name, named := strings.Cut(head, " ")
		if !ok || !named {
			return nil, nil, fmt.Errorf("line %d: want code, name, colon, words", i+1)
		}
		n := uint8(len(t.all))
		if n == maxLanguages-1 {
			return nil, nil, fmt.Errorf("line %d: more than %d languages", i+1, maxLanguages-1)
		}
		l := language{code: code, read: slices.Contains(phraseLanguages(), code), thin: !slices.Contains(measured, code), sure: slices.Contains(sure, code)}
		l.cause = "the answer is in " + name + ", which lexical does not read"
		if l.read {
			l.cause = "the answer is in " + name + ", which lexical reads less well than English, and it is not sure of this one"
			if t.read++; int(t.read) != len(t.all)+1 {
				return nil, nil, fmt.Errorf("line %d: a language with phrases stands behind one without", i+1)
			}
		}
		t.all = append(t.all, l)
		for s := range scriptTable {
			if scriptTable[s].code == code {
				t.byScript[s] = n
			}
		}
		for _, word := range strings.Fields(words) {
			if word = foldWord(word); !slices.Contains(known[word], n) {
				known[word] = append(known[word], n)
			}
		}
	}
	t.all = append(t.all, language{cause: "the answer is in a language that lexical does not read"})
	sets = map[string]uint16{}
	for _, folded := range slices.Sorted(maps.Keys(known)) {
		sets[folded] = uint16(len(t.sets))
		t.sets = append(t.sets, known[folded])
	}
	return t, sets, nil
}

// parseWeights reads lines of a feature's name and its weight, in any order.
// Each feature has one line, and no other name has any. Empty lines and lines
// that start with # are passed over.
func parseWeights(text string) (*vector, error) {
	var w vector
	var known [maxFeatures]bool
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, _ := strings.Cut(line, " ")
		at := slices.IndexFunc(features, func(f feature) bool { return f.name == name })
		switch {
		case at < 0:
			return nil, fmt.Errorf("line %d: no feature is called %s", i+1, name)
		case known[at]:
			return nil, fmt.Errorf("line %d: %s has a weight already", i+1, name)
		}
		known[at] = true
		var err error
		if w[at], err = strconv.ParseFloat(strings.TrimSpace(value), 64); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	for i, f := range features {
		if !known[i] {
			return nil, fmt.Errorf("%s has no weight", f.name)
		}
	}
	return &w, nil
}

// parseLacking reads lines of two weights and a word; the bias is that of startWord. Lines that
// start with # are passed over. It adds the words to v.
func parseLacking(text string, l *lexicon, v vocabulary) error {
	n := 0
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		var weights [2]float64
		var word string
		if _, err := fmt.Sscan(line, &weights[0], &weights[1], &word); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		if word == startWord {
			l.lacking[0] = weights
			continue
		}
		if n++; n >= maxLacking {
			return fmt.Errorf("line %d: more than %d words", i+1, maxLacking-1)
		}
		v.of(word).lacking, l.lacking[n] = uint8(n), weights
	}
	return nil
}

// foldWord writes a word as the scanner reads it, so that words of the tables
// which differ by accents or apostrophes alone are one.
func foldWord(word string) string {
	var folded []byte
	for _, r := range word {
		switch {
		case unicode.Is(unicode.Mn, r):
			continue
		case r == '’' || r == 'ʼ' || r == '‘':
			r = '\''
		}
		buf, n := foldRune(r)
		folded = append(folded, buf[:n]...)
	}
	return string(folded)
}
