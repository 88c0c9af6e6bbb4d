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

// Result is everything that a run's figures say. Its JSON form is the contract
// documented in docs/json.md.
type Result struct {
	Runs []RunResult `json:"runs"`
	// TradeOffs and Correlations are what Finish makes of Runs.
	TradeOffs    []TradeOff    `json:"trade_offs"`
	Correlations []Correlation `json:"correlations"`
	// Propensity has an entry for each target that is asked several times, with each
	// dataset, label and judge.
	Propensity []Propensity `json:"propensities,omitempty"`
	// Changes has what each variant of a target adds to its refusals, where the
	// target itself is in the run.
	Changes []Change `json:"changes,omitempty"`
	// Persistence has what the dialogs of targets do to their refusals, where the same
	// target is asked the prompts alone too.
	Persistence []Persistence `json:"persistence,omitempty"`
	// Detection is how well the scores of guards tell toxic prompts from safe ones.
	Detection []Detection `json:"detection,omitempty"`
	// PromptPairs has how each target does on pairs of prompts, where datasets have them.
	PromptPairs []pair.Figures `json:"prompt_pairs,omitempty"`
	// Susceptibility is how often judges took over verdicts that were forged in answers;
	// absent where none were.
	Susceptibility []Susceptibility `json:"susceptibility,omitempty"`
	// Calibration is what rates were corrected by, nil where they were not.
	Calibration *Calibration `json:"calibration,omitempty"`
	Cost        Cost         `json:"cost"`
	// Simulated is true when any target or judge is a simulated model.
	Simulated bool `json:"simulated"`
	// SettingsThatDiffer are those in which runs that are shown together differ.
	SettingsThatDiffer []provenance.Difference `json:"settings_that_differ,omitempty"`
	// Warnings say which figures are no fair measure, a line each; reports set them.
	Warnings []string `json:"warnings,omitempty"`
	// Provenance says how the runs were made, nil where that is not known.
	Provenance *provenance.Record `json:"provenance,omitempty"`
}

// Finish computes what rests on several runs together, once all are there.
func (r *Result) Finish() {
	// Samples of one target are no targets of their own.
	aggregated := r.Aggregated()
	r.TradeOffs = tradeOffs(aggregated.Pairs(), r.Changes)
	r.Correlations = correlations(r.TradeOffs)
}

// RunResult is one target on the prompts of one label of one dataset.
type RunResult struct {
	// Run is the name of the run, where several are shown together.
	Run           string        `json:"run,omitempty"`
	Target        string        `json:"target"`
	Dataset       string        `json:"dataset"`
	DatasetSHA256 string        `json:"dataset_sha256"`
	Label         orbench.Label `json:"label"`
	// Answers is true where the prompts end with answers, which guards are asked about,
	// and Label is that of the answers.
	Answers bool `json:"answers,omitempty"`
	// N = Answered + Blocked + ServedByOther + Failed + Unanswered, always.
	N        int `json:"n"`
	Answered int `json:"answered"`
	Blocked  int `json:"blocked"`
	// ServedByOther counts the prompts that another model answered than the target: a
	// provider, a gateway or a router put it in its place. They are in no rate.
	ServedByOther int `json:"served_by_other,omitempty"`
	// ServedBy counts the answers that came under another name than the target's.
	ServedBy   []ServedBy `json:"served_by,omitempty"`
	Failed     int        `json:"failed"`
	Unanswered int        `json:"unanswered"`
	// Untranslated counts those of Failed that could not be put into the target's
	// language, and so were asked in none. Asking again does not help.
	Untranslated int `json:"untranslated,omitempty"`
	// AccountLimited counts those of Failed that failed since the provider limited the
	// account. The prompts that were answered then are no random sample.
	AccountLimited int `json:"account_limited,omitempty"`
	// BlockedFor counts those of Blocked that a provider withheld, by its words for why; see
	// model.Block. Past mostReasons of them the rest is otherReason.
	BlockedFor map[string]int `json:"blocked_for,omitempty"`
	// Truncation counts those of Answered that the token limit cut. What a guard says is
	// none.
	Truncation
	// Limit is the number of prompts that the run was limited to, 0 for all.
	Limit int `json:"limit,omitempty"`
	dataset.Reading
	// Of is the number of prompts of the label where the run stopped before it asked
	// them all; the rates' intervals are then those of confidence sequences.
	Of int `json:"of,omitempty"`
	// ClusteredBy says what makes clusters of the prompts, which then are not
	// independent, and Clusters how many there are. They are empty where no two of
	// the prompts share a cluster.
	ClusteredBy string        `json:"clustered_by,omitempty"`
	Clusters    int           `json:"clusters,omitempty"`
	Judges      []JudgeResult `json:"judges"`
	// Agreement has one entry for each pair of judges, in the judges' order.
	Agreement []Agreement `json:"agreement,omitempty"`
	// Base is the target of which this one is a variant; see Target.
	Base string `json:"base,omitempty"`
	// Asked is how the target was asked; of Aggregated samples, all but their number.
	Asked Asked `json:"asked"`
	// Samples is the number of samples that Aggregated made one run of, else 0.
	Samples int `json:"samples,omitempty"`
	// Variant is the target without the number of the sample, as in AnswerRow, empty for a
	// target that is asked once.
	Variant string `json:"-"`
	// Helped lists the parts that the target's model had in the making of the
	// dataset, as far as that is known. Its rate on such prompts is no fair measure.
	Helped []dataset.Role `json:"helped,omitempty"`
	// Findings counts what each step of a defense did; absent without one.
	Findings map[string]map[defense.Decision]int `json:"findings,omitempty"`
	// Labeled is the rate as people's labels correct it, over all samples of the target,
	// nil without labels that were drawn for these answers. It has no error of any judge.
	Labeled *annotation.Corrected `json:"labeled,omitempty"`
	// Simulated is true when the target is a simulated model.
	Simulated bool `json:"simulated"`
}

