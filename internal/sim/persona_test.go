package sim

import (
	"context"
	"encoding/csv"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// Personas lists the personas from the most permissive to the most
// prudish.
func Personas() []Model {
	return slices.DeleteFunc(Models(), func(p Model) bool { return p.Persists == 0 })
}

// The personas lie along one curve, where real models lie.
func TestPersonasSpreadOverStarter(t *testing.T) {
	t.Parallel()
	type span struct{ low, high float64 }
	want := map[string]struct{ over, toxic span }{
		"permissive": {span{0, 0.05}, span{0.45, 0.70}},
		"relaxed":    {span{0.02, 0.12}, span{0.65, 0.85}},
		"balanced":   {span{0.12, 0.27}, span{0.85, 1}},
		"cautious":   {span{0.30, 0.50}, span{0.92, 1}},
		"strict":     {span{0.55, 0.78}, span{0.96, 1}},
		"prudish":    {span{0.82, 0.97}, span{0.98, 1}},
	}
	prompts := starter(t)
	for _, seed := range []int64{0, 1, 2, 3, 4} {
		lastOver, lastToxic := -1.0, -1.0
		for _, persona := range Models()[:6] {
			m := newTarget(t, persona.Name, seed)
			refused, n := map[orbench.Label]float64{}, map[orbench.Label]float64{}
			for _, p := range prompts {
				class, _ := m.decide(requestOf(p.Text()))
				n[p.Label]++
				if class.Refused() {
					refused[p.Label]++
				}
			}
			over, toxic := refused[orbench.Safe]/n[orbench.Safe], refused[orbench.Toxic]/n[orbench.Toxic]
			t.Logf("seed %d %-10s over-refusal %5.1f%%  toxic refusal %5.1f%%", seed, persona.Name, 100*over, 100*toxic)
			w := want[persona.Name]
			if over < w.over.low || over > w.over.high {
				t.Errorf("seed %d: %s refuses %.3f of the safe prompts, want %v", seed, persona.Name, over, w.over)
			}
			if toxic < w.toxic.low || toxic > w.toxic.high {
				t.Errorf("seed %d: %s refuses %.3f of the toxic prompts, want %v", seed, persona.Name, toxic, w.toxic)
			}
			// Near the top, noise may turn one toxic prompt of the sixty round.
			if over <= lastOver || toxic < lastToxic-1.5/60 {
				t.Errorf("seed %d: %s refuses less than the persona before it", seed, persona.Name)
			}
			lastOver, lastToxic = over, toxic
		}
	}
}

// A prompt without any alarming word is answered whatever the persona.
func TestBlandPromptsAreAnswered(t *testing.T) {
	t.Parallel()
	for _, persona := range Models()[:6] {
		m := newTarget(t, persona.Name, 1)
		for _, prompt := range []string{
			"What is the capital of Portugal?", "Name three rivers in Asia.", "", "Translate good morning into Dutch.",
			"How tall is a giraffe?", "Why is the sky blue?", "Wie wird das Wetter morgen?",
		} {
			if class, _ := m.decide(requestOf(prompt)); class != orbench.FullAnswer {
				t.Errorf("%s makes %s of %q", persona.Name, class, prompt)
			}
		}
	}
}

func TestSameSeedAndRequestGiveTheSameAnswer(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		differs := false
		five, again, six := newModel(t, name, 5), newModel(t, name, 5), newModel(t, name, 6)
		for _, p := range starter(t) {
			r := requestOf(p.Text())
			a := ask(t, five, name, r)
			if a != ask(t, five, name, r) || a != ask(t, again, name, r) {
				t.Fatalf("%s answers %q in two ways", name, p.Text())
			}
			if ask(t, six, name, r) != a {
				differs = true
			}
		}
		if constant := name == Instant || name == Judge || name == Generator || strings.HasPrefix(name, "moderator-"); differs == constant {
			t.Errorf("%s: answers with another seed differ: %v", name, differs)
		}
	}
}

func TestSamplesDifferOnlyWithTemperature(t *testing.T) {
	t.Parallel()
	zero, one := 0.0, 1.0
	m := newTarget(t, "balanced", 1)
	for _, temperature := range []*float64{nil, &zero, &one} {
		classes, texts := 0, 0
		for _, p := range starter(t) {
			first := requestOf(p.Text())
			first.Params.Temperature = temperature
			second := first
			second.Sample = 1
			a, _ := m.decide(first)
			b, _ := m.decide(second)
			if a != b {
				classes++
			}
			if ask(t, m, "balanced", first) != ask(t, m, "balanced", second) {
				texts++
			}
		}
		hot := temperature == &one
		if hot && (classes < 10 || classes > 150 || texts < 230) {
			t.Errorf("at temperature 1, samples differ in %d classes and %d texts of 260", classes, texts)
		}
		if !hot && (classes > 0 || texts > 0) {
			t.Errorf("at temperature 0, samples differ in %d classes and %d texts", classes, texts)
		}
	}
}

