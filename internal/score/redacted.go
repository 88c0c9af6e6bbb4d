package score

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// Redacted returns a copy of the row without the texts of its prompt and answer, and
// without whatever may quote them: thinking, tokens, rationales, reasons, errors, and the
// names of clusters and pairs. What is left says what was asked of whom, what became of it
// and how it was judged.
func (r *AnswerRow) Redacted() *AnswerRow {
	row := *r
	row.Prompt.Messages, row.Prompt.Answers, row.Prompt.Cluster, row.Prompt.Pair = []orbench.Message{}, nil, "", ""
	row.Dialog, row.Failure, row.Unread = nil, "", ""
	row.Response.Text, row.Response.Thinking, row.Response.Logprobs = "", "", nil
	if b := row.Response.Block; b != nil {
		row.Response.Block = &model.Block{Kind: b.Kind}
	}
	row.Findings = slices.Clone(row.Findings)
	for i := range row.Findings {
		row.Findings[i].Why = ""
	}
	row.Verdicts = slices.Clone(row.Verdicts)
	for i := range row.Verdicts {
		v := &row.Verdicts[i]
		v.Rationale, v.Span = "", orbench.Span{}
	}
	return &row
}
