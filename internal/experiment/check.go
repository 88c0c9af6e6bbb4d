package experiment

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/defense"
	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

const (
	// maxVariants bounds the variants, and maxSamples the samples of each, so that a
	// slip of the finger is no bill.
	maxVariants = 10_000
	maxSamples  = 1_000
)

// Check completes the experiment, putting what names stand for in their places,
// and finds the first setting that makes no sense, in the order of the file. It
// reads no files and asks for no keys.
func (c *Config) Check() *settings.Fault {
	for _, find := range []func() *settings.Fault{
		c.checkTargets, c.checkDatasets, c.checkGuards, c.checkJudges, c.checkNumbers, c.checkSystems, c.checkTemperatures, c.checkFramings, c.checkTurns, c.checkLanguages, c.checkDefenses,
		c.checkAlso, c.checkGuarding, c.checkVariants,
	} {
		if f := find(); f != nil {
			return f
		}
	}
	return nil
}

// at is the path of an item of a list.
func at(list string, i int) string { return fmt.Sprintf("$.%s[%d]", list, i) }

func (c *Config) checkTargets() *settings.Fault {
	if !isLabel(c.Name) {
		return settings.Wrong("$.name", fmt.Sprintf("%q is no name for a run", c.Name), "choose one of at most 100 bytes, without control characters or spaces around it")
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
			return settings.Wrong(path+".name", fmt.Sprintf("%q is no name for a target", t.Name), "choose one of at most 100 bytes, without brackets, control characters or spaces around it")
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

// isLabel reports whether s can stand for something in reports, or is empty.
func isLabel(s string) bool {
	return len(s) <= 100 && strings.TrimSpace(s) == s && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

func (c *Config) checkDatasets() *settings.Fault {
	if len(c.Datasets) == 0 {
		return settings.Wrong("$.datasets", "no dataset is named", `name one, such as starter; "orbench dataset list" lists them`)
	}
	for i, d := range c.Datasets {
		if strings.TrimSpace(d.Dataset) == "" {
			return settings.Wrong(at("datasets", i), "a dataset without a name", "write the name or the file under dataset")
		}
		if _, known := orbench.ParseLabel(d.Label); d.Label != "" && !known {
			return settings.Wrong(at("datasets", i)+".label", fmt.Sprintf("%q is no label", d.Label), "use safe, toxic, controversial or undecided")
		}
	}
	return nil
}

func (c *Config) checkJudges() *settings.Fault {
	if len(c.Judges) == 0 {
		return settings.Wrong("$.judges", "no judge is named", "leave it out for lexical, or name one")
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
	var input *orbench.InputError
	if errors.As(err, &input) {
		return settings.Wrong(path, input.Problem, input.Hint)
	}
	return settings.Wrong(path, err.Error(), "")
}

func (c *Config) checkNumbers() *settings.Fault {
	for _, n := range []struct {
		path  string
		value int
	}{{"$.limit", c.Limit}, {"$.sample", c.Sample}, {"$.max_tokens", c.MaxTokens}, {"$.judge_max_tokens", c.JudgeMaxTokens}} {
		if n.value < 0 {
			return settings.Wrong(n.path, "a negative number", "give a positive one, or 0")
		}
	}
	if c.Limit > 0 && c.Sample > 0 {
		return settings.Wrong("$.sample", "the first prompts and a draw of all exclude each other", "leave limit or sample out")
	}
	for _, name := range slices.Sorted(maps.Keys(c.BaseURLs)) {
		if c.BaseURLs[name] == "" {
			return settings.Wrong("$.base_urls", "the address of "+name+" is empty", "write it, such as http://127.0.0.1:8080/v1")
		}
	}
	return nil
}

func (c *Config) checkSystems() *settings.Fault {
	systems := c.Variants.SystemPrompts
	seen := map[string]bool{}
	for i := range systems {
		path := at("variants.system_prompts", i)
		if f := systems[i].complete(path, nil); f != nil {
			return f
		}
		if seen[systems[i].Name] {
			return settings.Wrong(path, fmt.Sprintf("the system prompt %q is there twice", systems[i].Name), "give each a name of its own")
		}
		seen[systems[i].Name] = true
	}
	return nil
}

// complete finds the text that a name alone stands for, among those of the list
// and the built-in ones.
func (s *System) complete(path string, list []System) *settings.Fault {
	builtin := defense.SystemPrompts()
	i := slices.IndexFunc(builtin, func(b defense.SystemPrompt) bool { return b.Name == s.Name })
	inList := slices.IndexFunc(list, func(o System) bool { return o.Name == s.Name })
	own := s.Text != "" || s.File != ""
	switch {
	case s.Text != "" && s.File != "":
		return settings.Wrong(path, "both a text and a file", "give one of them")
	case own && (i >= 0 || inList >= 0):
		return settings.Wrong(path, fmt.Sprintf("the name %q has a system prompt already", s.Name), "choose another name")
	case own && !settings.IsName(s.Name):
		return settings.Wrong(path, fmt.Sprintf("%q is no name for a system prompt", s.Name), "use letters, digits, dots, hyphens and underscores")
	case own:
		return nil
	case inList >= 0:
		*s = list[inList]
		return nil
	case i >= 0:
		s.Text = builtin[i].Text
		return nil
	}
	return settings.Wrong(path, fmt.Sprintf("no system prompt is called %q", s.Name),
		"use "+strings.Join(systemNames(), ", ")+", or give your own as {name: NAME, text: TEXT}")
}

// systemNames lists the built-in system prompts.
func systemNames() []string {
	return named(defense.SystemPrompts(), func(s defense.SystemPrompt) string { return s.Name })
}

// framingNames lists the built-in framings.
func framingNames() []string {
	return named(defense.Framings(), func(f defense.Framing) string { return f.Name })
}

// dialogNames lists the built-in dialogs.
func dialogNames() []string {
	return named(conversation.Scripts(), func(s conversation.Script) string { return s.Name })
}

// named lists the names of what has one.
func named[T any](all []T, name func(T) string) []string {
	var names []string
	for _, one := range all {
		names = append(names, name(one))
	}
	return names
}

func (c *Config) checkTemperatures() *settings.Fault {
	temperatures := c.Variants.Temperatures
	for i := range temperatures {
		path := at("variants.temperatures", i)
		if f := temperatures[i].complete(path); f != nil {
			return f
		}
		for _, earlier := range temperatures[:i] {
			if earlier.same(temperatures[i]) {
				return settings.Wrong(path, "the temperature is there twice", "remove one")
			}
		}
	}
	return nil
}

func (t *Temperature) complete(path string) *settings.Fault {
	switch {
	case t.unreadable != "":
		return settings.Wrong(path, t.unreadable, "write a number from 0 to 2, default for the provider's own, or {temperature: 0.7, samples: 5}")
	case t.Value != nil && !(*t.Value >= 0 && *t.Value <= 2):
		return settings.Wrong(path, fmt.Sprintf("%g is no temperature", *t.Value), "give a number from 0 to 2, or default for the provider's own")
	case t.Samples < 1 || t.Samples > maxSamples:
		return settings.Wrong(path+".samples", fmt.Sprintf("%d is no number of samples", t.Samples), fmt.Sprintf("give one from 1 to %d", maxSamples))
	case t.Samples > 1 && t.Value != nil && *t.Value == 0:
		return settings.Wrong(path+".samples", "several samples at temperature 0, where all answers are meant to be the same", "give a temperature above 0")
	}
	return nil
}

func (c *Config) checkFramings() *settings.Fault {
	framings := c.Variants.Framings
	seen := map[string]bool{}
	for i := range framings {
		path := at("variants.framings", i)
		if f := framings[i].complete(path, nil); f != nil {
			return f
		}
		if seen[framings[i].Name] {
			return settings.Wrong(path, fmt.Sprintf("the framing %q is there twice", framings[i].Name), "give each a name of its own")
		}
		seen[framings[i].Name] = true
	}
	return nil
}

// complete finds the words that a name alone stands for, among those of the list
// and the built-in ones.
func (f *Framing) complete(path string, list []Framing) *settings.Fault {
	builtin := defense.Framings()
	i := slices.IndexFunc(builtin, func(b defense.Framing) bool { return b.Name == f.Name })
	inList := slices.IndexFunc(list, func(o Framing) bool { return o.Name == f.Name })
	own := f.Prefix+f.Suffix != ""
	switch {
	case own && (i >= 0 || inList >= 0):
		return settings.Wrong(path, fmt.Sprintf("the name %q has a framing already", f.Name), "choose another name")
	case own && !settings.IsName(f.Name):
		return settings.Wrong(path, fmt.Sprintf("%q is no name for a framing", f.Name), "use letters, digits, dots, hyphens and underscores")
	case own:
		return nil
	case inList >= 0:
		*f = list[inList]
		return nil
	case i >= 0:
		*f = Framing(builtin[i])
		return nil
	}
	return settings.Wrong(path, fmt.Sprintf("no framing is called %q", f.Name),
		"use "+strings.Join(framingNames(), ", ")+", or your own in an experiment file: {name: NAME, prefix: TEXT}")
}

func (c *Config) checkTurns() *settings.Fault {
	scripts := c.Variants.Turns
	seen := map[string]bool{}
	for i := range scripts {
		path := at("variants.turns", i)
		if f := scripts[i].complete(path, nil); f != nil {
			return f
		}
		if seen[scripts[i].Name] {
			return settings.Wrong(path, fmt.Sprintf("the dialog %q is there twice", scripts[i].Name), "give each a name of its own")
		}
		seen[scripts[i].Name] = true
	}
	return nil
}

// complete finds the turns that a name alone stands for, among those of the list and
// the built-in ones.
func (s *Script) complete(path string, list []Script) *settings.Fault {
	builtin := conversation.Scripts()
	i := slices.IndexFunc(builtin, func(b conversation.Script) bool { return b.Name == s.Name })
	inList := slices.IndexFunc(list, func(o Script) bool { return o.Name == s.Name })
	own := len(s.Turns) > 0
	switch {
	case own && (i >= 0 || inList >= 0 || s.Name == None):
		return settings.Wrong(path, fmt.Sprintf("the name %q has a dialog already", s.Name), "choose another name")
	case own && !settings.IsName(s.Name):
		return settings.Wrong(path, fmt.Sprintf("%q is no name for a dialog", s.Name), "use letters, digits, dots, hyphens and underscores")
	case own:
		if problem, hint := (*conversation.Script)(s).Check(); problem != "" {
			return settings.Wrong(path, fmt.Sprintf("the dialog %q: %s", s.Name, problem), hint)
		}
		return nil
	case inList >= 0:
		*s = list[inList]
		return nil
	case i >= 0:
		*s = Script(builtin[i])
		return nil
	case s.Name == None:
		return nil
	}
	return settings.Wrong(path, fmt.Sprintf("no dialog is called %q", s.Name),
		"use "+strings.Join(append([]string{None}, dialogNames()...), ", ")+", or your own in an experiment file: {name: NAME, turns: [{user: TEXT}, own, {user: TEXT}]}")
}

func (c *Config) checkLanguages() *settings.Fault {
	v := c.Variants
	translated := ""
	for i, l := range v.Languages {
		if f := checkLanguage(at("variants.languages", i), l); f != nil {
			return f
		}
		if slices.Contains(v.Languages[:i], l) {
			return settings.Wrong(at("variants.languages", i), fmt.Sprintf("the language %s is there twice", l), "remove one")
		}
		if l != None && translated == "" {
			translated = at("variants.languages", i)
		}
	}
	for i, single := range v.Also {
		if single.Language != "" && single.Language != None && translated == "" {
			translated = at("variants.also", i) + ".language"
		}
	}
	switch {
	case v.Translator != "" && !model.IsRef(v.Translator):
		return settings.Wrong("$.variants.translator", fmt.Sprintf("%q names no model", v.Translator), "write provider/model, such as openai/gpt-4o")
	case v.Translator == "" && translated != "":
		return settings.Wrong(translated, "nobody is named who translates", "name a model as translator, such as openai/gpt-4o")
	case v.Translator != "" && translated == "":
		return settings.Wrong("$.variants.translator", "there is a translator and no language", "list languages, or remove the translator")
	}
	return nil
}

func checkLanguage(path, language string) *settings.Fault {
	if defense.IsLanguage(language) {
		return nil
	}
	return settings.Wrong(path, fmt.Sprintf("%q is no language", language), "give the code or the name of one, such as fr or Brazilian Portuguese")
}

func (c *Config) checkDefenses() *settings.Fault {
	list := c.Variants.Defenses
	for i := range list {
		path := at("variants.defenses", i)
		if f := c.completeDefense(path, &list[i]); f != nil {
			return f
		}
		if slices.Contains(list[:i], list[i]) {
			return settings.Wrong(path, fmt.Sprintf("the defense %s is there twice", list[i]), "remove one")
		}
	}
	return nil
}

// completeDefense gives a defense the name that it has written in full.
func (c *Config) completeDefense(path string, spec *string) *settings.Fault {
	d, err := defense.Parse(*spec, defense.Options{})
	if err != nil {
		return because(path, err)
	}
	*spec = d.Name()
	if d.Translates() && c.Variants.Translator != "" {
		return settings.Wrong(path, "a ladder that translates, beside languages", "list the language under languages")
	}
	return nil
}

func (c *Config) checkAlso() *settings.Fault {
	v := c.Variants
	for i, single := range v.Also {
		path := at("variants.also", i)
		if single == (Combination{}) {
			return settings.Wrong(path, "a combination of nothing", "give it a system_prompt, temperature, framing, turns, language or defense")
		}
		var f *settings.Fault
		if single.System != nil {
			f = single.System.complete(path+".system_prompt", v.SystemPrompts)
		}
		if f == nil && single.Temperature != nil {
			f = single.Temperature.complete(path + ".temperature")
		}
		if f == nil && single.Framing != nil {
			f = single.Framing.complete(path+".framing", v.Framings)
		}
		if f == nil && single.Turns != nil {
			f = single.Turns.complete(path+".turns", v.Turns)
		}
		if f == nil && single.Language != "" {
			f = checkLanguage(path+".language", single.Language)
		}
		if f == nil && single.Defense != "" {
			f = c.completeDefense(path+".defense", &v.Also[i].Defense)
		}
		if f != nil {
			return f
		}
	}
	return nil
}

// checkVariants holds the variants together: how many there are, and whether their
// names tell them apart.
func (c *Config) checkVariants() *settings.Fault {
	if f := c.checkReplays(); f != nil {
		return f
	}
	if n := c.Variants.count(); n > maxVariants {
		return settings.Wrong("$.variants", fmt.Sprintf("more than %d variants of each target", maxVariants), "write cross: false, and list single combinations under also")
	}
	// meant has what a label stands for.
	meant := map[string]Variant{}
	variants := c.Expand()
	plain := variants[0]
	for _, w := range variants {
		for _, one := range w.apart(plain) {
			label := one.Labels(plain)[0]
			if other, taken := meant[label]; taken && !other.equal(one) {
				return settings.Wrong("$.variants", fmt.Sprintf("two different variants would be called %q", label), "give one of them another name")
			}
			meant[label] = one
		}
	}
	for i, single := range c.Variants.Also {
		w := single.variant(plain)
		k := slices.IndexFunc(variants, func(o Variant) bool { return slices.Equal(o.Labels(plain), w.Labels(plain)) })
		if n := variants[k].Temperature.Samples; n != w.Temperature.Samples {
			return settings.Wrong(at("variants.also", i)+".temperature", fmt.Sprintf("the same combination is there with another number of samples, %d", n), "change one of the two numbers, or remove one of the two")
		}
	}
	return nil
}

// checkReplays refuses variants of prompts to which no answers can be recorded.
func (c *Config) checkReplays() *settings.Fault {
	i := slices.IndexFunc(c.Targets, func(t Target) bool { return strings.HasPrefix(t.Target, ReplayPrefix) })
	v := c.Variants
	reworded := slices.ContainsFunc(v.Framings, func(f Framing) bool { return f.Name != None }) ||
		slices.ContainsFunc(v.Turns, func(s Script) bool { return s.Name != None }) ||
		slices.ContainsFunc(v.Languages, func(l string) bool { return l != None }) ||
		slices.ContainsFunc(v.Also, func(s Combination) bool {
			return s.Framing != nil && s.Framing.Name != None || s.Turns != nil && s.Turns.Name != None || s.Language != "" && s.Language != None
		})
	if i < 0 || !reworded {
		return nil
	}
	return settings.Wrong(at("targets", i), "recorded answers are to the prompts as they are, not to framed or translated ones or to those in a dialog", "measure it in an experiment of its own")
}

// apart gives the variants in which each of the differences from the plain one stands
// alone.
func (w Variant) apart(plain Variant) []Variant {
	var all []Variant
	for _, set := range []func(*Variant){
		func(o *Variant) { o.System = w.System },
		func(o *Variant) { o.Temperature = w.Temperature },
		func(o *Variant) { o.Framing = w.Framing },
		func(o *Variant) { o.Turns = w.Turns },
		func(o *Variant) { o.Language = w.Language },
		func(o *Variant) { o.Defense = w.Defense },
	} {
		one := plain
		set(&one)
		if len(one.Labels(plain)) > 0 {
			all = append(all, one)
		}
	}
	return all
}

// equal reports whether two variants ask the same.
func (w Variant) equal(o Variant) bool {
	return w.System == o.System && w.Temperature.same(o.Temperature) &&
		w.Framing == o.Framing && (*conversation.Script)(&w.Turns).Equal((*conversation.Script)(&o.Turns)) && w.Language == o.Language && w.Defense == o.Defense
}
