package run

import (
	"context"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
)

// Answer is an answer of a run that people may look at.
type Answer struct {
	annotation.Item
	// Prompt is the prompt, with the dialog at whose end it was asked.
	Prompt orbench.Prompt
	// Own is the prompt as its dataset has it, which people may label.
	Own  orbench.Prompt
	Text string
}

// Answers hands every answer of the run to each, with the group in which its judges'
// verdicts put it. walked is as in evaluate.Sinks.
func (r *Run) Answers(ctx context.Context, m store.Reader, walked func(int), each func(Answer) error) error {
	_, err := r.DeriveTo(ctx, m, evaluate.Sinks{Walked: walked, Row: func(row score.AnswerRow) error {
		if row.Status != score.Answered && row.Status != score.Blocked {
			return nil
		}
		return each(Answer{
			Item:   annotation.Item{Cell: row.Cell, Subject: row.Subject(), Group: row.Group()},
			Prompt: row.Asked(), Own: row.Prompt, Text: row.Response.Text,
		})
	}})
	return err
}
