package run

import (
	"testing"

	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/model"
)

// A provider's discount is not said of a model whose price is unknown, such as one on a
// server of one's own that speaks the provider's dialect.
func TestBatchesWithoutPrice(t *testing.T) {
	t.Parallel()
	used := price.Used{Part: price.Part{Replies: 3}, Batched: price.Part{Replies: 3}}
	for name, known := range map[string]bool{"gpt-4o": true, "mine": false} {
		got := batches(price.Default(), price.Usage{model.Ref{Provider: "openai", Model: name}: used})
		if len(got) != 1 || got[0].Replies != 3 || (got[0].Factor != nil) != known {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
