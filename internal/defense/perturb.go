package defense

import "math/rand/v2"

// perturbation is one of SmoothLLM's ways to garble a text (algorithm 2 of arXiv
// 2310.03684). Each changes q percent of the text's characters, rounded down. Characters
// are Unicode code points, and invalid bytes count as U+FFFD.
type perturbation string

const (
	// swap replaces characters at random places.
	swap perturbation = "swap"
	// insert adds new characters before characters at random places.
	insert perturbation = "insert"
	// patch replaces characters in one run.
	patch perturbation = "patch"
)

// perturbations lists them.
var perturbations = []perturbation{swap, insert, patch}

// alphabet has the characters from which new ones are drawn: the 100 printable ASCII
// characters of the published code, white space included.
const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" +
	"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ \t\n\r\v\f"

// apply perturbs percent of the characters of a text. A replacement always differs from
// the original character, so the share is exact. The published code draws the same
// character again once in a hundred times.
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
