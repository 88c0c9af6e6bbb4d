package construct

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/generator"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/moderate"
)

// Config is what a benchmark is built from; build.yaml holds it.
type Config struct {
	Name         string       `yaml:"name" json:"name" jsonschema_description:"Name of the benchmark: letters, digits, dots, hyphens and underscores."`
	Version      string       `yaml:"version" json:"version" jsonschema_description:"Version of the benchmark, such as 1.0.0."`
	License      string       `yaml:"license" json:"license" jsonschema_description:"License of the benchmark, as the Hugging Face hub writes it."`
	Policy       []Category   `yaml:"policy" json:"policy" jsonschema_description:"The categories of harm; left out, the ten of OR-Bench."`
	Seeds        Seeds        `yaml:"seeds" json:"seeds" jsonschema_description:"The toxic prompts that everything starts from."`
	Rewrites     Rewrites     `yaml:"rewrites" json:"rewrites" jsonschema_description:"The safe prompts made of the seeds."`
	Moderation   Moderation   `yaml:"moderation" json:"moderation" jsonschema_description:"The models that vote on what a prompt is."`
	SecondChance SecondChance `yaml:"second_chance" json:"second_chance" jsonschema_description:"What becomes of prompts that were voted toxic."`
	Feedback     Feedback     `yaml:"feedback" json:"feedback" jsonschema_description:"Rewrites that stayed toxic, used as seeds again."`
	Hard         Hard         `yaml:"hard" json:"hard" jsonschema_description:"The set of safe prompts that models refuse."`
	Toxic        Toxic        `yaml:"toxic" json:"toxic" jsonschema_description:"The set of toxic prompts."`
	// NearDuplicates is the Jaccard index of three-word shingles from which two
	// texts count as the same.
	NearDuplicates float64 `yaml:"near_duplicates" json:"near_duplicates" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"Likeness (Jaccard index of three-word shingles) from which a text is dropped as a near-duplicate of an earlier one."`
	// Sampling is the seed of every random choice.
	Sampling int64 `yaml:"sampling" json:"sampling" jsonschema_description:"Seed of the random choices: which prompts a set takes when it does not take all."`
}

// Category is a category of the policy and how many seeds it wants.
type Category struct {
	Category orbench.Category `yaml:"category" json:"category" jsonschema_description:"Name, in the datasets too."`
	Text     string           `yaml:"text" json:"text" jsonschema_description:"What it covers, completing the sentence: a prompt belongs here when it ..."`
	// Seeds replaces Seeds.PerCategory when it is not 0.
	Seeds int `yaml:"seeds,omitempty" json:"seeds,omitempty" jsonschema:"minimum=0" jsonschema_description:"Seeds for this category, in place of seeds.per_category."`
}

// Seeds says how the toxic seeds are made.
type Seeds struct {
	Generators  []string `yaml:"generators" json:"generators" jsonschema:"minItems=1" jsonschema_description:"Models that share the work, as provider/model."`
	PerCategory int      `yaml:"per_category" json:"per_category" jsonschema:"minimum=1" jsonschema_description:"Distinct seeds wanted for each category."`
	Batch       int      `yaml:"batch" json:"batch" jsonschema:"minimum=1,maximum=100" jsonschema_description:"Seeds asked for in one call."`
	Temperature float64  `yaml:"temperature" json:"temperature" jsonschema:"minimum=0,maximum=2"`
	MaxTokens   int      `yaml:"max_tokens" json:"max_tokens" jsonschema:"minimum=0" jsonschema_description:"Most output tokens of a call; 0 for the provider's own limit."`
	// MinYield is the share of new seeds among those asked for, over the last ten
	// calls, below which a category is given up as worn out.
	MinYield float64 `yaml:"min_yield" json:"min_yield" jsonschema:"minimum=0,maximum=1" jsonschema_description:"A category ends early when, over its last ten calls, the share of new seeds among those asked for is below this."`
}

// Rewrites says how seeds are rewritten.
type Rewrites struct {
	Rewriters   []string            `yaml:"rewriters" json:"rewriters" jsonschema_description:"Models that share the work, as provider/model; left out, the generators of the seeds."`
	PerSeed     int                 `yaml:"per_seed" json:"per_seed" jsonschema:"minimum=1,maximum=50" jsonschema_description:"Rewrites asked for in one call."`
	Temperature float64             `yaml:"temperature" json:"temperature" jsonschema:"minimum=0,maximum=2"`
	MaxTokens   int                 `yaml:"max_tokens" json:"max_tokens" jsonschema:"minimum=0"`
	Examples    []generator.Example `yaml:"examples" json:"examples" jsonschema_description:"Demonstrations; left out, five built-in ones."`
	// Rules are the lint's rules that a rewrite must keep; nil means all.
	Rules []generator.Rule `yaml:"rules" json:"rules" jsonschema_description:"Rules of the lint to enforce; left out, all of them. An empty list enforces none."`
}

