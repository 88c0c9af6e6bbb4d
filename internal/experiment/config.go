package experiment

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/defense"
	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/judge"
)

// Config is an experiment: every target in every variant answers every prompt of
// every dataset, and every judge judges every answer.
type Config struct {
	Name     string    `yaml:"name" json:"name,omitempty" jsonschema_description:"Name of the run in the store; made from the settings when left out."`
	Targets  []Target  `yaml:"targets" json:"targets" jsonschema:"minItems=1" jsonschema_description:"Models to measure."`
	Datasets []Dataset `yaml:"datasets" json:"datasets" jsonschema:"minItems=1" jsonschema_description:"Prompts to ask."`
	Judges   []string  `yaml:"judges" json:"judges,omitempty" jsonschema_description:"Judges of the answers, as for orbench eval."`
	// Probes plants forged verdicts in some answers; see package internal/probe.
	Probes bool `yaml:"probes" json:"probes,omitempty" jsonschema_description:"Plant forged verdicts in a few answers in a thousand, to see whether judges that are models fall for them; true when left out."`
	// Limit is the number of prompts taken from the start of each dataset, 0 for
	// all.
	Limit int `yaml:"limit" json:"limit,omitempty" jsonschema:"minimum=0" jsonschema_description:"Only the first so many prompts of each dataset; 0 for all."`
	// Sample is the number of prompts drawn at random of each dataset, 0 for all, with
	// SampleSeed, nil for dataset.UsualSampleSeed.
	Sample     int     `yaml:"sample" json:"sample,omitempty" jsonschema:"minimum=0" jsonschema_description:"So many prompts of each dataset, drawn at random by category and label; 0 for all. A larger draw has all prompts of a smaller one."`
	SampleSeed *uint64 `yaml:"sample_seed" json:"sample_seed,omitempty" jsonschema_description:"Seed of the draw, and of the order in which until asks; 1 when left out."`
	// Until is the half-width of every rate's interval at which the run ends by itself,
	// such as "2pp", empty to ask all prompts. SampleSeed chooses the order.
	Until          string `yaml:"until" json:"until,omitempty" jsonschema_description:"Ask in random order, and stop once the interval of every rate has this half-width, such as 2pp; all prompts when left out."`
	MaxTokens      int    `yaml:"max_tokens" json:"max_tokens,omitempty" jsonschema:"minimum=0" jsonschema_description:"Most output tokens of an answer; 0 for the provider's own limit."`
	JudgeMaxTokens int    `yaml:"judge_max_tokens" json:"judge_max_tokens,omitempty" jsonschema:"minimum=0" jsonschema_description:"Most output tokens of what judges, guards and translators reply."`
	// Seed is sent with each request to a target, nil for none.
	Seed *int64 `yaml:"seed" json:"seed,omitempty" jsonschema_description:"Seed to send to targets, where the provider takes one."`
	// BaseURLs are the addresses of providers, for whoever is asked there and has
	// none of its own.
	BaseURLs map[string]string `yaml:"base_urls" json:"base_urls,omitempty" jsonschema_description:"Addresses of OpenAI-compatible servers, by provider."`
	Variants Variants          `yaml:"variants" json:"variants,omitempty" jsonschema_description:"Ways of asking the targets, beside the plain one."`
}

// usualTokens is the most tokens of an answer, and of a judge's explanation, where nothing
// is said.
const usualTokens = 1000

