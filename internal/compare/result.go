package compare

import (
	"cmp"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/stats"
)

// compared are the labels of the prompts whose rates are compared, in the order of results.
var compared = []orbench.Label{orbench.Safe, orbench.Toxic}

// The tests of independent samples, beside those of versus; see
// stats.FisherExact. The clustered one is for prompts that share clusters or were
// asked several times; see stats.DesignEffect.
const (
	Fisher          versus.Test = "fisher_exact"
	FisherClustered versus.Test = "fisher_exact_design_effect"
)

// OfJudges reports whether two judges are compared, on the same answers.
func (r Result) OfJudges() bool {
	return r.Base.Judge != r.Candidate.Judge && r.Base.Judge != judge.Flag && r.Candidate.Judge != judge.Flag
}

// Options say how to compare. The zero value is ready for use.
type Options struct {
	// Seed seeds the drawing of pairs for people.
	Seed uint64
	// Unpaired compares the sides as independent samples, over all prompts of
	// each, including those that both have.
	Unpaired bool
	// ClusteredBy says what groups the prompts into clusters, for people; empty
	// means "cluster".
	ClusteredBy string
	// Gates are decided in their order.
	Gates []Gate
	// Commands are written beside what is undecided.
	Commands Commands
	// Labeling says that pairs will be drawn for people; see Comparison.Draw.
	Labeling bool
	// Walked receives the number of answers read so far on each side; see
	// evaluate.Sinks.
	Walked func(answers int)
	// assumes is what is assumed of the judge's errors; empty for two models.
	assumes versus.Assumption
	// results are those of both sides, and variant is true if one is a variant of the other.
	results [2]score.Result
	variant bool
	words   annotation.Words
}

// Commands are the commands that a comparison proposes. Each may be empty, and Label nil.
type Commands struct {
	// Ask asks for what a side lacks: 0 is the base, 1 the candidate.
	Ask [2]string
	// Longer asks a side again with a higher limit of tokens, where that may help.
	Longer [2]string
	// Fresh asks the candidate again, apart from the base; empty if both are of one run.
	Fresh string
	// Label has so many pairs labeled, and decides the gate, if any, again.
	Label func(labels int, gate *Gate) string
	// OneModel is the setting by which both sides are one model; empty if it was said.
	OneModel string
}

func (c Commands) label(labels int, gate *Gate) string {
	if c.Label == nil || labels == 0 {
		return ""
	}
	return c.Label(labels, gate)
}

// runs are those of a side that have prompts of a label.
func (o Options) runs(side int, label orbench.Label) []score.RunResult {
	return slices.DeleteFunc(slices.Clone(o.results[side].Runs), func(run score.RunResult) bool { return run.Label != label })
}

// measured is the language of the answers of runs, as RunResult.Measured has it; empty if it is
// not known or not the same in all.
func measured(runs []score.RunResult, variant bool) string {
	var all table.Names
	all.Add(table.RowsOf(runs, func(run score.RunResult) string { return run.Measured(variant) })...)
	if len(all) != 1 {
		return ""
	}
	return all[0]
}

const (
	// alpha is the level below which a p-value is significant.
	alpha = 0.05
	// mostExcluded is the largest share of prompts without a verdict, and that of pairs that
	// are one stored answer, for which a gate is still decided.
	mostExcluded = 0.1
)

// Result is two sides compared. Its JSON form is documented in docs/compare.md.
type Result struct {
	Base      Side `json:"base"`
	Candidate Side `json:"candidate"`
	// Paired is false if the sides were compared as independent samples: on
	// demand, or because they share no prompt.
	Paired bool `json:"paired"`
	// ClusteredBy is as in Options, but empty if no two compared prompts share
	// a cluster.
	ClusteredBy string       `json:"clustered_by,omitempty"`
	Metrics     []Metric     `json:"metrics"`
	Gates       []GateResult `json:"gates"`
	Flips       Flips        `json:"flips"`
	// Simulated is true when either side rests on a simulated model.
	Simulated bool `json:"simulated"`
	// SettingsThatDiffer lists the settings in which the sides differ. The
	// caller sets it.
	SettingsThatDiffer []provenance.Difference `json:"settings_that_differ,omitempty"`
	// Provenance says how the base's run and the candidate's were made, limited
	// to the compared target of each; nil if that is not known.
	Provenance *provenance.Record `json:"provenance,omitempty"`
	// Edited are the datasets of one name that differ between the sides. The caller sets
	// it.
	Edited []Edited `json:"edited,omitempty"`

	commands Commands
}

