package wire_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/model"
)

func TestLongAnswers(t *testing.T) {
	t.Parallel()
	used := model.Usage{Input: 3, Output: 50_000}
	for _, tc := range []struct {
		text, thinking, tokens int
		want                   string
	}{
		{text: 1 << 20},
		{text: 1 << 20, thinking: 1, want: "the answer has 1048577 bytes; at most 1048576 are allowed"},
		{text: 64<<10 + 12800, tokens: 100},
		{text: 64<<10 + 12000, thinking: 801, tokens: 100, want: "the answer has 78337 bytes; at most 78336 are allowed, because of the limit of 100 tokens; a higher max-tokens"},
		{text: 1<<20 + 1, tokens: 1 << 40, want: "at most 1048576 are allowed"},
	} {
		c := wire.NewCaller(wire.ClientConfig{}, wire.Dialect{Read: func(wire.Reply) (model.Response, error) {
			return model.Response{Text: strings.Repeat("x", tc.text), Thinking: strings.Repeat("y", tc.thinking), Usage: used}, nil
		}})
		_, err := c.Read(model.Request{Params: model.Params{MaxTokens: tc.tokens}}, 200, nil)
		var failed *model.Error
		switch {
		case tc.want == "" && err == nil:
		case !errors.As(err, &failed) || failed.Kind != model.Invalid || failed.Used != used || tc.want == "" || !strings.Contains(failed.Message, tc.want):
			t.Errorf("%+v: got %v", tc, err)
		}
	}
}