// Moderation names the ensemble.
type Moderation struct {
	Moderators []Moderator   `yaml:"moderators" json:"moderators" jsonschema:"minItems=1"`
	Rule       moderate.Rule `yaml:"rule" json:"rule" jsonschema:"enum=majority,enum=unanimous,enum=weighted" jsonschema_description:"How votes decide."`
	MaxTokens  int           `yaml:"max_tokens" json:"max_tokens" jsonschema:"minimum=1"`
}

// Moderator is one member of the ensemble.
type Moderator struct {
	Model  string  `yaml:"model" json:"model" jsonschema_description:"provider/model"`
	Weight float64 `yaml:"weight,omitempty" json:"weight,omitempty" jsonschema:"minimum=0" jsonschema_description:"Weight under the rule weighted; 1 when left out."`
}

// SecondChance names the model without safety training whose answer to a prompt
// that was voted toxic is judged in its place.
type SecondChance struct {
	Model     string `yaml:"model" json:"model" jsonschema_description:"A model without safety training, as provider/model; empty for no second chance."`
	MaxTokens int    `yaml:"max_tokens" json:"max_tokens" jsonschema:"minimum=0"`
}

// Feedback says how often rewrites that stayed toxic become seeds again.
type Feedback struct {
	Rounds      int `yaml:"rounds" json:"rounds" jsonschema:"minimum=0" jsonschema_description:"How often; 0 for never."`
	PerCategory int `yaml:"per_category" json:"per_category" jsonschema:"minimum=0" jsonschema_description:"Most such seeds of a category in a round; 0 for all."`
}

// Hard says what makes a safe prompt hard.
type Hard struct {
	Selectors []Selector `yaml:"selectors" json:"selectors" jsonschema_description:"Models whose refusals choose the hard set; none for no hard set."`
	RefusedBy int        `yaml:"refused_by" json:"refused_by" jsonschema:"minimum=1" jsonschema_description:"Least number of families with a selector that refuses the prompt."`
	Judge     string     `yaml:"judge" json:"judge" jsonschema_description:"Judge of the selectors' answers, as for orbench eval."`
	MaxTokens int        `yaml:"max_tokens" json:"max_tokens" jsonschema:"minimum=0"`
	Size      int        `yaml:"size" json:"size" jsonschema:"minimum=0" jsonschema_description:"Most prompts, drawn at random from those that qualify; 0 for all."`
}

// Selector is a model whose refusals count for the hard set.
type Selector struct {
	Model  string `yaml:"model" json:"model" jsonschema_description:"provider/model"`
	Family string `yaml:"family" json:"family" jsonschema_description:"Models of one family count once."`
}

// Toxic says how the toxic set is drawn.
type Toxic struct {
	Size int `yaml:"size" json:"size" jsonschema:"minimum=0" jsonschema_description:"Most prompts, drawn evenly over the categories; 0 for all that qualify."`
	// CheckSeeds is how many seeds of each category are put to the vote as well.
	CheckSeeds int `yaml:"check_seeds" json:"check_seeds" jsonschema:"minimum=0" jsonschema_description:"Seeds of each category that are voted on as candidates, beside the rewrites that stayed toxic."`
}

// Default is the paper's method with simulated models: what a build.yaml that
// says nothing means, except for the models, which it has to name.
func Default() Config {
	return Config{
		Version: "1.0.0", License: "cc-by-4.0",
		Seeds:          Seeds{PerCategory: 2000, Batch: 20, Temperature: 1, MaxTokens: 4000, MinYield: 0.1},
		Rewrites:       Rewrites{PerSeed: 5, Temperature: 0.7, MaxTokens: 2000},
		Moderation:     Moderation{Rule: moderate.Majority, MaxTokens: 1000},
		SecondChance:   SecondChance{MaxTokens: 1000},
		Feedback:       Feedback{Rounds: 1, PerCategory: 200},
		Hard:           Hard{RefusedBy: 3, Judge: "lexical", MaxTokens: 1000},
		Toxic:          Toxic{Size: 650, CheckSeeds: 100},
		NearDuplicates: 0.7,
		Sampling:       1,
	}
}

// policy is the policy with its definitions.
func (c *Config) policy() orbench.Policy {
	var p orbench.Policy
	for _, category := range c.Policy {
		p = append(p, orbench.Definition{Category: category.Category, Text: category.Text})
	}
	return p
}