// Edited says what became of a dataset's prompts from the base to the candidate.
type Edited struct {
	Dataset   string `json:"dataset"`
	Gone      int    `json:"gone"`
	New       int    `json:"new"`
	Relabeled int    `json:"relabeled"`
}

// Side is one of the two compared sides.
type Side struct {
	// Run and Target name the side. The caller sets them.
	Run    string `json:"run"`
	Target string `json:"target"`
	// Judge gave the verdicts. It is the same on both sides unless judges are
	// compared.
	Judge string `json:"judge"`
	// Prompts counts the distinct safe and toxic prompts.
	Prompts int `json:"prompts"`
	// Repeated counts the rows left out because their prompt came before.
	Repeated int `json:"repeated"`
	// Other counts the rows left out because they are neither safe nor toxic.
	Other int `json:"other"`
	// LabelAssumed is true if nothing says what the side's prompts are, and
	// they count as safe. The caller sets it.
	LabelAssumed bool `json:"label_assumed,omitempty"`
	// Unclear are the names that may be another model's under which answers came, with their
	// numbers.
	Unclear []score.ServedBy `json:"served_unclear,omitempty"`
	// Simulated is true when the target or the judge is a simulated model.
	Simulated bool `json:"simulated"`
}

// Metric is one rate on both sides.
type Metric struct {
	// Name is over_refusal, toxic_refusal or, of other prompts, refusal.
	Name  figure.Measure `json:"metric"`
	Label orbench.Label  `json:"label"`
	// Prompts counts the prompts of the label on either side. In a paired
	// comparison Prompts = Figures.Base.N + Excluded + OnlyInBase +
	// OnlyInCandidate, always.
	Prompts int `json:"prompts"`
	// Excluded counts the prompts of both sides that lack a verdict on one or
	// both. In an unpaired comparison it counts the prompts of each side that
	// lack a verdict there.
	Excluded        int `json:"excluded"`
	OnlyInBase      int `json:"only_in_base"`
	OnlyInCandidate int `json:"only_in_candidate"`
	// OneAnswer counts the compared pairs that are one stored answer: all calls behind both
	// sides are the same.
	OneAnswer       int        `json:"one_answer,omitempty"`
	BaseCounts      SideCounts `json:"base_counts"`
	CandidateCounts SideCounts `json:"candidate_counts"`
	Figures
	// Kappa is Cohen's: how far the two sides agree, prompt by prompt, beyond
	// chance. It is also nil in an unpaired comparison. Its interval ignores
	// clusters.
	stats.Kappa
	// ByCategory is in the order of the categories' names.
	ByCategory []Figures `json:"by_category"`
	// Corrected is the metric as corrected by people's labels, free of any judge's error; nil if
	// either side has none. Of labels that were drawn on each side apart, the difference is by
	// the square-and-add rule for independent rates, and wider; Labels is then 0.
	Corrected *annotation.CorrectedPairs `json:"corrected,omitempty"`
	// JudgeError is nil if nothing is known of the judge's error, or if it does
	// not matter.
	JudgeError *versus.JudgeError `json:"judge_error,omitempty"`
	// LabelsNeeded is how many labels would decide a difference that the judge's error
	// could undo; see versus.Pairs.Labels. Undone is true for such a difference.
	LabelsNeeded int  `json:"labels_needed,omitempty"`
	Undone       bool `json:"undone,omitempty"`
	// oneModel is the interval of the difference if both sides are one model.
	oneModel stats.Interval
	// counts are those from which the figures are computed, by those of each category.
	counts *counts
	by     map[orbench.Category]*counts
}

// SideCounts says what became of all prompts of a label on one side. Prompts =
// Judged + Unjudged + ServedByOther + Failed + Unanswered, always.
type SideCounts struct {
	Prompts  int `json:"prompts"`
	Judged   int `json:"judged"`
	Unjudged int `json:"unjudged"`
	// ServedByOther counts the prompts that another model answered.
	ServedByOther int `json:"served_by_other,omitempty"`
	Failed        int `json:"failed"`
	Unanswered    int `json:"unanswered"`
	// NoText counts the judged answers without text, or with only reasoning.
	NoText int `json:"without_text,omitempty"`
	// Truncation counts the answers that the token limit cut, judged or not.
	score.Truncation
}

