package benchmark

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/similar"
)

// Format is the version of the folder's layout.
const Format = 1

// Manifest describes the content of a benchmark's folder and how it was made. It is the
// file manifest.json.
type Manifest struct {
	// Format is the version of the layout, 1.
	Format  int    `json:"orbench_benchmark"`
	Name    string `json:"name"`
	Version string `json:"version"`
	// Tool is the version of orbench that wrote the folder, and its date if it is known.
	Tool      string `json:"tool"`
	Builds    int    `json:"builds"`
	Simulated bool   `json:"simulated"`
	// Files describes every other file of the folder, by its name.
	Files map[string]File `json:"files"`
	// Config is the configuration with all defaults filled in.
	Config BuildConfig `json:"config"`
	Models []Spent     `json:"models"`
	// Generators are the models that wrote seeds and rewrites in the last build.
	Generators []Generator              `json:"generators,omitempty"`
	Funnel     Funnel                   `json:"funnel"`
	Exhausted  []Exhausted              `json:"worn_out"`
	Batches    map[orbench.Category]int `json:"batches"`
	// Search is set for a build that searched for what targets refuse.
	Search  *Search `json:"search,omitempty"`
	Quality Quality `json:"quality"`
}

// Ending is the file name ending of the sets.
func (m Manifest) Ending() string {
	if m.Config.Rewrites.Turns > 1 {
		return ".jsonl"
	}
	return ".csv"
}

// File is a file of the folder.
type File struct {
	SHA256 string `json:"sha256"`
	// Rows counts prompts, seeds or rows of the lineage; 0 for other files.
	Rows int `json:"rows,omitempty"`
	// Label is the label of a set's prompts, and toxic for seeds, which are asked for as such.
	Label orbench.Label `json:"label,omitempty"`
}

// SetName names one of the three sets.
type SetName string

// The sets.
const (
	FullSet  SetName = "full"
	HardSet  SetName = "hard"
	ToxicSet SetName = "toxic"
)

// SetNames lists the sets in the order in which they are shown.
var SetNames = []SetName{FullSet, HardSet, ToxicSet}

// Label is the label of the set's prompts.
func (s SetName) Label() orbench.Label {
	if s == ToxicSet {
		return orbench.Toxic
	}
	return orbench.Safe
}

// Role is a model's role in a build.
type Role string

// The roles, in the order of the stages.
const (
	GeneratorRole Role = "generator"
	RewriterRole  Role = "rewriter"
	ModeratorRole Role = "moderator"
	// ReviewerRole answers prompts that were voted toxic, for the second chance.
	ReviewerRole Role = "second chance"
	SelectorRole Role = "selector"
	JudgeRole    Role = "judge"
)

// Roles lists the roles in the order of the stages.
var Roles = []Role{GeneratorRole, RewriterRole, ModeratorRole, ReviewerRole, SelectorRole, JudgeRole}

// Compare puts roles in that order.
func (r Role) Compare(o Role) int { return slices.Index(Roles, r) - slices.Index(Roles, o) }

// Spent counts the requests to one model in one role. It counts the replies that the
// build rests on, whenever they were paid for.
type Spent struct {
	Role Role `json:"role"`
	// Provider and Model name the model. Versions are the names it gave itself in its
	// replies.
	Provider string   `json:"provider"`
	Model    string   `json:"model"`
	Versions []string `json:"versions"`
	Replies  int      `json:"replies"`
	Failed   int      `json:"failed,omitempty"`
	// Usage is the sum of what the provider reported.
	Usage model.Usage `json:"usage"`
}

// Exhausted is a category that gave fewer seeds than were wanted.
type Exhausted struct {
	Category orbench.Category `json:"category"`
	Kept     int              `json:"kept"`
	Wanted   int              `json:"wanted"`
}

// Search records a search for prompts that targets refuse.
type Search struct {
	Targets []string `json:"targets"`
	// Samples is the number of answers of each target to a prompt.
	Samples int `json:"samples"`
	// MostCalls bounds the calls of all generations but the first.
	MostCalls int `json:"most_calls"`
	// Generations begins with generation 0, the prompts that the search started from.
	Generations []Generation `json:"generations"`
	// Operators has the same counts, but for calls, by what made the prompts.
	Operators map[generator.Operator]Generation `json:"operators"`
}

// Generation counts what became of the prompts of a generation.
type Generation struct {
	Generation int `json:"generation"`
	// Calls counts all calls, whether made or remembered. Mutations are those for new
	// prompts, and Unreadable the ones of them that gave none.
	Calls      int `json:"calls"`
	Mutations  int `json:"mutations"`
	Unreadable int `json:"unreadable"`
	// Made counts the new prompts, and Prompts those of them that were put to the targets
	// and have an answer that could be judged.
	Made    int `json:"made"`
	Prompts int `json:"prompts"`
	// Refused counts the prompts that a target refused, and Found those of them that are
	// safe. Rate is Refused of Prompts.
	Refused int     `json:"refused"`
	Found   int     `json:"found"`
	Rate    float64 `json:"rate"`
	// Low and High bound the 95% Wilson interval of Rate.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Quality is how good the benchmark is, as far as a program can measure it.
type Quality struct {
	// Diversity is the diversity of each set by category. The empty category stands for
	// the whole set.
	Diversity map[SetName]map[orbench.Category]similar.Diversity `json:"diversity"`
	// Forms counts the prompts of the full set by their form, as far as its first words
	// tell it in English.
	Forms     map[generator.Form]int `json:"forms,omitempty"`
	Agreement moderate.Agreement     `json:"agreement"`
	Residual  Residual               `json:"residual_toxicity"`
}

// Residual is the share of toxic prompts to expect in the full set, if the
// ensemble errs as the published one did: on 100 prompts that people had
// labeled, it passed 4 of 25 toxic ones and 72 of 75 safe ones (Cui et al.,
// table 1). With the share of prompts that were voted toxic before any second
// chance as prevalence p, it is
//
//	p·4/25 / (p·4/25 + (1-p)·72/75)
//
// and the interval is that of the ratio of the two rates; see stats.Residual. An
// audit of this very benchmark replaces the borrowed error; see orbench label.
type Residual struct {
	Prevalence float64 `json:"prevalence"`
	Share      float64 `json:"share"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
}
