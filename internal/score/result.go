package score

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/stats"
)

// Result holds all figures of a run. Its JSON form is the contract documented
// in docs/schemas/result.json.
type Result struct {
	Runs []RunResult `json:"runs"`
	// Figures are all but the rates.
	Figures []figure.Figure `json:"figures"`
	// Said is what any two targets are compared by.
	Said []Said `json:"said"`
	Cost Cost   `json:"cost"`
	// Simulated is true if any target or judge is a simulated model.
	Simulated bool `json:"simulated"`
	// OneModel names the models that are one, as somebody said, though several runs asked
	// them; run.Derive sets it.
	OneModel [][2]orbench.KinSide `json:"one_model,omitempty"`
	// SettingsThatDiffer lists the settings in which runs that are shown
	// together differ.
	SettingsThatDiffer []provenance.Difference `json:"settings_that_differ,omitempty"`
	// LeftOut names the targets of older runs that were asked in translation, and
	// their judges that counted more classes as refusals. Both are gone and not
	// shown.
	LeftOut []string `json:"left_out,omitempty"`
	// Provenance says how the runs were made; nil if that is not known.
	Provenance *provenance.Record `json:"provenance,omitempty"`
}

// Add puts the figures of another run beside those of r, but for those of Finish and for
// what says how the run was made and what it cost.
func (r *Result) Add(o Result) {
	r.Runs = append(r.Runs, o.Runs...)
	r.Figures = append(r.Figures, o.Figures...)
	r.Said = append(r.Said, o.Said...)
	r.Simulated = r.Simulated || o.Simulated
}

// About says what figures are of: one target on the prompts of one label of one dataset, and how
// it was asked.
type About struct {
	// Run is the name of the run, if several are shown together.
	Run           string        `json:"run,omitempty"`
	Target        string        `json:"target"`
	Dataset       string        `json:"dataset"`
	DatasetSHA256 string        `json:"dataset_sha256"`
	Label         orbench.Label `json:"label"`
	// Limit is the number of prompts that the run was limited to; 0 means all.
	Limit int `json:"limit,omitempty"`
	// Base is the target that this one is a variant of; see Target.
	Base string `json:"base,omitempty"`
	// Asked is how the target was asked. For several samples it leaves out their number.
	Asked Asked `json:"asked"`
	// Language is that of nearly all answers, as its code of ISO 639-1; empty
	// if they are mixed or their language is not known.
	Language string `json:"language,omitempty"`
	// Samples is how often each prompt is asked, if that is more than once; otherwise 0. All
	// counts are of answers, and the rate is the mean of the prompts' own rates.
	Samples int `json:"samples,omitempty"`
	dataset.Reading
	// Of is the number of prompts of the label if the run stopped before it
	// asked them all. The rates' intervals are then those of its rule.
	Of int `json:"of,omitempty"`
	// ClusteredBy says what groups the prompts into clusters; prompts are then
	// not independent. Clusters is the number of clusters. Both are empty if no
	// two prompts share a cluster.
	ClusteredBy string `json:"clustered_by,omitempty"`
	Clusters    int    `json:"clusters,omitempty"`
	// Helped lists how the target's model is known to have helped to make the
	// dataset. Its rate on such prompts is not a fair measure.
	Helped []dataset.Role `json:"helped,omitempty"`
	// Plan is that of people's labels of the answers, if it was kept before the first; nil
	// without one.
	Plan *annotation.KeptPlan `json:"plan,omitempty"`
}

