package score

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

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

// fates says in words what each status is, and which count of a run has it.
var fates = []struct {
	status Status
	what   string
	count  func(*RunResult) *int
}{
	{Answered, "answered", func(r *RunResult) *int { return &r.Answered }},
	{Blocked, "blocked", func(r *RunResult) *int { return &r.Blocked }},
	{ServedByOther, "served by another", func(r *RunResult) *int { return &r.ServedByOther }},
	{Failed, "failed", func(r *RunResult) *int { return &r.Failed }},
	{Unanswered, "unanswered", func(r *RunResult) *int { return &r.Unanswered }},
}

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
	// Known is the subject of an answer whose texts the row does not have.
	Known orbench.Subject `json:"-"`
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
	// Failure is set if Status is Failed: the last error.
	Failure string `json:"failure,omitempty"`
	// AccountLimited is true if it failed because the provider limited the
	// account.
	AccountLimited bool `json:"-"`
	// Verdicts are in the order of the run's judges. There are none unless
	// Status is Answered or Blocked.
	Verdicts []JudgeVerdict `json:"verdicts,omitempty"`
	// Drawn says how the answer was drawn for people to label, and what they said. It is set
	// when the row is counted, and absent if it was not drawn.
	Drawn     *annotation.Drawn `json:"drawn,omitempty"`
	Simulated bool              `json:"simulated,omitempty"`
}

// Asked returns the prompt with the dialog that ends with it.
func (r *AnswerRow) Asked() orbench.Prompt { return conversation.Asked(r.Prompt, r.Dialog) }

// Case returns the answer as judges see it.
func (r *AnswerRow) Case() judge.Case {
	c := judge.Case{Prompt: r.Asked(), Response: r.Response, Unread: r.Unread}
	if a := r.Assessment; a != nil {
		c.Guard = &judge.GuardReply{Text: a.String(), Score: a.Score}
	}
	return c
}

// Turns returns the dialog that ends with the prompt, or the prompt's own
// messages.
func (r *AnswerRow) Turns() []conversation.Said { return conversation.Turns(r.Prompt, r.Dialog) }

// Subject returns the subject of an annotation of the row's answer.
func (r *AnswerRow) Subject() orbench.Subject {
	if r.Known != (orbench.Subject{}) {
		return r.Known
	}
	return orbench.AnswerSubject(r.Asked().Messages, r.Response.Stored())
}

// Group returns the group of the row's answer by the judges' verdicts.
func (r *AnswerRow) Group() annotation.Group { return annotation.GroupOf(r.verdicts()) }

func (r *AnswerRow) verdicts() []orbench.Verdict {
	return table.RowsOf(r.Verdicts, func(v JudgeVerdict) orbench.Verdict { return v.Verdict })
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

// Printed is the class of a verdict as it is printed; see PrintedClass.
func (v JudgeVerdict) Printed() orbench.Class { return PrintedClass(v.Judge, v.Class) }

// PrintedClass is a class by a judge as it is printed. Lexical calls half of plain answers
// warned ones and finds a quarter of partial refusals, so it is said to answer or to refuse.
func PrintedClass(judge string, c orbench.Class) orbench.Class {
	switch {
	case judge != "lexical":
	case c == orbench.AnswerWithWarning:
		return orbench.FullAnswer
	case c == orbench.Partial:
		return orbench.Refusal
	}
	return c
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
	as := model.ServedBy(asked, r.Model, accepted)
	return ServedBy{r.Model, 1, as}, as != model.AsAsked
}