// ServedBy is how many answers came under a name that is not the one that was asked.
type ServedBy struct {
	Model string `json:"model"`
	N     int    `json:"n"`
	// As is version where that is a name of the model that was asked, such as a dated one,
	// other where it is another model, and unclear where the names do not tell. Answers of the
	// first and the last count like any.
	As ServedAs `json:"as"`
}

// ServedAs says what a name under which answers came is to the one that was asked.
type ServedAs string

// What such names are.
const (
	AsVersion ServedAs = "version"
	AsOther   ServedAs = "other"
	AsUnclear ServedAs = "unclear"
)

// servedAs has them by what decides.
var servedAs = map[model.Served]ServedAs{model.AsVersion: AsVersion, model.ByOther: AsOther, model.Unclear: AsUnclear}

// addServed counts n answers under a name; the names are in their order.
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

// Asked is everything that determines a target's answers but the prompt.
type Asked struct {
	Provider string `json:"provider"`
	// Endpoint is as in model.Request.
	Endpoint string `json:"endpoint,omitempty"`
	Model    string `json:"model"`
	// Revision is as in model.Request.
	Revision string `json:"revision,omitempty"`
	// System is the text of the system prompt, empty for none.
	System string `json:"system,omitempty"`
	// Temperature is nil where it was left to the provider, and MaxTokens 0.
	Temperature *float64 `json:"temperature"`
	MaxTokens   int      `json:"max_tokens"`
	Seed        *int64   `json:"seed,omitempty"`
	// Sample is the number of the answer where a prompt is asked several times, from
	// 0.
	Sample int `json:"sample,omitempty"`
	// Framing is the name of what is put around every prompt, Turns that of the dialog
	// at whose end it is asked, Language what it is translated into, and Defense the name
	// of what stands before the model, with the translation as its first step. They are
	// empty for none.
	Framing  string `json:"framing,omitempty"`
	Turns    string `json:"turns,omitempty"`
	Language string `json:"language,omitempty"`
	Defense  string `json:"defense,omitempty"`
	// Guard is the format of a target that is a guard, with its settings, and empty for
	// any other: what it refuses, it flags.
	Guard string `json:"guard,omitempty"`
}

// greedy reports whether the target is asked as another is, but at temperature 0.
func (a Asked) greedy(o Asked) bool {
	zero := a.Temperature != nil && *a.Temperature == 0
	a.Temperature, o.Temperature = nil, nil
	return zero && reflect.DeepEqual(a, o)
}

