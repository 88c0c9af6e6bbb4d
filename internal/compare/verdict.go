package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/stats"
)

// screenFlips is how many flipped prompts a brief screen shows.
const screenFlips = 3

// headline says in one line which side is better, for each metric. The
// candidate is WORSE or BETTER if the difference is significant and the judge's
// error cannot undo it; otherwise the line says that it is unclear. Where people
// labeled pairs, it goes by their labels, as gates do.
func (c Result) headline() string {
	candidate, base := c.Candidate.Run, c.Base.Run
	switch {
	case c.OfJudges():
		candidate, base = c.Candidate.Judge, c.Base.Judge
	case candidate == base:
		candidate, base = c.Candidate.Target, c.Base.Target
	}
	var parts []string
	for _, m := range c.Metrics {
		parts = append(parts, c.verdictOn(m))
	}
	if c.OfJudges() {
		return candidate + " against " + base + ": " + strings.Join(parts, "; ")
	}
	return candidate + " against " + base + " is " + strings.Join(parts, "; ")
}

// verdictOn says how the candidate does on one metric.
func (c Result) verdictOn(m Metric) string {
	on := " on " + string(m.Label) + " prompts"
	d := m.Difference
	if d == nil || m.P == nil {
		return "not comparable" + on
	}
	change, surely, byPeople := " points", c.significant(m), m.Corrected != nil && m.Corrected.Pairs != nil
	if byPeople {
		d, change = &m.Corrected.Difference, " points by people's labels"
		surely = d.Lo > 0 || d.Hi < 0
	}
	change = table.Difference(d, table.Hyphen) + change
	switch {
	case !surely:
		detectable := 100 * stats.Detectable(*d, 0.95, 0.8)
		return fmt.Sprintf("unclear%s (%s; a change of %.0f would be found)", on, change, detectable)
	case !byPeople && m.undone():
		return fmt.Sprintf("unclear%s (%s by verdicts, but the judge's error could undo it)", on, change)
	}
	lo, hi := d.Lo, d.Hi
	if e := m.JudgeError; e != nil && !byPeople {
		lo, hi = e.Difference.Lo, e.Difference.Hi
	}
	word, least := "WORSE", lo
	if d.Value < 0 {
		least = hi
	}
	if (d.Value < 0) == (m.Label == orbench.Safe) {
		word = "BETTER"
	}
	if c.OfJudges() {
		word = "higher"
		if d.Value < 0 {
			word = "lower"
		}
	}
	return fmt.Sprintf("%s%s (%s, at least %+.1f)", word, on, change, 100*least)
}

// significant reports whether a metric's difference by verdicts is.
func (c Result) significant(m Metric) bool {
	d := m.Difference
	return d != nil && m.P != nil && *m.P < alpha && (d.Lo > 0 || d.Hi < 0)
}

// undone reports whether the judge's error could undo the difference.
func (m Metric) undone() bool {
	e := m.JudgeError
	return e != nil && e.Difference.Lo <= 0 && e.Difference.Hi >= 0
}

// UndoneBetweenModels reports whether a difference that people's labels do not correct is
// significant by verdicts, and the judge's error could undo it since the two sides are
// taken to be different models.
func (c Result) UndoneBetweenModels() bool {
	return slices.ContainsFunc(c.Metrics, func(m Metric) bool {
		return m.Corrected == nil && c.significant(m) && m.undone() && m.JudgeError.Assumes == versus.TwoModels
	})
}

// sides says in one line what was compared.
func (c Result) sides() string {
	var parts []string
	for i, s := range []Side{c.Base, c.Candidate} {
		parts = append(parts, fmt.Sprintf("%s: %s in %s", sideNames[i], table.Name(s.Target, s.Simulated), s.Run))
	}
	judges := "judged by " + c.Base.Judge
	if c.Base.Judge != c.Candidate.Judge {
		judges += " and " + c.Candidate.Judge
	}
	return strings.Join(append(parts, judges), "; ") + ". " + c.basis()
}

// addFlips adds the first prompts that flipped.
func (c Result) addFlips(d *table.Document) {
	for i, f := range c.Flips.Shown[:min(screenFlips, len(c.Flips.Shown))] {
		title := c.flipped(f.NowRefused())
		if i == 0 || c.Flips.Shown[i-1].NowRefused() != f.NowRefused() {
			d.AddTo(table.OnBrief, table.Line(c.words().Of(strings.ToUpper(title[:1])+title[1:])+":"))
		}
		d.AddTo(table.OnBrief, table.Note{Mark: "  ", Text: "“" + strings.Join(strings.Fields(f.Prompt.Transcript()), " ") + "”"})
	}
	if c.Flips.Total > screenFlips {
		d.AddTo(table.OnBrief, table.Line("In all, "+table.Counted(c.Flips.Total, "prompt", "prompts")+" flipped."))
	}
	if c.Flips.Total > 0 {
		d.AddTo(table.OnBrief, table.Gap)
	}
}
