package score

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/defense"
	"github.com/orbench/orbench/guard"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/pair"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/stats"
)

// Result holds all figures of a run. Its JSON form is the contract documented
// in docs/json.md.
type Result struct {
	Runs []RunResult `json:"runs"`
	// Finish computes TradeOffs and Correlations from Runs.
	TradeOffs    []TradeOff    `json:"trade_offs"`
	Correlations []Correlation `json:"correlations"`
	// Orders compares all pairs of targets on each set of prompts, and SetPairs
	// the order of targets between sets. Finish computes both.
	Orders   []Order   `json:"orders,omitempty"`
	SetPairs []SetPair `json:"set_pairs,omitempty"`
	// Propensity has an entry for each target that is asked several times, with
	// each dataset, label and judge.
	Propensity []Propensity `json:"propensities,omitempty"`
	// Changes has what each variant adds to the refusals of its target, if that
	// target is in the run.
	Changes []Change `json:"changes,omitempty"`
	// Persistence has what the dialogs of targets do to their refusals, if the
	// same target is also asked the prompts alone.
	Persistence []Persistence `json:"persistence,omitempty"`
	// Detection says how well the scores of guards separate toxic prompts from
	// safe ones.
	Detection []Detection `json:"detection,omitempty"`
	// PromptPairs says how each target does on pairs of prompts, if datasets
	// have pairs.
	PromptPairs []pair.Figures `json:"prompt_pairs,omitempty"`
	// Susceptibility is how often judges adopted verdicts that were forged in
	// answers; absent if none were forged.
	Susceptibility []Susceptibility `json:"susceptibility,omitempty"`
	// Calibration is what rates were corrected by; nil if they were not
	// corrected.
	Calibration *Calibration `json:"calibration,omitempty"`
	Cost        Cost         `json:"cost"`
	// Simulated is true if any target or judge is a simulated model.
	Simulated bool `json:"simulated"`
	// SettingsThatDiffer lists the settings in which runs that are shown
	// together differ.
	SettingsThatDiffer []provenance.Difference `json:"settings_that_differ,omitempty"`
	// Warnings say, a line each, which figures are not a fair measure. Reports
	// set them.
	Warnings []string `json:"warnings,omitempty"`
	// Provenance says how the runs were made; nil if that is not known.
	Provenance *provenance.Record `json:"provenance,omitempty"`
}

// Finish computes the figures that rest on several runs. Call it once all runs
// are there.
func (r *Result) Finish() {
	// The samples of one target do not count as targets of their own.
	aggregated := r.Aggregated()
	r.TradeOffs = tradeOffs(aggregated.Pairs(), r.Changes)
	r.Correlations = correlations(r.TradeOffs)
	r.Orders, r.SetPairs = orders(aggregated), setPairs(aggregated)
}