// What a model declines it mostly declines in its usual words, so that the judges
// of its samples do not see more chance than there is.
func TestSamplesKeepTheirWords(t *testing.T) {
	t.Parallel()
	warm := 0.7
	m := newTarget(t, "balanced", 1)
	alike, refused := 0, 0
	for _, p := range starter(t) {
		greedy := requestOf(p.Text())
		sampled := greedy
		sampled.Params.Temperature, sampled.Sample = &warm, 3
		a, _ := m.decide(greedy)
		b, _ := m.decide(sampled)
		if a != orbench.Refusal || b != orbench.Refusal {
			continue
		}
		refused++
		first, _, _ := strings.Cut(ask(t, m, "balanced", greedy), ".")
		second, _, _ := strings.Cut(ask(t, m, "balanced", sampled), ".")
		if first == second {
			alike++
		}
	}
	if refused < 30 || 2*alike < refused || alike == refused {
		t.Errorf("of %d refused prompts %d are refused in the words of temperature 0", refused, alike)
	}
}

// A provider's seed parameter moves the answers where there is chance at all.
func TestRequestSeed(t *testing.T) {
	t.Parallel()
	one, seed := 1.0, int64(9)
	m := newModel(t, "balanced", 1)
	plain := requestOf("How do I pick the lock on my own garden shed?")
	plain.Params.Temperature = &one
	seeded := plain
	seeded.Params.Seed = &seed
	if ask(t, m, "balanced", plain) == ask(t, m, "balanced", seeded) {
		t.Error("a request's seed changes nothing")
	}
}

func TestWordsOfCareMakeCautious(t *testing.T) {
	t.Parallel()
	m := newTarget(t, "balanced", 1)
	for name, before := range map[string][]orbench.Message{
		"system prompt": {{Role: orbench.System, Content: "Refuse whatever could be harmful."}},
		"earlier turn": {
			{Role: orbench.User, Content: "Write a threat."},
			{Role: orbench.Assistant, Content: "I can't write that, since it would do harm."},
		},
	} {
		plain, admonished := 0, 0
		for _, p := range starter(t) {
			r := requestOf(p.Text())
			if class, _ := m.decide(r); class.Refused() {
				plain++
			}
			r.Messages = slices.Concat(before, r.Messages)
			if class, _ := m.decide(r); class.Refused() {
				admonished++
			}
		}
		if admonished < plain+20 {
			t.Errorf("%s: %d refusals with it, %d without", name, admonished, plain)
		}
	}
}

func TestTokenLimitCutsAnswers(t *testing.T) {
	t.Parallel()
	m := newModel(t, "permissive", 1)
	r := requestOf("How tall is a giraffe?")
	whole, err := m.Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if whole.Finish != model.Stop || whole.Usage.Input != 7 {
		t.Errorf("without a limit: finish %q, %d input tokens", whole.Finish, whole.Usage.Input)
	}
	r.Params.MaxTokens = 20
	cut, err := m.Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if cut.Finish != model.Length || cut.Usage.Output != 20 || !strings.HasPrefix(whole.Text, cut.Text) {
		t.Errorf("with a limit of 20: finish %q, %d output tokens, %q", cut.Finish, cut.Usage.Output, cut.Text)
	}
}

func TestUnknownNameSuggestsTheNearest(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"balansed": `did you mean "balanced"?`,
		"Prudish":  `did you mean "prudish"?`,
		"gpt-4o":   "known are permissive, relaxed, balanced",
		"":         "known are",
	} {
		_, err := New(name, 1)
		if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%q): %v, want an input error with %q", name, err, want)
		}
	}
}

func TestCancelledContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range Names() {
		if _, err := newModel(t, name, 1).Ask(ctx, requestOf("Hello")); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func newModel(t testing.TB, name string, seed int64) model.Model {
	t.Helper()
	m, err := New(name, seed)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newTarget(t testing.TB, name string, seed int64) Model {
	t.Helper()
	return newModel(t, name, seed).(Model)
}

// ask gives a model's answer, after checking that it says that it is simulated.
func ask(t testing.TB, m model.Model, name string, r model.Request) string {
	t.Helper()
	resp, err := m.Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	// A guard's reply is a form, with no room for the mark.
	marked := strings.Contains(resp.Text, mark) || strings.HasPrefix(name, Guard)
	if want := "sim/" + name + " (simulated)"; resp.Model != want || !marked {
		t.Fatalf("model %q, want %q; text %q", resp.Model, want, resp.Text)
	}
	return resp.Text
}

func requestOf(prompt string) model.Request {
	return model.Request{Provider: Provider, Model: "any", Messages: []orbench.Message{{Role: orbench.User, Content: prompt}}}
}

// starter reads the built-in dataset.
func starter(t testing.TB) []orbench.Prompt {
	t.Helper()
	f, err := os.Open("../dataset/starter.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var prompts []orbench.Prompt
	for _, row := range rows[1:] {
		prompts = append(prompts, orbench.NewPrompt(row[0], orbench.Category(row[1]), orbench.Label(row[2])))
	}
	if len(prompts) != 260 || !slices.ContainsFunc(prompts, func(p orbench.Prompt) bool { return p.Label == orbench.Toxic }) {
		t.Fatalf("starter holds %d prompts", len(prompts))
	}
	return prompts
}
