package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// Bounds are the most bytes of each text of an answer that a page shows.
type Bounds struct {
	Prompt, Answer, Thinking, Rationale int
	// Turns is the most turns of a dialog, from its end.
	Turns int
}

var (
	// InList bounds an answer among many, and Alone one that has a page to itself.
	InList = Bounds{Prompt: 4000, Answer: 4000, Thinking: 2000, Rationale: 1000, Turns: 20}
	Alone  = Bounds{Prompt: 200_000, Answer: 1_000_000, Thinking: 1_000_000, Rationale: 50_000, Turns: 500}
)

// aroundSpan is how many bytes of text are shown on each side of a deciding span that
// lies beyond Bounds.Answer.
const aroundSpan = 300

// Answer is a row as pages show it. Texts are cut to a bounded length, and the answer
// is split at the ends of the judges' deciding spans.
type Answer struct {
	// AnswerRow is the row without the text of its answer. Target is the name that is the
	// same for all samples.
	score.AnswerRow
	// Turns are the prompt, or the dialog that ends with it.
	Turns []conversation.Said
	Text  []Passage
	// Ending says how the answer ended, unless it ended by itself.
	Ending string
	// Cut is true if any text is longer than shown.
	Cut bool
	// Redacted is true if the texts are left out.
	Redacted bool
}

// Passage is a stretch of an answer's text.
type Passage struct {
	Text string
	// Judges names the judges whose deciding span covers the passage.
	Judges string
	// Gap is true for a passage that marks omitted text.
	Gap bool
}

// ShownTarget returns the name of a row's target on a page. It is the same for all
// samples.
func ShownTarget(row score.AnswerRow) string {
	return cmp.Or(row.Variant, row.Target)
}

// NewAnswer returns a row as a page shows it.
func NewAnswer(row score.AnswerRow, most Bounds) Answer {
	a := Answer{AnswerRow: row}
	a.Target, a.Verdicts, a.Response.Text = ShownTarget(row), slices.Clone(row.Verdicts), ""
	keep := func(s string, n int) string {
		s, cut := untrusted.Cut(s, n)
		a.Cut = a.Cut || cut
		return s
	}
	turns := row.Turns()
	if len(turns) > most.Turns {
		// The last turns contain the question.
		turns, a.Cut = turns[len(turns)-most.Turns:], true
	}
	for _, turn := range turns {
		turn.Content = keep(turn.Content, most.Prompt)
		a.Turns = append(a.Turns, turn)
	}
	for i := range a.Verdicts {
		v := &a.Verdicts[i]
		v.Rationale = keep(v.Rationale, most.Rationale)
	}
	a.Response.Thinking = keep(row.Response.Thinking, most.Thinking)
	a.Failure = keep(row.Failure, most.Rationale)
	a.Text = passages(row.Response.Text, a.Verdicts, most.Answer)
	a.Cut = a.Cut || slices.ContainsFunc(a.Text, func(p Passage) bool { return p.Gap })
	switch {
	case row.Response.Block != nil && row.Response.Block.Kind == defense.BlockKind:
		a.Ending = "withheld by the defense: " + keep(row.Response.Block.Detail, 200)
	case row.Response.Block != nil:
		a.Ending = "withheld by the provider: " + string(row.Response.Block.Kind) + " " + keep(row.Response.Block.Detail, 100)
	case row.Response.Finish != "" && row.Response.Finish != "stop":
		a.Ending = "ended by: " + string(row.Response.Finish)
	}
	return a
}

// passages splits a text at the edges of the judges' deciding spans. It omits
// what lies beyond most bytes and is not near a span. A span that does not
// fit the text, or would split a character, is ignored.
func passages(text string, verdicts []score.JudgeVerdict, most int) []Passage {
	type window struct{ start, end int }
	windows := []window{{0, untrusted.Edge(text, most)}}
	edges := []int{0, len(text)}
	var marks []score.JudgeVerdict
	for _, v := range verdicts {
		s := v.Span
		if s.Start < 0 || s.Start >= s.End || s.End > len(text) || untrusted.Edge(text, s.Start) != s.Start || untrusted.Edge(text, s.End) != s.End {
			continue
		}
		marks = append(marks, v)
		// If a span is longer than the page has room for, its start is shown.
		end := min(s.End, s.Start+most)
		edges = append(edges, s.Start, s.End)
		windows = append(windows, window{untrusted.Edge(text, s.Start-aroundSpan), untrusted.Edge(text, end+aroundSpan)})
	}
	for _, w := range windows {
		edges = append(edges, w.start, w.end)
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)

	var parts []Passage
	for i := 1; i < len(edges); i++ {
		from, to := edges[i-1], edges[i]
		if !slices.ContainsFunc(windows, func(w window) bool { return w.start <= from && to <= w.end }) {
			if len(parts) == 0 || !parts[len(parts)-1].Gap {
				parts = append(parts, Passage{Gap: true})
			}
			continue
		}
		var judges []string
		for _, v := range marks {
			if v.Span.Start <= from && to <= v.Span.End {
				judges = append(judges, v.Judge)
			}
		}
		by := strings.Join(judges, ", ")
		passage := Passage{Text: strings.ToValidUTF8(strings.Clone(text[from:to]), "\uFFFD"), Judges: by}
		if n := len(parts); n > 0 && !parts[n-1].Gap && parts[n-1].Judges == by {
			parts[n-1].Text += passage.Text
			continue
		}
		parts = append(parts, passage)
	}
	return parts
}

// HasText reports whether the answer has any text to show.
func (a Answer) HasText() bool {
	return slices.ContainsFunc(a.Text, func(p Passage) bool { return strings.TrimSpace(p.Text) != "" })
}

// CategoryName returns the answer's category for people.
func (a Answer) CategoryName() string { return table.Category(a.Prompt.Category) }

// Side returns the style of the answer's label.
func (a Answer) Side() string {
	if label := a.Prompt.Label; label == orbench.Safe || label == orbench.Toxic {
		return string(label)
	}
	return "other"
}

// Folded reports whether the page hides the texts until they are opened. It
// hides those of every prompt that is not known to be safe.
func (a Answer) Folded() bool { return a.Prompt.Label != orbench.Safe }
