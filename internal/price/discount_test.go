package price_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/model"
)

// TestDiscounts reads the table strictly.
func TestDiscounts(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("discounts.json")
	if err != nil {
		t.Fatal(err)
	}
	_, err = settings.List(bytes.NewReader(text), "discounts.json", func(d price.Discount) error {
		_, err := time.Parse(time.DateOnly, d.AsOf)
		if d.Provider == "" || d.Model == "" || d.Source == "" || !(d.Factor > 0 && d.Factor <= 1) || err != nil {
			return fmt.Errorf("%+v is no discount", d)
		}
		if found, ok := price.Default().Discount(d.Provider, "m"); !ok || d.Model == "*" && found != d {
			return fmt.Errorf("%s has the discount %+v", d.Provider, found)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestDiscount(t *testing.T) {
	t.Parallel()
	own, err := price.Default().With(strings.NewReader(`
- {provider: openai, model: own, input: 4, output: 8, batch: 0.25, as_of: 2026-01-01}
- {provider: groq, model: m, input: 4, output: 8, as_of: 2026-01-01}
- {provider: together, model: qwen/qwen2.5-7b-instruct-turbo, input: 4, output: 8, as_of: 2026-01-01}`), "own.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		provider, model string
		want            float64
		known           bool
	}{
		{"openai", "gpt-4o-mini-2024-07-18", 0.5, true},
		{"openai", "own", 0.25, true},
		{"anthropic", "claude-opus-5", 0.5, true},
		{"together", "Qwen/Qwen2.5-7B-Instruct-Turbo", 0.5, true},
		{"together", "meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo", 1, true}, // served by batch, not for less
		{"vllm", "anything", 1, true},                                        // costs nothing
		{"groq", "m", 0, false},                                              // unknown is neither none nor half
	} {
		d, ok := own.Discount(c.provider, c.model)
		if ok != c.known || d.Factor != c.want {
			t.Errorf("%s/%s: %g, %t; want %g, %t", c.provider, c.model, d.Factor, ok, c.want, c.known)
		}
		if ok && d.AsOf == "" {
			t.Errorf("%s/%s: the factor has no date", c.provider, c.model)
		}
	}
	for _, bad := range []string{"-0.5", "2", ".nan"} {
		if _, err := price.Default().With(strings.NewReader("- {provider: p, model: m, input: 1, output: 1, batch: "+bad+", as_of: 2026-01-01}"), "bad.yaml"); err == nil {
			t.Errorf("a factor of %s was taken", bad)
		}
	}
	// Of a model's usage, what came by batch costs less, also of what was cached.
	used, more := price.Usage{}, price.Usage{}
	used.Add("openai", "gpt-4o", model.Response{Usage: model.Usage{Input: 1e6, Cached: 4e5, Output: 1e5}, Batch: false})
	more.Add("openai", "gpt-4o", model.Response{Usage: model.Usage{Input: 1e6, Cached: 4e5, Output: 1e5}, Batch: true})
	used.AddUsage(more)
	live := 0.6*2.5 + 0.4*1.25 + 0.1*10
	usd, unpriced := price.Default().Total(used)
	if want := live + live/2; math.Abs(usd-want) > 1e-9 || unpriced != nil {
		t.Errorf("it costs %g, %v unpriced; want %g", usd, unpriced, want)
	}
	unknown := price.Usage{}
	unknown.Add("groq", "m", model.Response{Usage: model.Usage{Input: 10}, Batch: true})
	if _, unpriced := own.Total(unknown); len(unpriced) != 1 {
		t.Errorf("unpriced are %v; want the model by batch", unpriced)
	}
}