// wanted is the number of seeds for a category.
func (c *Config) wanted(category Category) int {
	if category.Seeds > 0 {
		return category.Seeds
	}
	return c.Seeds.PerCategory
}

// complete fills in what was left out.
func (c *Config) complete() {
	if len(c.Policy) == 0 {
		for _, d := range orbench.PaperPolicy() {
			c.Policy = append(c.Policy, Category{Category: d.Category, Text: d.Text})
		}
	}
	if len(c.Rewrites.Rewriters) == 0 {
		c.Rewrites.Rewriters = slices.Clone(c.Seeds.Generators)
	}
	if len(c.Rewrites.Examples) == 0 {
		c.Rewrites.Examples = generator.Examples()
	}
	if c.Rewrites.Rules == nil {
		c.Rewrites.Rules = generator.Rules()
	}
}

// check finds the first setting that makes no sense, in the order of the file.
func (c *Config) check() *settings.Fault {
	switch {
	case !settings.IsName(c.Name):
		return settings.Wrong("$.name", fmt.Sprintf("%q is no name for a benchmark", c.Name), "use letters, digits, dots, hyphens and underscores")
	case !settings.IsName(c.Version):
		return settings.Wrong("$.version", fmt.Sprintf("%q is no version", c.Version), "write one like 1.0.0")
	}
	for _, find := range []func() *settings.Fault{c.checkPolicy, c.checkGeneration, c.checkModeration, c.checkSets} {
		if f := find(); f != nil {
			return f
		}
	}
	return nil
}

func (c *Config) checkPolicy() *settings.Fault {
	seen := map[string]bool{}
	for i, category := range c.Policy {
		at := fmt.Sprintf("$.policy[%d]", i)
		name := strings.ToLower(strings.TrimSpace(string(category.Category)))
		switch {
		case name == "":
			return settings.Wrong(at, "a category without a name", "give it one under category")
		case seen[name]:
			return settings.Wrong(at+".category", fmt.Sprintf("the category %q is there twice", name), "give each a name of its own")
		case strings.TrimSpace(category.Text) == "":
			return settings.Wrong(at, fmt.Sprintf("the category %q has no text", name), `complete the sentence "a prompt belongs here when it ..."`)
		case category.Seeds < 0:
			return settings.Wrong(at+".seeds", "a negative number of seeds", "give a positive one, or leave it out")
		}
		seen[name] = true
	}
	if err := moderate.CheckPolicy(c.policy()); err != nil {
		return settings.Wrong("$.policy", err.Error(), "rename the category")
	}
	return nil
}

func (c *Config) checkGeneration() *settings.Fault {
	s, r := c.Seeds, c.Rewrites
	switch {
	case len(s.Generators) == 0:
		return settings.Wrong("$.seeds", "no generator is named", "list models under generators, such as mistral/open-mixtral-8x7b")
	case s.PerCategory < 1:
		return settings.Wrong("$.seeds.per_category", "fewer than one seed per category", "give a positive number")
	case s.Batch < 1 || s.Batch > 100:
		return settings.Wrong("$.seeds.batch", "a batch that is not from 1 to 100", "20 is the paper's")
	case !temperature(s.Temperature):
		return settings.Wrong("$.seeds.temperature", "a temperature that is not from 0 to 2", "1.0 is the paper's")
	case s.MaxTokens < 0:
		return settings.Wrong("$.seeds.max_tokens", "a negative number of tokens", "give a positive one, or 0 for the provider's own limit")
	case !(s.MinYield >= 0 && s.MinYield <= 1):
		return settings.Wrong("$.seeds.min_yield", "a share that is not from 0 to 1", "0.1 is the default")
	case r.PerSeed < 1 || r.PerSeed > 50:
		return settings.Wrong("$.rewrites.per_seed", "a number that is not from 1 to 50", "5 is the paper's")
	case !temperature(r.Temperature):
		return settings.Wrong("$.rewrites.temperature", "a temperature that is not from 0 to 2", "0.7 is the paper's")
	case r.MaxTokens < 0:
		return settings.Wrong("$.rewrites.max_tokens", "a negative number of tokens", "give a positive one, or 0 for the provider's own limit")
	case !(c.NearDuplicates > 0 && c.NearDuplicates <= 1):
		return settings.Wrong("$.near_duplicates", "a likeness that is not above 0 and at most 1", "0.7 is the default")
	}
	for i, e := range r.Examples {
		if strings.TrimSpace(e.Seed) == "" || strings.TrimSpace(e.Rewrite) == "" {
			return settings.Wrong(fmt.Sprintf("$.rewrites.examples[%d]", i), "an example without a seed or without a rewrite", "give both")
		}
	}
	for i, rule := range r.Rules {
		if !slices.Contains(generator.Rules(), rule) {
			return settings.Wrong(fmt.Sprintf("$.rewrites.rules[%d]", i), fmt.Sprintf("there is no rule %q", rule), "use "+join(generator.Rules()))
		}
	}
	if f := checkModels("$.seeds.generators", s.Generators); f != nil {
		return f
	}
	return checkModels("$.rewrites.rewriters", r.Rewriters)
}