// configSettings are the flags of what is no variant.
var configSettings = []Setting{
	{Flag: "target", Path: "targets", Default: []string(nil), split: SplitList, Plain: true, Usage: "`PROVIDER/MODEL` to measure; repeatable or comma separated"},
	{Flag: "dataset", Path: "datasets", Default: []string(nil), split: SplitList, Plain: true, Usage: "dataset `NAME or FILE`; repeatable or comma separated"},
	{Flag: "judge", Path: "judges", Default: usualJudges, split: splitJudges, Judges: true, Usage: "`JUDGE` of the answers; repeatable or comma separated"},
	{Flag: "prompt-column", Path: "datasets[*].prompt_column", also: "targets[*].prompt_column", Default: "", Plain: true},
	{Flag: "category-column", Path: "datasets[*].category_column", Default: "", Plain: true},
	{Flag: "label-column", Path: "datasets[*].label_column", Default: "", Plain: true},
	{Flag: "label-values", Path: "datasets[*].label_values", Default: "", Plain: true},
	{Flag: "label", Path: "datasets[*].label", Default: "", Plain: true},
	{Flag: "cluster-column", Path: "datasets[*].cluster_column", Default: "", Plain: true},
	{Flag: "pair-column", Path: "datasets[*].pair_column", Default: "", Group: "subject", Usage: "`COLUMN` of a file whose equal values tell safe and toxic prompts that are contrasts of each other"},
	// The answers of a replay are its own; guards are asked about those of a dataset.
	{Flag: "response-column", Path: "targets[*].response_column", also: "datasets[*].response_column", alsoIf: (*Config).guarding, Default: "", Usage: "`COLUMN` of the answers in a replay file, or of those that guards are asked about"},
	{Flag: "limit", Path: "limit", Default: 0, Plain: true},
	{Flag: "sample", Path: "sample", Default: 0, Plain: true},
	{Flag: "sample-seed", Path: "sample_seed", Default: uint64(dataset.UsualSampleSeed), Plain: true},
	{Flag: "until", Path: "until", Default: "", Group: "subject", Usage: "ask in random order, and stop once the interval of every rate has this `HALF-WIDTH`, such as 2pp; --sample-seed chooses the order"},
	{Flag: "max-tokens", Path: "max_tokens", Default: usualTokens, Plain: true, Usage: "most output tokens of an answer; 0 for the provider's own limit"},
	{Flag: "judge-max-tokens", Path: "judge_max_tokens", Default: usualTokens, Plain: true, Judges: true, Usage: "most output tokens of a judge's explanation"},
	{Flag: "seed", Path: "seed", Default: int64(0), Plain: true, Usage: "`SEED` to send with each request, where the provider takes one"},
	{Flag: "no-probes", Path: "probes", Default: false, write: not, Judges: true, Usage: "plant no forged verdicts in answers to see whether judges that are models fall for them"},
	{Flag: "name", Path: "name", Default: "", Usage: "`NAME` of the run in the store (default: made from its settings)"},
}

// usualJudges judge where nothing is said.
var usualJudges = []string{"lexical"}

// splitJudges parts judges at commas, but for those of panels.
func splitJudges(values []string) []string { return judge.Split(strings.Join(values, ",")) }

// not is a switch that turns off what the file turns on.
func not(value string) string { return strconv.FormatBool(value != "true") }

// Target is a model to measure. In the file it is a text, or an object where it
// has settings of its own.
type Target struct {
	// Target is PROVIDER/MODEL, sim/NAME, guard:FORMAT@PROVIDER/MODEL or replay:FILE.
	Target string `yaml:"target" json:"target" jsonschema_description:"PROVIDER/MODEL, sim/NAME, guard:FORMAT@PROVIDER/MODEL or replay:FILE."`
	// Name stands for the target in reports; Target when it is empty.
	Name    string `yaml:"name" json:"name,omitempty" jsonschema_description:"Name in reports; the target itself when left out."`
	BaseURL string `yaml:"base_url" json:"base_url,omitempty" jsonschema_description:"Address of this target's server."`
	// MaxTokens and Seed replace the experiment's when they are set.
	MaxTokens *int   `yaml:"max_tokens" json:"max_tokens,omitempty" jsonschema:"minimum=0" jsonschema_description:"In place of the experiment's."`
	Seed      *int64 `yaml:"seed" json:"seed,omitempty" jsonschema_description:"In place of the experiment's."`
	// PromptColumn and ResponseColumn are those of a replay file.
	PromptColumn   string `yaml:"prompt_column" json:"prompt_column,omitempty" jsonschema_description:"Column of the prompts in a replay file."`
	ResponseColumn string `yaml:"response_column" json:"response_column,omitempty" jsonschema_description:"Column of the answers in a replay file."`

	// written is the target as the file has it, where its path is relative to the file.
	written string
}

// Called is the target's name in reports.
func (t Target) Called() string {
	return cmp.Or(t.Name, t.written, t.Target)
}

// ReplayPrefix starts a target whose answers come from a file.
const ReplayPrefix = "replay:"

// GuardPrefix starts a target that is a guard, which is shown the prompts and flags
// them or not.
const GuardPrefix = "guard:"

