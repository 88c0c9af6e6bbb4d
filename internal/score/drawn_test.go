package score

import (
	"reflect"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
)

// TestDrawnNames holds the names of drawn answers to those that earlier releases gave, by
// which labels in their stores are known.
func TestDrawnNames(t *testing.T) {
	zero, warm, seed := 0.0, 0.7, int64(7)
	plain := Asked{Provider: "openai", Endpoint: "https://x.test/v1", Model: "gpt", Revision: "r1", System: "Be brief.", Temperature: &zero, MaxTokens: 1000, Seed: &seed}
	with := func(change func(*Asked)) Asked {
		a := plain
		change(&a)
		return a
	}
	for _, tt := range []struct {
		name         string
		asked        Asked
		times, limit int
		stopped      *dataset.Stopped
		want         string
	}{
		{name: "plain", asked: plain, want: "8afb5098"},
		{name: "asked once", asked: plain, times: 1, want: "8afb5098"},
		{name: "defaults", asked: Asked{Provider: "sim", Model: "balanced"}, want: "6e0e57af"},
		{name: "sampled", asked: with(func(a *Asked) { a.Temperature, a.Sample = &warm, 2 }), times: 3, want: "4fb3ac01"},
		{name: "guarded", asked: with(func(a *Asked) { a.Framing, a.Turns, a.Defense = "authority", "again", "icl+response-check" }), want: "240fbf87"},
		{name: "a guard", asked: with(func(a *Asked) { a.Guard = "llamaguard" }), want: "3b57d509"},
		{name: "stopped", asked: plain, stopped: &dataset.Stopped{HalfWidth: 0.02, Interval: "wilson", Judge: "lexical", Seed: 1, Asked: 300, Of: 1319}, want: "95dc4342"},
		{name: "limited", asked: plain, limit: 60, want: "fa81eb66"},
	} {
		set := &dataset.Dataset{Name: "d"}
		set.SHA256, set.Stopped = "c0ffee", tt.stopped
		got := answersOf(&Target{Name: "m", Times: tt.times, Asked: tt.asked}, set, tt.limit, orbench.Safe)
		if want := "m on d (safe) #" + tt.want; got.Design() != want {
			t.Errorf("%s: %s, not %s", tt.name, got.Design(), want)
		}
	}
	translated := askedV1{
		Provider: "openai", Endpoint: "https://x.test/v1", Model: "gpt", Revision: "r1", System: "Be brief.", Temperature: &zero, MaxTokens: 1000, Seed: &seed,
		Language: "fr", Defense: "translate(fr,sim/translator)",
	}
	if got := populationV1(translated, 0, "c0ffee", 0, nil); got != "32dfa4ee" {
		t.Errorf("translated: %s, not 32dfa4ee", got)
	}
}

// TestDrawnNamesAll sees that whatever changes a target's answers changes their name.
func TestDrawnNamesAll(t *testing.T) {
	one, seed := 1.0, int64(1)
	set := &dataset.Dataset{Name: "d"}
	plain := answersOf(&Target{Name: "m"}, set, 0, orbench.Safe)
	for i := range reflect.TypeFor[Asked]().NumField() {
		target := &Target{Name: "m"}
		name, field := reflect.TypeFor[Asked]().Field(i).Name, reflect.ValueOf(&target.Asked).Elem().Field(i)
		switch v := field.Addr().Interface().(type) {
		case *string:
			*v = "x"
		case *int:
			*v = 1
		case **float64:
			*v = &one
		case **int64:
			*v = &seed
		default:
			t.Fatalf("%s is of a type that is not tried", name)
		}
		// All samples of a target have one name.
		if got := answersOf(target, set, 0, orbench.Safe); (got == plain) != (name == "Sample") {
			t.Errorf("%s: %s", name, got.Design())
		}
	}
}
