package price_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/model"
)

func TestDefault(t *testing.T) {
	t.Parallel()
	table := price.Default()
	all := table
	if len(all) < 30 {
		t.Fatalf("the table has only %d entries", len(all))
	}
	text, err := os.ReadFile("prices.json")
	if err != nil {
		t.Fatal(err)
	}
	if own, err := (price.Table{}).With(bytes.NewReader(text), "prices.json"); err != nil || !reflect.DeepEqual(own, all) {
		t.Errorf("as a user's file it is another table: %v", err)
	}
	for _, p := range all {
		if !strings.HasPrefix(p.Source, "https://") {
			t.Errorf("%s/%s names no source", p.Provider, p.Model)
		}
		free := p.Input == 0 && p.Output == 0
		if free != (p.Model == "*") {
			t.Errorf("%s/%s: just the providers without a bill are free", p.Provider, p.Model)
		}
		if p.Output < p.Input || p.CachedInput != nil && *p.CachedInput > p.Input {
			t.Errorf("%s/%s: the prices look swapped: %+v", p.Provider, p.Model, p)
		}
		if got, ok := table.Price(p.Provider, p.Model); !ok || got.Provider != p.Provider || got.Model != p.Model {
			t.Errorf("%s/%s finds %s/%s", p.Provider, p.Model, got.Provider, got.Model)
		}
	}
}

func TestPrice(t *testing.T) {
	t.Parallel()
	table := price.Default()
	for _, tt := range []struct{ provider, model, want string }{
		{"openai", "gpt-4o", "gpt-4o"},
		{"openai", "gpt-4o-2024-08-06", "gpt-4o"},
		{"openai", "gpt-4o-2024-05-13", "gpt-4o-2024-05-13"},
		{"openai", "gpt-4o-mini", "gpt-4o-mini"},
		{"openai", "gpt-4o-mini-2024-07-18", "gpt-4o-mini"},
		{"openai", "gpt-3.5-turbo-0125", "gpt-3.5-turbo"},
		{"openai", "gpt-3.5-turbo-0613", "gpt-3.5-turbo-0613"},
		{"openai", "gpt-4o-audio-preview", ""},
		{"openai", "gpt-4-1106-preview", ""},
		{"openai", "gpt-4-32k", ""},
		{"openai", "gpt-5-pro", ""},
		{"openai", "gpt-4o-", ""},
		{"openai", "gpt-4ox", ""},
		{"openai", "my-own", ""},
		{"anthropic", "claude-opus-4-20250514", "claude-opus-4"},
		{"anthropic", "claude-opus-4@20250514", "claude-opus-4"},
		{"anthropic", "claude-opus-4-5-20251101", "claude-opus-4-5"},
		{"anthropic", "claude-opus-4-99", ""},
		{"anthropic", "claude-3-5-sonnet-latest", "claude-3-5-sonnet"},
		{"google", "gemini-2.0-flash-001", "gemini-2.0-flash"},
		{"google", "gemini-2.5-flash-lite", "gemini-2.5-flash-lite"},
		{"together", "meta-llama/llama-3.3-70b-instruct-turbo", "meta-llama/Llama-3.3-70B-Instruct-Turbo"},
		{"azure", "gpt-4o", ""},
		{"ollama", "llama3.2:3b", "*"},
		{"llamacpp", "", "*"},
		{"sim", "prudish", "*"},
		{"replay", "answers.jsonl", "*"},
		{"nonesuch", "gpt-4o", ""},
	} {
		t.Run(tt.provider+"/"+tt.model, func(t *testing.T) {
			t.Parallel()
			p, ok := table.Price(tt.provider, tt.model)
			if ok != (tt.want != "") || p.Model != tt.want {
				t.Errorf("got %q, %v, want %q", p.Model, ok, tt.want)
			}
		})
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	tenth := 0.1
	for _, tt := range []struct {
		name  string
		price price.Price
		usage model.Usage
		want  float64
	}{
		{"nothing", price.Price{Input: 1, Output: 2}, model.Usage{}, 0},
		{"a million each", price.Price{Input: 1, Output: 2}, model.Usage{Input: 1e6, Output: 1e6}, 3},
		{"reasoning is a part of the output", price.Price{Output: 2}, model.Usage{Output: 1e6, Reasoning: 9e5}, 2},
		{"cached input", price.Price{Input: 1, Output: 2, CachedInput: &tenth}, model.Usage{Input: 1e6, Cached: 6e5}, 0.46},
		{"cached input without its own price", price.Price{Input: 1}, model.Usage{Input: 1e6, Cached: 6e5}, 1},
		{"more cached than there was", price.Price{Input: 1, CachedInput: &tenth}, model.Usage{Input: 1e6, Cached: 5e6}, 0.1},
		{"nonsense", price.Price{Input: 1, Output: 2}, model.Usage{Input: -5, Output: -5, Cached: -5}, 0},
		{"free", price.Price{}, model.Usage{Input: 1e9, Output: 1e9}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.price.Cost(tt.usage); math.Abs(got-tt.want) > 1e-12 {
				t.Errorf("got %g, want %g", got, tt.want)
			}
		})
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	table, err := price.Default().With(strings.NewReader(`[
		{"provider": "openai", "model": "GPT-4o", "input": 1, "output": 2, "as_of": "2026-01-31"},
		{"provider": "azure", "model": "*", "input": 3, "output": 4, "as_of": "2026-01-31", "note": "our contract"},
		{"provider": "ollama", "model": "big", "input": 5, "output": 6, "as_of": "2026-01-31"}
	]`), "mine.json")
	if err != nil {
		t.Fatal(err)
	}
	for target, input := range map[string]float64{
		"openai/gpt-4o": 1, "openai/gpt-4o-2024-08-06": 1, "openai/gpt-4o-mini": 0.15,
		"azure/any": 3, "ollama/big": 5, "ollama/small": 0,
	} {
		provider, name, _ := strings.Cut(target, "/")
		if p, ok := table.Price(provider, name); !ok || p.Input != input {
			t.Errorf("%s costs %g, %v, want %g", target, p.Input, ok, input)
		}
	}
	if p, _ := price.Default().Price("openai", "gpt-4o"); p.Input != 2.5 {
		t.Error("the default table was changed")
	}
}

// Which entry is the closest does not depend on the order of the table.
func TestPriceInAnyOrder(t *testing.T) {
	t.Parallel()
	with := func(table price.Table, models ...string) price.Table {
		for i, name := range models {
			entry := fmt.Sprintf(`[{"provider": "p", "model": %q, "input": %d, "as_of": "2026-01-31"}]`, name, i+1)
			var err error
			if table, err = table.With(strings.NewReader(entry), "f.json"); err != nil {
				t.Fatal(err)
			}
		}
		return table
	}
	for _, order := range [][]string{{"*", "o", "o-001", "m"}, {"o-001", "o", "m", "*"}} {
		table := with(price.Table{}, order...)
		for name, want := range map[string]string{"o": "o", "o-001": "o-001", "o-001-007": "o-001", "o-002": "o", "m": "m", "x": "*"} {
			if p, ok := table.Price("p", name); !ok || p.Model != want {
				t.Errorf("%v: %s finds %q, want %q", order, name, p.Model, want)
			}
		}
	}
	if all := with(with(price.Table{}, "a", "b"), "b", "A"); len(all) != 2 || all[0].Input != 2 || all[1].Input != 1 {
		t.Errorf("%+v, want both entries replaced", all)
	}
}

func TestWithYAML(t *testing.T) {
	t.Parallel()
	table, err := price.Table{}.With(strings.NewReader("- provider: a\n  model: b\n  input: 1\n  output: 2.5\n  cached_input: 0.1\n  as_of: 2026-01-31\n"), "f.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := table.Price("a", "b"); !ok || p.Output != 2.5 || p.CachedInput == nil || *p.CachedInput != 0.1 || p.AsOf != "2026-01-31" {
		t.Errorf("got %+v, %v", p, ok)
	}
}

func TestWithFault(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"no list", `{"provider": "a"}`, "f.json:1: settings by name stand where a list is expected"},
		{"unknown field", "[\n{\"provider\": \"a\", \"model\": \"b\", \"price\": 1}]", `f.json:2: unknown field "price"`},
		{"text for a price", "[\n\n{\"provider\": \"a\", \"model\": \"b\", \"input\": \"one\"}]", "f.json:3: "},
		{"no model", `[{"provider": "a"}]`, "needs a provider and a model"},
		{"negative", `[{"provider": "a", "model": "b", "input": -1, "as_of": "2026-01-31"}]`, "a/b: the price -1 is not from 0"},
		{"negative cached", `[{"provider": "a", "model": "b", "cached_input": -1, "as_of": "2026-01-31"}]`, "a/b: the price -1 is not from 0"},
		{"too dear", `[{"provider": "a", "model": "a", "output": 100000, "as_of": "2026-01-31"}, {"provider": "a", "model": "b", "output": 100000.01, "as_of": "2026-01-31"}]`, "a/b: the price 100000.01 is not from 0 to 100000"},
		{"no day", `[{"provider": "a", "model": "b", "as_of": "last week"}]`, `as_of is "last week"`},
		{"twice", "[{\"provider\": \"a\", \"model\": \"b\", \"as_of\": \"2026-01-31\"},\n{\"provider\": \"a\", \"model\": \"B\", \"as_of\": \"2026-01-31\"}]", "f.json:2: a/B is listed twice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := price.Default().With(strings.NewReader(tt.in), "f.json")
			if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an input error with %q", err, tt.want)
			}
		})
	}
}