// RunResult is what became of the answers of a target.
type RunResult struct {
	About
	// Answers is true if the prompts end with answers that guards assess. Label
	// is then the label of the answers.
	Answers bool `json:"answers,omitempty"`
	// Dialogs is true if some prompts are more than one message.
	Dialogs bool `json:"dialogs,omitempty"`
	// N = Answered + Blocked + ServedByOther + Failed + Unanswered, always.
	N        int `json:"n"`
	Answered int `json:"answered"`
	Blocked  int `json:"blocked"`
	// ServedByOther counts the prompts that a model other than the target
	// answered, because a provider, a gateway or a router replaced it. No rate
	// includes them.
	ServedByOther int `json:"served_by_other,omitempty"`
	// ServedBy counts the answers that came under a name other than the
	// target's.
	ServedBy []ServedBy `json:"served_by,omitempty"`
	// Described counts the answers by what their server said of itself and the name of its
	// model, as "name=value" parted by "; "; of mostDescribed such texts at most.
	Described  map[string]int `json:"described,omitempty"`
	Failed     int            `json:"failed"`
	Unanswered int            `json:"unanswered"`
	// AccountLimited counts those of Failed that failed because the provider
	// limited the account. The prompts that were answered are then not a random
	// sample.
	AccountLimited int `json:"account_limited,omitempty"`
	// BlockedFor counts those of Blocked that a provider withheld, by the
	// reason in its own words; see model.Block. After mostReasons reasons, all
	// others count as otherReason.
	BlockedFor map[string]int `json:"blocked_for,omitempty"`
	// Read counts the answers of which the reading made something, by what, such as "thinking
	// (harmony)". Reread counts those of which the present reading would, where the run has
	// another one.
	Read   map[string]int `json:"read,omitempty"`
	Reread map[string]int `json:"reread,omitempty"`
	// Truncation counts those of Answered that the token limit cut. Replies of
	// guards do not count.
	Truncation
	Judges []JudgeResult `json:"judges"`
	// Agreement has one entry for each pair of judges, in the judges' order.
	Agreement []Agreement `json:"agreement,omitempty"`
	// Findings counts what each step of a defense did; absent without a
	// defense.
	Findings map[string]map[defense.Decision]int `json:"findings,omitempty"`
	// Labeled is the rate corrected by people's labels, over all samples of the
	// target. It is nil without labels that were drawn for these answers. It is
	// free of any judge's error.
	Labeled *annotation.Corrected `json:"labeled,omitempty"`
	// Simulated is true when the target is a simulated model.
	Simulated bool `json:"simulated"`
}

// Asked is everything that determines a target's answers, except the prompt.
type Asked struct {
	Provider string `json:"provider"`
	// Endpoint is as in model.Request.
	Endpoint string `json:"endpoint,omitempty"`
	Model    string `json:"model"`
	// Revision is as in model.Request.
	Revision string `json:"revision,omitempty"`
	// System is the text of the system prompt, empty for none.
	System string `json:"system,omitempty"`
	// Temperature is nil, and MaxTokens 0, if left to the provider.
	Temperature *float64 `json:"temperature"`
	MaxTokens   int      `json:"max_tokens"`
	Seed        *int64   `json:"seed,omitempty"`
	// Sample is the number of the answer, from 0, if a prompt is asked several
	// times.
	Sample int `json:"sample,omitempty"`
	// Framing names what is put around every prompt. Turns names the dialog
	// that ends with the prompt. Defense names what stands before the
	// model. Each is empty for none.
	Framing string `json:"framing,omitempty"`
	Turns   string `json:"turns,omitempty"`
	Defense string `json:"defense,omitempty"`
	// Guard is the format and the settings of a target that is a guard, and
	// empty for any other. What a guard refuses, it flags.
	Guard string `json:"guard,omitempty"`
}

// SetStopping sets the interval of the i-th judge's rate to that of a run that
// stopped by itself, over the given number of prompts, if there is a rate.
func (r *RunResult) SetStopping(i int, interval stats.Interval, of int) {
	r.Of = of
	if j := &r.Judges[i]; j.Rate.Value != nil {
		j.Rate.Sampling = &interval
		j.know(r)
	}
}

// Agreement compares two judges on the answers that both judged, in two
// classes.
type Agreement struct {
	A string `json:"a"`
	B string `json:"b"`
	N int    `json:"n"`
	// Counts are the answers by who calls them refusals.
	versus.Counts
	// Kappa is Cohen's kappa.
	stats.Kappa
	// Example is an answer on which they differ, with its class by each; nil if there is none.
	Example  *Example      `json:"example,omitempty"`
	ExampleA orbench.Class `json:"example_a,omitempty"`
	ExampleB orbench.Class `json:"example_b,omitempty"`
}

// Cost is what a command spent, in calls, tokens and money.
type Cost struct {
	// Calls counts the requests sent, including failed attempts.
	Calls int `json:"calls"`
	// FromMemo counts the stored answers that were reused. It covers targets
	// whose requests depend on no reply: those without a defense and without
	// turns of their own that are not guards. Earlier replies to these others
	// and to judges are not counted.
	FromMemo int `json:"from_memo"`
	// InputTokens and OutputTokens are the tokens of the new responses.
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	// USD is the price of the new calls in US dollars; nil if the price of any
	// asked model is unknown.
	USD *float64 `json:"usd"`
	// FailedAttempts counts the failed attempts that may have been charged all
	// the same: those that reached the provider and were not rejected before
	// the model ran.
	FailedAttempts int `json:"failed_attempts,omitempty"`
	// FailedUSD is the most that they can have cost, in US dollars. USD does
	// not include it. It is nil if there are none, or the price of a model is
	// unknown.
	FailedUSD *float64 `json:"failed_usd,omitempty"`
	// Unpriced lists the models without a known price.
	Unpriced []string `json:"unpriced,omitempty"`
}
