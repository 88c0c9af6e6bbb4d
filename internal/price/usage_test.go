package price_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/model"
)

func TestTotal(t *testing.T) {
	t.Parallel()
	table, err := price.Table{}.With(strings.NewReader(`[
		{"provider": "p", "model": "m", "input": 2, "output": 10, "cached_input": 1, "as_of": "2026-01-02"},
		{"provider": "q", "model": "*", "input": 1, "output": 1, "as_of": "2026-01-02"}]`), "prices")
	if err != nil {
		t.Fatal(err)
	}
	used, more := price.Usage{}, price.Usage{}
	used.Add("p", "m", model.Response{Usage: model.Usage{Input: 1000, Output: 100, Cached: 400}})
	more.Add("p", "m", model.Response{Usage: model.Usage{Input: 1000, Output: 100, Cached: 4000}})
	more.Add("q", "any", model.Response{Usage: model.Usage{Input: 10, Output: 10}})
	used.AddUsage(more)
	// 600 at 2, 400 + 1000 at 1 (more cannot be cached than was sent), 200 at 10, 20 at 1.
	if usd, unpriced := table.Total(used); usd < 0.00462-1e-12 || usd > 0.00462+1e-12 || unpriced != nil {
		t.Errorf("%g, %v; want 0.00462", usd, unpriced)
	}
	used.Add("z", "b", model.Response{Usage: model.Usage{}})
	used.Add("z", "a", model.Response{Usage: model.Usage{}})
	if _, unpriced := table.Total(used); cmp.Diff([]string{"z/a", "z/b"}, unpriced) != "" {
		t.Errorf("no price of %v", unpriced)
	}
	if n := used[model.Ref{Provider: "p", Model: "m"}].Replies; n != 2 {
		t.Errorf("%d replies", n)
	}
	of := table.Of([]model.Ref{{Provider: "q", Model: "x"}, {Provider: "q", Model: "y"}, {Provider: "z", Model: "a"}})
	if len(of) != 1 || of[0].Provider != "q" {
		t.Errorf("prices %+v", of)
	}
}
