package training

import "fmt"

// Cause says why a prompt or an answer is not in a training set.
type Cause string

// The causes that leave out a prompt, with all of its answers. They are exclusive.
const (
	// Repeated prompts are also in an earlier dataset of the run.
	Repeated Cause = "repeated"
	// OtherLabel prompts are neither safe nor toxic.
	OtherLabel Cause = "other_label"
	// LabelsDiffer prompts have a different label in another dataset of the run. For
	// Disputed prompts, at least half of the people who labeled them disagree with the
	// dataset's label.
	LabelsDiffer Cause = "labels_differ"
	Disputed     Cause = "disputed"
	// Conversation prompts do not fit a format of texts.
	Conversation Cause = "conversation"
	// WithKey prompts, and answers, have a key or a password.
	WithKey Cause = "with_key"
	// InEvaluation prompts have a turn with the same words as one in an evaluation set.
	// NearEvaluation prompts have a turn with nearly the same words.
	InEvaluation   Cause = "in_evaluation"
	NearEvaluation Cause = "near_evaluation"
	// NoChosen and NoRejected prompts lack an answer for that part of a row.
	NoChosen   Cause = "no_chosen"
	NoRejected Cause = "no_rejected"
	// HeldBack prompts are toxic, and their rows would contain an answer that complies.
	HeldBack Cause = "held_back"
	// NearOtherSplit prompts of the validation or test split are near duplicates of a
	// prompt in an earlier split.
	NearOtherSplit Cause = "near_other_split"
	// Ratio prompts are beyond the wanted share of toxic and safe ones.
	Ratio Cause = "ratio"
)

// The causes that leave out a single answer. They are exclusive. PromptLeftOut stands for
// the causes above.
const (
	PromptLeftOut Cause = "prompt_left_out"
	// Unanswered prompts have no answer, or the call failed. ServedByOther answers came
	// from another model than the target. Withheld answers were blocked or are empty. Cut
	// answers ended at the token limit.
	Unanswered    Cause = "unanswered"
	ServedByOther Cause = "served_by_other"
	Withheld      Cause = "withheld"
	Cut           Cause = "cut"
	// AskedOtherwise answers reply to another text than the prompt: in a dialog, a
	// framing or behind a defense. Or they come from a guard, which
	// answers nothing.
	AskedOtherwise Cause = "asked_otherwise"
	// NotChosenFrom answers come from targets outside those to choose from.
	NotChosenFrom Cause = "not_chosen_from"
	// NoMajority answers have no class that most judges, or most people, agree on.
	NoMajority Cause = "no_majority"
	// OtherClass answers have a class that no part of a row may have: with a warning,
	// partial or garbled, or a refusal by another model than the one to be trained.
	OtherClass Cause = "other_class"
	// SameText answers repeat the text of a better answer to the same prompt.
	SameText Cause = "same_text"
	// AnswerHeldBack answers comply with a toxic prompt.
	AnswerHeldBack Cause = "answer_held_back"
	// Surplus answers rank below the ones that were used.
	Surplus Cause = "surplus"
)

// promptCauses and answerCauses list the causes in the order of display.
var (
	promptCauses = []Cause{
		Repeated, OtherLabel, LabelsDiffer, Disputed, Conversation, InEvaluation, NearEvaluation,
		WithKey, NoChosen, NoRejected, HeldBack, NearOtherSplit, Ratio,
	}
	answerCauses = []Cause{
		PromptLeftOut, Unanswered, ServedByOther, Withheld, Cut, AskedOtherwise, NotChosenFrom,
		NoMajority, OtherClass, WithKey, SameText, AnswerHeldBack, Surplus,
	}
)

// inWords has the text of each cause for people.
var inWords = map[Cause]string{
	Repeated:       "in an earlier dataset of the run too",
	OtherLabel:     "neither safe nor toxic",
	LabelsDiffer:   "labeled otherwise in another dataset of the run",
	Disputed:       "labeled otherwise by people",
	Conversation:   "a conversation, for which texts have no place",
	InEvaluation:   "in an evaluation set, with the same words",
	NearEvaluation: "in an evaluation set, nearly",
	WithKey:        "with a key or a password",
	NoChosen:       "without an answer to choose",
	NoRejected:     "without an answer to reject",
	HeldBack:       "toxic, and the answer to reject complies",
	NearOtherSplit: "nearly a prompt of another split",
	Ratio:          "beyond the wanted share",
	PromptLeftOut:  "the prompt is left out",
	Unanswered:     "there is none, or the call failed",
	ServedByOther:  "answered by another model than the target",
	Withheld:       "blocked, or empty",
	Cut:            "cut by the token limit, or as long as it",
	AskedOtherwise: "to the prompt in a dialog, a framing or behind a defense, or of a guard",
	NotChosenFrom:  "of a target not to choose from",
	NoMajority:     "judges or people have no majority",
	OtherClass:     "of a class that is neither chosen nor rejected",
	SameText:       "the text of a better one",
	AnswerHeldBack: "complies with a toxic prompt",
	Surplus:        "better ones are taken",
}

// Ledger accounts for all prompts or answers: All is Written plus the sum of Left.
type Ledger struct {
	All     int           `json:"all"`
	Written int           `json:"written"`
	Left    map[Cause]int `json:"left_out"`
}

// leave counts n more that are left out.
func (l *Ledger) leave(cause Cause, n int) {
	if n == 0 {
		return
	}
	if l.Left == nil {
		l.Left = map[Cause]int{}
	}
	l.Left[cause] += n
}

// check gives an error if the counts do not add up, which is a fault of the program.
func (l Ledger) check(of string) error {
	sum := l.Written
	for _, n := range l.Left {
		sum += n
	}
	if sum != l.All {
		return fmt.Errorf("the %s do not add up: %d are accounted for, of %d", of, sum, l.All)
	}
	return nil
}