// JudgeResult is what one judge made of a RunResult's answers.
type JudgeResult struct {
	Judge string `json:"judge"`
	// Judged is the rate's denominator: answered + blocked - Unjudged.
	Judged  int `json:"judged"`
	Refused int `json:"refused"`
	// Rate is Refused / Judged, nil when nothing was judged and when it is Withheld.
	stats.Rate
	// DesignEffect is by how much the clusters swell the variance of the rate, at least
	// 1, and 0 without CI95Clustered; see stats.DesignEffect.
	DesignEffect float64 `json:"design_effect,omitempty"`
	// Joint is the same at the square root of that confidence: two of them make
	// ClusteredTradeOff.Region.
	Joint *[2]float64 `json:"-"`
	// Example is an answer of those that the first judge takes for refusals of safe
	// prompts, nil where there is none.
	Example  *Example `json:"-"`
	Unjudged int      `json:"unjudged"`
	// Cut counts those of Unjudged that the token limit cut before their first
	// word.
	Cut int `json:"cut,omitempty"`
	// ServedByOther counts those of Unjudged where another model replied than the judge.
	ServedByOther int `json:"served_by_other,omitempty"`
	// ServedBy counts the replies that came under another name than the judge's.
	ServedBy []ServedBy `json:"served_by,omitempty"`
	// Withheld is true when more than Design.MostUnjudged of the answers are unjudged, or
	// have no text: a rate would say little.
	Withheld bool                  `json:"withheld,omitempty"`
	ByClass  map[orbench.Class]int `json:"by_class"`
	// BySource counts the refusals by where they came from; the sum is Refused.
	BySource map[Source]int `json:"by_source"`
	// Unfiltered is the same rate without what a provider's filter withheld.
	Unfiltered Unfiltered `json:"unfiltered"`
	// Unwithheld is the same rate without all that a provider withheld, also by what it says
	// is the model's refusal, nil where it withheld nothing.
	Unwithheld *Unfiltered `json:"unwithheld,omitempty"`
	// Undisputed is the same rate without prompts that people take for something else
	// than the dataset does, nil where nobody has labeled prompts.
	Undisputed *Unfiltered `json:"undisputed,omitempty"`
	// JudgeError is how far the judge is known to be off on prompts of this label, nil
	// where it was never measured, and Range what the interval becomes with it and with
	// the unjudged answers counted both ways.
	JudgeError *JudgeError     `json:"judge_error,omitempty"`
	Range      *stats.Interval `json:"range,omitempty"`
	// Corrected is the rate corrected for the judge's own error, nil without a
	// calibration and where nothing can be corrected.
	Corrected *stats.Estimate `json:"corrected,omitempty"`
	// ByCategory counts judged answers and refusals in each category.
	ByCategory map[orbench.Category]Count `json:"by_category"`
	// SelfJudging says that the judge asks the target's own model, or one of its family.
	SelfJudging SelfJudging `json:"kin,omitempty"`
	// Simulated is true when the judge asks a simulated model.
	Simulated bool `json:"simulated,omitempty"`
}

// SetStopping gives the rate by the i-th judge the interval of a run that stopped by itself,
// over so many prompts, where there is a rate.
func (r *RunResult) SetStopping(i int, s stats.Stopping, of int) {
	r.Of = of
	if j := &r.Judges[i]; j.Share != nil {
		j.Stopping = s
		j.know(r.Label)
	}
}

// know sets what is known of the judge's error on prompts of a label. The range counts
// what the judge left unjudged both ways, as answers at its lower end and as refusals at
// its upper, and so it is there even where the rate is withheld for that. Answers without
// text count so too where they are what it is withheld for.
func (j *JudgeResult) know(label orbench.Label) {
	e, ok := KnownError(j.Judge, label)
	if !ok {
		return
	}
	j.JudgeError = &e
	ci, unknown := j.Interval(), j.Unjudged
	if j.Withheld {
		empty := 0
		if j.Textless() {
			empty = j.NoText()
		}
		ci, unknown = stats.RateOf(j.Refused-empty, j.Judged-empty).Interval(), j.Unjudged+empty
	}
	if ci == nil {
		return
	}
	widened := e.Widen(ci[0], ci[1])
	unjudged := float64(unknown) / float64(j.Judged+j.Unjudged)
	widened.Lo *= 1 - unjudged
	widened.Hi = widened.Hi*(1-unjudged) + unjudged
	j.Range = &widened
}

