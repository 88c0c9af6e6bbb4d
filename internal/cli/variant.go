package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench/defense"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/experiment"
)

// variant makes a target of the one that it is given, which is as its provider
// has it.
type variant func(evaluate.Target) evaluate.Target

// variants makes the variants of an experiment, each sample for itself. The first
// is the plain target.
func (m *measurement) variants(x asked) ([]variant, error) {
	ways := x.Ways()
	if t := x.Variants.Translator; t != "" {
		name, modelName, _ := strings.Cut(t, "/")
		if err := m.wiring.reach(name, modelName); err != nil {
			return nil, x.placed("$.variants.translator", err)
		}
	}
	opts := m.wiring.defenseOptions(x.JudgeMaxTokens)
	var variants []variant
	for _, way := range ways {
		d, err := defense.Parse(x.Spec(way), opts)
		if err != nil {
			return nil, x.placed(x.pathOf(way.Defense), err)
		}
		for _, ref := range d.Models() {
			if err := m.wiring.reach(ref.Provider, ref.Model); err != nil {
				return nil, x.placed(x.pathOf(way.Defense), err)
			}
		}
		if d.Name() == experiment.None {
			d = nil
		} else if !slices.ContainsFunc(m.config.Defenses, func(c judgeConfig) bool { return c.Spec == d.Name() }) {
			m.config.Defenses = append(m.config.Defenses, m.wiring.defenseConfig(d, x.JudgeMaxTokens))
		}
		labels := way.Labels(ways[0])
		for sample := range way.Temperature.Samples {
			variants = append(variants, func(t evaluate.Target) evaluate.Target { return variantOf(t, way, d, labels, sample) })
		}
	}
	return variants, nil
}

// pathOf is where a defence stands in an experiment.
func (x asked) pathOf(spec string) string {
	if i := slices.Index(x.Variants.Defenses, spec); i >= 0 {
		return item("variants.defenses", i)
	}
	i := slices.IndexFunc(x.Variants.Also, func(c experiment.Combination) bool { return c.Defense == spec })
	return item("variants.also", max(i, 0)) + ".defense"
}

// variantOf is a target asked in a way, for its n-th sample. Its name has a label
// for everything in which it differs from the plain target, which is its Base.
func variantOf(t evaluate.Target, way experiment.Way, d *defense.Defense, labels []string, sample int) evaluate.Target {
	t.System, t.Params.Temperature, t.Sample = way.System.Text, way.Temperature.Value, sample
	if framing := defense.Framing(way.Framing); framing.Prefix+framing.Suffix != "" {
		t.Framing = &framing
	}
	if d != nil {
		t.Defense, t.Guarded = d, d.Name()
	}
	if sample > 0 {
		labels = append(slices.Clone(labels), fmt.Sprintf("sample %d", sample+1))
	}
	if len(labels) > 0 {
		t.Base = t.Name
		t.Name += " [" + strings.Join(labels, ", ") + "]"
	}
	return t
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
