package cli

import (
	"fmt"
	"strings"

	"github.com/orbench/orbench/defense"
	"github.com/orbench/orbench/internal/evaluate"
)

// systemPrompt gives the system prompt that a flag names or holds.
func systemPrompt(value string) (string, error) {
	for _, s := range defense.SystemPrompts() {
		if s.Name == value {
			return s.Text, nil
		}
	}
	return textOrFile("--system", value)
}

// variants crosses the framings, the defences and the samples of the flags. Each
// variant makes a target of the one that it is given; the first leaves it as it
// is.
func (m *measurement) variants(f evalFlags) ([]func(evaluate.Target) evaluate.Target, error) {
	if f.samples < 1 {
		return nil, inputError("--samples", "fewer than one answer", "give a positive number")
	}
	if f.samples > 1 && f.temperature == "0" {
		return nil, inputError("--samples", "at temperature 0 all answers are meant to be the same", "give a --temperature above 0")
	}
	framings := []*defense.Framing{nil}
	for _, name := range f.framings {
		framing, err := framingNamed(name)
		if err != nil {
			return nil, err
		}
		if framing.Prefix+framing.Suffix != "" {
			framings = append(framings, &framing)
		}
	}
	defenses := []*defense.Defense{nil}
	opts := m.wiring.defenseOptions(f.judgeMaxTokens)
	for _, list := range f.defenses {
		for _, spec := range defense.Split(list) {
			d, err := defense.Parse(spec, opts)
			if err != nil {
				return nil, err
			}
			for _, ref := range d.Models() {
				if _, err := m.wiring.connect(ref.Provider); err != nil {
					return nil, err
				}
				if err := checkSim(ref.Provider, ref.Model); err != nil {
					return nil, err
				}
			}
			m.config.Defenses = append(m.config.Defenses, m.wiring.defenseConfig(d, f.judgeMaxTokens))
			if d.Name() != "none" {
				defenses = append(defenses, d)
			}
		}
	}
	var variants []func(evaluate.Target) evaluate.Target
	for _, framing := range framings {
		for _, d := range defenses {
			for sample := range f.samples {
				variants = append(variants, func(t evaluate.Target) evaluate.Target { return variantOf(t, framing, d, sample) })
			}
		}
	}
	return variants, nil
}

// variantOf is a target under a framing, behind a defence, asked for its n-th
// sample; it has a name of its own unless nothing is changed.
func variantOf(t evaluate.Target, framing *defense.Framing, d *defense.Defense, sample int) evaluate.Target {
	var changes []string
	if framing != nil {
		changes = append(changes, framing.Name)
		t.Framing = framing
	}
	if d != nil {
		changes = append(changes, d.Name())
		t.Defense, t.Guarded = d, d.Name()
	}
	if sample > 0 {
		changes = append(changes, fmt.Sprintf("sample %d", sample+1))
		t.Sample = sample
	}
	if len(changes) > 0 {
		t.Base = t.Name
		t.Name += " [" + strings.Join(changes, ", ") + "]"
	}
	return t
}

// framingNamed finds a framing.
func framingNamed(name string) (defense.Framing, error) {
	var names []string
	for _, f := range defense.Framings() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return defense.Framing{}, inputError("--framing", fmt.Sprintf("no framing is called %q", name), "use "+strings.Join(names, ", "))
}

// defenseOptions are the settings of defences; they make the clients that
// defences ask.
func (w *wiring) defenseOptions(maxTokens int) defense.Options {
	return defense.Options{
		MaxTokens: maxTokens,
		Endpoint: func(name string) string {
			// An unknown provider is found when its client is made.
			key, _ := w.connect(name)
			return key.Endpoint
		},
		Structured: func(name string) bool {
			key, err := w.connect(name)
			return err == nil && w.clients[key].structured
		},
	}
}

// defenseConfig records a defence as judgeConfigs does judges.
func (w *wiring) defenseConfig(d *defense.Defense, maxTokens int) judgeConfig {
	c := judgeConfig{Spec: d.Name(), MaxTokens: maxTokens, Endpoints: map[string]string{}, Structured: map[string]bool{}}
	for _, m := range d.Models() {
		c.Endpoints[m.Provider] = m.Endpoint
		c.Structured[m.Provider] = w.clients[evaluate.LaneKey{Provider: m.Provider, Endpoint: m.Endpoint}].structured
	}
	return c
}

// defense makes the defence again. It needs no key: what it asked is remembered.
func (c judgeConfig) defense() (*defense.Defense, error) {
	return defense.Parse(c.Spec, defense.Options{
		MaxTokens:  c.MaxTokens,
		Endpoint:   func(name string) string { return c.Endpoints[name] },
		Structured: func(name string) bool { return c.Structured[name] },
	})
}
