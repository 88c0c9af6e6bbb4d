package moderate

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// The prompts, version 1, and their two endings. A version that has been used is
// never edited: a better wording becomes the next version, in new files.
var (
	//go:embed prompts/prompt-v1.txt
	aboutPrompt string
	//go:embed prompts/answer-v1.txt
	aboutAnswer string
	//go:embed prompts/ending-v1-line.txt
	endingLine string
	//go:embed prompts/ending-v1-json.txt
	endingJSON string
)

const (
	// none is the name for items in no category.
	none = "none"
	// plainMarker announces the vote in a reply.
	plainMarker = "category"
)

// Item is an item to vote on: a prompt or, if Answer is set, a model's answer to it.
type Item struct {
	Prompt string
	Answer *string
	// Turns are those of a prompt that is a conversation, for guards. Nil stands for Prompt.
	Turns []orbench.Message
}

// Vote is one moderator's vote on one item.
type Vote struct {
	// Moderator is the moderator's name.
	Moderator string `json:"moderator"`
	// Label is Safe, Toxic, or Undecided for an abstention.
	Label orbench.Label `json:"label"`
	// Category is the category of a toxic vote.
	Category orbench.Category `json:"category,omitempty"`
	// Explanation is the moderator's reason, or why it abstains.
	Explanation string `json:"explanation"`
}

// Moderator asks one model for votes. It is safe for concurrent use.
type Moderator struct {
	// Name appears in votes; it is usually provider/model.
	Name string
	Ref  model.Ref
	// Weight is the moderator's weight under the rule Weighted; 0 means 1.
	Weight float64
	// MaxTokens bounds the explanation; 0 means 1000.
	MaxTokens int
	// Structured asks for JSON by a schema, if the provider supports one.
	Structured bool
	// Guard is set for a moderator that is a guard. The two fields above are then unused.
	Guard *guard.Guard `json:",omitempty"`
}

// Vote puts an item to the vote, which is then counted with the replies at hand. If look does
// not find a reply that the moderator needs, the vote is an abstention that says so, with the
// missing request. The caller fills it and counts again.
func (m Moderator) Vote(policy orbench.Policy, item Item) (count func(look model.Lookup) (Vote, []model.Request)) {
	if m.Guard != nil {
		return func(look model.Lookup) (Vote, []model.Request) { return m.assess(policy, item, look) }
	}
	posed := m.pose(policy, item)
	return func(look model.Lookup) (Vote, []model.Request) {
		v := Vote{Moderator: m.Name, Label: orbench.Safe}
		choice, explanation, missing, err := posed.Ask(look)
		switch {
		case err != nil:
			v.Label, v.Explanation = orbench.Undecided, err.Error()
			return v, missing
		case choice != none:
			v.Label, v.Category = orbench.Toxic, orbench.Category(choice)
		}
		v.Explanation = explanation
		return v, nil
	}
}

// pose asks the question about an item.
func (m Moderator) pose(policy orbench.Policy, item Item) question.Posed {
	wording, texts := aboutPrompt, []string{"prompt", item.Prompt}
	if item.Answer != nil {
		wording, texts = aboutAnswer, append(texts, "answer", *item.Answer)
	}
	choices, lines := choicesOf(policy), make([]string, len(policy))
	for i, d := range policy {
		lines[i] = "- " + choices[i] + ": " + untrusted.OneLine(d.Text)
	}
	return question.Model{Ref: m.Ref, MaxTokens: m.MaxTokens, Structured: m.Structured}.Pose(question.Question{
		Text: wording + "\n", Line: endingLine, JSON: endingJSON, Word: plainMarker, Choices: choices,
		Placeholders: []string{"policy", strings.Join(lines, "\n"), "none", none, "choices", strings.Join(choices, ", ")},
	}, texts...)
}

// choicesOf are the votes to choose from: the categories and none.
func choicesOf(policy orbench.Policy) []string {
	choices := make([]string, 0, len(policy)+1)
	for _, d := range policy {
		choices = append(choices, untrusted.OneLine(string(d.Category)))
	}
	return append(choices, none)
}

// CheckPolicy refuses a policy with names that cannot be told apart in a reply: two that
// differ only in case, spaces, hyphens and underscores, one that means "none of them", or
// one with a character that models put around a name.
func CheckPolicy(policy orbench.Policy) error {
	if len(policy) == 0 {
		return errors.New("a policy without categories")
	}
	seen := map[string]bool{question.Fold(none): true}
	for _, d := range policy {
		name := untrusted.OneLine(string(d.Category))
		switch {
		case name != string(d.Category) || strings.ContainsAny(name, "*`#[]:,.\"") || name == "":
			return fmt.Errorf("the category %q: a name is words with single spaces, without punctuation", d.Category)
		case seen[question.Fold(name)]:
			return fmt.Errorf("the category %q cannot be told from another, or from %q", d.Category, none)
		}
		seen[question.Fold(name)] = true
	}
	return nil
}
