package refusal

import (
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestParseTableFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"phrase before a kind", "i can not", "a phrase stands before"},
		{"unknown kind", "[sulk]\nno", "unknown kind sulk"},
		{"unknown reason", "[refuse whim]\nno", "unknown reason whim"},
		{"unknown class", "[refuse]\ni <verb>", "unknown class <verb>"},
		{"unknown word", "klass a: b", "unknown word"},
		{"empty alternative", "[refuse]\ni can||may not", "nothing stands beside"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := parseTable("x.txt", c.text, newTable())
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.txt:") {
				t.Errorf("error %v, want x.txt:LINE: …%s…", err, c.want)
			}
		})
	}
}

// TestTables holds that the embedded tables build, that no kind is without a phrase, and
// that reading takes time in proportion to the words.
func TestTables(t *testing.T) {
	a, err := buildAutomaton(phraseFiles, vocabulary{})
	if err != nil {
		t.Fatal(err)
	}
	var have [kinds]int
	for _, c := range a.ends[1:] {
		have[c.kind]++
	}
	for k, n := range have {
		if n == 0 {
			t.Errorf("no phrase is of kind %s", kindNames[k])
		}
	}
	t.Logf("%d ends of phrases, %d places", len(a.ends)-1, len(a.moves.moves))
	// A move makes a state longer by one word and a failed try makes it shorter, so that
	// reading n words takes at most 2n tries.
	next, words := make([][]uint16, len(a.states)), make([]int, len(a.states))
	for _, m := range a.moves.moves {
		if m.from != nowhere {
			next[m.from] = append(next[m.from], m.to)
		}
	}
	for from := range next {
		for _, to := range next[from] {
			if words[to] != 0 && words[to] != words[from]+1 {
				t.Errorf("moves lead to state %d by %d words and by %d", to, words[to], words[from]+1)
			}
			words[to] = words[from] + 1
		}
	}
	for n, s := range a.states[1:] {
		if words[s.fail] >= words[n+1] {
			t.Errorf("state %d of %d words fails to one of %d", n+1, words[n+1], words[s.fail])
		}
	}
}

// TestPhrasesAreFound reads wordings of phrases one after the other, and compares the
// phrases that the automaton finds at each word with those that are found by trying all.
func TestPhrasesAreFound(t *testing.T) {
	v := vocabulary{}
	a, err := buildAutomaton(phraseFiles, v)
	if err != nil {
		t.Fatal(err)
	}
	all := newTable()
	names, err := fs.Glob(phraseFiles, "phrases/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := phraseFiles.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := parseTable(name, string(text), all); err != nil {
			t.Fatal(err)
		}
	}
	symbolOf := map[uint16]uint16{} // by the number of the word
	for w, n := range all.numbers {
		if e := v[w]; e != nil {
			symbolOf[n] = e.symbol
		}
	}
	const seed, phrases = 1, 60
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var read []uint16
	state, found := uint32(0), 0
	for range phrases {
		for _, place := range all.phrases[random.IntN(len(all.phrases))].places {
			if place.optional && random.IntN(2) == 0 {
				continue
			}
			words := place.words
			if i := random.IntN(len(words) + len(place.texts)); i < len(words) {
				words = words[i : i+1]
			} else {
				words = place.texts[i-len(words)]
			}
			for _, w := range words {
				read = append(read, symbolOf[w])
				state = a.step(state, read[len(read)-1])
			}
			ends := map[int]meaning{}
			for _, e := range a.endsAt(state) {
				ends[int(e.words)] = e.meaning
			}
			for n := 1; n <= min(len(read), 20); n++ {
				at := slices.IndexFunc(all.phrases, func(p phrase) bool { return matches(p.places, read[len(read)-n:], symbolOf) })
				if at < 0 {
					continue
				}
				found++
				if got, ok := ends[n]; !ok || got != all.phrases[at].meaning {
					t.Errorf("after %d words, of the phrase %d, of %d words: found %t, %+v; want %+v", len(read), at, n, ok, got, all.phrases[at].meaning)
				}
				delete(ends, n)
			}
			if len(ends) > 0 {
				t.Errorf("after %d words phrases are found that are none: %v", len(read), ends)
			}
		}
	}
	// Each phrase is read to its end.
	if found < phrases {
		t.Errorf("%d phrases were found, want %d or more", found, phrases)
	}
}

// matches reports whether places can stand for exactly these symbols.
func matches(places []phrasePlace, symbols []uint16, symbolOf map[uint16]uint16) bool {
	if len(places) == 0 {
		return len(symbols) == 0
	}
	first, rest := places[0], places[1:]
	if first.optional && matches(rest, symbols, symbolOf) {
		return true
	}
	for _, text := range first.texts {
		same := func(w, symbol uint16) bool { return symbolOf[w] == symbol }
		if n := len(text); len(symbols) >= n && slices.EqualFunc(text, symbols[:n], same) && matches(rest, symbols[n:], symbolOf) {
			return true
		}
	}
	return len(symbols) > 0 && matches(rest, symbols[1:], symbolOf) &&
		slices.ContainsFunc(first.words, func(w uint16) bool { return symbolOf[w] == symbols[0] })
}

// TestCutAnywhere holds the verdict on text that is cut at any byte to the same
// promises as whole text.
func TestCutAnywhere(t *testing.T) {
	const answer = "<think>hm</think> Désolé, “je ne peux pas” vous aider. 对不起，我不能。 I’m sorry — I can’t: Ã© \u0301."
	for i := range len(answer) + 1 {
		for _, part := range []string{answer[:i], answer[i:]} {
			v := Detect("", part)
			if v.Span.End > len(part) || (v.Score >= 0.5) != v.Class.Refused() {
				t.Errorf("%q: %+v", part, v)
			}
		}
	}
}

// TestWeightsFaults holds that every feature has one weight by its name, in
// whatever order, and that no other name has any.
func TestWeightsFaults(t *testing.T) {
	want, err := parseWeights(weightsText)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(weightsText), "\n")[1:]
	last := len(lines) - 1
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"missing", lines[:last], strings.Fields(lines[last])[0] + " has no weight"},
		{"unknown", append(slices.Clone(lines), "sulks 1"), "no feature is called sulks"},
		{"twice", append(slices.Clone(lines), lines[last]), "has a weight already"},
		{"no number", append(slices.Clone(lines[:last]), strings.Fields(lines[last])[0]+" much"), "line "},
		{"empty", nil, "bias has no weight"},
	} {
		if _, err := parseWeights(strings.Join(c.lines, "\n")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want …%s…", c.name, err, c.want)
		}
	}
	slices.Reverse(lines)
	if have, err := parseWeights(strings.Join(lines, "\n")); err != nil || *have != *want {
		t.Errorf("in another order the weights differ, error %v", err)
	}
}

// TestFeatureNames holds that no two features have one name, and that they fit
// into a vector.
func TestFeatureNames(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range features {
		if seen[f.name] {
			t.Errorf("two features are called %s", f.name)
		}
		seen[f.name] = true
	}
	if len(features) > maxFeatures {
		t.Errorf("%d features, a vector has %d", len(features), maxFeatures)
	}
}
