package refusal

import (
	"math"
	"slices"
	"strings"
)

// maxPromptWords bounds how many distinct words of a prompt are searched in the answer.
// For longer prompts the first words are used.
const maxPromptWords = 48

// maxPromptScan bounds how many words of a prompt are read.
const maxPromptScan = 1000

// promptWords is the set of content words of a prompt.
type promptWords struct {
	hashes [maxPromptWords]uint64
	n      int
	// filter has a bit set for each word, to skip most others quickly.
	filter uint64
	// order has the first words of the prompt in their order. length is the number of
	// words.
	order  [maxPromptWords]uint64
	length int
	// asks is the kind of answer that is asked for, or kinds.
	asks kind
	// deed is the verb of a how-to question as written in the prompt, without a final e:
	// the first word after "how do I" and the like.
	deed string
	// denies is true if the prompt contains "not" or a similar word, mine if it is about
	// something of the asker's, and values if it has a word for how good, right or true
	// something is.
	denies, mine, values bool
}

// noDeed are the words that may stand between "how do" and the verb.
var noDeed = [...]uint64{
	hashWord("i"), hashWord("we"), hashWord("you"), hashWord("one"), hashWord("someone"), hashWord("people"),
	hashWord("a"), hashWord("person"), hashWord("to"), hashWord("best"), hashWord("my"), hashWord("of"), hashWord("the"),
}

var hashMy = hashWord("my")

// read collects the words of four or more letters (and every Chinese character) of the
// part of the prompt that asks, which leaves out most words without content. It also
// finds what kind of answer is asked for. Text around the question is left out, so that
// it affects no verdict.
func (p *promptWords) read(prompt string) {
	*p = promptWords{asks: kinds}
	if prompt == "" {
		return
	}
	from, to := p.core(prompt)
	p.collect(prompt[from:to])
}

// core keeps the first words of the whole prompt in their order, and gives the part that
// asks. That part reaches from the first phrase that asks to the end of its sentence. It
// is in the last sentence with both a question mark and such a phrase or, without one, in
// the last sentence with such a phrase. After a colon or in quotation marks it begins
// anew. A prompt without a known phrase that asks is given whole.
func (p *promptWords) core(prompt string) (from, to int) {
	const none = -1
	l := embedded()
	a := l.phrases
	s := scanner{text: prompt, lineStart: true}
	state := a.begin
	var starts [maxPhraseWords]int // of the last words
	words, ask, question, anew := 0, none, false, false
	from, to = 0, len(prompt)
	for {
		kind := s.next()
		if kind == tokenWord && p.length < maxPromptScan {
			if p.length < len(p.order) {
				p.order[p.length] = s.hash
			}
			p.length++
			symbols, n := a.symbols(l.word(&s).symbol)
			for _, symbol := range symbols[:n] {
				starts[words%maxPhraseWords] = s.start
				words++
				state = a.step(state, symbol)
				for _, e := range a.endsAt(state) {
					if (ask == none || anew) && kindAskHow <= e.kind && e.kind < kindValue {
						ask, anew = starts[max(words-int(e.words), 0)%maxPhraseWords], false
					}
				}
			}
			continue
		}
		if kind == tokenQuote || kind == tokenOther && prompt[s.start] == ':' {
			// The question may follow a colon: I would like to know: how do I …
			state, anew = a.begin, true
			continue
		}
		if kind != tokenStop && kind != tokenItem && kind != tokenEnd && kind != tokenWord {
			continue
		}
		if asks := kind == tokenStop && prompt[s.start] == '?'; ask != none && (asks || !question) {
			from, to, question = ask, s.end, asks
		}
		if kind == tokenEnd || kind == tokenWord {
			return from, to
		}
		state, ask, anew = a.begin, none, false
	}
}

// maxPhraseWords is the most words of a phrase whose start is searched.
const maxPhraseWords = 16

// collect reads the part of a prompt that asks.
func (p *promptWords) collect(text string) {
	l := embedded()
	a := l.phrases
	s := scanner{text: text, lineStart: true}
	state := a.begin
	words, began := 0, math.MaxInt
	awaitsDeed := false
	for range maxPromptScan {
		switch s.next() {
		case tokenEnd:
			return
		case tokenStop, tokenItem:
			state = a.begin
			continue
		case tokenWord:
		default:
			continue
		}
		p.mine = p.mine || s.hash == hashMy
		asked := false
		symbols, n := a.symbols(l.word(&s).symbol)
		for _, symbol := range symbols[:n] {
			words++
			state = a.step(state, symbol)
			for _, e := range a.endsAt(state) {
				k := e.kind
				asked = asked || k == kindAskHow
				p.denies = p.denies || k == kindDeny
				p.values = p.values || k == kindValue
				from := words - int(e.words)
				if kindAskHow <= k && k < kindValue && (from < began || from == began && k < p.asks) {
					began, p.asks = from, k
				}
			}
		}
		switch {
		case asked:
			awaitsDeed = p.deed == ""
		case awaitsDeed && !slices.Contains(noDeed[:], s.hash):
			awaitsDeed = false
			if deed := strings.TrimSuffix(text[s.start:s.end], "e"); len(deed) >= 3 {
				p.deed = deed
			}
		}
		if p.n == maxPromptWords || s.runes < 4 && !s.wide() || p.find(s.prefix) >= 0 {
			continue
		}
		p.hashes[p.n] = s.prefix
		p.n++
		p.filter |= 1 << (s.prefix >> 58)
	}
}

// find gives the index of a word in the set, or -1.
func (p *promptWords) find(h uint64) int {
	if p.filter&(1<<(h>>58)) == 0 {
		return -1
	}
	return slices.Index(p.hashes[:p.n], h)
}