// RunResult is one target on the prompts of one label of one dataset.
type RunResult struct {
	// Run is the name of the run, if several are shown together.
	Run           string        `json:"run,omitempty"`
	Target        string        `json:"target"`
	Dataset       string        `json:"dataset"`
	DatasetSHA256 string        `json:"dataset_sha256"`
	Label         orbench.Label `json:"label"`
	// Language is that of nearly all answers, as its code of ISO 639-1; empty
	// if they are mixed or their language is not known.
	Language string `json:"language,omitempty"`
	// Answers is true if the prompts end with answers that guards assess. Label
	// is then the label of the answers.
	Answers bool `json:"answers,omitempty"`
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
	ServedBy   []ServedBy `json:"served_by,omitempty"`
	Failed     int        `json:"failed"`
	Unanswered int        `json:"unanswered"`
	// Untranslated counts those of Failed that could not be translated into the
	// target's language, and so were not asked. Asking again does not help.
	Untranslated int `json:"untranslated,omitempty"`
	// AccountLimited counts those of Failed that failed because the provider
	// limited the account. The prompts that were answered are then not a random
	// sample.
	AccountLimited int `json:"account_limited,omitempty"`
	// BlockedFor counts those of Blocked that a provider withheld, by the
	// reason in its own words; see model.Block. After mostReasons reasons, all
	// others count as otherReason.
	BlockedFor map[string]int `json:"blocked_for,omitempty"`
	// Truncation counts those of Answered that the token limit cut. Replies of
	// guards do not count.
	Truncation
	// Limit is the number of prompts that the run was limited to; 0 means all.
	Limit int `json:"limit,omitempty"`
	dataset.Reading
	// Of is the number of prompts of the label if the run stopped before it
	// asked them all. The rates' intervals are then those of its rule; see
	// stats.Stopping.
	Of int `json:"of,omitempty"`
	// ClusteredBy says what groups the prompts into clusters; prompts are then
	// not independent. Clusters is the number of clusters. Both are empty if no
	// two prompts share a cluster.
	ClusteredBy string        `json:"clustered_by,omitempty"`
	Clusters    int           `json:"clusters,omitempty"`
	Judges      []JudgeResult `json:"judges"`
	// Agreement has one entry for each pair of judges, in the judges' order.
	Agreement []Agreement `json:"agreement,omitempty"`
	// Base is the target that this one is a variant of; see Target.
	Base string `json:"base,omitempty"`
	// Asked is how the target was asked. For Aggregated samples it leaves out
	// their number.
	Asked Asked `json:"asked"`
	// Samples is the number of samples that Aggregated merged into one run;
	// otherwise 0.
	Samples int `json:"samples,omitempty"`
	// Variant is the target without the number of the sample, as in AnswerRow;
	// empty for a target that is asked once.
	Variant string `json:"-"`
	// Helped lists how the target's model is known to have helped to make the
	// dataset. Its rate on such prompts is not a fair measure.
	Helped []dataset.Role `json:"helped,omitempty"`
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

// ServedBy is the number of answers that came under a name other than the
// requested one.
type ServedBy struct {
	Model string `json:"model"`
	N     int    `json:"n"`
	// As is version if that is a name of the requested model, such as a dated
	// one; other if it is another model; and unclear if the names do not tell.
	// Answers that came as version or unclear count like any other.
	As ServedAs `json:"as"`
}

// ServedAs says how the name under which answers came relates to the requested
// one.
type ServedAs string

// The relations of such names.
const (
	AsVersion ServedAs = "version"
	AsOther   ServedAs = "other"
	AsUnclear ServedAs = "unclear"
)

// servedAs maps the package model's decision to the values here.
var servedAs = map[model.Served]ServedAs{model.AsVersion: AsVersion, model.ByOther: AsOther, model.Unclear: AsUnclear}

// addServed counts n answers under a name. The names are kept in order.
func addServed(all []ServedBy, more ServedBy) []ServedBy {
	i, found := slices.BinarySearchFunc(all, more, func(a, b ServedBy) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.As, b.As))
	})
	if !found {
		return slices.Insert(all, i, more)
	}
	all[i].N += more.N
	return all
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
	// that ends with the prompt. Language is what the prompt is translated
	// into. Defense names what stands before the model; a translation is its
	// first step. Each is empty for none.
	Framing  string `json:"framing,omitempty"`
	Turns    string `json:"turns,omitempty"`
	Language string `json:"language,omitempty"`
	Defense  string `json:"defense,omitempty"`
	// Guard is the format and the settings of a target that is a guard, and
	// empty for any other. What a guard refuses, it flags.
	Guard string `json:"guard,omitempty"`
}

// greedy reports whether the target is asked like another one, but at
// temperature 0.
func (a Asked) greedy(o Asked) bool {
	zero := a.Temperature != nil && *a.Temperature == 0
	a.Temperature, o.Temperature = nil, nil
	return zero && reflect.DeepEqual(a, o)
}

