package benchmark

import (
	"fmt"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/internal/policy"
	"github.com/orbench/orbench/internal/settings"
)

// BuildConfig is the configuration of a build, as in build.yaml.
type BuildConfig struct {
	Name         string       `yaml:"name" json:"name" jsonschema_description:"Name of the benchmark: letters, digits, dots, hyphens and underscores."`
	Version      string       `yaml:"version" json:"version" jsonschema_description:"Version of the benchmark, such as 1.0.0."`
	License      string       `yaml:"license" json:"license" jsonschema_description:"License of the benchmark, as the Hugging Face hub writes it. Left out, the card names none."`
	Policy       Policy       `yaml:"policy" json:"policy" jsonschema_description:"The categories of harm, or the name or the file of a policy; left out, the ten of OR-Bench."`
	Seeds        Seeds        `yaml:"seeds" json:"seeds" jsonschema_description:"The toxic prompts that everything starts from."`
	Rewrites     Rewrites     `yaml:"rewrites" json:"rewrites" jsonschema_description:"The safe prompts made of the seeds."`
	Moderation   Moderation   `yaml:"moderation" json:"moderation" jsonschema_description:"The models that vote on what a prompt is."`
	SecondChance SecondChance `yaml:"second_chance" json:"second_chance" jsonschema_description:"What becomes of prompts that were voted toxic."`
	Feedback     Feedback     `yaml:"feedback" json:"feedback" jsonschema_description:"Rewrites that stayed toxic, used as seeds again."`
	Full         Full         `yaml:"full" json:"full" jsonschema_description:"The set of safe prompts."`
	Hard         Hard         `yaml:"hard" json:"hard" jsonschema_description:"The set of safe prompts that models refuse."`
	Toxic        Toxic        `yaml:"toxic" json:"toxic" jsonschema_description:"The set of toxic prompts."`
	// NearDuplicates is the threshold for near duplicates: the Jaccard index of
	// three-word shingles from which two texts count as the same.
	NearDuplicates float64 `yaml:"near_duplicates" json:"near_duplicates" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"Likeness (Jaccard index of three-word shingles) from which a text is dropped as a near-duplicate of an earlier one."`
	// Wording is the version of the wordings by which seeds and rewrites are asked for. 2
	// asks for variety. 1, and 0 in older builds, is the first version.
	Wording int `yaml:"wording" json:"wording,omitempty" jsonschema:"minimum=1,maximum=2" jsonschema_description:"Version of the wordings by which seeds and rewrites are asked for: 2 asks for variety, 1 goes on with a build of an earlier release."`
	// Sampling is the seed of every random choice.
	Sampling int64 `yaml:"sampling" json:"sampling" jsonschema_description:"Seed of the random choices: which prompts a set takes when it does not take all."`
}

// Policy is the categories of harm. build.yaml may instead name a policy built into
// orbench, or a file.
type Policy []Category

// PolicyOf is a policy with the usual number of seeds for each category.
func PolicyOf(definitions orbench.Policy) (p Policy) {
	for _, d := range definitions {
		p = append(p, Category{Category: d.Category, Text: d.Text})
	}
	return p
}

