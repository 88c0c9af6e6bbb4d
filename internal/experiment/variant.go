package experiment

import (
	"fmt"
	"slices"

	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/settings"
)

// Variants are ways of asking, as axes of which the plain target takes the first
// system prompt and the first temperature, and no framing, dialog or defense.
type Variants struct {
	// Cross takes every value of each axis with every value of the others; without
	// it each variant differs from the plain target in one.
	Cross         bool          `yaml:"cross" json:"cross,omitempty" jsonschema_description:"true, the default: every combination of the lists. false: one change at a time."`
	SystemPrompts []System      `yaml:"system_prompts" json:"system_prompts,omitempty" jsonschema_description:"System prompts; the plain target has the first."`
	Temperatures  []Temperature `yaml:"temperatures" json:"temperatures,omitempty" jsonschema_description:"Temperatures; the plain target has the first."`
	Framings      []Framing     `yaml:"framings" json:"framings,omitempty" jsonschema_description:"What users put around the prompts. The plain prompts are asked in any case."`
	Turns         []Script      `yaml:"turns" json:"turns,omitempty" jsonschema_description:"Dialogs at whose end the prompts are asked. The prompts alone are asked in any case."`
	Defenses      []Defense     `yaml:"defenses" json:"defenses,omitempty" jsonschema_description:"Defenses and ladders of them, as for orbench eval. The target without one is asked in any case."`
	Also          []Combination `yaml:"also" json:"also,omitempty" jsonschema_description:"Single combinations beside those of the lists."`
}

// variantSettings are the flags of variants.
var variantSettings = []Setting{
	{Flag: "system", Path: "variants.system_prompts", Default: "", write: writeSystem, Values: systemNames, Group: "manner", Usage: "system prompt: `TEXT, @FILE` or the name helpful-and-safe (default: none)"},
	{Flag: "temperature", Path: "variants.temperatures", Default: "0", write: func(value string) string { return "[" + quote(value) + "]" }, Group: "manner", Usage: "`T` from 0 to 2, or \"default\" for the provider's own"},
	{Flag: "samples", Path: "variants.temperatures[*].samples", Bare: true},
	{Flag: "framing", Path: "variants.framings", Bare: true},
	{Flag: "turns", Path: "variants.turns", Bare: true},
	{Flag: "defense", Path: "variants.defenses", Bare: true},
}

// Combination is a single variant. What it leaves out is as for the plain target.
type Combination struct {
	System      *System      `yaml:"system_prompt" json:"system_prompt,omitempty"`
	Temperature *Temperature `yaml:"temperature" json:"temperature,omitempty"`
	Framing     *Framing     `yaml:"framing" json:"framing,omitempty"`
	Turns       *Script      `yaml:"turns" json:"turns,omitempty"`
	Defense     *Defense     `yaml:"defense" json:"defense,omitempty"`
}

// None is the name of no system prompt, no framing, no dialog and no defense.
const None = "none"

// Variant is one way of asking a target.
type Variant struct {
	System      System
	Temperature Temperature
	Framing     Framing
	Turns       Script
	Defense     Defense
}

// plain is the variant with the first system prompt and the first temperature, from which
// the others differ.
func (v Variants) plain() Variant {
	plain := Variant{System: System{Name: None}, Temperature: usualTemperature(), Framing: Framing{Name: None}, Turns: Script{Name: None}, Defense: None}
	if len(v.SystemPrompts) > 0 {
		plain.System = v.SystemPrompts[0]
	}
	if len(v.Temperatures) > 0 {
		plain.Temperature = v.Temperatures[0]
	}
	return plain
}

// axes are the ways in which variants differ, in the order of their labels.
var axes = []axis{
	along(axis{key: "system_prompts", noun: "system prompt", named: true, answered: true}, "system_prompt",
		func(v *Variants) *[]System { return &v.SystemPrompts }, func(s *Combination) *System { return s.System }, func(w *Variant) *System { return &w.System }),
	along(axis{key: "temperatures", noun: "temperature"}, "temperature",
		func(v *Variants) *[]Temperature { return &v.Temperatures }, func(s *Combination) *Temperature { return s.Temperature }, func(w *Variant) *Temperature { return &w.Temperature }),
	along(axis{key: "framings", noun: "framing", named: true, rewords: true}, "framing",
		func(v *Variants) *[]Framing { return &v.Framings }, func(s *Combination) *Framing { return s.Framing }, func(w *Variant) *Framing { return &w.Framing }),
	along(axis{key: "turns", noun: "dialog", named: true, rewords: true}, "turns",
		func(v *Variants) *[]Script { return &v.Turns }, func(s *Combination) *Script { return s.Turns }, func(w *Variant) *Script { return &w.Turns }),
	along(axis{key: "defenses", noun: "defense", answered: true}, "defense",
		func(v *Variants) *[]Defense { return &v.Defenses }, func(s *Combination) *Defense { return s.Defense }, func(w *Variant) *Defense { return &w.Defense }),
}

// Labels say in what a variant differs from another, the plain one: a name for each
// difference, in a fixed order. Samples are no difference.
func (w Variant) Labels(plain Variant) (labels []string) {
	for _, a := range axes {
		if label := a.label(&w); label != a.label(&plain) {
			labels = append(labels, label)
		}
	}
	return labels
}

