package experiment

import (
	"cmp"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/judge"
)

// Experiment is an experiment: every target in every variant answers every prompt of
// every dataset, and every judge judges every answer.
type Experiment struct {
	Name     string    `yaml:"name" json:"name,omitempty" jsonschema_description:"Name of the run in the store; made from the settings when left out."`
	Targets  []Target  `yaml:"targets" json:"targets" jsonschema:"minItems=1" jsonschema_description:"Models to measure."`
	Datasets []Dataset `yaml:"datasets" json:"datasets" jsonschema:"minItems=1" jsonschema_description:"Prompts to ask."`
	Judges   []string  `yaml:"judges" json:"judges,omitempty" jsonschema_description:"Judges of the answers, as for orbench eval."`
	// Limit is the number of prompts taken from the start of each dataset, 0 for
	// all.
	Limit int `yaml:"limit" json:"limit,omitempty" jsonschema:"minimum=0" jsonschema_description:"Only the first so many prompts of each dataset; 0 for all."`
	// Sample is the number of prompts drawn at random of each dataset, 0 for all, with
	// SampleSeed, nil for dataset.UsualSampleSeed.
	Sample     int     `yaml:"sample" json:"sample,omitempty" jsonschema:"minimum=0" jsonschema_description:"So many prompts of each dataset, drawn at random by category and label; 0 for all. A larger draw has all prompts of a smaller one."`
	SampleSeed *uint64 `yaml:"sample_seed" json:"sample_seed,omitempty" jsonschema_description:"Seed of the draw, and of the order in which until asks; 1 when left out."`
	// Until is the half-width of every rate's interval at which the run ends by itself,
	// such as "2pp", empty to ask all prompts; see evaluate.ParseUntil. SampleSeed chooses the
	// order.
	Until string `yaml:"until" json:"until,omitempty" jsonschema_description:"Ask in random order, and stop once the interval of every rate has this half-width, such as 2pp; all prompts when left out. 2pp,sequence stops by an interval that also holds for rates that are watched, or gated on, during the run; 2pp,wilson by one that asks the fewest prompts and holds for the rates at the end. When it is not said which: wilson, or the choice of the stored run."`
	// UntilInterval is the interval of an experiment that an older program kept.
	UntilInterval  string `yaml:"-" json:"until_interval,omitempty" jsonschema:"-"`
	MaxTokens      int    `yaml:"max_tokens" json:"max_tokens,omitempty" jsonschema:"minimum=0" jsonschema_description:"Most output tokens of an answer; 0 for the provider's own limit."`
	JudgeMaxTokens int    `yaml:"judge_max_tokens" json:"judge_max_tokens,omitempty" jsonschema:"minimum=0" jsonschema_description:"Most output tokens of what judges and guards reply."`
	// Seed is sent with each request to a target, nil for none.
	Seed *int64 `yaml:"seed" json:"seed,omitempty" jsonschema_description:"Seed to send to targets, where the provider takes one."`
	// Blocks are texts that stand for a withheld answer; see package reply.
	Blocks []string `yaml:"blocks" json:"blocks,omitempty" jsonschema_description:"Texts that a provider or gateway gives in place of an answer that it withheld, also as an error; * stands for any text. Such answers count as its blocks."`
	// BaseURLs are the addresses of providers, for whoever is asked there and has
	// none of its own.
	BaseURLs map[string]string `yaml:"base_urls" json:"base_urls,omitempty" jsonschema_description:"Addresses of OpenAI-compatible servers, by provider."`
	Variants Variants          `yaml:"variants" json:"variants,omitempty" jsonschema_description:"Ways of asking the targets, beside the plain one."`
}

// usualTokens is the default limit of tokens for an answer and for a judge's explanation.
const usualTokens = 1000

