package report

import (
	"bufio"
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
)

// Paper is the published study, with runs of the reader's own beside it where
// there are any.
type Paper struct {
	paper.Study
	Own score.Result
}

// JSON writes the study in the form of docs/paper.md, with the reader's own runs
// as report JSON under "own" when there are any.
func (p Paper) JSON(w io.Writer) error {
	out := struct {
		paper.Study
		Own *score.Result `json:"own,omitempty"`
	}{Study: p.Study}
	if len(p.Own.Runs) > 0 {
		own := withoutNulls(p.Own)
		out.Own = &own
	}
	return writeJSON(w, out)
}

// Table writes the study for people to read on a terminal.
func (p Paper) Table(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString(p.Source + "\n\n")
	for _, s := range p.sections() {
		note := s.note
		s.note = ""
		writeTable(b, s)
		if note != "" {
			writeWrapped(b, "", note)
			b.WriteString("\n")
		}
	}
	b.WriteString(contradictionsTitle + "\n")
	for _, c := range p.Contradictions {
		writeWrapped(b, "- ", c.Where+". Printed: "+c.Printed+". Found: "+c.Found+".")
	}
	return b.Flush()
}

const contradictionsTitle = "Where the publication does not agree with itself"

// writeWrapped writes a paragraph in lines of at most gridWidth columns, the first
// after a mark and the others below its text.
func writeWrapped(b *bufio.Writer, mark, text string) {
	line := mark
	indent := strings.Repeat(" ", untrusted.Width(mark))
	for word := range strings.FieldsSeq(text) {
		if untrusted.Width(line)+untrusted.Width(word) > gridWidth && line != indent && line != mark {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		line += word + " "
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// Markdown writes the study as GitHub-flavoured Markdown.
func (p Paper) Markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString("# The published study\n\n" + untrusted.Markdown(p.Source) + "\n\n")
	for _, s := range append(p.sections(), p.contradictionSection()) {
		writeMarkdownSection(b, s)
	}
	return b.Flush()
}

// contradictionSection is the list of contradictions as a table.
func (p Paper) contradictionSection() section {
	s := section{title: contradictionsTitle, header: []string{"where", "printed", "found"}, left: 3}
	for _, c := range p.Contradictions {
		s.rows = append(s.rows, []string{c.Where, c.Printed, c.Found})
	}
	return s
}

// CSV writes every figure of the study as one line: which section it is of, of
// what (a model, a part of the models, a category), which measure, its value, and
// the ends of its 95% interval, empty where there is none. Rates are in per cent.
func (p Paper) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"section", "subject", "measure", "value", "ci95_lo", "ci95_hi"}); err != nil {
		return err
	}
	for _, l := range p.lines() {
		cells := []string{l.section, untrusted.Cell(l.subject), untrusted.Cell(l.measure), float(l.Value), "", ""}
		if l.CI95 != nil {
			cells[4], cells[5] = float(l.CI95[0]), float(l.CI95[1])
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func float(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// paperLine is one figure of the study.
type paperLine struct {
	section, subject, measure string
	paper.Measured
}

// lines lists every figure of the study.
func (p Paper) lines() []paperLine {
	var lines []paperLine
	add := func(section, subject, measure string, m paper.Measured) {
		lines = append(lines, paperLine{section, subject, measure, m})
	}
	plain := func(section, subject, measure string, v float64) {
		add(section, subject, measure, paper.Measured{Value: v})
	}
	for _, m := range p.Models {
		plain("models", m.Name, "hard_refusal_pct", m.Hard)
		plain("models", m.Name, "toxic_refusal_pct", m.Toxic)
		plain("models", m.Name, "hard_n", float64(m.HardN))
		plain("models", m.Name, "toxic_n", float64(m.ToxicN))
	}
	for _, c := range p.Correlations {
		plain("correlations", c.Name, "n", float64(c.N))
		add("correlations", c.Name, "spearman", c.Spearman)
		add("correlations", c.Name, "pearson", c.Pearson)
		add("correlations", c.Name, "kendall", c.Kendall)
	}
	plain("fit", "all", "a", p.Fit.A)
	plain("fit", "all", "b", p.Fit.B)
	plain("fit", "all", "c", p.Fit.C)
	for _, t := range p.Tables {
		for _, r := range t.Rows {
			for i, c := range t.Categories {
				plain(t.Name, r.Model, string(c), r.Rates[i])
			}
			plain(t.Name, r.Model, "overall", r.Overall)
		}
	}
	for _, f := range p.Families {
		plain("families", f.Name, "printed_mean_pct", f.PrintedMean)
		plain("families", f.Name, "printed_std_pct", f.PrintedStd)
		plain("families", f.Name, "mean_pct", f.Mean)
		plain("families", f.Name, "std_pct", f.Std)
	}
	for _, r := range p.Temperature {
		for i, t := range p.Temperatures {
			plain("temperature", r.Model, strconv.FormatFloat(t, 'f', 2, 64), r.Rates[i])
		}
	}
	for _, r := range p.Keyword {
		plain("keyword_against_gpt4", r.Model, "keyword_pct", r.Keyword)
		plain("keyword_against_gpt4", r.Model, "gpt4_pct", r.GPT4)
	}
	for _, r := range p.AdvBench {
		plain("advbench", r.Model, "advbench_acceptance_pct", r.AdvBench)
		plain("advbench", r.Model, "toxic_acceptance_pct", r.Toxic)
	}
	add("advbench", "all", "spearman", p.AdvBenchSpearman)
	for _, m := range p.Moderators {
		for _, c := range []struct {
			name string
			n    int
		}{{"tp", m.TP}, {"fn", m.FN}, {"tn", m.TN}, {"fp", m.FP}} {
			plain("moderators", m.Name, c.name, float64(c.n))
		}
	}
	add("residual_toxicity", "ensemble", "pct", p.Residual.Measured)
	for _, c := range p.Categories {
		name := string(c.Category)
		plain("categories", name, "share_80k_pct", c.Share80K)
		plain("categories", name, "share_hard_pct", c.ShareHard)
		plain("categories", name, "share_toxic_pct", c.ShareToxic)
		plain("categories", name, "hard_older_n", float64(c.HardOlder))
		plain("categories", name, "hard_released_n", float64(c.HardReleased))
		plain("categories", name, "toxic_older_n", float64(c.ToxicOlder))
		plain("categories", name, "toxic_released_n", float64(c.ToxicReleased))
	}
	for _, o := range p.own() {
		for _, side := range []struct {
			measure string
			*side
		}{{"over_refusal_pct", o.safe}, {"toxic_refusal_pct", o.toxic}} {
			if side.defined() {
				j := side.judge
				ci := j.Interval()
				add("own", o.name(), side.measure, paper.Measured{
					Value: 100 * *j.Rate, CI95: &[2]float64{100 * ci[0], 100 * ci[1]},
				})
			}
		}
	}
	return lines
}

// own gives the reader's points, by the first judge of each run.
func (p Paper) own() []pair {
	var own []pair
	seen := map[string]string{}
	for _, pr := range pairsOf(p.Own) {
		if judge, ok := seen[pr.target]; ok && judge != pr.judge {
			continue
		}
		seen[pr.target] = pr.judge
		if pr.safe.defined() || pr.toxic.defined() {
			own = append(own, pr)
		}
	}
	return own
}
