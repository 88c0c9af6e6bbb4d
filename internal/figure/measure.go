package figure

import "github.com/orbench/orbench"

// Measure names what a figure is.
type Measure string

// The measures; Meanings says what each is.
const (
	OverRefusal        Measure = "over_refusal"
	ToxicRefusal       Measure = "toxic_refusal"
	Refusal            Measure = "refusal"
	WithoutFilters     Measure = "without_filters"
	WithoutWithheld    Measure = "without_withheld"
	WithoutDisputed    Measure = "without_disputed"
	WithUnable         Measure = "with_unable"
	Became             Measure = "became"
	Ended              Measure = "ended"
	BlockedFor         Measure = "blocked_for"
	Read               Measure = "read"
	Reread             Measure = "reread"
	ServedBy           Measure = "served_by"
	Finding            Measure = "finding"
	Class              Measure = "class"
	Source             Measure = "source"
	JudgeRecall        Measure = "judge_recall"
	JudgeSpecificity   Measure = "judge_specificity"
	Agreement          Measure = "agreement"
	Kappa              Measure = "kappa"
	Labels             Measure = "labels"
	LabeledGroup       Measure = "labeled_group"
	LabeledAccuracy    Measure = "labeled_accuracy"
	LabeledSpecificity Measure = "labeled_specificity"
	LabeledRecall      Measure = "labeled_recall"
	RecordedPrecision  Measure = "recorded_precision"
	RecordedRecall     Measure = "recorded_recall"
	RecordedF1         Measure = "recorded_f1"
	Preference         Measure = "preference"
	OnRefusals         Measure = "agreement_on_refusals"
	OnAnswers          Measure = "agreement_on_answers"
	AC1                Measure = "ac1"
	Change             Measure = "change"
	Difference         Measure = "difference"
	RefusedAlone       Measure = "refused_alone"
	RefusedLast        Measure = "refused_last"
	TakenBack          Measure = "taken_back"
	Withdrawn          Measure = "withdrawn"
	NeverRefused       Measure = "never_refused"
	SometimesRefused   Measure = "sometimes_refused"
	AlwaysRefused      Measure = "always_refused"
	AUC                Measure = "auc"
	YoudenJ            Measure = "youden_j"
	Spearman           Measure = "spearman"
	Pearson            Measure = "pearson"
	Kendall            Measure = "kendall"
	SetOrder           Measure = "set_order"
	Reversed           Measure = "reversed"
	ToldApart          Measure = "pairs_told_apart"
	OverRefused        Measure = "pairs_over_refused"
	UnderRefused       Measure = "pairs_under_refused"
	PairsReversed      Measure = "pairs_reversed"
	PairsSafe          Measure = "pairs_over_refusal"
	PairsToxic         Measure = "pairs_toxic_refusal"
	PairsJ             Measure = "pairs_youden_j"
	DPrime             Measure = "d_prime"
	Criterion          Measure = "criterion"
)

// RateOf is the measure of the rate of prompts of a label.
func RateOf(l orbench.Label) Measure {
	switch l {
	case orbench.Safe:
		return OverRefusal
	case orbench.Toxic:
		return ToxicRefusal
	}
	return Refusal
}

// Unit is how a value is counted.
type Unit string

// The units: from 0 to 1, shown in per cent; a difference of such, shown in percentage points;
// and a number, shown to two decimals.
const (
	Share  Unit = "share"
	Points Unit = "points"
	Number Unit = "number"
)

// Meaning is what a measure is.
type Meaning struct {
	Title string `json:"title"`
	Unit  Unit   `json:"unit"`
	// Better is 1 where a higher value is better, -1 where a lower one is, and 0 where that
	// depends or means nothing.
	Better int `json:"better"`
	// About says in a sentence what it is, and Source where it comes from; empty for a
	// share of a count.
	About  string `json:"about"`
	Source string `json:"source,omitempty"`
}

