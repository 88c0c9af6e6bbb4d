package wire

import (
	"fmt"

	"github.com/orbench/orbench/model"
)

const (
	// maxAnswer is the longest answer with its thinking in bytes, which is what a
	// recorded one may have.
	maxAnswer = 1 << 20
	// An answer to a request that limits its tokens has so many bytes at most for each,
	// and some more. The longest tokens of present models are 128 spaces.
	answerPerToken, answerSpare = 128, 64 << 10
)

// checkLength gives an error for an answer that is longer than its request allows. Readers
// of answers hold hundreds of them at once, so longer ones would take memory long after
// they were stored.
func checkLength(r model.Request, response model.Response) error {
	limit, tokens, asked := maxAnswer, r.Params.MaxTokens, ""
	if tokens > 0 && tokens < maxAnswer/answerPerToken {
		limit = min(limit, answerSpare+tokens*answerPerToken)
		asked = fmt.Sprintf(", because of the limit of %d tokens; a higher max-tokens, or judge-max-tokens, allows longer answers", tokens)
	}
	n := len(response.Text) + len(response.Thinking)
	if n <= limit {
		return nil
	}
	return &model.Error{
		Kind: model.Invalid, Message: fmt.Sprintf("the answer has %d bytes; at most %d are allowed%s", n, limit, asked), Used: response.Usage,
	}
}