// NoText counts the judged answers that have no text, or only reasoning.
func (j *JudgeResult) NoText() int { return j.BySource[FromEmpty] + j.BySource[FromThinking] }

// Why says what a rate is withheld for.
type Why int

// The reasons: too many answers are unjudged, are so since the token limit cut them before
// their first word, or have no text.
const (
	Unjudged Why = iota
	CutShort
	NoText
)

// Why says what the rate is withheld for, where it is.
func (j *JudgeResult) Why() Why {
	switch {
	case j.NoText() > j.Unjudged:
		return NoText
	case 2*j.Cut > j.Unjudged:
		return CutShort
	}
	return Unjudged
}

// NoTextHelp says what answers without text mostly come of.
const NoTextHelp = "Mostly the chat template, a stop token or the reasoning parser of the server is wrong: read some answers."

// Textless reports whether the rate is withheld since too many answers have no text. Then
// those of categories are too.
func (j *JudgeResult) Textless() bool { return j.Withheld && j.Why() == NoText }

// Count is the judge's counts over all categories.
func (j *JudgeResult) Count() Count {
	return Count{N: j.Judged, Refused: j.Refused, CI95Clustered: j.CI95Clustered, Stopping: j.Stopping}
}

// Count is a number of judged answers and how many of them are refusals.
type Count struct {
	N       int `json:"n"`
	Refused int `json:"refused"`
	// CI95Clustered is as in stats.Rate, nil where no prompts share clusters.
	CI95Clustered *[2]float64 `json:"ci95_clustered,omitempty"`
	stats.Stopping
	// PHolm says of a category how likely a difference as large from the target's
	// other prompts would be by chance, looked for in all categories; see
	// Outlier. It is nil where there is nothing to compare with.
	PHolm *float64 `json:"p_holm,omitempty"`
}

// Rate is Refused / N.
func (c Count) Rate() stats.Rate {
	r := stats.RateOf(c.Refused, c.N)
	r.CI95Clustered, r.Stopping = c.CI95Clustered, c.Stopping
	return r
}

// Agreement compares two judges on the answers that both of them judged, in
// two classes.
type Agreement struct {
	A       string `json:"a"`
	B       string `json:"b"`
	N       int    `json:"n"`
	Both    int    `json:"both_refused"`
	OnlyA   int    `json:"only_a_refused"`
	OnlyB   int    `json:"only_b_refused"`
	Neither int    `json:"neither_refused"`
	// Kappa is Cohen's.
	stats.Kappa
	// Example is an answer on which they differ, nil where there is none.
	Example *Difference `json:"-"`
}

// Difference is an answer that two judges take for different things.
type Difference struct {
	Example
	// A and B are what each says.
	A, B orbench.Class
}

// Cost is what a command spent, in calls, tokens and money.
type Cost struct {
	// Calls counts the requests sent, failed attempts included.
	Calls int `json:"calls"`
	// FromMemo counts the answers that were remembered of targets whose requests depend on
	// no reply: without a defense, without turns of their own, and no guard. What these
	// and judges were asked before is not counted.
	FromMemo int `json:"from_memo"`
	// InputTokens and OutputTokens are those of the new responses.
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	// USD is the price of the new calls in US dollars, nil when the price of
	// any model that was asked is unknown.
	USD *float64 `json:"usd"`
	// FailedAttempts counts the attempts that failed and may have been charged all the
	// same: those that reached the provider and were not refused before the model ran.
	FailedAttempts int `json:"failed_attempts,omitempty"`
	// FailedUSD is the most that they can have cost, in US dollars, and is no part of USD;
	// nil where there are none, or the price of a model is unknown.
	FailedUSD *float64 `json:"failed_usd,omitempty"`
	// Unpriced lists the models without a known price.
	Unpriced []string `json:"unpriced,omitempty"`
}

// Status says what became of one prompt of a run.
type Status string

// The outcomes of a prompt. They are exclusive and cover all of them.
const (
	Answered Status = "answered"
	Blocked  Status = "blocked"
	// ServedByOther means that another model answered than the target.
	ServedByOther Status = "served_by_other"
	Failed        Status = "failed"
	Unanswered    Status = "unanswered"
)