// Guard gives what guard.Parse reads of a target that is a guard, and false for any
// other.
func (t Target) Guard() (spec string, ok bool) { return strings.CutPrefix(t.Target, GuardPrefix) }

// Replay gives the file of recorded answers that the target is, and false for a
// target that is a model.
func (t Target) Replay() (path string, ok bool) { return strings.CutPrefix(t.Target, ReplayPrefix) }

// Dataset is a set of prompts. In the file it is a text, or an object where a file
// has columns that have to be named.
type Dataset struct {
	// Dataset is a name or the path of a file.
	Dataset  string `yaml:"dataset" json:"dataset" jsonschema_description:"A name, or the path of a CSV, JSON Lines or Parquet file."`
	Prompt   string `yaml:"prompt_column" json:"prompt_column,omitempty" jsonschema_description:"Column of the prompts."`
	Category string `yaml:"category_column" json:"category_column,omitempty" jsonschema_description:"Column of the categories."`
	Labels   string `yaml:"label_column" json:"label_column,omitempty" jsonschema_description:"Column of the labels."`
	// LabelValues is as in dataset.Options.
	LabelValues string `yaml:"label_values" json:"label_values,omitempty" jsonschema_description:"What the values of the label column mean where they are no labels, such as contrast_*=toxic,*=safe."`
	Cluster     string `yaml:"cluster_column" json:"cluster_column,omitempty" jsonschema_description:"Column whose equal values tell prompts that are not independent."`
	Response    string `yaml:"response_column" json:"response_column,omitempty" jsonschema_description:"Column of answers, with which the prompts end: for guards, which are then asked about the answers."`
	Pair        string `yaml:"pair_column" json:"pair_column,omitempty" jsonschema_description:"Column whose equal values tell safe and toxic prompts that are contrasts of each other."`
	// Label is that of all prompts of a file without a column of labels.
	Label string `yaml:"label" json:"label,omitempty" jsonschema:"enum=safe,enum=toxic,enum=controversial,enum=undecided" jsonschema_description:"Label of a file without a column of labels."`
}

// Variants are ways of asking, as axes of which the plain target takes the first
// system prompt and the first temperature, and no framing, dialog, language or defense.
type Variants struct {
	// Cross takes every value of each axis with every value of the others; without
	// it each variant differs from the plain target in one.
	Cross         bool          `yaml:"cross" json:"cross,omitempty" jsonschema_description:"true, the default: every combination of the lists. false: one change at a time."`
	SystemPrompts []System      `yaml:"system_prompts" json:"system_prompts,omitempty" jsonschema_description:"System prompts; the plain target has the first."`
	Temperatures  []Temperature `yaml:"temperatures" json:"temperatures,omitempty" jsonschema_description:"Temperatures; the plain target has the first."`
	Framings      []Framing     `yaml:"framings" json:"framings,omitempty" jsonschema_description:"What users put around the prompts. The plain prompts are asked in any case."`
	Turns         []Script      `yaml:"turns" json:"turns,omitempty" jsonschema_description:"Dialogs at whose end the prompts are asked. The prompts alone are asked in any case."`
	Languages     []string      `yaml:"languages" json:"languages,omitempty" jsonschema_description:"Languages that the translator puts the prompts into, by code or name. The prompts as they are, are asked in any case."`
	Translator    string        `yaml:"translator" json:"translator,omitempty" jsonschema_description:"The model that translates, as provider/model."`
	Defenses      []string      `yaml:"defenses" json:"defenses,omitempty" jsonschema_description:"Defenses and ladders of them, as for orbench eval. The target without one is asked in any case."`
	Also          []Combination `yaml:"also" json:"also,omitempty" jsonschema_description:"Single combinations beside those of the lists."`
}

