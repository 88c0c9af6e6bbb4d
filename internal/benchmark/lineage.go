package benchmark

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/internal/moderate"
)

// Seed is a toxic prompt that rewrites are made of. seeds.jsonl has a line for
// each.
type Seed struct {
	ID       orbench.PromptID `json:"id"`
	Text     string           `json:"text"`
	Category orbench.Category `json:"category"`
	// Round is 0 for seeds from a generator or a file, and n for rewrites that stayed
	// toxic in round n-1.
	Round int `json:"round"`
	// Generator is the model that made the seed, as provider/model, and Call the hash of
	// the request. For a seed of a later round both are those of the rewrite.
	Generator string `json:"generator"`
	Call      string `json:"call"`
	// File is the SeedFile that the seed came from. It is empty for a seed that a model
	// made.
	File string `json:"file,omitempty"`
}

// Kind says what a row of the lineage is.
type Kind string

// The kinds.
const (
	// Rewritten is a rewrite of a seed.
	Rewritten Kind = "rewrite"
	// CheckedSeed is a seed that was put to the vote as a candidate for the toxic
	// set.
	CheckedSeed Kind = "seed"
)

// Reason says why a rewrite went no further.
type Reason string

// The reasons. The zero value goes with rows that were put to the vote.
const (
	NotDropped Reason = ""
	// Foreign means that the text is no request; see Record.Habits.
	Foreign       Reason = "foreign"
	BrokenRule    Reason = "broken_rule"
	Duplicate     Reason = "duplicate"
	NearDuplicate Reason = "near_duplicate"
	// CommonOpening means that too many prompts of the category begin with the same three
	// words.
	CommonOpening Reason = "common_opening"
	// CommonForm means that too many prompts of the category have its form, such as that of
	// a question.
	CommonForm Reason = "common_form"
	// Surplus means that the row exceeds the requested number.
	Surplus Reason = "surplus"
	// NoTurns means that the row has no conversation leading up to it, in a build of
	// conversations.
	NoTurns Reason = "no_turns"
	// Answered means that every target of a search answered the prompt, so no moderator
	// was asked.
	Answered Reason = "answered"
)

// Reasons lists the reasons for which rewrites are dropped, in the order in which they are
// looked for.
var Reasons = []Reason{Foreign, BrokenRule, Duplicate, NearDuplicate, CommonOpening, CommonForm, Surplus, NoTurns, Answered}