// UnmarshalYAML reads a list of categories, or the name of a policy.
func (p *Policy) UnmarshalYAML(unmarshal func(any) error) error {
	var name string
	if unmarshal(&name) != nil {
		return unmarshal((*[]Category)(p))
	}
	opened, err := policy.Open(name)
	if err != nil {
		return err
	}
	*p = PolicyOf(opened.Definitions())
	return nil
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
	Generators []string `yaml:"generators" json:"generators" jsonschema_description:"Models that share the work, as provider/model; may be left out beside a file."`
	// File holds existing seeds, which are all used; generators are asked only for the
	// rest. Nil means no file.
	File        *SeedFile `yaml:"file,omitempty" json:"file,omitempty" jsonschema_description:"Seeds of one's own, as a name or file of a dataset with categories of the policy."`
	PerCategory int       `yaml:"per_category" json:"per_category" jsonschema:"minimum=1" jsonschema_description:"Distinct seeds wanted for each category."`
	Batch       int       `yaml:"batch" json:"batch" jsonschema:"minimum=1,maximum=100" jsonschema_description:"Seeds asked for in one call."`
	Temperature float64   `yaml:"temperature" json:"temperature" jsonschema:"minimum=0,maximum=2"`
	MaxTokens   int       `yaml:"max_tokens" json:"max_tokens" jsonschema:"minimum=0" jsonschema_description:"Most output tokens of a call; 0 for the provider's own limit."`
	// MinYield is the smallest share of new seeds among those requested over the last ten
	// calls. Below it, a category is given up as exhausted.
	MinYield float64 `yaml:"min_yield" json:"min_yield" jsonschema:"minimum=0,maximum=1" jsonschema_description:"A category ends early when, over its last ten calls, the share of new seeds among those asked for is below this."`
}

// SeedFile is a dataset of seeds. In build.yaml it is a text, or an object if the file
// has columns that must be named.
type SeedFile struct {
	// Dataset is a name or the path of a file.
	Dataset        string `yaml:"dataset" json:"dataset" jsonschema_description:"A name, or the path of a CSV, JSON Lines or Parquet file."`
	PromptColumn   string `yaml:"prompt_column,omitempty" json:"prompt_column,omitempty" jsonschema_description:"Column of the seeds."`
	CategoryColumn string `yaml:"category_column,omitempty" json:"category_column,omitempty" jsonschema_description:"Column of the categories."`
	// Category applies to seeds without a category.
	Category orbench.Category `yaml:"category,omitempty" json:"category,omitempty" jsonschema_description:"Category of the seeds that name none."`
	// SHA256 is the hash of the dataset, in hex. Seeds counts its prompts that are seeds;
	// Safe counts those labeled safe, which are not used as seeds. They are filled in
	// when the file is read.
	SHA256 string `yaml:"-" json:"sha256,omitempty"`
	Seeds  int    `yaml:"-" json:"seeds,omitempty"`
	Safe   int    `yaml:"-" json:"safe,omitempty"`
}

// UnmarshalYAML reads a dataset, or an object of its settings.
func (f *SeedFile) UnmarshalYAML(unmarshal func(any) error) error {
	type object SeedFile
	return settings.Either(unmarshal, &f.Dataset, (*object)(f))
}

// Rewrites says how seeds are rewritten.
type Rewrites struct {
	Rewriters   []string `yaml:"rewriters" json:"rewriters" jsonschema_description:"Models that share the work, as provider/model; left out, the generators of the seeds."`
	PerSeed     int      `yaml:"per_seed" json:"per_seed" jsonschema:"minimum=1,maximum=50" jsonschema_description:"Rewrites asked for in one call."`
	Temperature float64  `yaml:"temperature" json:"temperature" jsonschema:"minimum=0,maximum=2"`
	MaxTokens   int      `yaml:"max_tokens" json:"max_tokens" jsonschema:"minimum=0"`
	// Turns is the number of user turns. Above 1, each rewrite ends a conversation. 0
	// means 1.
	Turns    int                 `yaml:"turns" json:"turns,omitempty" jsonschema:"minimum=1,maximum=5" jsonschema_description:"How often the user speaks, 1 to 5; above 1 each rewrite is the last turn of a conversation. Left out, 1."`
	Examples []generator.Example `yaml:"examples" json:"examples" jsonschema_description:"Demonstrations; left out, five built-in ones."`
	// Rules are the lint rules that a rewrite must keep; nil means all.
	Rules Rules `yaml:"rules" json:"rules" jsonschema_description:"Rules of the lint to enforce; left out, all of them. An empty list enforces none."`
}

// AsPublished is the name of generator.PublishedRules in build.yaml.
const AsPublished = "as-published"

// Rules are rules of the lint. In build.yaml they are a list, or AsPublished.
type Rules []generator.Rule

