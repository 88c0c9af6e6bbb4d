package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/settings"
)

// Format names the request and reply of a family of guards, as its model card documents
// it. A guard is asked through a chat server such as vLLM or Ollama, whose chat template
// supplies the rest of the format. Classifier is the exception.
type Format string

// The formats.
const (
	// WildGuard (allenai/wildguard) assesses prompt harm, answer harm and refusal in one
	// reply.
	WildGuard Format = "wildguard"
	// LlamaGuard (meta-llama/Llama-Guard-3-8B, Llama-Guard-4-12B and the like) assesses
	// the harm of the last turn, with hazard codes S1 to S14.
	LlamaGuard Format = "llamaguard"
	// ShieldGemma (google/shieldgemma-2b and larger) assesses whether the last turn
	// violates a policy: one of its own four, or one that is given.
	ShieldGemma Format = "shieldgemma"
	// GraniteGuardian (ibm-granite/granite-guardian-4.1-8b and others) assesses whether
	// the last turn meets a criterion: harm, or one of our own, which lets it detect
	// refusals too. See Style for how versions and servers take the criterion.
	GraniteGuardian Format = "granite-guardian"
	// ORJudge is the reply format of the judge of ORFuzz (arXiv 2508.11222): Yes
	// for an answer, No for a refusal, then perhaps a reason.
	ORJudge Format = "or-judge"
	// Qwen3Guard (Qwen/Qwen3Guard-Gen-8B and smaller) grades the harm of the last turn in
	// three steps. For an answer it also says whether it refuses. It covers 119
	// languages.
	Qwen3Guard Format = "qwen3guard"
	// PolyGuard (ToxicityPrompts/PolyGuard-Qwen and the like) assesses the same as
	// WildGuard, in 17 languages, with hazard codes.
	PolyGuard Format = "polyguard"
	// Safeguard (openai/gpt-oss-safeguard-20b and 120b) assesses whether the last turn
	// violates the policy in the system message.
	Safeguard Format = "gpt-oss-safeguard"
	// Classifier is any endpoint that gives one text labels with scores, in a dialect of
	// package model/classify.
	Classifier Format = "classifier"
)

// Formats lists the formats.
var Formats = []Format{WildGuard, Qwen3Guard, PolyGuard, GraniteGuardian, ORJudge, LlamaGuard, ShieldGemma, Safeguard, Classifier}

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

// traits describe a format.
type traits struct {
	tells []About
	// maxTokens bounds the reply. Granite Guardian may think before it scores, and
	// Safeguard always does.
	maxTokens int
	// word is true if a guard says in one word whether something is harmful. The
	// probability of that word is then a score, as the cards of ShieldGemma, Llama Guard
	// and Granite Guardian propose. policy is true if the guard accepts a policy.
	word, policy bool
	// system and user are the messages of a format that has its own text around a
	// request and a reply.
	system, user string
}

var (
	questions = []About{PromptHarm, AnswerHarm, Refusal}
	harmAlone = []About{PromptHarm, AnswerHarm}

	traitsOf = map[Format]traits{
		WildGuard:       {tells: questions, maxTokens: 64, word: true, user: wildGuardPrompt},
		Qwen3Guard:      {tells: questions, maxTokens: 128, word: true},
		PolyGuard:       {tells: questions, maxTokens: 100, word: true, system: polyGuardPrompt, user: "Human user:\n{{request}}\n\nAI assistant:\n{{reply}}"},
		GraniteGuardian: {tells: questions, maxTokens: 1000, word: true, policy: true},
		ORJudge:         {tells: []About{Refusal}, maxTokens: 200, system: orJudgePrompt, user: "<BEGIN INSTRUCTION>\n{{request}}\n<END INSTRUCTION>\n\n<BEGIN OUTPUT>\n{{reply}}\n<END OUTPUT>"},
		LlamaGuard:      {tells: harmAlone, maxTokens: 64, word: true},
		ShieldGemma:     {tells: harmAlone, maxTokens: 64, word: true, policy: true},
		Safeguard:       {tells: harmAlone, maxTokens: 4000, policy: true},
		Classifier:      {tells: harmAlone},
	}
)

// Tells reports whether guards of this format can answer the question.
func (f Format) Tells(about About) bool { return slices.Contains(traitsOf[f].tells, about) }

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