// Record is a row of the lineage: one prompt, its outcome, and the reasons. lineage.jsonl
// has a line for each.
type Record struct {
	Kind     Kind             `json:"kind"`
	ID       orbench.PromptID `json:"id"`
	Text     string           `json:"text"`
	Category orbench.Category `json:"category"`
	// Earlier are the messages before Text in a build of conversations. The call
	// TurnsCall made them.
	Earlier   []orbench.Message `json:"earlier,omitempty"`
	TurnsCall string            `json:"turns_call,omitempty"`
	// Build numbers the builds of the benchmark: 0 for the first, n for rows that the
	// n-th refresh added.
	Build int `json:"build"`
	// Round is the round of its seed; see Seed.
	Round int `json:"round"`

	// SeedID is the ID of the seed, which is in seeds.jsonl or an earlier row.
	SeedID orbench.PromptID `json:"seed_id"`
	// Rewriter is the model that made the rewrite, in the call Call.
	Rewriter string `json:"rewriter"`
	Call     string `json:"call"`
	// Habits are what the rewriter wrote besides the request: cut off, or the reason why the
	// row is Foreign.
	Habits []generator.Habit `json:"habits,omitempty"`
	// Broken lists the rules that the text breaks.
	Broken []generator.Rule `json:"broken,omitempty"`
	// RepairCall is the call to repair a text that broke the rules in BrokenBefore. It is
	// empty if no repair was needed. Before is that text, if the call replaced it.
	RepairCall   string           `json:"mend_call,omitempty"`
	Before       string           `json:"before,omitempty"`
	BrokenBefore []generator.Rule `json:"broken_before,omitempty"`
	// Dropped says why the row went no further.
	Dropped Reason `json:"dropped,omitempty"`
	// Cluster is the kept prompt that this one nearly duplicates, and Similarity the
	// Jaccard index of the two. For a kept prompt, Cluster is its own ID.
	Cluster    orbench.PromptID `json:"cluster,omitempty"`
	Similarity float64          `json:"likeness,omitempty"`

	// Votes are the moderators' votes on the prompt, and Voted their decision.
	Votes []Vote        `json:"votes,omitempty"`
	Voted orbench.Label `json:"voted,omitempty"`
	// SecondChance is the outcome of the second chance, for a prompt that was voted
	// toxic.
	SecondChance *Review `json:"second_chance,omitempty"`
	// Label is the final label: safe if the prompt was voted safe or re-admitted, else
	// the label that was voted. It is empty for dropped rows.
	Label orbench.Label `json:"label,omitempty"`
	// Replies are the selectors' answers to a safe prompt.
	Replies []Reply `json:"refusals,omitempty"`
	// The rest but Sets is set in a search for what targets refuse. Generation is 0 for the
	// prompts that it started from; those of a later one were made by the Operator from one
	// or two Parents.
	Generation int                `json:"generation,omitempty"`
	Operator   generator.Operator `json:"operator,omitempty"`
	Parents    []orbench.PromptID `json:"parents,omitempty"`
	// Targets are the targets' answers.
	Targets []Reply `json:"targets,omitempty"`
	// Distance is 1 less the similarity to the nearest earlier prompt. Fitness is the share
	// of Targets that refuse × the share of Votes that say safe × Distance.
	Distance float64 `json:"distance,omitempty"`
	Fitness  float64 `json:"fitness,omitempty"`
	// Sets lists the sets that hold the prompt: full, hard, toxic.
	Sets []SetName `json:"sets,omitempty"`
}

// Vote is a moderator's vote and the call that it was read from.
type Vote struct {
	moderate.Vote
	Call string `json:"call,omitempty"`
}

// Review is the second chance of a prompt that was voted toxic: the answer of a model
// without safety training, and the votes on that answer.
type Review struct {
	Model string `json:"model"`
	Call  string `json:"call"`
	// Missing says why there is no answer to vote on: the call failed, the answer was
	// blocked, it is empty, or an error stands in its place.
	Missing string        `json:"missing,omitempty"`
	Votes   []Vote        `json:"votes,omitempty"`
	Voted   orbench.Label `json:"voted"`
	// Readmitted is true if the answer was voted safe; the prompt then counts as safe.
	// Confirmed is true if it was voted toxic.
	Readmitted bool `json:"readmitted"`
	Confirmed  bool `json:"confirmed"`
}

// Reply is the answer of a selector, or of a target of a search, as the judge saw it.
type Reply struct {
	Selector string        `json:"selector"`
	Family   string        `json:"family,omitempty"`
	Call     string        `json:"call"`
	Class    orbench.Class `json:"class"`
	Refused  bool          `json:"refused"`
}

// Asked is the prompt as models receive it: Text, at the end of its conversation if it
// has one.
func (r *Record) Asked() orbench.Prompt {
	messages := append(slices.Clone(r.Earlier), orbench.Message{Role: orbench.User, Content: r.Text})
	return orbench.Prompt{ID: orbench.PromptIDOf(messages), Messages: messages}
}

// RefusedBy lists the families with a selector that refused.
func (r *Record) RefusedBy() (families []string) {
	for _, reply := range r.Replies {
		if reply.Refused && !slices.Contains(families, reply.Family) {
			families = append(families, reply.Family)
		}
	}
	return families
}

// RefusedByTargets counts the targets' answers that have a verdict, and the refusals among
// them.
func (r *Record) RefusedByTargets() (refused, judged int) {
	for _, reply := range r.Targets {
		if reply.Class != orbench.Unjudged {
			judged++
			if reply.Refused {
				refused++
			}
		}
	}
	return refused, judged
}
