package guard

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/model"
)

// Format names the request and reply of a family of guards. formats.yaml describes each.
type Format string

// The formats that code must know.
const (
	ShieldGemma     Format = "shieldgemma"
	GraniteGuardian Format = "granite-guardian"
	Safeguard       Format = "gpt-oss-safeguard"
	Classifier      Format = "classifier"
)

// Telling lists the formats that can answer a question.
func Telling(about About) []string {
	return settings.Names(slices.DeleteFunc(Formats(), func(f Format) bool { return !f.Tells(about) }))
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
	Name           Format
	Tells          []About
	Settings       []string
	MaxTokens      int `yaml:"max_tokens"`
	System, User   string
	Words          map[About]map[string]string
	Refusal, Own   string
	Reply          string
	Lines          []line
	Hazards        []string
	Styles         []style
	Definitions    orbench.Policy
	Answers        []string
	Harm, Harmless []string
}

// line is what a line of a reply says.
type line struct {
	Label            string
	About            About
	Yes, No          []string
	Nothing, Between string
}

// style is a way in which a request carries what a format leaves to the server.
type style struct {
	Name               string
	Form               model.Form
	Models, Old        *regexp.Regexp
	Usual, Needs       string
	System, User       string
	Arguments, Unnamed string
}

//go:embed formats.yaml
var formatsFile []byte

// formats has what formats.yaml says. It is read when a format is first asked for, since most
// commands have no guard.
var formats = sync.OnceValue(func() (all []traits) {
	if err := yaml.UnmarshalWithOptions(formatsFile, &all, yaml.DisallowUnknownField()); err != nil {
		panic("guard: formats.yaml: " + err.Error())
	}
	return all
})

// Formats lists the formats, in the order of formats.yaml.
func Formats() (names []Format) {
	for _, t := range formats() {
		names = append(names, t.Name)
	}
	return names
}

// traits are those of the format, and none of a format that is unknown.
func (f Format) traits() traits {
	for _, t := range formats() {
		if t.Name == f {
			return t
		}
	}
	return traits{}
}

// worded puts the words for a question into a text of the format.
func (t traits) worded(text string, about About) string {
	for name, word := range t.Words[about] {
		text = strings.ReplaceAll(text, "{{"+name+"}}", word)
	}
	return text
}

// defined finds a criterion or policy that the format knows by name.
func (t traits) defined(name string) orbench.Policy {
	i := slices.IndexFunc(t.Definitions, func(d orbench.Definition) bool { return string(d.Category) == name })
	if i < 0 {
		return nil
	}
	return t.Definitions[i : i+1 : i+1]
}

// Tells reports whether guards of this format can answer the question.
func (f Format) Tells(about About) bool { return slices.Contains(f.traits().Tells, about) }

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
	for _, about := range []About{PromptHarm, AnswerHarm, Refusal} {
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