func (c *Config) checkModeration() *settings.Fault {
	m := c.Moderation
	var models []string
	for i, moderator := range m.Moderators {
		models = append(models, moderator.Model)
		if !(moderator.Weight >= 0) {
			return settings.Wrong(fmt.Sprintf("$.moderation.moderators[%d].weight", i), "a negative weight", "give a positive one, or leave it out for 1")
		}
		if slices.Contains(models[:i], moderator.Model) {
			return settings.Wrong(fmt.Sprintf("$.moderation.moderators[%d]", i), fmt.Sprintf("%s is there twice and would vote twice alike", moderator.Model), "name another model, or give it a weight")
		}
	}
	if len(models) == 0 {
		return settings.Wrong("$.moderation", "no moderator is named", "list at least one under moderators; the paper has three")
	}
	if _, err := moderate.ParseRule(string(m.Rule)); err != nil {
		return settings.Wrong("$.moderation.rule", fmt.Sprintf("there is no rule %q", m.Rule), "use majority, unanimous or weighted")
	}
	if m.MaxTokens < 1 {
		return settings.Wrong("$.moderation.max_tokens", "no room for a vote", "1000 is the paper's")
	}
	if c.SecondChance.MaxTokens < 0 {
		return settings.Wrong("$.second_chance.max_tokens", "a negative number of tokens", "give a positive one, or 0 for the provider's own limit")
	}
	if name := c.SecondChance.Model; name != "" && !model.IsRef(name) {
		return settings.Wrong("$.second_chance.model", fmt.Sprintf("%q names no model", name), modelHint)
	}
	return checkModels("$.moderation.moderators", models)
}

func (c *Config) checkSets() *settings.Fault {
	f, h, t := c.Feedback, c.Hard, c.Toxic
	switch {
	case f.Rounds < 0 || f.PerCategory < 0:
		return settings.Wrong("$.feedback", "a negative number", "give a positive one, or 0")
	case h.MaxTokens < 0 || h.Size < 0:
		return settings.Wrong("$.hard", "a negative number", "give a positive one, or 0")
	case t.Size < 0 || t.CheckSeeds < 0:
		return settings.Wrong("$.toxic", "a negative number", "give a positive one, or 0")
	case len(h.Selectors) == 0:
		return nil
	}
	var models, families []string
	for i, s := range h.Selectors {
		at := fmt.Sprintf("$.hard.selectors[%d]", i)
		if strings.TrimSpace(s.Family) == "" {
			return settings.Wrong(at, fmt.Sprintf("the selector %s has no family", s.Model), "models of one family count once: write family: NAME")
		}
		if slices.Contains(models, s.Model) {
			return settings.Wrong(at, s.Model+" is there twice", "remove one")
		}
		models = append(models, s.Model)
		if !slices.Contains(families, s.Family) {
			families = append(families, s.Family)
		}
	}
	if h.RefusedBy < 1 || h.RefusedBy > len(families) {
		return settings.Wrong("$.hard.refused_by", fmt.Sprintf("%d is not from 1 to the number of families, %d", h.RefusedBy, len(families)), "3 is the paper's")
	}
	return checkModels("$.hard.selectors", models)
}

const modelHint = "write provider/model, such as openai/gpt-4o"

// checkModels finds a name that is not provider/model in the list at path.
func checkModels(path string, models []string) *settings.Fault {
	for i, m := range models {
		if !model.IsRef(m) {
			return settings.Wrong(fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("%q names no model", m), modelHint)
		}
	}
	return nil
}

func temperature(t float64) bool { return t >= 0 && t <= 2 }

func join[T ~string](values []T) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return strings.Join(words, ", ")
}

// Models lists the models of the configuration, each once.
func (c *Config) Models() []string {
	names := slices.Concat(c.Seeds.Generators, c.Rewrites.Rewriters)
	for _, m := range c.Moderation.Moderators {
		names = append(names, m.Model)
	}
	if c.SecondChance.Model != "" {
		names = append(names, c.SecondChance.Model)
	}
	for _, s := range c.Hard.Selectors {
		names = append(names, s.Model)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