// variantSettings are the flags of variants.
var variantSettings = []Setting{
	{Flag: "system", Path: "variants.system_prompts", Default: "", write: writeSystem, Values: systemNames, Group: "manner", Plain: true, Usage: "system prompt: `TEXT, @FILE` or the name helpful-and-safe (default: none)"},
	{Flag: "temperature", Path: "variants.temperatures", Default: "0", write: only, Group: "manner", Plain: true, Usage: "`T` from 0 to 2, or \"default\" for the provider's own"},
	{Flag: "samples", Path: "variants.temperatures[*].samples", Default: 1, Group: "manner", Plain: true, Usage: "ask each prompt `N` times; wants a temperature above 0"},
	{Flag: "framing", Path: "variants.framings", Default: []string(nil), Values: framingNames, Group: "manner", Usage: "measure each target with prompts put in this `FRAMING` too: authority or purpose"},
	{Flag: "turns", Path: "variants.turns", Default: []string(nil), Values: dialogNames, Group: "manner", Usage: "measure each target with prompts asked at the end of this `DIALOG` too, such as refused-before, pushback or pushback-own"},
	{Flag: "language", Path: "variants.languages", Default: []string(nil), Group: "manner", Usage: "measure each target with prompts put into this `LANGUAGE` too, by code or name"},
	{Flag: "translator", Path: "variants.translator", Default: "", Group: "manner", Usage: "`PROVIDER/MODEL` that puts prompts into languages"},
	{Flag: "defense", Path: "variants.defenses", Default: []string(nil), split: splitDefenses, Group: "manner", Usage: "measure each target behind this `DEFENSE` too; repeatable or comma separated"},
}

// only is a list of one text.
func only(value string) string { return "[" + quote(value) + "]" }

// splitDefenses parts defenses at commas, but for those of their settings.
func splitDefenses(values []string) []string {
	var all []string
	for _, list := range values {
		all = append(all, defense.Split(list)...)
	}
	return all
}

// System is a system prompt with a name. In the file it is one of the built-in
// names, the name of another of the list, or an object.
type System struct {
	Name string `yaml:"name" json:"name" jsonschema_description:"Name in the names of variants: letters, digits, dots, hyphens and underscores."`
	Text string `yaml:"text" json:"text,omitempty"`
	File string `yaml:"file" json:"file,omitempty" jsonschema_description:"File with the text, in place of text."`
}

// Temperature is a temperature and how often each prompt is asked at it. In the
// file it is a number, the word default, or an object.
type Temperature struct {
	// Value is nil for the provider's own.
	Value   *float64 `yaml:"temperature" json:"temperature"`
	Samples int      `yaml:"samples" json:"samples,omitempty"`

	// unreadable says what is wrong with what the file has.
	unreadable string
}

// Framing is a defense.Framing. In the file it is one of the built-in names, the
// name of another of the list, or an object.
type Framing struct {
	Name   string `yaml:"name" json:"name" jsonschema_description:"Name in the names of variants: letters, digits, dots, hyphens and underscores."`
	Prefix string `yaml:"prefix" json:"prefix,omitempty" jsonschema_description:"Stands before the prompt, in a paragraph of its own."`
	Suffix string `yaml:"suffix" json:"suffix,omitempty" jsonschema_description:"Stands after the prompt, in a paragraph of its own."`
}

// Script is a conversation.Script. In the file it is one of the built-in names, the
// name of another of the list, or an object.
type Script conversation.Script

// Combination is a single variant. What it leaves out is as for the plain target.
type Combination struct {
	System      *System      `yaml:"system_prompt" json:"system_prompt,omitempty"`
	Temperature *Temperature `yaml:"temperature" json:"temperature,omitempty"`
	Framing     *Framing     `yaml:"framing" json:"framing,omitempty"`
	Turns       *Script      `yaml:"turns" json:"turns,omitempty"`
	Language    string       `yaml:"language" json:"language,omitempty"`
	Defense     string       `yaml:"defense" json:"defense,omitempty"`
}

// None is the name of no system prompt, no framing, no dialog, no language and no
// defense.
const None = "none"

// Default is what an experiment that says nothing means, except for its targets
// and datasets, which it has to name.
func Default() Config {
	return Config{
		Judges: slices.Clone(usualJudges), Probes: true, MaxTokens: usualTokens, JudgeMaxTokens: usualTokens,
		Variants: Variants{Cross: true, Temperatures: []Temperature{{Value: new(float64), Samples: 1}}},
	}
}

// Variant is one way of asking a target.
type Variant struct {
	System      System
	Temperature Temperature
	Framing     Framing
	Turns       Script
	// Language and Defense are None where there is none.
	Language string
	Defense  string
}

