package price

import (
	"unicode"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// perMessage is what the marks around each message cost in the chat templates of
// the well-known models, in tokens.
const perMessage = 4

// EstimateTokens guesses how many tokens messages are as input, for plans made
// before any provider has counted them. It is a rule of thumb, on English prose
// within some 20% of the byte-pair tokenizers in use: a token for every four
// characters, rounded up for each message; a token for each character of the
// scripts that are written without spaces, Chinese, Japanese, Korean, Thai, Lao,
// Khmer and Burmese; and four tokens for each message.
func EstimateTokens(messages []orbench.Message) (tokens int) {
	for _, m := range messages {
		whole, quarters := 0, 0
		for _, r := range m.Content {
			if r >= firstUnspaced && unicode.In(r, unspaced...) {
				whole++
				continue
			}
			quarters++
		}
		tokens += perMessage + whole + (quarters+3)/4
	}
	return tokens
}

// UsageOf is the bounded usage of a reply to messages, or an estimate where the provider told none.
// Older programs stored none then; without messages the estimate has no input.
func UsageOf(messages []orbench.Message, r model.Response) model.Usage {
	u := r.Usage.Bounded()
	if u == (model.Usage{}) && (len(messages) > 0 || r.Text+r.Thinking != "") {
		answer := []orbench.Message{{Content: r.Thinking}, {Content: r.Text}}
		return model.Usage{Input: EstimateTokens(messages), Output: EstimateTokens(answer), Estimated: true}
	}
	return u
}

// firstUnspaced is the first letter of Thai, before which unspaced has nothing.
const firstUnspaced = '\u0e01'

// unspaced are the scripts of which a character is about a token.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}
