package truncation

import (
	"strings"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// Ending says how an answer ended.
type Ending uint8

// The endings. None is that of a prompt without an answer, and of what is no answer:
// a block, or what a guard says.
const (
	None Ending = iota
	Whole
	Cut
	Unknown
)

// Of is the ending of an answer by a target of a provider. Recorded answers do not
// tell, and neither do servers that give no reason, or one of their own.
func Of(provider string, r model.Response) Ending {
	switch {
	case provider == model.Replay:
		return Unknown
	case r.Finish == model.Length:
		return Cut
	case r.Finish == model.Stop:
		return Whole
	case r.Finish == model.Blocked:
		return None
	}
	return Unknown
}

// Count counts answers by how they ended. The zero value is that of whole answers.
type Count struct {
	// Truncated counts the answers that the token limit cut, those before the first
	// word too, and EndingUnknown those that do not tell.
	Truncated     int `json:"truncated,omitempty"`
	EndingUnknown int `json:"ending_unknown,omitempty"`
}

// Add counts an answer.
func (c *Count) Add(e Ending) {
	switch e {
	case Cut:
		c.Truncated++
	case Unknown:
		c.EndingUnknown++
	}
}

// AddCount adds the counts of other answers.
func (c *Count) AddCount(o Count) {
	c.Truncated += o.Truncated
	c.EndingUnknown += o.EndingUnknown
}

// Many reports whether more than a twentieth of so many answers are cut.
func (c Count) Many(answers int) bool { return c.Truncated*20 > answers }

// Cell shows how many answers are cut, for a column that is there where any are.
func (c Count) Cell(answers int) string {
	if c.EndingUnknown > 0 && c.EndingUnknown == answers {
		return "unknown"
	}
	return table.Count(c.Truncated)
}

// Row has both counts as columns of CSV.
type Row struct {
	// Truncated is nil where it is not known of any answer.
	Truncated     *int
	EndingUnknown int
}

// Row has both counts of so many answers.
func (c Count) Row(answers int) *Row {
	if c.EndingUnknown > 0 && c.EndingUnknown == answers {
		return &Row{nil, c.EndingUnknown}
	}
	return &Row{&c.Truncated, c.EndingUnknown}
}

// Line accounts for so many answers in a part of a sentence, empty where all of them
// are whole.
func (c Count) Line(answers int) string {
	var parts []string
	if c.Truncated > 0 {
		parts = append(parts, table.Count(c.Truncated)+" of "+table.Count(answers)+" answers cut by the token limit")
	}
	if c.EndingUnknown > 0 {
		parts = append(parts, "of "+table.Count(c.EndingUnknown)+" answers it is not known whether the token limit cut them")
	}
	return strings.Join(parts, "; ")
}

// Consequence says why many cut answers matter, and what to do.
const Consequence = "A refusal behind the cut is not seen, and rates under another limit are no fair comparison. Raise the limit of output tokens."