// Expand lists the variants, each once, the plain one first. It stops if there are more
// than Check allows.
func (c *Experiment) Expand() []Variant {
	v := &c.Variants
	plain := v.plain()
	variants := []Variant{plain}
	for _, a := range axes {
		others := a.others(v, &plain)
		if !v.Cross {
			for _, set := range others {
				w := plain
				set(&w)
				variants = append(variants, w)
			}
			continue
		}
		var crossed []Variant
		for _, variant := range variants {
			if len(crossed) > maxVariants {
				break
			}
			crossed = append(crossed, variant)
			for _, set := range others {
				w := variant
				set(&w)
				crossed = append(crossed, w)
			}
		}
		variants = crossed
	}
	for _, single := range v.Also {
		w := single.variant(plain)
		name := w.Labels(plain)
		if !slices.ContainsFunc(variants, func(o Variant) bool { return slices.Equal(o.Labels(plain), name) }) {
			variants = append(variants, w)
		}
	}
	return variants
}

// variant is the combination as a variant of the plain variant.
func (c Combination) variant(plain Variant) Variant {
	for _, a := range axes {
		a.single(&c, &plain)
	}
	return plain
}

func (c *Experiment) checkAxes() *settings.Fault {
	if i := slices.Index(c.Variants.Also, Combination{}); i >= 0 {
		return settings.Wrong(at("variants.also", i), "an empty combination", "give it a system_prompt, temperature, framing, turns or defense")
	}
	for _, a := range axes {
		if f := a.check(c); f != nil {
			return f
		}
	}
	return nil
}

// checkVariants checks how many variants there are, and that no two have the same name.
func (c *Experiment) checkVariants() *settings.Fault {
	// No answers can be recorded to framed prompts or in dialogs.
	i := slices.IndexFunc(c.Targets, func(t Target) bool { _, ok := t.Replay(); return ok })
	if i >= 0 && slices.ContainsFunc(axes, func(a axis) bool { return a.rewords && a.used(&c.Variants) != "" }) {
		return settings.Wrong(at("targets", i), "recorded answers belong to the plain prompts, not to framed ones or to dialogs", "measure it in an experiment of its own")
	}
	// meant has a variant that each label stands for.
	type meaning struct {
		axis int
		in   Variant
	}
	meant := map[string]meaning{}
	variants := c.Expand()
	if len(variants) > maxVariants {
		return settings.Wrong("$.variants", fmt.Sprintf("more than %d variants of each target", maxVariants), "write cross: false, and list single combinations under also")
	}
	plain := variants[0]
	for _, w := range variants {
		for i, a := range axes {
			label := a.label(&w)
			if label == a.label(&plain) {
				continue
			}
			if other, taken := meant[label]; taken && (other.axis != i || !a.equal(&w, &other.in)) {
				return settings.Wrong("$.variants", fmt.Sprintf("two different variants have the name %q", label), "give one of them another name")
			}
			meant[label] = meaning{i, w}
		}
	}
	for i, single := range c.Variants.Also {
		w := single.variant(plain)
		k := slices.IndexFunc(variants, func(o Variant) bool { return slices.Equal(o.Labels(plain), w.Labels(plain)) })
		if n := variants[k].Temperature.Samples; n != w.Temperature.Samples {
			return settings.Wrong(at("variants.also", i)+".temperature", fmt.Sprintf("the same combination is listed twice, the second time with %d samples", n), "remove one of the two")
		}
	}
	return nil
}

// Defense is a ladder of steps as defense.Parse reads it, or None.
type Defense string

func (d *Defense) label() string { return string(*d) }

// complete gives a defense the name that it has written in full.
func (d *Defense) complete(at entry, _ []part) *settings.Fault {
	parsed, err := defense.Parse(string(*d), defense.Options{})
	if err != nil {
		return because(at.path, err)
	}
	*d = Defense(parsed.Name())
	return nil
}

// Framing is a defense.Framing. In the file it is one of the built-in names, the
// name of another of the list, or an object.
type Framing defense.Framing

func (f Framing) name() string   { return f.Name }
func (f *Framing) label() string { return f.Name }

func (f *Framing) complete(at entry, list []part) *settings.Fault {
	builtIn := each(defense.Framings(), func(f defense.Framing) Framing { return Framing(f) })
	return lookUp(at, f, f.Prefix+f.Suffix != "", "your own in an experiment file: {name: NAME, prefix: TEXT}", builtIn, list, Framing.name)
}

// UnmarshalYAML reads a name, or an object with a prefix or a suffix.
func (f *Framing) UnmarshalYAML(unmarshal func(any) error) error {
	type object Framing
	return settings.Either(unmarshal, &f.Name, (*object)(f))
}

// Script is a conversation.Script. In the file it is one of the built-in names, the
// name of another of the list, or an object.
type Script conversation.Script

func (s Script) name() string   { return s.Name }
func (s *Script) label() string { return s.Name }

func (s *Script) complete(at entry, list []part) *settings.Fault {
	own := len(s.Turns) > 0
	builtIn := append([]Script{{Name: None}}, each(conversation.Scripts(), func(s conversation.Script) Script { return Script(s) })...)
	f := lookUp(at, s, own, "your own in an experiment file: {name: NAME, turns: [{user: TEXT}, own, {user: TEXT}]}", builtIn, list, Script.name)
	if f != nil || !own {
		return f
	}
	if problem, hint := (*conversation.Script)(s).Check(); problem != "" {
		return at.wrong(fmt.Sprintf("the dialog %q: %s", s.Name, problem), hint)
	}
	return nil
}

// UnmarshalYAML reads a name, or an object with turns.
func (s *Script) UnmarshalYAML(unmarshal func(any) error) error {
	type object Script
	return settings.Either(unmarshal, &s.Name, (*object)(s))
}
