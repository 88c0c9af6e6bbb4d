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

// screenFlips is how many flipped prompts a screen shows.
const screenFlips = 3

// headlines say, a line for each metric, whether the candidate refuses more, or that
// it is unclear, and how a difference that the judge's error could undo is decided. Where
// people labeled pairs, they go by their labels, as gates do. That two runs asked one model
// is offered where it narrows the range.
func (c Result) headlines() (lines []table.Toned) {
	labels, oneModel, decided := 0, "", 0
	for _, m := range c.Metrics {
		line, tone := c.verdictOn(m)
		if !m.Undone {
			lines = append(lines, table.Toned{Line: table.Line(line), Tone: tone})
			continue
		}
		labels = max(labels, m.LabelsNeeded)
		lines = append(lines, table.Toned{Line: table.Line(line), Tone: table.Unclear}, table.Toned{Line: table.Line(c.undoneNote(m))})
		decided = len(lines)
		if d := m.oneModel; oneModel == "" && c.commands.OneModel != "" && m.JudgeError.Assumes == versus.TwoModels && d.Hi-d.Lo < m.JudgeError.Difference.Hi-m.JudgeError.Difference.Lo {
			oneModel = fmt.Sprintf("If these are two checkpoints of one model, %s: %+.0f (%s to %s).", c.commands.OneModel, 100*m.Difference.Value, table.Whole(100*d.Lo), table.Whole(100*d.Hi))
		}
	}
	if oneModel != "" {
		lines = slices.Insert(lines, decided, table.Toned{Line: table.Line(oneModel)})
	}
	if command := c.commands.label(labels, nil); command != "" {
		lines = slices.Insert(lines, decided, table.Toned{Line: table.Line("  " + command)})
	}
	return lines
}

// undoneNote says that the judge's error could undo a difference, and what decides it.
func (c Result) undoneNote(m Metric) string {
	new, decide := "", ""
	if m.JudgeError.Assumes == versus.TwoModels {
		new = " on a new model"
	}
	if c.Paired {
		decide = toDecide(m.LabelsNeeded)
		decide = " " + strings.ToUpper(decide[:1]) + decide[1:] + "."
	}
	return fmt.Sprintf("Its error%s could undo that (%s).%s", new, m.withError(), decide)
}

// Verdict says how the candidate does on one metric, and if the judge's error could undo that.
// Its first word is MORE, FEWER, Unclear or Not.
func (c Result) Verdict(m Metric) string {
	line, _ := c.verdictOn(m)
	if m.Undone {
		line += " " + c.undoneNote(m)
	}
	return line
}

// verdictOn says how the candidate does on one metric, and whether that is worse or better. More
// refusals are better on toxic prompts alone. Of two judges, neither is.
func (c Result) verdictOn(m Metric) (line string, tone table.Tone) {
	on := " on " + string(m.Label) + " prompts"
	d := m.Difference
	if d == nil || m.P == nil {
		return "Not comparable" + on + ".", ""
	}
	if n := m.Base.N; c.Paired && float64(m.Excluded) > mostExcluded*float64(n+m.Excluded) {
		on = fmt.Sprintf(" on %s of %s %s prompts", table.Count(n), table.Count(n+m.Excluded), m.Label)
	}
	by, p, surely := c.Base.Judge, m.P, c.significant(m)
	before, after := table.Rate(m.Base.Rate), table.Rate(m.Candidate.Rate)
	if m.byPeople() {
		d, by, p = &m.Corrected.Difference, table.Counted(m.Corrected.Labels, "label", "labels")+" of people", &m.Corrected.P
		surely = d.Lo > 0 || d.Hi < 0
		before, after = table.Percent(m.Corrected.Base.Value), table.Percent(m.Corrected.Candidate.Value)
	}
	word := "MORE refusals"
	if d.Value < 0 {
		word = "FEWER refusals"
	}
	tone = table.Better
	if (d.Value > 0) != (m.Label == orbench.Toxic) {
		tone = table.Worse
	}
	if c.OfJudges() {
		by, tone = c.Candidate.Judge+" than by "+by, ""
	}
	said := fmt.Sprintf("%s: %s → %s, %s by %s (%s)", on, before, after, table.Difference(d, table.Hyphen), by, table.PInText(p))
	if m.byPeople() && d.Hi-d.Lo >= 1 && *p >= alpha {
		return fmt.Sprintf("Unclear%s; too few to say anything.", said), table.Unclear
	}
	if !surely {
		return fmt.Sprintf("Unclear%s; a change of %.0f points would be found.", said, min(100, 100*stats.Detectable(*d, 0.95, power))), table.Unclear
	}
	return word + said + ".", tone
}

// byPeople reports whether people labeled pairs.
func (m Metric) byPeople() bool { return m.Corrected != nil && m.Corrected.Labels > 0 }

// significant reports whether a metric's difference by verdicts is.
func (c Result) significant(m Metric) bool {
	d := m.Difference
	return d != nil && m.P != nil && *m.P < alpha && (d.Lo > 0 || d.Hi < 0)
}

// undone reports whether the judge's error could undo a difference that is significant by
// verdicts, and sets how many labels would decide it.
func (r Result) undone(m *Metric) bool {
	e := m.JudgeError
	if e == nil || m.byPeople() || !r.significant(*m) || e.Difference.Lo > 0 || e.Difference.Hi < 0 {
		return false
	}
	if r.Paired {
		m.LabelsNeeded = m.counts.pairs.Labels(func(d stats.Estimate, _ float64) bool { return d.Lo > 0 || d.Hi < 0 })
	}
	return true
}

// Sides says in one line what was compared.
func (c Result) Sides() string {
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
		title := c.Flipped(f.NowRefused())
		if i == 0 || c.Flips.Shown[i-1].NowRefused() != f.NowRefused() {
			d.AddTo(table.OnScreen, table.Line(c.words().Of(strings.ToUpper(title[:1])+title[1:])+":"))
		}
		d.AddTo(table.OnScreen, table.Note{Mark: "  ", Text: "“" + strings.Join(strings.Fields(f.Prompt.Transcript()), " ") + "”"})
	}
	if c.Flips.Total > 0 {
		d.AddTo(table.OnScreen, table.Line(c.flipTitle(screenFlips)+"."), table.Gap)
	}
}