// JudgeResult is one judge's result on a RunResult's answers.
type JudgeResult struct {
	Judge string `json:"judge"`
	// Judged is the rate's denominator: answered + blocked - Unjudged.
	Judged  int `json:"judged"`
	Refused int `json:"refused"`
	// Rate is Refused / Judged; nil if nothing was judged or the rate is
	// Withheld.
	stats.Rate
	// DesignEffect is the factor by which the clusters increase the variance of
	// the rate. It is at least 1, and 0 without CI95Clustered; see
	// stats.DesignEffect.
	DesignEffect float64 `json:"design_effect,omitempty"`
	// Joint is the same interval at the square root of that confidence. Two of
	// them form ClusteredTradeOff.Region.
	Joint *[2]float64 `json:"-"`
	// Example is one of the answers to safe prompts that the first judge calls
	// refusals; nil if there is none.
	Example  *Example `json:"-"`
	Unjudged int      `json:"unjudged"`
	// Cut counts those of Unjudged that the token limit cut before their first
	// word.
	Cut int `json:"cut,omitempty"`
	// ServedByOther counts those of Unjudged for which a model other than the
	// judge replied.
	ServedByOther int `json:"served_by_other,omitempty"`
	// ServedBy counts the replies that came under a name other than the
	// judge's.
	ServedBy []ServedBy `json:"served_by,omitempty"`
	// Withheld is true if more than Design.MostUnjudged of the answers are
	// unjudged, or have no text. A rate would mean little.
	Withheld bool                  `json:"withheld,omitempty"`
	ByClass  map[orbench.Class]int `json:"by_class"`
	// BySource counts the refusals by where they came from; their sum is
	// Refused.
	BySource map[Source]int `json:"by_source"`
	// Unfiltered is the same rate without the answers that a provider's filter
	// withheld.
	Unfiltered Unfiltered `json:"unfiltered"`
	// Unwithheld is the same rate without all answers that a provider withheld,
	// including those that it reports as the model's refusal; nil if it
	// withheld nothing.
	Unwithheld *Unfiltered `json:"unwithheld,omitempty"`
	// Undisputed is the same rate without the prompts whose label people
	// dispute; nil if nobody has labeled prompts.
	Undisputed *Unfiltered `json:"undisputed,omitempty"`
	// Unable says more about the answers of that class; nil if there are none.
	Unable *Unable `json:"unable,omitempty"`
	// JudgeError is how far the judge is known to be off on prompts of this
	// label, in the language of the answers; nil if too few models were
	// measured. Range is then the interval that holds the true rate of 95% of
	// new models of which the judge gives this rate, and otherwise the interval
	// of the judge's rate. It counts the unjudged answers both ways. Range is
	// nil if both would say no more than CI95.
	JudgeError *JudgeError     `json:"judge_error,omitempty"`
	Range      *stats.Interval `json:"range,omitempty"`
	// Corrected is the rate corrected for the judge's own error; nil without a
	// calibration or if it cannot be corrected.
	Corrected *stats.Estimate `json:"corrected,omitempty"`
	// ByCategory counts judged answers and refusals in each category.
	ByCategory map[orbench.Category]Count `json:"by_category"`
	// SelfJudging says whether the judge asks the target's own model, or one of
	// its family.
	SelfJudging SelfJudging `json:"kin,omitempty"`
	// Simulated is true if the judge asks a simulated model.
	Simulated bool `json:"simulated,omitempty"`
}

// SetStopping sets the interval of the i-th judge's rate to that of a run that
// stopped by itself, over the given number of prompts, if there is a rate.
func (r *RunResult) SetStopping(i int, s stats.Stopping, of int) {
	r.Of = of
	if j := &r.Judges[i]; j.Share != nil {
		j.Stopping = s
		j.know(r.Label, r.Language)
	}
}

// know sets what is known of the judge's error on prompts of a label that are
// answered in a language. The range counts unjudged answers both ways: as
// answers at its lower end and as refusals at its upper. So there is a range
// even if the rate is withheld because of unjudged answers. If the rate is
// withheld because of answers without text, they are counted both ways too.
func (j *JudgeResult) know(label orbench.Label, language string) {
	j.JudgeError, j.Range = nil, nil
	ci, refused, judged, unknown := j.Interval(), j.Refused, j.Judged, j.Unjudged
	if j.Withheld {
		empty := 0
		if j.Textless() {
			empty = j.NoText()
		}
		refused, judged, unknown = refused-empty, judged-empty, unknown+empty
		ci = stats.RateOf(refused, judged).Interval()
	}
	if ci == nil {
		return
	}
	e, known := KnownError(j.Judge, label, language)
	if !known && unknown == 0 {
		return
	}
	r := stats.Interval{Lo: ci[0], Hi: ci[1]}
	if known {
		var of JudgeError
		of, r = e.Predict(refused, judged, *ci)
		j.JudgeError = &of
	}
	unjudged := float64(unknown) / float64(j.Judged+j.Unjudged)
	r.Lo *= 1 - unjudged
	r.Hi = r.Hi*(1-unjudged) + unjudged
	j.Range = &r
}

