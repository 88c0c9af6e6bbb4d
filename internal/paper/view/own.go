package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// ownRow is one of the reader's own runs as a line of a published table, by its
// first judge.
type ownRow struct {
	name, target, dataset, judge string
	simulated                    bool
	// rates has one entry for each category of the table, in per cent; overall
	// is over all prompts. Both may be unknown.
	rates   []float64
	overall float64
}

// tableOf returns the published table that a run's prompts belong to: that of
// the 80K set for safe prompts with its number or name, the hard one for other
// safe prompts, and the toxic one for toxic prompts. It reports false for other
// labels.
func tableOf(run score.RunResult) (paper.Table, bool) {
	switch {
	case run.Label == orbench.Toxic:
		return paper.ToxicAcceptance(), true
	case run.Label != orbench.Safe:
		return paper.Table{}, false
	case run.N == paper.Size80K || strings.Contains(strings.ToLower(run.Dataset), "80k"):
		return paper.KeywordRefusal80K(), true
	}
	return paper.HardRefusal(), true
}

// ownRows returns the reader's runs that belong to a published table, with
// rates in the table's direction.
func (p Study) ownRows(t paper.Table) []ownRow {
	var rows []ownRow
	for _, run := range p.Own.Runs {
		own, ok := tableOf(run)
		if !ok || own.Name != t.Name || len(run.Judges) == 0 {
			continue
		}
		j := run.Judges[0]
		row := ownRow{
			name: untrusted.Terminal(run.Target), target: run.Target, dataset: run.DatasetCaption(), judge: j.Judge,
			simulated: run.Simulated || j.Simulated, overall: table.Unknown,
		}
		for _, c := range t.Categories {
			rate := j.ByCategory[c].Rate().Share
			if rate == nil || j.Withheld {
				row.rates = append(row.rates, table.Unknown)
				continue
			}
			row.rates = append(row.rates, t.Refusal(100**rate))
		}
		if e := j.Estimate(); e != nil {
			row.overall = t.Refusal(100 * e.Value)
		}
		rows = append(rows, row)
	}
	for i, row := range rows {
		if slices.ContainsFunc(rows, func(other ownRow) bool { return other.target == row.target && other.dataset != row.dataset }) {
			rows[i].name += " (" + untrusted.Terminal(row.dataset) + ")"
		}
	}
	return rows
}

// label returns the row's name in a text table.
func (r ownRow) label() string { return table.Name(r.name, r.simulated) }

// ownNote says how the reader's rows are made. It is empty without rows.
func ownNote(rows []ownRow) string {
	if len(rows) == 0 {
		return ""
	}
	var datasets, judges table.Names
	simulated := ""
	for _, r := range rows {
		datasets.Add(untrusted.Terminal(r.dataset))
		judges.Add(untrusted.Terminal(r.judge))
		if r.simulated {
			simulated = ", SIMULATED models among them"
		}
	}
	return fmt.Sprintf("Last come your runs%s, of %s by %s.", simulated,
		untrusted.Shorten(strings.Join(datasets, ", "), 50), untrusted.Shorten(strings.Join(judges, ", "), 40))
}

// bothSets is a model's refusal of the 80K set and of the hard set. Each may be
// table.Unknown.
type bothSets struct {
	model       string
	broad, hard float64
}

// ownAgainst80K joins the reader's runs on the two kinds of safe prompts.
func (p Study) ownAgainst80K() (joined []bothSets, rows []ownRow) {
	at := func(name string) *bothSets {
		added := bothSets{model: name, broad: table.Unknown, hard: table.Unknown}
		return table.Entry(&joined, added, func(b bothSets) bool { return b.model == name })
	}
	hard, broad := p.ownRows(paper.HardRefusal()), p.ownRows(paper.KeywordRefusal80K())
	for _, r := range hard {
		at(r.name).hard = r.overall
	}
	for _, r := range broad {
		at(r.name).broad = r.overall
	}
	return joined, append(hard, broad...)
}

// openingWords is the judge that matches the paper's opening words.
const openingWords = "paper-keywords"

// ownKeyword is the refusal rate on the same answers by the paper's opening
// words and by another judge, in per cent.
type ownKeyword struct {
	ownRow
	keyword, other float64
}

// ownKeywords returns the reader's runs that were judged by the paper's opening
// words and by another judge.
func (p Study) ownKeywords() []ownKeyword {
	var rows []ownKeyword
	for _, run := range p.Own.Runs {
		for _, a := range run.Agreement {
			keyword, other, judge := a.Both+a.OnlyA, a.Both+a.OnlyB, a.B
			switch {
			case a.N == 0:
				continue
			case strings.HasPrefix(a.B, openingWords):
				keyword, other, judge = other, keyword, a.A
			case !strings.HasPrefix(a.A, openingWords):
				continue
			}
			row := ownKeyword{ownRow: ownRow{
				name: untrusted.Terminal(run.Target) + ", " + string(run.Label), target: run.Target,
				dataset: run.DatasetCaption(), judge: judge, simulated: run.Simulated,
			}}
			row.keyword, row.other = 100*float64(keyword)/float64(a.N), 100*float64(other)/float64(a.N)
			rows = append(rows, row)
		}
	}
	return rows
}
