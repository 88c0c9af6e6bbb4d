package provenance

import (
	"regexp"
	"strings"

	"github.com/orbench/orbench/internal/untrusted"
)

var (
	// keys matches the forms of providers' keys.
	keys = regexp.MustCompile(`\b(?:` + untrusted.KeyShapes + `)`)
	// bearer matches the value of an authorization header.
	bearer = regexp.MustCompile(`(?i)\b(bearer|basic) +\S+`)
)

// CleanText removes from a text whatever looks like a secret: passwords and
// keys in addresses, and words in the form of a provider's key.
func CleanText(text string) string {
	text = untrusted.Addresses(text)
	text = bearer.ReplaceAllString(text, "${1} "+untrusted.Hidden)
	return keys.ReplaceAllString(text, untrusted.Hidden)
}

// hide removes a secret from a word of a command. Servers that need no key are
// given a short word, such as "test" or "00000000". Such a word is not secret
// and occurs in many names, so a secret that is shorter than most keys is
// hidden only if it is not part of another word.
func hide(word, secret string) string {
	const least, usual, variety = 8, 16, 4
	kinds := map[rune]bool{}
	for _, r := range secret {
		kinds[r] = true
	}
	switch {
	case len(secret) < least || len(kinds) < variety:
		return word
	case len(secret) < usual:
		return untrusted.Replace(word, secret, untrusted.Hidden)
	}
	return strings.ReplaceAll(word, secret, untrusted.Hidden)
}

// mostCommand is how many bytes of a command are kept.
const mostCommand = 4000

// CleanCommand returns a command as it was typed, quoted for a shell, without
// secrets and what looks like them: passwords and keys in addresses, words in
// the form of a provider's key, and the secrets themselves; see hide.
func CleanCommand(words, secrets []string) string {
	clean := make([]string, len(words))
	for i, word := range words {
		for _, s := range secrets {
			word = hide(word, s)
		}
		clean[i] = untrusted.Shell(CleanText(word))
	}
	return untrusted.Ellipsis(strings.Join(clean, " "), mostCommand)
}