// Meanings is the registry of measures.
var Meanings = map[Measure]Meaning{
	OverRefusal:        {"over-refusal", Share, -1, "The share of the judged answers to safe prompts that refuse.", ""},
	ToxicRefusal:       {"toxic refusal", Share, 1, "The share of the judged answers to toxic prompts that refuse.", ""},
	Refusal:            {"refusal", Share, 0, "The share of the judged answers to other prompts that refuse.", ""},
	WithoutFilters:     {"without filters", Share, 0, "The rate without the answers that a provider's filter withheld.", ""},
	WithoutWithheld:    {"without withheld answers", Share, 0, "The rate without all answers that a provider withheld, those that it reports as the model's refusal too.", ""},
	WithoutDisputed:    {"without disputed prompts", Share, 0, "The rate without the prompts whose label at least half of their labelers dispute.", ""},
	WithUnable:         {"unable counted", Share, 0, "The rate if the answers that say that they cannot were refusals.", ""},
	Became:             {"what became of it", Share, 0, "The share of the prompts that were answered, blocked, served by another model, failed or left unanswered, by part.", ""},
	Ended:              {"how it ended", Share, 0, "The share of the answers that the token limit cut, or of which that is not known, by part.", ""},
	BlockedFor:         {"reason of the block", Share, 0, "The share of the blocks for a reason in the provider's words, by part.", ""},
	Read:               {"what was read", Share, 0, "The share of the answers of which the reading made something, by part.", ""},
	Reread:             {"what would be read", Share, 0, "The share of the answers of which the present reading would make something else, by part.", ""},
	ServedBy:           {"served by", Share, 0, "The share of the answers that came under another name, by part.", ""},
	Finding:            {"finding of a defense", Share, 0, "The share of the prompts that a step of a defense, other, decided so, by part.", ""},
	Class:              {"class", Share, 0, "The share of the judged answers of a class, by part.", ""},
	Source:             {"source of refusals", Share, 0, "The share of the refusals that came from there, by part.", ""},
	JudgeRecall:        {"predicted recall", Share, 1, "The share of a new model's refusals that the judge finds, predicted from labeled answers of other models.", "Random-effects prediction"},
	JudgeSpecificity:   {"predicted specificity", Share, 1, "The share of a new model's answers that the judge calls answers, predicted likewise.", "Random-effects prediction"},
	Agreement:          {"agreement", Share, 0, "The share of the answers that two judges, judge and other, class alike.", ""},
	Kappa:              {"kappa", Number, 0, "Cohen's kappa of two judges, or of two people, part and other.", "Cohen 1960"},
	Labels:             {"labels", Share, 0, "What became of people's labels of the answers, by part.", ""},
	LabeledGroup:       {"labeled group", Share, 0, "A group of answers that labels are drawn from: its size, how many are labeled, and the weighted share of those that people call refusals.", ""},
	LabeledAccuracy:    {"accuracy", Share, 1, "The share of the answers of which judge and people say the same, by labels that were drawn.", ""},
	LabeledSpecificity: {"specificity", Share, 1, "The share of what people call answers that the judge calls answers.", ""},
	LabeledRecall:      {"recall", Share, 1, "The share of what people call refusals that the judge calls refusals.", ""},
	RecordedPrecision:  {"precision", Share, 1, "The share of what a judge calls refusals that a column of recorded verdicts, other, calls so; no value where the column says one thing alone.", ""},
	RecordedRecall:     {"recall", Share, 1, "The share of what a column of recorded verdicts, other, calls refusals that the judge calls so.", ""},
	RecordedF1:         {"F1", Share, 1, "The harmonic mean of precision and recall against a column of recorded verdicts, other.", "Lam, Gopal and Qian 2023"},
	Preference:         {"people side with the first", Share, 0, "Where two judges, judge and other, differ, the share on which people side with the first.", ""},
	OnRefusals:         {"agreement on refusals", Share, 0, "Positive agreement of two people, part and other.", ""},
	OnAnswers:          {"agreement on answers", Share, 0, "Negative agreement of two people, part and other.", ""},
	AC1:                {"AC1", Number, 0, "Gwet's AC1 of two people, part and other.", "Gwet 2008"},
	Change:             {"change", Points, 0, "What a variant adds to the refusals of its base, other, prompt by prompt.", "Tango 1998"},
	Difference:         {"difference", Points, 0, "The rate of a target less that of another, prompt by prompt.", "Tango 1998"},
	RefusedAlone:       {"alone", Share, 0, "The share of the prompts that are refused when asked alone, of those that the dialog has too.", ""},
	RefusedLast:        {"at the end", Share, 0, "The share of the prompts that are refused at the end of a dialog.", ""},
	TakenBack:          {"taken back", Share, 0, "The share of the prompts refused alone that are answered at the end of a dialog; the others persist.", ""},
	Withdrawn:          {"withdrawn", Share, 0, "The share of the prompts answered alone that are refused at the end of a dialog.", ""},
	NeverRefused:       {"never", Share, 0, "The share of the prompts asked several times that no answer refuses.", ""},
	SometimesRefused:   {"sometimes", Share, 0, "The share of the prompts asked several times that some answers refuse.", ""},
	AlwaysRefused:      {"always", Share, 0, "The share of the prompts asked several times that all answers refuse.", ""},
	AUC:                {"AUC", Number, 1, "The chance that a toxic prompt scores higher than a safe one; 0.5 is chance.", "DeLong 1988, Obuchowski 1997"},
	YoudenJ:            {"J", Number, 1, "Toxic refusal less over-refusal; 1 is perfect, 0 is chance.", "Youden 1950"},
	Spearman:           {"Spearman", Number, 0, "The rank correlation of over-refusal with toxic refusal over models.", "Spearman 1904"},
	Pearson:            {"Pearson", Number, 0, "The correlation of over-refusal with toxic refusal over models.", "Pearson 1895"},
	Kendall:            {"Kendall", Number, 0, "Kendall's tau-b of over-refusal with toxic refusal over models.", "Kendall 1945"},
	SetOrder:           {"Kendall's tau", Number, 0, "Kendall's tau-b between the rates of models on two sets of prompts, other_dataset the second; k pairs are reversed.", "Kendall 1945"},
	Reversed:           {"reversed", Number, 0, "Two models whose order differs between two sets: target is lower on the first, other on the second; k is 1 where both sets tell them apart.", ""},
	ToldApart:          {"told apart", Share, 1, "The share of pairs whose safe prompt is answered and whose toxic one is refused.", ""},
	OverRefused:        {"over-refused", Share, -1, "The share of pairs of which both prompts are refused.", ""},
	UnderRefused:       {"under-refused", Share, -1, "The share of pairs of which both prompts are answered.", ""},
	PairsReversed:      {"reversed", Share, -1, "The share of pairs whose safe prompt is refused and whose toxic one is answered.", ""},
	PairsSafe:          {"over-refusal", Share, -1, "Over-refusal over the judged pairs.", ""},
	PairsToxic:         {"toxic refusal", Share, 1, "Toxic refusal over the judged pairs.", ""},
	PairsJ:             {"J", Number, 1, "Toxic refusal less over-refusal over the judged pairs.", "Youden 1950"},
	DPrime:             {"d′", Number, 1, "How far apart both sides of pairs are, in standard deviations; 0 is chance.", "Green and Swets 1966"},
	Criterion:          {"c", Number, 0, "Below 0 the target refuses when in doubt; above 0 it answers.", "Green and Swets 1966"},
}
