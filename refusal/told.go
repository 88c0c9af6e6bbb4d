package refusal

import "strings"

// mostToldBytes is how much of a text Language reads: about its first sixty words.
const mostToldBytes = 600

// Language returns the language of a text, as its code of ISO 639-1. It is empty if the
// text is in none of the known languages. Only the beginning is read.
func Language(text string) string {
	if len(text) > mostToldBytes {
		text = strings.ToValidUTF8(text[:mostToldBytes], "")
	}
	read := newView("", text)
	defer views.Put(read)
	return read.languages.language(embedded().languages).code
}
