package similar

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Opener is the beginning of some texts.
type Opener struct {
	// Text is the first words, normalized.
	Text string `json:"text"`
	// Count is the number of texts with this beginning.
	Count int `json:"count"`
}

// Openers counts the first words of the texts; words is their number. The most common
// opener comes first; ties are in alphabetical order. A text with fewer words is its own
// opener, and one without words has none. It panics unless words is positive.
func Openers(texts []string, words int) []Opener {
	if words < 1 {
		panic("similar: openers of fewer than one word")
	}
	counts := map[string]int{}
	for _, t := range texts {
		if first := strings.Fields(Normalize(t)); len(first) > 0 {
			counts[strings.Join(first[:min(words, len(first))], " ")]++
		}
	}
	openers := make([]Opener, 0, len(counts))
	for text, n := range counts {
		openers = append(openers, Opener{Text: text, Count: n})
	}
	slices.SortFunc(openers, func(a, b Opener) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Text, b.Text))
	})
	return openers
}

// EffectiveOpeners is the number of equally common openers with the same variety as
// these: exp(-Σ p ln p), where p is the share of each opener. This is the exponential of
// Shannon's entropy (the Hill number of order 1). It ranges from 1, if all texts begin
// alike, to the number of openers, if all are equally common. It is 0 without openers.
func EffectiveOpeners(openers []Opener) float64 {
	total := 0
	for _, o := range openers {
		total += o.Count
	}
	if total == 0 {
		return 0
	}
	entropy := 0.0
	for _, o := range openers {
		if p := float64(o.Count) / float64(total); p > 0 {
			entropy -= p * math.Log(p)
		}
	}
	return math.Exp(entropy)
}

// WordLengths are the lengths of texts in words, as separated by Normalize. The quantiles
// use the nearest rank: each is the length of some text.
type WordLengths struct {
	Mean   float64 `json:"mean"`
	P5     int     `json:"p5"`
	Median int     `json:"median"`
	P95    int     `json:"p95"`
}

// Lengths measures the texts; all lengths are 0 if there are none. A text without words
// has length 0.
func Lengths(texts []string) WordLengths {
	if len(texts) == 0 {
		return WordLengths{}
	}
	lengths := make([]int, len(texts))
	sum := 0
	for i, t := range texts {
		if n := Normalize(t); n != "" {
			lengths[i] = 1 + strings.Count(n, " ")
		}
		sum += lengths[i]
	}
	slices.Sort(lengths)
	at := func(percent int) int { return lengths[max(1, (percent*len(lengths)+99)/100)-1] }
	return WordLengths{
		Mean: float64(sum) / float64(len(lengths)),
		P5:   at(5), Median: at(50), P95: at(95),
	}
}

// Sample draws n of the texts at random without replacement, or all of them if there are
// no more. The same seed draws the same texts in the same order from the same collection.
// It panics for a negative n.
func Sample(texts []string, n int, seed uint64) []string {
	drawn := slices.Clone(texts)
	if n >= len(drawn) {
		return drawn
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range n {
		j := i + r.IntN(len(drawn)-i)
		drawn[i], drawn[j] = drawn[j], drawn[i]
	}
	return drawn[:n:n]
}

// openerWords is the number of words of an opener in Diversity.
const openerWords = 3

// mostCompared is the most texts that SelfBLEU compares for Diversity.
const mostCompared = 1000

// Diversity measures how varied a collection of texts is. Distinct1, Distinct2, SelfBLEU
// and NearDuplicateRate depend on the size of the collection, so compare collections of
// about the same size.
type Diversity struct {
	// Texts is their number.
	Texts int `json:"texts" csv:"-"`
	// Distinct1 and Distinct2 are DistinctN of words and of pairs of words: 1 if none is
	// repeated.
	Distinct1 float64 `json:"distinct_1" csv:"distinct_1"`
	Distinct2 float64 `json:"distinct_2" csv:"distinct_2"`
	// SelfBLEU is SelfBLEU of a sample of at most 1,000: 0 if no words are repeated.
	// SelfBLEUTexts is the number of texts in the sample.
	SelfBLEU      float64 `json:"self_bleu"`
	SelfBLEUTexts int     `json:"self_bleu_texts"`
	// NearDuplicates is the number of texts that the function NearDuplicates would drop
	// at the threshold NearThreshold. NearDuplicateRate is their share, from 0 to 1.
	NearDuplicates    int     `json:"near_duplicates"`
	NearDuplicateRate float64 `json:"near_duplicate_rate"`
	NearThreshold     float64 `json:"near_threshold" csv:"-"`
	// TopOpener is the most common beginning of three words, empty if no text has words.
	// TopOpenerShare is the share of texts with that beginning, from 0 to 1.
	// EffectiveOpeners is the number of equally common beginnings with the same variety
	// as the actual ones.
	TopOpener        string  `json:"top_opener"`
	TopOpenerShare   float64 `json:"top_opener_share"`
	EffectiveOpeners float64 `json:"effective_openers"`
	// Words are the lengths of the texts.
	Words WordLengths `json:"words"`
}

// DiversityOf measures how varied the texts are. The threshold is as in NewIndex, and the
// seed chooses the sample for SelfBLEU. Everything but Texts is 0 if no text has words.
// near is what NearDuplicates gives.
func DiversityOf(texts []string, threshold float64, seed uint64) (d Diversity, near []Pair) {
	near = NearDuplicates(texts, threshold)
	d = Diversity{
		Texts:          len(texts),
		Distinct1:      DistinctN(texts, 1),
		Distinct2:      DistinctN(texts, 2),
		NearDuplicates: len(near),
		NearThreshold:  threshold,
		Words:          Lengths(texts),
	}
	if len(texts) > 0 {
		d.NearDuplicateRate = float64(d.NearDuplicates) / float64(len(texts))
	}
	d.SelfBLEU, d.SelfBLEUTexts = SelfBLEU(texts, mostCompared, seed)
	openers := Openers(texts, openerWords)
	if len(openers) > 0 {
		d.TopOpener = openers[0].Text
		d.TopOpenerShare = float64(openers[0].Count) / float64(len(texts))
		d.EffectiveOpeners = EffectiveOpeners(openers)
	}
	return d, near
}