// configSettings are the flags of what is no variant.
var configSettings = []Setting{
	{Flag: "target", Path: "targets", Default: []string(nil), split: SplitList, Usage: "`PROVIDER/MODEL` to measure; repeatable or comma separated"},
	{Flag: "dataset", Path: "datasets", Default: []string(nil), split: SplitList, Usage: "dataset `NAME or FILE`; FILE=toxic says what a file without labels holds; repeatable or comma separated"},
	{Flag: "judge", Path: "judges", Default: usualJudges, split: splitJudges, Usage: "`JUDGE` of the answers; repeatable or comma separated"},
	{Flag: "prompt-column", Path: "datasets[*].prompt_column", Default: ""},
	{Flag: "category-column", Path: "datasets[*].category_column", Bare: true},
	{Flag: "label-column", Path: "datasets[*].label_column", Default: ""},
	{Flag: "label-values", Path: "datasets[*].label_values", Default: ""},
	{Flag: "label", Path: "datasets[*].label", Default: ""},
	{Flag: "response-column", Path: "datasets[*].response_column", Bare: true},
	{Flag: "prompts-file", Path: "datasets[*].prompts_file", Bare: true},
	{Flag: "join", Path: "datasets[*].join", Bare: true},
	{Flag: "limit", Path: "limit", Default: 0},
	{Flag: "sample", Path: "sample", Default: 0},
	{Flag: "sample-seed", Path: "sample_seed", Bare: true},
	{Flag: "until", Path: "until", Default: "", Group: "subject", Usage: "ask in random order, and stop once the interval of every rate has this `HALF-WIDTH`, such as 2pp, or 2pp,sequence; sample_seed sets the order"},
	{Flag: "max-tokens", Path: "max_tokens", Default: usualTokens, Usage: "most output tokens of an answer; 0 for the provider's own limit"},
	{Flag: "judge-max-tokens", Path: "judge_max_tokens", Bare: true},
	{Flag: "seed", Path: "seed", Bare: true},
	{Flag: "blocks", Path: "blocks", Bare: true},
	{Flag: "name", Path: "name", Default: "", Usage: "`NAME` of the run in the store (default: made from its settings); a kept run grows by what is typed"},
}

// usualJudges are the default judges.
var usualJudges = []string{"lexical"}

// splitJudges splits judges at commas, except those within panels.
func splitJudges(values []string) []string { return judge.Split(strings.Join(values, ",")) }

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

	// written is the target as the file has it, where that is resolved to another path.
	written, resolved string
}

// Called is the target's name in reports.
func (t Target) Called() string {
	if t.Name == "" && t.Target == t.resolved {
		return t.written
	}
	return cmp.Or(t.Name, t.Target)
}

// GuardPrefix starts a target that is a guard, which is shown the prompts and flags
// them or not.
const GuardPrefix = "guard:"

// Guard gives what guard.Parse reads of a target that is a guard, and false for any
// other.
func (t Target) Guard() (spec string, ok bool) { return strings.CutPrefix(t.Target, GuardPrefix) }

// Replay gives the file of recorded answers that the target is, and false for a
// target that is a model.
func (t Target) Replay() (path string, ok bool) {
	return strings.CutPrefix(t.Target, dataset.ReplayPrefix)
}

// Dataset is a set of prompts. In the file it is a text, or an object where a file
// has columns that have to be named.
type Dataset struct {
	// Dataset is a name or the path of a file.
	Dataset  string `yaml:"dataset" json:"dataset" jsonschema_description:"A name, or the path of a CSV, JSON Lines or Parquet file."`
	Prompt   string `yaml:"prompt_column" json:"prompt_column,omitempty" jsonschema_description:"Column of the prompts."`
	Category string `yaml:"category_column" json:"category_column,omitempty" jsonschema_description:"Column of the categories."`
	Labels   string `yaml:"label_column" json:"label_column,omitempty" jsonschema_description:"Column of the labels."`
	// LabelValues is as in dataset.Options.
	LabelValues string `yaml:"label_values" json:"label_values,omitempty" jsonschema_description:"What the values of the label column mean if they are not labels, such as contrast_*=toxic,*=safe."`
	Response    string `yaml:"response_column" json:"response_column,omitempty" jsonschema_description:"Column of answers that follow the prompts: guards are then asked about the answers."`
	// Prompts and Join are as in dataset.Options.
	Prompts string `yaml:"prompts_file" json:"prompts_file,omitempty" jsonschema_description:"File that has the prompts of recorded answers, by a column that both have."`
	Join    string `yaml:"join" json:"join,omitempty" jsonschema_description:"That column; prompt_id or id when left out."`
	// User is as in dataset.Options, in an experiment that an older program kept.
	User string `yaml:"-" json:"user_column,omitempty" jsonschema:"-"`
	// Unlabeled is as in dataset.Options.
	Unlabeled bool `yaml:"-" json:"unlabeled,omitempty" jsonschema:"-"`
	// Label is that of all prompts of a file without a column of labels.
	Label string `yaml:"label" json:"label,omitempty" jsonschema:"enum=safe,enum=toxic,enum=controversial,enum=undecided" jsonschema_description:"Label of a file without a column of labels."`
}

// Default is what an experiment that says nothing means, except for its targets
// and datasets, which it has to name.
func Default() Experiment {
	return Experiment{
		Judges: slices.Clone(usualJudges), MaxTokens: usualTokens, JudgeMaxTokens: usualTokens,
		Variants: Variants{Cross: true, Temperatures: []Temperature{usualTemperature()}},
	}
}