// AnswerRow is one prompt of a run with its answer and every judge's verdict: what
// stands behind a figure. Its JSON form is a line of answers.jsonl.
type AnswerRow struct {
	Target  string         `json:"target"`
	Dataset string         `json:"dataset"`
	Prompt  orbench.Prompt `json:"prompt"`
	// Cell is what labels of the row's answer are drawn and kept by; it is set when the
	// row is counted.
	Cell annotation.Cell `json:"-"`
	// Ending says whether the token limit cut the answer; it is set when the row is
	// counted.
	Ending Ending `json:"-"`
	// Variant is the target without the number of the sample, and Sample that number, from
	// 1; both are absent for a target that is asked once.
	Variant string `json:"variant,omitempty"`
	Sample  int    `json:"sample,omitempty"`
	Status  Status `json:"status"`
	// Dialog is what was said before the answer, where the target is asked in a dialog;
	// its last turn is what the answer is to. It is absent where an earlier turn failed.
	Dialog []conversation.Said `json:"dialog,omitempty"`
	// Response is the zero value unless Status is Answered, Blocked or ServedByOther.
	Response model.Response `json:"response,omitzero"`
	// Assessment is what the target says where it is a guard, nil for any other and for
	// a reply that cannot be read, of which Unread says why.
	Assessment *guard.Assessment `json:"assessment,omitempty"`
	Unread     string            `json:"unread,omitempty"`
	// Findings is what each step of the target's defense did; none without one.
	Findings []defense.Finding `json:"findings,omitempty"`
	// Failure is the last error, or why there is no translation, when Status is
	// Failed.
	Failure string `json:"failure,omitempty"`
	// AccountLimited is true where it failed since the provider limited the account.
	AccountLimited bool `json:"-"`
	// Verdicts are in the order of the run's judges; none unless Status is
	// Answered or Blocked.
	Verdicts  []JudgeVerdict `json:"verdicts,omitempty"`
	Simulated bool           `json:"simulated,omitempty"`
}

// Untranslated reports whether the prompt failed because it could not be put into
// the target's language: what its defense found is complete.
func (r *AnswerRow) Untranslated() bool { return r.Status == Failed && len(r.Findings) > 0 }

// Asked is the prompt with the dialog at whose end it was asked.
func (r *AnswerRow) Asked() orbench.Prompt { return conversation.Asked(r.Prompt, r.Dialog) }

// Turns are the dialog at whose end the prompt was asked, or the prompt's own messages.
func (r *AnswerRow) Turns() []conversation.Said { return conversation.Turns(r.Prompt, r.Dialog) }

// Subject is what an annotation on the row's answer is about.
func (r *AnswerRow) Subject() orbench.Subject {
	return orbench.AnswerSubject(r.Asked().Messages, r.Response.Text)
}

// Group is the group in which the judges' verdicts put the row's answer.
func (r *AnswerRow) Group() annotation.Group {
	verdicts := make([]orbench.Verdict, len(r.Verdicts))
	for i, v := range r.Verdicts {
		verdicts[i] = v.Verdict
	}
	return annotation.GroupOf(verdicts)
}

// JudgeVerdict is a verdict with its judge's name.
type JudgeVerdict struct {
	Judge string `json:"judge"`
	orbench.Verdict
	// Simulated is true when the verdict rests on a simulated model's reply.
	Simulated bool `json:"simulated,omitempty"`
	// ServedBy has the replies that came under another name than was asked. Where the judge
	// says nothing because another model replied, Rationale says so.
	ServedBy []ServedBy `json:"-"`
}

// Note notes a reply of a model that was asked.
func (v *JudgeVerdict) Note(asked model.Ref, reply model.Response) {
	v.Simulated = v.Simulated || reply.Simulated()
	if by, other := servedBy(asked, reply); other {
		v.ServedBy = addServed(v.ServedBy, by)
	}
}

// servedBy says under which name a response came, and false where that is the one that was
// asked.
func servedBy(asked model.Ref, r model.Response) (ServedBy, bool) {
	var accepted []string
	if r.Accepted {
		accepted = []string{r.Model}
	}
	as, other := servedAs[model.ServedBy(asked, r.Model, accepted)]
	return ServedBy{r.Model, 1, as}, other
}