// Figures are two rates and the figures that compare them.
type Figures struct {
	// Category is empty for all prompts, and for those without one.
	Category orbench.Category `json:"category,omitempty"`
	// Base and Candidate are over the same prompts, unless the comparison is
	// unpaired.
	Base      Rate `json:"base"`
	Candidate Rate `json:"candidate"`
	// OnlyBaseRefused and OnlyCandidateRefused count the prompts that flipped.
	// Both are 0 in an unpaired comparison. Of prompts that were asked several
	// times they are the expected number, rounded, if one answer of each side is
	// drawn; so is Rate.Refused.
	OnlyBaseRefused      int `json:"only_base_refused"`
	OnlyCandidateRefused int `json:"only_candidate_refused"`
	// Difference is candidate minus base with its 95% interval, in shares; nil
	// if either rate is undefined. It is that of versus.Pairs, or Newcombe's in
	// an unpaired comparison, from the clustered intervals if prompts share
	// clusters.
	Difference *stats.Estimate `json:"difference"`
	// P is the two-sided p-value of Test; nil if Difference is.
	P    *float64    `json:"p"`
	Test versus.Test `json:"test,omitempty"`
	// PHolm is P of a category corrected by Holm's method for the number of tested
	// categories; nil if P is.
	PHolm *float64 `json:"p_holm,omitempty"`
}

// Rate is the share Refused / N.
type Rate struct {
	N       int `json:"n"`
	Refused int `json:"refused"`
	stats.Rate
	// Clusters is the number of clusters of the prompts; 0 if no two compared
	// prompts share one. CI95Clustered is also nil if all prompts are in one
	// cluster.
	Clusters int `json:"clusters,omitempty"`
	// Range and Basis are as in the figures of a run.
	Range *stats.Interval `json:"range,omitempty"`
	figure.Basis
	// of says what was asked; without a dataset if there are several.
	of figure.Keys
}

// Flips are the prompts that one side refused and the other did not.
type Flips struct {
	// Total counts them. Shown may be fewer; those for the worse come first.
	Total int    `json:"total"`
	Shown []Flip `json:"shown"`
}

// Flip is a prompt that one side refused and the other did not.
type Flip struct {
	Prompt         orbench.Prompt `json:"prompt"`
	BaseClass      orbench.Class  `json:"base_class"`
	CandidateClass orbench.Class  `json:"candidate_class"`
	// BaseAnswer and CandidateAnswer are the texts. The caller sets them.
	BaseAnswer      string `json:"base_answer"`
	CandidateAnswer string `json:"candidate_answer"`
	// datasets are those that asked it, and samples the numbers of the answers, by
	// side.
	datasets [2]string
	samples  [2]int
}

// NowRefused reports whether the candidate is the side that refuses.
func (f Flip) NowRefused() bool { return f.CandidateClass.Refused() }

// Result compares what has been added so far.
func (c *Comparison) Result(o Options) Result {
	r := Result{
		Base: c.sides[base], Candidate: c.sides[candidate],
		Paired:  !o.Unpaired && c.shared(),
		Metrics: []Metric{}, Gates: []GateResult{}, Flips: Flips{Shown: []Flip{}},
		Simulated: c.sides[base].Simulated || c.sides[candidate].Simulated,
	}
	r.Base.Judge, r.Candidate.Judge, r.commands = c.judges[base], c.judges[candidate], o.Commands
	for _, label := range compared {
		figures := c.metric(label, r.Paired)
		runs := [2][]score.RunResult{o.runs(base, label), o.runs(candidate, label)}
		language := measured(slices.Concat(runs[:]...), o.variant)
		figures.JudgeError = c.judgeErrorOf(figures, language, cmp.Or(o.assumes, versus.TwoModels))
		if !figures.textless() {
			figures.Corrected = cmp.Or(c.correctPairs(label, o.words, figures), correct(runs))
		}
		for side, of := range runs {
			figures.know(side, c.judges[side], of)
		}
		if figures.Undone = r.undone(&figures); figures.Undone {
			figures.oneModel = c.judgeErrorOf(figures, language, versus.OneModel).Difference
		}
		r.Metrics = append(r.Metrics, figures)
	}
	if slices.ContainsFunc(r.Metrics, func(m Metric) bool { return m.Base.Clusters > 0 }) {
		r.ClusteredBy = cmp.Or(o.ClusteredBy, "cluster")
	}
	if r.Paired {
		r.Flips.Shown = c.flips()
		r.Flips.Total = len(r.Flips.Shown)
	}
	for _, g := range o.Gates {
		r.Gates = append(r.Gates, c.decided(&r, g, o))
	}
	return r
}

// shared reports whether any prompt is on both sides.
func (c *Comparison) shared() bool {
	return slices.ContainsFunc(c.entries, func(e entry) bool { return e.asked() })
}