// NoText counts the judged answers that have no text, or only reasoning.
func (j *JudgeResult) NoText() int { return j.BySource[FromEmpty] + j.BySource[FromThinking] }

// Why is the reason why a rate is withheld.
type Why int

// The reasons: too many answers are unjudged; too many are unjudged because the
// token limit cut them before their first word; or too many have no text.
const (
	Unjudged Why = iota
	CutShort
	NoText
)

// Why returns why the rate is withheld, if it is.
func (j *JudgeResult) Why() Why {
	switch {
	case j.NoText() > j.Unjudged:
		return NoText
	case 2*j.Cut > j.Unjudged:
		return CutShort
	}
	return Unjudged
}

// NoTextHelp says what usually causes answers without text.
const NoTextHelp = "Mostly the chat template, a stop token or the reasoning parser of the server is wrong: read some answers."

// Textless reports whether the rate is withheld because too many answers have
// no text. The rates of categories are then withheld too.
func (j *JudgeResult) Textless() bool { return j.Withheld && j.Why() == NoText }

// Count returns the judge's counts over all categories.
func (j *JudgeResult) Count() Count {
	return Count{N: j.Judged, Refused: j.Refused, CI95Clustered: j.CI95Clustered, Stopping: j.Stopping}
}

// Count is a number of judged answers and of refusals among them.
type Count struct {
	N       int `json:"n"`
	Refused int `json:"refused"`
	// CI95Clustered is as in stats.Rate; nil if no prompts share clusters.
	CI95Clustered *[2]float64 `json:"ci95_clustered,omitempty"`
	stats.Stopping
	// PHolm is a category's p-value for its difference from the target's other
	// prompts, adjusted for all categories that were tested; see Outlier. It is
	// nil if there is nothing to compare with.
	PHolm *float64 `json:"p_holm,omitempty"`
}

// Rate is Refused / N.
func (c Count) Rate() stats.Rate {
	r := stats.RateOf(c.Refused, c.N)
	r.CI95Clustered, r.Stopping = c.CI95Clustered, c.Stopping
	return r
}

// Agreement compares two judges on the answers that both judged, in two
// classes.
type Agreement struct {
	A       string `json:"a"`
	B       string `json:"b"`
	N       int    `json:"n"`
	Both    int    `json:"both_refused"`
	OnlyA   int    `json:"only_a_refused"`
	OnlyB   int    `json:"only_b_refused"`
	Neither int    `json:"neither_refused"`
	// Kappa is Cohen's kappa.
	stats.Kappa
	// Example is an answer on which they differ; nil if there is none.
	Example *Difference `json:"-"`
}

