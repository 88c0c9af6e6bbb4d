package price_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
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

// TestUsageOf tells the tokens of replies with a count and without one.
func TestUsageOf(t *testing.T) {
	t.Parallel()
	asked := []orbench.Message{{Content: "Question"}}
	text := strings.Repeat("x", 40)
	for name, c := range map[string]struct {
		asked []orbench.Message
		reply model.Response
		want  model.Usage
	}{
		"as reported":         {asked, model.Response{Usage: model.Usage{Output: 1}}, model.Usage{Output: 1}},
		"out of bounds":       {asked, model.Response{Usage: model.Usage{Input: -3, Output: 2}}, model.Usage{Output: 2}},
		"none":                {asked, model.Response{Text: text}, model.Usage{Input: 6, Output: 18, Estimated: true}},
		"none, empty":         {asked, model.Response{}, model.Usage{Input: 6, Output: 8, Estimated: true}},
		"none, of before":     {nil, model.Response{Text: text}, model.Usage{Output: 18, Estimated: true}},
		"estimated before":    {nil, model.Response{Text: text, Usage: model.Usage{Input: 6, Output: 18, Estimated: true}}, model.Usage{Input: 6, Output: 18, Estimated: true}},
		"nothing is to count": {nil, model.Response{}, model.Usage{}},
	} {
		if got := price.UsageOf(c.asked, c.reply); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	used := price.Usage{}
	for range 3 {
		used.Add("p", "m", model.Response{Text: text, Batch: true})
	}
	used.Add("p", "m", model.Response{Text: text, Usage: model.Usage{Input: 1, Output: 1}})
	if u := used[model.Ref{Provider: "p", Model: "m"}]; u.Replies != 4 || u.Estimated != 3 || u.Batched.Estimated != 3 || u.Tokens.Output != 3*18+1 {
		t.Errorf("%+v", u)
	}
}

func TestSpanIn(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 0, 0, time.UTC)
	for want, s := range map[string]price.Span{
		"of unknown age":                             price.SpanOf(time.Time{}),
		"of 4 Mar 2026 05:06 UTC":                    price.SpanOf(at),
		"of 4 Mar 2026 05:06 UTC (1 of unknown age)": price.SpanOf(at).And(price.SpanOf(time.Time{})),
		"of 4 Mar 2026 to 6 Mar 2026 UTC":            price.SpanOf(at).And(price.SpanOf(at.Add(48 * time.Hour))),
	} {
		if got := s.In(time.UTC); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
