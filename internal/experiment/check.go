package experiment

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/judge"
)

// maxVariants bounds the variants, so that a typing error does not cause a large bill.
const maxVariants = 10_000

// Check completes the experiment: it replaces names with what they stand for. It finds the
// first wrong setting, in the order of the file. It reads the files of system prompts, and
// asks for no keys.
func (c *Experiment) Check() *settings.Fault {
	for _, find := range []func() *settings.Fault{
		c.checkTargets, c.checkDatasets, c.checkGuards, c.checkJudges, c.checkNumbers, c.checkAxes, c.checkGuarding, c.checkVariants,
	} {
		if f := find(); f != nil {
			return f
		}
	}
	return nil
}

// at is the path of an item of a list.
func at(list string, i int) string { return fmt.Sprintf("$.%s[%d]", list, i) }

func (c *Experiment) checkTargets() *settings.Fault {
	if !isLabel(c.Name) {
		return settings.Wrong("$.name", fmt.Sprintf("%q cannot be the name of a run", c.Name), "choose one of at most 100 bytes, without control characters or spaces around it")
	}
	if len(c.Targets) == 0 {
		return settings.Wrong("$.targets", "no target is named", "name one, such as openai/gpt-4o-mini or sim/balanced")
	}
	seen := map[string]Target{}
	for i, t := range c.Targets {
		path := at("targets", i)
		other, twice := seen[t.Called()]
		switch {
		case !t.named():
			return settings.Wrong(path, fmt.Sprintf("%q names no model", t.Target), "write provider/model, such as openai/gpt-4o-mini, or sim/NAME, guard:FORMAT@provider/model or replay:FILE")
		case !isLabel(t.Name) || strings.ContainsAny(t.Name, "[]"):
			return settings.Wrong(path+".name", fmt.Sprintf("%q cannot be the name of a target", t.Name), "choose one of at most 100 bytes, without brackets, control characters or spaces around it")
		case t.MaxTokens != nil && *t.MaxTokens < 0:
			return settings.Wrong(path+".max_tokens", "a negative number of tokens", "give a positive one, or 0 for the provider's own limit")
		case twice && other.Target == t.Target:
			return settings.Wrong(path, t.Called()+" is there twice", "remove one, or give one of them a name")
		case twice:
			return settings.Wrong(path, fmt.Sprintf("two targets are called %q", t.Called()), "give one of them another name")
		}
		seen[t.Called()] = t
	}
	return nil
}

// isLabel reports whether s can be a name in reports, or is empty.
func isLabel(s string) bool {
	return len(s) <= 100 && strings.TrimSpace(s) == s && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

func (c *Experiment) checkDatasets() *settings.Fault {
	if len(c.Datasets) == 0 {
		return settings.Wrong("$.datasets", "no dataset is named", `name one, such as starter; "orbench dataset list" lists them`)
	}
	for i, d := range c.Datasets {
		if strings.TrimSpace(d.Dataset) == "" {
			return settings.Wrong(at("datasets", i), "a dataset without a name", "write the name or the file under dataset")
		}
		if file, label, ok := cutLabel(d.Dataset); ok {
			d.Dataset, d.Label = file, label
			c.Datasets[i] = d
			if dataset.IsName(file) {
				return settings.Wrong(at("datasets", i), fmt.Sprintf("%s knows the labels of its prompts", file), "leave ="+label+" out")
			}
		}
		if _, known := orbench.ParseLabel(d.Label); d.Label != "" && !known {
			return settings.Wrong(at("datasets", i)+".label", fmt.Sprintf("%q is no label", d.Label), "use safe, toxic, controversial or undecided")
		}
	}
	return nil
}

// cutLabel parts FILE=LABEL, unless a file is called so.
func cutLabel(text string) (file, label string, ok bool) {
	i := strings.LastIndexByte(text, '=')
	if i <= 0 || strings.ContainsAny(text[i:], `./\`) {
		return "", "", false
	}
	if _, err := os.Stat(text); err == nil {
		return "", "", false
	}
	return text[:i], text[i+1:], true
}

func (c *Experiment) checkJudges() *settings.Fault {
	if len(c.Judges) == 0 {
		return settings.Wrong("$.judges", "no judge is named", "leave it out to use lexical, or name one")
	}
	for i, spec := range c.Judges {
		if _, err := judge.Parse(spec, judge.Options{}); err != nil {
			return because(at("judges", i), err)
		}
	}
	return nil
}

// because makes a fault of an error that says what is wrong with a setting.
func because(path string, err error) *settings.Fault {
	if input, ok := errors.AsType[*orbench.InputError](err); ok {
		return settings.Wrong(path, input.Problem, input.Hint)
	}
	return settings.Wrong(path, err.Error(), "")
}

func (c *Experiment) checkNumbers() *settings.Fault {
	for _, n := range []struct {
		path  string
		value int
	}{{"$.limit", c.Limit}, {"$.sample", c.Sample}, {"$.max_tokens", c.MaxTokens}, {"$.judge_max_tokens", c.JudgeMaxTokens}} {
		if n.value < 0 {
			return settings.Wrong(n.path, "a negative number", "give a positive one, or leave it out")
		}
	}
	if c.Limit > 0 && c.Sample > 0 {
		return settings.Wrong("$.sample", "limit and sample cannot be combined", "leave limit or sample out")
	}
	for _, name := range slices.Sorted(maps.Keys(c.BaseURLs)) {
		if c.BaseURLs[name] == "" {
			return settings.Wrong("$.base_urls", "the address of "+name+" is empty", "write it, such as http://127.0.0.1:8080/v1")
		}
	}
	return nil
}