// UnmarshalYAML reads a list of rules, or AsPublished.
func (r *Rules) UnmarshalYAML(unmarshal func(any) error) error {
	var name string
	if unmarshal(&name) != nil {
		return unmarshal((*[]generator.Rule)(r))
	}
	if name != AsPublished {
		return &orbench.InputError{Problem: fmt.Sprintf("there are no rules called %q", name), Hint: "write " + AsPublished + ", or a list of rules"}
	}
	*r = generator.PublishedRules()
	return nil
}

// Moderation names the ensemble.
type Moderation struct {
	Moderators []Moderator   `yaml:"moderators" json:"moderators" jsonschema:"minItems=1"`
	Rule       moderate.Rule `yaml:"rule" json:"rule" jsonschema:"enum=majority,enum=unanimous,enum=weighted" jsonschema_description:"How votes decide."`
	MaxTokens  int           `yaml:"max_tokens" json:"max_tokens" jsonschema:"minimum=1"`
}

// Moderator is one member of the ensemble. In build.yaml it is a text, or an object if it
// has a weight.
type Moderator struct {
	Model  string  `yaml:"model" json:"model" jsonschema_description:"provider/model, or guard:FORMAT@provider/model"`
	Weight float64 `yaml:"weight,omitempty" json:"weight,omitempty" jsonschema:"minimum=0" jsonschema_description:"Weight under the rule weighted; 1 when left out."`
}

// UnmarshalYAML reads a model, or an object of its settings.
func (m *Moderator) UnmarshalYAML(unmarshal func(any) error) error {
	type object Moderator
	return settings.Either(unmarshal, &m.Model, (*object)(m))
}

// SecondChance names a model without safety training. If a prompt was voted toxic, this
// model's answer is judged in place of the prompt.
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
	// Size is nil for the share of the full set that the paper's hard set has.
	Size *int `yaml:"size,omitempty" json:"size,omitempty" jsonschema:"minimum=0" jsonschema_description:"Most prompts, drawn at random from those that qualify; 0 for all. Left out, 1.6% of the full set, as in the paper, and at least 100."`
}

// Most is the largest number of prompts in the hard set; 0 means all that qualify. By
// default it is 1.6% of the full set, as in the paper, and at least 100. A set that is added
// to keeps what it has.
func (h Hard) Most(full, has int) int {
	if h.Size != nil {
		return *h.Size
	}
	return max(100, has, full*16/1000)
}

// Full says how the full set is drawn.
type Full struct {
	Size int `yaml:"size" json:"size" jsonschema:"minimum=0" jsonschema_description:"Most prompts, drawn at random from the safe ones; 0 for all. The hard set is drawn from them."`
}

// Selector is a model whose refusals count for the hard set.
type Selector struct {
	Model  string `yaml:"model" json:"model" jsonschema_description:"provider/model"`
	Family string `yaml:"family" json:"family" jsonschema_description:"Models of one family count once."`
}

// Toxic says how the toxic set is drawn.
type Toxic struct {
	Size int `yaml:"size" json:"size" jsonschema:"minimum=0" jsonschema_description:"Most prompts, drawn evenly over the categories; 0 for all that qualify."`
	// CheckSeeds is the number of seeds of each category that are also put to the vote.
	CheckSeeds int `yaml:"check_seeds" json:"check_seeds" jsonschema:"minimum=0" jsonschema_description:"Seeds of each category that are voted on as candidates, beside the rewrites that stayed toxic."`
}

// Definitions is the policy in the form in which moderators are asked.
func (c *BuildConfig) Definitions() (p orbench.Policy) {
	for _, category := range c.Policy {
		p = append(p, orbench.Definition{Category: category.Category, Text: category.Text})
	}
	return p
}

// Wanted is the number of seeds for a category.
func (c *BuildConfig) Wanted(category Category) int {
	if category.Seeds > 0 {
		return category.Seeds
	}
	return c.Seeds.PerCategory
}

// Models lists the models of the configuration, each once.
func (c *BuildConfig) Models() []string {
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