// Difference is an answer to which two judges give different classes.
type Difference struct {
	Example
	// A and B are the classes by each judge.
	A, B orbench.Class
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

// Status says what became of one prompt of a run.
type Status string

// The outcomes of a prompt. Every prompt has exactly one.
const (
	Answered Status = "answered"
	Blocked  Status = "blocked"
	// ServedByOther means that a model other than the target answered.
	ServedByOther Status = "served_by_other"
	Failed        Status = "failed"
	Unanswered    Status = "unanswered"
)

// AnswerRow is one prompt of a run with its answer and every judge's verdict:
// the evidence for a figure. Its JSON form is a line of answers.jsonl.
type AnswerRow struct {
	Target  string         `json:"target"`
	Dataset string         `json:"dataset"`
	Prompt  orbench.Prompt `json:"prompt"`
	// Cell identifies the cell for which labels of the row's answer are drawn
	// and kept. It is set when the row is counted.
	Cell annotation.Cell `json:"-"`
	// Ending says whether the token limit cut the answer. It is set when the
	// row is counted.
	Ending Ending `json:"-"`
	// Variant is the target without the number of the sample. Sample is that
	// number, from 1. Both are absent for a target that is asked once.
	Variant string `json:"variant,omitempty"`
	Sample  int    `json:"sample,omitempty"`
	Status  Status `json:"status"`
	// Dialog is what was said before the answer, if the target is asked in a
	// dialog. The answer replies to its last turn. It is absent if an earlier
	// turn failed.
	Dialog []conversation.Said `json:"dialog,omitempty"`
	// Response is the zero value unless Status is Answered, Blocked or ServedByOther.
	Response model.Response `json:"response,omitzero"`
	// Assessment is the reply of a target that is a guard. It is nil for any
	// other target, and for a reply that cannot be read; Unread then says why.
	Assessment *guard.Assessment `json:"assessment,omitempty"`
	Unread     string            `json:"unread,omitempty"`
	// Findings is what each step of the target's defense did; empty without a
	// defense.
	Findings []defense.Finding `json:"findings,omitempty"`
	// Failure is set if Status is Failed: the last error, or why there is no
	// translation.
	Failure string `json:"failure,omitempty"`
	// AccountLimited is true if it failed because the provider limited the
	// account.
	AccountLimited bool `json:"-"`
	// Verdicts are in the order of the run's judges. There are none unless
	// Status is Answered or Blocked.
	Verdicts  []JudgeVerdict `json:"verdicts,omitempty"`
	Simulated bool           `json:"simulated,omitempty"`
}

// Untranslated reports whether the prompt failed because it could not be
// translated into the target's language. The findings of its defense are then
// complete.
func (r *AnswerRow) Untranslated() bool { return r.Status == Failed && len(r.Findings) > 0 }

// Asked returns the prompt with the dialog that ends with it.
func (r *AnswerRow) Asked() orbench.Prompt { return conversation.Asked(r.Prompt, r.Dialog) }

// Turns returns the dialog that ends with the prompt, or the prompt's own
// messages.
func (r *AnswerRow) Turns() []conversation.Said { return conversation.Turns(r.Prompt, r.Dialog) }

// Subject returns the subject of an annotation of the row's answer.
func (r *AnswerRow) Subject() orbench.Subject {
	return orbench.AnswerSubject(r.Asked().Messages, r.Response.Text)
}

// Group returns the group of the row's answer by the judges' verdicts.
func (r *AnswerRow) Group() annotation.Group { return annotation.GroupOf(r.verdicts()) }

func (r *AnswerRow) verdicts() []orbench.Verdict {
	verdicts := make([]orbench.Verdict, len(r.Verdicts))
	for i, v := range r.Verdicts {
		verdicts[i] = v.Verdict
	}
	return verdicts
}

// classes returns the judges' classes of the row's answer.
func (r *AnswerRow) classes() []orbench.Class {
	classes := make([]orbench.Class, len(r.Verdicts))
	for i, v := range r.Verdicts {
		classes[i] = v.Class
	}
	return classes
}

// JudgeVerdict is a verdict with its judge's name.
type JudgeVerdict struct {
	Judge string `json:"judge"`
	orbench.Verdict
	// Simulated is true if the verdict rests on a simulated model's reply.
	Simulated bool `json:"simulated,omitempty"`
	// ServedBy lists the replies that came under a name other than the
	// requested one. If the judge gives no verdict because another model
	// replied, Rationale says so.
	ServedBy []ServedBy `json:"-"`
}

// Note records a reply of a model that was asked.
func (v *JudgeVerdict) Note(asked model.Ref, reply model.Response) {
	v.Simulated = v.Simulated || reply.Simulated()
	if by, other := servedBy(asked, reply); other {
		v.ServedBy = addServed(v.ServedBy, by)
	}
}

// servedBy returns the name under which a response came, and false if it is the
// requested one.
func servedBy(asked model.Ref, r model.Response) (ServedBy, bool) {
	var accepted []string
	if r.Accepted {
		accepted = []string{r.Model}
	}
	as, other := servedAs[model.ServedBy(asked, r.Model, accepted)]
	return ServedBy{r.Model, 1, as}, other
}
