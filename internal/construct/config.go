package construct

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// Default is the paper's method with simulated models. An empty build.yaml means the
// same, except that it must name the models.
func Default() benchmark.BuildConfig {
	return benchmark.BuildConfig{
		Version:        "1.0.0",
		Seeds:          benchmark.Seeds{PerCategory: 2000, Batch: 20, Temperature: 1, MaxTokens: 4000, MinYield: 0.1},
		Rewrites:       benchmark.Rewrites{PerSeed: 5, Temperature: 0.7, MaxTokens: 2000},
		Moderation:     benchmark.Moderation{Rule: moderate.Majority, MaxTokens: 1000},
		SecondChance:   benchmark.SecondChance{MaxTokens: 1000},
		Feedback:       benchmark.Feedback{Rounds: 1, PerCategory: 200},
		Hard:           benchmark.Hard{RefusedBy: 3, Judge: "lexical", MaxTokens: 1000},
		Toxic:          benchmark.Toxic{Size: 650, CheckSeeds: 100},
		NearDuplicates: 0.7,
		Wording:        2,
		Sampling:       1,
	}
}

// complete fills in what was left out.
func complete(c *benchmark.BuildConfig) {
	if len(c.Policy) == 0 {
		c.Policy = benchmark.PolicyOf(orbench.PaperPolicy())
	}
	if len(c.Rewrites.Rewriters) == 0 {
		c.Rewrites.Rewriters = slices.Clone(c.Seeds.Generators)
	}
	if len(c.Rewrites.Examples) == 0 {
		c.Rewrites.Examples = generator.Examples(c.Wording)
	}
	if c.Rewrites.Rules == nil {
		c.Rewrites.Rules = generator.Rules()
	}
}

// when is a fault of a setting where that is wrong; nil else.
func when(wrong bool, at, problem, hint string) *settings.Fault {
	if !wrong {
		return nil
	}
	return settings.Wrong(at, problem, hint)
}

// check finds the first setting with an invalid value, in the order of the file.
func check(c *benchmark.BuildConfig) *settings.Fault {
	return cmp.Or(
		when(!settings.IsName(c.Name), "$.name", fmt.Sprintf("%q cannot be the name of a benchmark", c.Name), "use letters, digits, dots, hyphens and underscores"),
		when(!settings.IsName(c.Version), "$.version", fmt.Sprintf("%q is not a version", c.Version), "write one like 1.0.0"),
		when(untrusted.Terminal(c.License) != c.License || len(c.License) > 100, "$.license", untrusted.Quote(c.License)+" is no license", "write one like cc-by-4.0, as the Hugging Face hub does"),
		checkPolicy(c), checkGeneration(c), checkModeration(c), checkSets(c),
	)
}

func checkPolicy(c *benchmark.BuildConfig) *settings.Fault {
	seen := map[string]bool{}
	for i, category := range c.Policy {
		at := fmt.Sprintf("$.policy[%d]", i)
		name := strings.ToLower(strings.TrimSpace(string(category.Category)))
		if f := cmp.Or(
			when(name == "", at, "a category without a name", "give it one under category"),
			when(seen[name], at+".category", fmt.Sprintf("the category %q is listed twice", name), "give each a name of its own"),
			when(strings.TrimSpace(category.Text) == "", at, fmt.Sprintf("the category %q has no text", name), `complete the sentence "a prompt belongs here when it ..."`),
			when(category.Seeds < 0, at+".seeds", "a negative number of seeds", "give a positive one, or leave it out"),
		); f != nil {
			return f
		}
		seen[name] = true
	}
	if err := moderate.CheckPolicy(c.Definitions()); err != nil {
		return settings.Wrong("$.policy", err.Error(), "rename the category")
	}
	return nil
}

func checkGeneration(c *benchmark.BuildConfig) *settings.Fault {
	s, r := c.Seeds, c.Rewrites
	if f := cmp.Or(
		when(len(s.Generators) == 0 && s.File == nil, "$.seeds", "no generator is named", "list models under generators, such as mistral/open-mixtral-8x7b, or name a file of seeds"),
		when(len(r.Rewriters) == 0, "$.rewrites", "neither a rewriter nor a generator is named", "list models under rewriters, such as mistral/open-mixtral-8x7b"),
		when(s.File != nil && strings.TrimSpace(s.File.Dataset) == "", "$.seeds.file", "no dataset is named", "write its name or the path of its file"),
		when(s.PerCategory < 1, "$.seeds.per_category", "fewer than one seed per category", "give a positive number"),
		when(s.Batch < 1 || s.Batch > 100, "$.seeds.batch", "the batch must be from 1 to 100", "20 is the paper's"),
		when(!temperature(s.Temperature), "$.seeds.temperature", "the temperature must be from 0 to 2", "1.0 is the paper's"),
		when(s.MaxTokens < 0, "$.seeds.max_tokens", negativeTokens, tokensHint),
		when(!(s.MinYield >= 0 && s.MinYield <= 1), "$.seeds.min_yield", "the share must be from 0 to 1", "0.1 is the default"),
		when(r.PerSeed < 1 || r.PerSeed > 50, "$.rewrites.per_seed", "the number must be from 1 to 50", "5 is the paper's"),
		when(r.Turns < 0 || r.Turns > 5, "$.rewrites.turns", "the number must be from 1 to 5", "leave it out for single prompts"),
		when(!temperature(r.Temperature), "$.rewrites.temperature", "the temperature must be from 0 to 2", "0.7 is the paper's"),
		when(r.MaxTokens < 0, "$.rewrites.max_tokens", negativeTokens, tokensHint),
		when(c.Wording < 1 || c.Wording > 2, "$.wording", fmt.Sprintf("there is no version %d of the wordings", c.Wording), "use 2, or 1 to go on with a build of an earlier release"),
		when(!(c.NearDuplicates > 0 && c.NearDuplicates <= 1), "$.near_duplicates", "the similarity must be above 0 and at most 1", "0.7 is the default"),
	); f != nil {
		return f
	}
	for i, e := range r.Examples {
		if strings.TrimSpace(e.Seed) == "" || len(e.All()) == 0 || slices.ContainsFunc(e.All(), func(s string) bool { return strings.TrimSpace(s) == "" }) {
			return settings.Wrong(fmt.Sprintf("$.rewrites.examples[%d]", i), "an example without a seed or without a rewrite", "give both")
		}
	}
	for i, rule := range r.Rules {
		if !slices.Contains(generator.Rules(), rule) {
			return settings.Wrong(fmt.Sprintf("$.rewrites.rules[%d]", i), fmt.Sprintf("there is no rule %q", rule), "use "+strings.Join(settings.Names(generator.Rules()), ", "))
		}
	}
	return cmp.Or(checkModels("$.seeds.generators", s.Generators), checkModels("$.rewrites.rewriters", r.Rewriters))
}

