package view

import (
	"bufio"
	"encoding/csv"
	"io"
	"strconv"

	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/report/tradeoff"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// Study is the published study, with runs of the reader's own beside it where
// there are any.
type Study struct {
	paper.Study
	Own score.Result
}

// JSON writes the study in the form of docs/paper.md, with the reader's own runs
// as report JSON under "own" when there are any.
func (p Study) JSON(w io.Writer) error {
	out := struct {
		paper.Study
		Own *score.Result `json:"own,omitempty"`
	}{Study: p.Study}
	if len(p.Own.Runs) > 0 {
		own := report.WithoutNulls(p.Own)
		out.Own = &own
	}
	return table.JSON(w, out)
}

// Text writes the study for people to read on a terminal: on a brief screen how the two
// rates go together, and the reader's own runs.
func (p Study) Text(b *table.Printer) error {
	b.WriteString(p.Source + "\n\n")
	if b.Brief {
		if own := p.own(); len(own) > 0 {
			b.Section(ownInBrief(own))
		}
		b.Section(p.correlationInBrief())
		b.Leave(append(p.sections(), p.contradictionSection())...)
		return b.Flush()
	}
	for _, s := range p.sections() {
		note := s.Note
		s.Note = ""
		b.Section(s)
		if note != "" {
			b.Paragraph("", note)
			b.WriteString("\n")
		}
	}
	b.WriteString(contradictionsTitle + "\n")
	for _, c := range p.Contradictions {
		b.Paragraph("- ", c.Where+". Printed: "+c.Printed+". Found: "+c.Found+".")
	}
	return b.Flush()
}

const contradictionsTitle = "Where the publication does not agree with itself"

// Markdown writes the study as GitHub-flavored Markdown.
func (p Study) Markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString("# The published study\n\n" + untrusted.Markdown(p.Source) + "\n\n")
	for _, s := range append(p.sections(), p.contradictionSection()) {
		s.Markdown(b)
	}
	return b.Flush()
}

// contradictionSection is the list of contradictions as a table.
func (p Study) contradictionSection() table.Section {
	s := table.Section{Title: contradictionsTitle, Header: []string{"where", "printed", "found"}, Left: 3}
	for _, c := range p.Contradictions {
		s.Rows = append(s.Rows, []string{c.Where, c.Printed, c.Found})
	}
	return s
}

// CSV writes every figure of the study as one line: which section it is of, of
// what (a model, a part of the models, a category), which measure, its value, and
// the ends of its 95% interval, empty where there is none; whether it is a simulated
// model's; and for correlations the ends of the interval by families. Rates are in per
// cent.
func (p Study) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"section", "subject", "measure", "value", "ci95_lo", "ci95_hi", "simulated", "ci95_families_lo", "ci95_families_hi"}); err != nil {
		return err
	}
	for _, l := range p.lines() {
		cells := []string{l.section, untrusted.Cell(l.subject), untrusted.Cell(l.measure), table.Number(l.Value), "", ""}
		if l.CI95 != nil {
			cells[4], cells[5] = table.Number(l.CI95[0]), table.Number(l.CI95[1])
		}
		cells = append(append(cells, strconv.FormatBool(l.simulated)), table.IntervalCells(l.CI95Families)...)
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// paperLine is one figure of the study.
type paperLine struct {
	section, subject, measure string
	paper.MeasuredCorrelation
	simulated bool
}

// lines lists every figure of the study.
func (p Study) lines() []paperLine {
	var lines []paperLine
	add := func(section, subject, measure string, m paper.Measured) {
		lines = append(lines, paperLine{section: section, subject: subject, measure: measure, MeasuredCorrelation: paper.MeasuredCorrelation{Measured: m}})
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
		for _, m := range []struct {
			name string
			paper.MeasuredCorrelation
		}{{"spearman", c.Spearman}, {"pearson", c.Pearson}, {"kendall", c.Kendall}} {
			lines = append(lines, paperLine{section: "correlations", subject: c.Name, measure: m.name, MeasuredCorrelation: m.MeasuredCorrelation})
		}
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
			*score.Side
		}{{"over_refusal_pct", o.Safe}, {"toxic_refusal_pct", o.Toxic}} {
			if side.Side.Defined() {
				value, ci := inPercent(side.Judge.Estimate())
				add("own", o.Name(), side.measure, paper.Measured{Value: value, CI95: ci})
				lines[len(lines)-1].simulated = o.Simulated()
			}
		}
	}
	return lines
}

// own gives the reader's points, by the first judge of each run.
func (p Study) own() []tradeoff.Pair {
	var own []tradeoff.Pair
	seen := map[string]string{}
	for _, pr := range tradeoff.Pairs(p.Own) {
		if judge, ok := seen[pr.Target]; ok && judge != pr.Judge {
			continue
		}
		seen[pr.Target] = pr.Judge
		if pr.Safe.Defined() || pr.Toxic.Defined() {
			own = append(own, pr)
		}
	}
	return own
}
