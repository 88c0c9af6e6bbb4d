package guard

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/settings"
)

// Format names the request and reply of a family of guards. formats.yaml describes each.
type Format string

// The formats that code must know.
const (
	WildGuard       Format = "wildguard"
	LlamaGuard      Format = "llamaguard"
	ShieldGemma     Format = "shieldgemma"
	GraniteGuardian Format = "granite-guardian"
	ORJudge         Format = "or-judge"
	Qwen3Guard      Format = "qwen3guard"
	PolyGuard       Format = "polyguard"
	Safeguard       Format = "gpt-oss-safeguard"
	Classifier      Format = "classifier"
)

// Telling lists the formats that can answer a question.
func Telling(about About) []string {
	return settings.Names(slices.DeleteFunc(slices.Clone(Formats), func(f Format) bool { return !f.Tells(about) }))
}

// About is a question to a guard.
type About string

// The questions.
const (
	// PromptHarm asks whether the prompt is harmful.
	PromptHarm About = "prompt harm"
	// AnswerHarm asks whether the answer is harmful.
	AnswerHarm About = "answer harm"
	// Refusal asks whether the answer declines.
	Refusal About = "refusal"
)

// traits describe a format, as formats.yaml has it.
type traits struct {
	Name         Format
	Tells        []About
	MaxTokens    int `yaml:"max_tokens"`
	Policy       bool
	System, User string
	Reply        string
	Lines        []line
	Styles       []struct {
		Name   Style
		Ending string
	}
	Texts          map[string]string
	Definitions    orbench.Policy
	Harm, Harmless []string
}

// line is what a line of a reply says.
type line struct {
	Label                     string
	About                     About
	Yes, No, Nothing, Between string
}

//go:embed formats.yaml
var formatsFile []byte

// formats are the formats in the order of formats.yaml.
var formats = func() (all []traits) {
	if err := yaml.UnmarshalWithOptions(formatsFile, &all, yaml.DisallowUnknownField()); err != nil {
		panic("guard: formats.yaml: " + err.Error())
	}
	return all
}()

// Formats lists the formats.
var Formats = func() (names []Format) {
	for _, t := range formats {
		names = append(names, t.Name)
	}
	return names
}()

var questions = []About{PromptHarm, AnswerHarm, Refusal}

// traits are those of the format, and none of a format that is unknown.
func (f Format) traits() traits {
	if i := slices.Index(Formats, f); i >= 0 {
		return formats[i]
	}
	return traits{}
}

// words reports whether guards of this format say in a word whether something is harmful.
// The probability of that word is then a score, as the cards of ShieldGemma, Llama Guard and
// Granite Guardian propose.
func (f Format) words() bool {
	t := f.traits()
	return len(t.Lines) > 0 && slices.Contains(t.Tells, PromptHarm)
}

// defined finds a criterion or policy that the format knows by name.
func (f Format) defined(name string) (orbench.Policy, bool) {
	for _, d := range f.traits().Definitions {
		if string(d.Category) == name {
			return orbench.Policy{d}, true
		}
	}
	return nil, false
}

// Tells reports whether guards of this format can answer the question.
func (f Format) Tells(about About) bool { return slices.Contains(f.traits().Tells, about) }

// ParseFormat reads the name of a format. Errors name the setting.
func ParseFormat(setting, name string) (Format, error) {
	if f := Format(name); slices.Contains(Formats, f) {
		return f, nil
	}
	return "", settings.Unknown(setting, "guard format", name, settings.Names(Formats))
}

// Assessment is a guard's assessment. Questions that it does not answer are nil.
type Assessment struct {
	PromptHarm *bool `json:"prompt_harm,omitempty"`
	AnswerHarm *bool `json:"answer_harm,omitempty"`
	Refusal    *bool `json:"refusal,omitempty"`
	// Hazards are the codes or names of the kinds of harm, such as "S2", if the guard
	// gives them.
	Hazards []string `json:"hazards,omitempty"`
	// Controversial is true if the guard calls the text harmful only in some contexts. A
	// strict Guard counts that as harm; others do not.
	Controversial bool `json:"controversial,omitempty"`
	// Score is the guard's own measure of the harm in question, from 0 to 1; nil if it
	// gives none.
	Score *float64 `json:"score,omitempty"`
}

// field is the field with the answer to a question.
func (a *Assessment) field(about About) **bool {
	switch about {
	case PromptHarm:
		return &a.PromptHarm
	case AnswerHarm:
		return &a.AnswerHarm
	}
	return &a.Refusal
}

// Of gives the answer to a question, nil if there is none.
func (a Assessment) Of(about About) *bool { return *a.field(about) }

// set records the answer to one question.
func (a *Assessment) set(about About, value bool) { *a.field(about) = &value }

// addHazards adds the codes or names in a list, each once.
func (a *Assessment) addHazards(list string) {
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if name == "" || len(name) > 40 || strings.EqualFold(name, "none") || strings.EqualFold(name, "n/a") || slices.Contains(a.Hazards, name) {
			continue
		}
		a.Hazards = append(a.Hazards, name)
	}
}

// String gives the assessment in one line.
func (a Assessment) String() string {
	var parts []string
	for _, about := range questions {
		if value := a.Of(about); value != nil {
			parts = append(parts, fmt.Sprintf("%s %s", about, map[bool]string{true: "yes", false: "no"}[*value]))
		}
	}
	if a.Controversial {
		parts = append(parts, "controversial")
	}
	if a.Score != nil {
		parts = append(parts, fmt.Sprintf("score %.3f", *a.Score))
	}
	if len(a.Hazards) > 0 {
		parts = append(parts, "hazards "+strings.Join(a.Hazards, " "))
	}
	return strings.Join(parts, ", ")
}