// Labels say in what a variant differs from another, the plain one: a name for each
// difference, in a fixed order. Samples are no difference.
func (w Variant) Labels(plain Variant) []string {
	var labels []string
	add := func(differs bool, label string) {
		if differs {
			labels = append(labels, label)
		}
	}
	add(w.System.Name != plain.System.Name, w.System.label())
	add(!w.Temperature.same(plain.Temperature), w.Temperature.label())
	add(w.Framing.Name != plain.Framing.Name, w.Framing.Name)
	add(w.Turns.Name != plain.Turns.Name, w.Turns.Name)
	add(w.Language != plain.Language, w.Language)
	add(w.Defense != plain.Defense, w.Defense)
	return labels
}

func (s System) label() string {
	if s.Name == None {
		return "no system prompt"
	}
	return s.Name
}

func (t Temperature) label() string {
	if t.Value == nil {
		return "default temperature"
	}
	return "temperature " + strconv.FormatFloat(*t.Value, 'g', -1, 64)
}

func (t Temperature) same(o Temperature) bool {
	if t.Value == nil || o.Value == nil {
		return t.Value == nil && o.Value == nil
	}
	return *t.Value == *o.Value
}

// Expand lists the variants, each once, the plain one first.
func (c *Config) Expand() []Variant {
	v := c.Variants
	plain := Variant{System: System{Name: None}, Temperature: Temperature{Value: new(float64), Samples: 1}, Framing: Framing{Name: None}, Turns: Script{Name: None}, Language: None, Defense: None}
	if len(v.SystemPrompts) > 0 {
		plain.System = v.SystemPrompts[0]
	}
	if len(v.Temperatures) > 0 {
		plain.Temperature = v.Temperatures[0]
	}
	// Each axis sets one thing; the first of its values leaves the plain variant as it
	// is.
	axes := slices.Repeat([][]func(*Variant){{func(*Variant) {}}}, 6)
	for _, s := range v.SystemPrompts[min(1, len(v.SystemPrompts)):] {
		axes[0] = append(axes[0], func(w *Variant) { w.System = s })
	}
	for _, t := range v.Temperatures[min(1, len(v.Temperatures)):] {
		axes[1] = append(axes[1], func(w *Variant) { w.Temperature = t })
	}
	for _, f := range v.Framings {
		if f.Name != None {
			axes[2] = append(axes[2], func(w *Variant) { w.Framing = f })
		}
	}
	for _, s := range v.Turns {
		if s.Name != None {
			axes[3] = append(axes[3], func(w *Variant) { w.Turns = s })
		}
	}
	for _, l := range v.Languages {
		if l != None {
			axes[4] = append(axes[4], func(w *Variant) { w.Language = l })
		}
	}
	for _, d := range v.Defenses {
		if d != None {
			axes[5] = append(axes[5], func(w *Variant) { w.Defense = d })
		}
	}
	variants := []Variant{plain}
	for _, values := range axes {
		if !v.Cross {
			for _, set := range values[1:] {
				w := plain
				set(&w)
				variants = append(variants, w)
			}
			continue
		}
		var crossed []Variant
		for _, variant := range variants {
			for _, set := range values {
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
	if c.System != nil {
		plain.System = *c.System
	}
	if c.Temperature != nil {
		plain.Temperature = *c.Temperature
	}
	if c.Framing != nil {
		plain.Framing = *c.Framing
	}
	if c.Turns != nil {
		plain.Turns = *c.Turns
	}
	if c.Language != "" {
		plain.Language = c.Language
	}
	if c.Defense != "" {
		plain.Defense = c.Defense
	}
	return plain
}

// count is the number of variants before repetitions are left out, at most most.
func (v Variants) count() int {
	const most = math.MaxInt32
	sizes := []int{len(v.SystemPrompts), len(v.Temperatures), len(v.Framings) + 1, len(v.Turns) + 1, len(v.Languages) + 1, len(v.Defenses) + 1}
	n := 1
	for _, size := range sizes {
		if v.Cross {
			n = min(most, n*max(1, size))
		} else {
			n += max(1, size) - 1
		}
	}
	return n + len(v.Also)
}

// Spec is the ladder of steps, as defense.Parse reads it, that stands before a
// target asked in this way.
func (c *Config) Spec(w Variant) string {
	if w.Language == None {
		return w.Defense
	}
	step := defense.TranslateStep(w.Language, c.Variants.Translator)
	if w.Defense == None {
		return step
	}
	return step + "+" + w.Defense
}
