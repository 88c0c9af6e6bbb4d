package model_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// TestCanonical holds the JSON of requests to that of their struct, for any content of any
// field: requests that are stored were hashed by it.
func TestCanonical(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	maybe := func() bool { return random.IntN(3) > 0 }
	text := func() string {
		words := []string{"", "plain", `"quoted" \ `, "\n\t", "<b>&", "世界", "\xff", "\x1b[0m", "\u2028"}
		return words[random.IntN(len(words))] + words[random.IntN(len(words))]
	}
	for range 5000 {
		r := model.Request{Provider: text(), Endpoint: text(), Model: text(), Sample: random.IntN(3)}
		if !maybe() {
			r.Revision = text()
		}
		for range random.IntN(3) {
			r.Messages = append(r.Messages, orbench.Message{Role: orbench.Role(text()), Content: text()})
		}
		if maybe() {
			temperature := []float64{0, 0.7, 1, 1e-9, random.Float64()}[random.IntN(5)]
			r.Params.Temperature = &temperature
		}
		if maybe() {
			r.Params.MaxTokens = random.IntN(2000)
		}
		if !maybe() {
			n := random.Int64()
			r.Params.Seed = &n
		}
		if !maybe() {
			r.Params.Schema = json.RawMessage(`{"type": "object"}`)
		}
		if !maybe() {
			r.Params.TopLogprobs = random.IntN(20)
		}
		if !maybe() {
			r.Params.Template = json.RawMessage(`{"a":[1, "<"]}`)
		}
		if !maybe() {
			r.Params.Form = model.Parts
		}
		if !maybe() {
			r.Params.Effort = "low"
		}
		want, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Canonical(); string(got) != string(want) {
			t.Fatalf("%s\nwant %s", got, want)
		}
	}
	for of, known := range map[reflect.Type]int{
		reflect.TypeFor[model.Request](): 7, reflect.TypeFor[model.Params](): 8, reflect.TypeFor[orbench.Message](): 2,
	} {
		if n := of.NumField(); n != known {
			t.Errorf("%v has %d fields; Canonical and this test know of %d", of, n, known)
		}
	}
}
