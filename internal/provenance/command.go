package provenance

import (
	"regexp"
	"strings"

	"github.com/orbench/orbench/internal/untrusted"
)

var (
	// keys have the forms that providers give to theirs.
	keys = regexp.MustCompile(`\b(sk-|sk_|gsk_|hf_|xai-|pplx-|AIza|AKIA|gh[pousr]_|github_pat_|glpat-|xox[abpr]-|eyJ)[A-Za-z0-9_.-]{12,}`)
	// bearer is a header's value.
	bearer = regexp.MustCompile(`(?i)\b(bearer|basic) +\S+`)
)

// CleanText is a text without what in it looks like a secret: passwords and keys in
// addresses, and words that have the form of a provider's key.
func CleanText(text string) string {
	text = untrusted.Addresses(text)
	text = bearer.ReplaceAllString(text, "${1} "+untrusted.Hidden)
	return keys.ReplaceAllString(text, untrusted.Hidden)
}

// mostCommand is how many bytes of a command are kept.
const mostCommand = 4000

// CleanCommand is a command as it was typed, quoted for a shell, without what is a
// secret or looks like one: passwords and keys in addresses, words that have the form
// of a provider's key, and the secrets themselves.
func CleanCommand(words, secrets []string) string {
	clean := make([]string, len(words))
	for i, word := range words {
		for _, s := range secrets {
			if s != "" {
				word = strings.ReplaceAll(word, s, untrusted.Hidden)
			}
		}
		clean[i] = untrusted.Shell(CleanText(word))
	}
	return untrusted.Ellipsis(strings.Join(clean, " "), mostCommand)
}
