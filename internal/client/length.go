package client

import (
	"context"
	"fmt"

	"github.com/orbench/orbench/model"
)

const (
	// maxAnswer is the longest answer with its thinking in bytes, which is what a
	// recorded one may have.
	maxAnswer = 1 << 20
	// An answer to a request that limits its tokens has so many bytes at most for each,
	// and some more. The longest tokens of present models are 128 spaces.
	bytesPerToken, spareBytes = 128, 64 << 10
)

// bounded is a model whose answers are no longer than its requests let them be. What
// reads answers holds hundreds of them at once, so that longer ones would take memory
// long after they were stored.
func bounded(m model.Model) model.Model {
	return model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
		response, err := m.Ask(ctx, r)
		return checkLength(r, response, err)
	})
}

// boundedFormat is a format of which the same holds.
type boundedFormat struct{ Format }

func (f boundedFormat) Read(r model.Request, status int, body []byte) (model.Response, error) {
	response, err := f.Format.Read(r, status, body)
	return checkLength(r, response, err)
}

// checkLength makes an answer that is too long an error.
func checkLength(r model.Request, response model.Response, err error) (model.Response, error) {
	if err != nil {
		return response, err
	}
	limit, tokens := maxAnswer, r.Params.MaxTokens
	bounded := tokens > 0 && tokens < maxAnswer/bytesPerToken
	if bounded {
		limit = min(limit, spareBytes+tokens*bytesPerToken)
	}
	if n := len(response.Text) + len(response.Thinking); n > limit {
		asked := ""
		if bounded {
			asked = fmt.Sprintf(", as at most %d tokens were asked for; a higher max-tokens, or judge-max-tokens, lets it be longer", tokens)
		}
		return model.Response{}, &model.Error{
			Kind: model.Invalid, Provider: r.Provider, Model: r.Model,
			Message: fmt.Sprintf("the answer has %d bytes; one may have %d%s", n, limit, asked),
			Used:    response.Usage,
		}
	}
	return response, nil
}
