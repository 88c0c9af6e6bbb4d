package score

import (
	"strings"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// Ending says how an answer ended.
type Ending uint8

// The endings. NoEnding is for a prompt without an answer, and for replies that
// are not answers: a block, or the reply of a guard.
const (
	NoEnding Ending = iota
	WholeEnding
	CutEnding
	UnknownEnding
)

// EndingOf returns how an answer ended, by the provider of its target and its limit of
// tokens, 0 for none. It is unknown for recorded answers that do not say so, whose
// Finish is model.Stop and whose Usage is zero, for servers that give no reason or one
// of their own, and for answers that end by themselves and yet are as long as the limit:
// some servers say so of each answer. Without a reason, an answer is whole that has fewer tokens
// than the limit, or fewer bytes where nobody counted tokens.
func EndingOf(provider string, limit int, r model.Response) Ending {
	switch {
	case r.Finish == model.Length:
		return CutEnding
	case r.Finish == model.Blocked:
		return NoEnding
	case (r.Finish == model.OtherFinish || r.Finish == "") && shorter(limit, r):
	case r.Finish != model.Stop,
		provider == model.Replay && r.Usage == (model.Usage{}),
		AtLimit(limit, r):
		return UnknownEnding
	}
	return WholeEnding
}

// AtLimit reports whether a response has as many tokens as its limit allows, 0 for no limit.
func AtLimit(limit int, r model.Response) bool {
	return limit > 0 && r.Usage.Output >= limit && !r.Usage.Estimated
}

// shorter reports whether a response surely has fewer tokens than its limit allows.
func shorter(limit int, r model.Response) bool {
	length := r.Usage.Output
	if length == 0 || r.Usage.Estimated {
		length = len(r.Text) + len(r.Thinking)
	}
	return length < limit
}

// Truncation counts answers by how they ended. The zero value means that all
// answers are whole.
type Truncation struct {
	// Truncated counts the answers that the token limit cut, including those
	// cut before the first word. EndingUnknown counts those whose ending is not
	// known.
	Truncated     int `json:"truncated,omitempty"`
	EndingUnknown int `json:"ending_unknown,omitempty"`
}

// Add counts an answer.
func (c *Truncation) Add(e Ending) {
	switch e {
	case CutEnding:
		c.Truncated++
	case UnknownEnding:
		c.EndingUnknown++
	}
}

// Many reports whether more than a twentieth of the given number of answers are
// cut.
func (c Truncation) Many(answers int) bool { return c.Truncated*20 > answers }

// Line accounts for the given number of answers in part of a sentence. It is
// empty if all are whole.
func (c Truncation) Line(answers int) string {
	var parts []string
	if c.Truncated > 0 {
		parts = append(parts, table.Count(c.Truncated)+" of "+table.Count(answers)+" answers cut by the token limit")
	}
	if c.EndingUnknown > 0 {
		parts = append(parts, "of "+table.Count(c.EndingUnknown)+" answers it is not known whether the token limit cut them")
	}
	return strings.Join(parts, "; ")
}

// TruncationConsequence says why many cut answers matter, and what to do.
const TruncationConsequence = "A refusal after the cut is not seen, and rates under another limit cannot be compared fairly. Raise the limit of output tokens (max_tokens)."
