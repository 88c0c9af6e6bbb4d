package defense

import "math/rand/v2"

// perturbation is one of SmoothLLM's ways of garbling a text (algorithm 2 of arXiv
// 2310.03684). Each touches q percent of the text's characters, rounded down;
// characters are Unicode code points, and bytes that are none count as U+FFFD.
type perturbation string

const (
	// swap replaces characters here and there.
	swap perturbation = "swap"
	// insert puts new characters before characters here and there.
	insert perturbation = "insert"
	// patch replaces characters in one run.
	patch perturbation = "patch"
)

// perturbations lists them.
var perturbations = []perturbation{swap, insert, patch}

// alphabet is what new characters are drawn from: the 100 printable ASCII
// characters of the published code, white space included.
const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" +
	"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ \t\n\r\v\f"

// apply perturbs percent of the characters of a text. A character that replaces
// another differs from it, where the published code draws the same one again once
// in a hundred times: so the share is exact.
func (p perturbation) apply(text string, percent int, rng *rand.Rand) string {
	chars := []rune(text)
	k := len(chars) * percent / 100
	switch p {
	case swap:
		for _, i := range rng.Perm(len(chars))[:k] {
			chars[i] = other(chars[i], rng)
		}
	case patch:
		start := rng.IntN(len(chars) - k + 1)
		for i := start; i < start+k; i++ {
			chars[i] = other(chars[i], rng)
		}
	case insert:
		before := make([]bool, len(chars))
		for _, i := range rng.Perm(len(chars))[:k] {
			before[i] = true
		}
		longer := make([]rune, 0, len(chars)+k)
		for i, c := range chars {
			if before[i] {
				longer = append(longer, rune(alphabet[rng.IntN(len(alphabet))]))
			}
			longer = append(longer, c)
		}
		chars = longer
	}
	return string(chars)
}

// other draws a character of the alphabet that is not c.
func other(c rune, rng *rand.Rand) rune {
	for {
		if drawn := rune(alphabet[rng.IntN(len(alphabet))]); drawn != c {
			return drawn
		}
	}
}