func TestEstimateTokens(t *testing.T) {
	t.Parallel()
	user := func(text string) []orbench.Message { return []orbench.Message{{Role: orbench.User, Content: text}} }
	for _, tt := range []struct {
		name string
		in   []orbench.Message
		want int
	}{
		{"nothing", nil, 0},
		{"empty", user(""), 4},
		{"one letter", user("a"), 5},
		{"English", user("How do I kill a process?"), 4 + 6},
		{"letters count, not bytes", user("éééé"), 4 + 1},
		{"Chinese", user("如何结束进程"), 4 + 6},
		{"Thai from its first letter", user("กกก"), 4 + 3},
		{"Korean and Latin", user("프로세스 kill"), 4 + 4 + 2},
		{"two messages", append(user("abcd"), user("abcd")...), 10},
		{"broken text", user("\xff\xfe"), 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := price.EstimateTokens(tt.in); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func FuzzPrice(f *testing.F) {
	for _, s := range []string{"gpt-4o-2024-08-06", "gpt-4o-@", "claude-opus-4@", "-latest", "*"} {
		f.Add("openai", s)
	}
	table := price.Default()
	f.Fuzz(func(t *testing.T, provider, name string) {
		p, ok := table.Price(provider, name)
		if ok && (p.Provider != provider || p.Model != "*" && !strings.HasPrefix(strings.ToLower(name), strings.ToLower(p.Model))) {
			t.Errorf("%s/%s got the price of %s/%s", provider, name, p.Provider, p.Model)
		}
	})
}