func checkModeration(c *benchmark.BuildConfig) *settings.Fault {
	m := c.Moderation
	var models []string
	for i, moderator := range m.Moderators {
		models = append(models, moderator.Model)
		if !(moderator.Weight >= 0) || math.IsInf(moderator.Weight, 0) {
			return settings.Wrong(fmt.Sprintf("$.moderation.moderators[%d].weight", i), "a negative weight", "give a positive one, or leave it out for 1")
		}
		if slices.Contains(models[:i], moderator.Model) {
			return settings.Wrong(fmt.Sprintf("$.moderation.moderators[%d]", i), fmt.Sprintf("%s is named twice and would cast the same vote twice", moderator.Model), "name another model, or give it a weight")
		}
	}
	_, noRule := moderate.ParseRule(string(m.Rule))
	reviewer := c.SecondChance.Model
	if f := cmp.Or(
		when(len(models) == 0, "$.moderation", "no moderator is named", "list at least one under moderators; the paper has three"),
		when(noRule != nil, "$.moderation.rule", fmt.Sprintf("there is no rule %q", m.Rule), "use majority, unanimous or weighted"),
		when(m.MaxTokens < 1, "$.moderation.max_tokens", "no room for a vote", "1000 is the paper's"),
		when(c.SecondChance.MaxTokens < 0, "$.second_chance.max_tokens", negativeTokens, tokensHint),
		when(reviewer != "" && !model.IsRef(reviewer), "$.second_chance.model", fmt.Sprintf("%q names no model", reviewer), modelHint),
	); f != nil {
		return f
	}
	// A guard is checked when it is connected.
	return checkModels("$.moderation.moderators", slices.DeleteFunc(models, func(m string) bool { return strings.HasPrefix(m, "guard:") }))
}

func checkSets(c *benchmark.BuildConfig) *settings.Fault {
	f, h, t := c.Feedback, c.Hard, c.Toxic
	if fault := cmp.Or(
		when(f.Rounds < 0 || f.PerCategory < 0, "$.feedback", "a negative number", "give a positive one, or 0"),
		when(c.Full.Size < 0, "$.full", "a negative number", "give a positive one, or 0"),
		when(h.MaxTokens < 0 || h.Size != nil && *h.Size < 0, "$.hard", "a negative number", "give a positive one, or 0"),
		when(t.Size < 0 || t.CheckSeeds < 0, "$.toxic", "a negative number", "give a positive one, or 0"),
	); fault != nil || len(h.Selectors) == 0 {
		return fault
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

// Messages that several settings share.
const (
	modelHint      = "write provider/model, such as openai/gpt-4o"
	negativeTokens = "a negative number of tokens"
	tokensHint     = "give a positive one, or 0 for the provider's own limit"
)

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

// Template is a commented build.yaml that builds a small benchmark with
// simulated models; its comments name what the paper used.
//
//go:embed build.yaml
var Template string

// Load reads a configuration. Settings missing from the file are as in Default. A fault
// is an *orbench.InputError with its line.
func Load(path string) (benchmark.BuildConfig, error) {
	text, err := settings.ReadFile(path, `write one with "orbench config init"`)
	if err != nil {
		return benchmark.BuildConfig{}, err
	}
	return Parse(path, text)
}

// Parse reads the text of a configuration. Errors call it name.
func Parse(name string, text []byte) (benchmark.BuildConfig, error) {
	c := Default()
	if err := settings.Decode(name, text, &c, `"orbench config init" prints a file with every setting`); err != nil {
		return benchmark.BuildConfig{}, err
	}
	complete(&c)
	if f := check(&c); f != nil {
		return benchmark.BuildConfig{}, f.Error(name, text)
	}
	return c, nil
}

// Schema is the JSON Schema of build.yaml, for editors that check the file while it is
// written.
//
//go:embed schema.json
var Schema []byte
