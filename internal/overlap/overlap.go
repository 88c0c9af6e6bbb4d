package overlap

import (
	"io"
	"strconv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/similar"
)

// Document returns what people read: what follows from the comparison, then the
// overlap in all and by category, and how varied each dataset is.
func (c Comparison) Document() table.Document {
	d := table.Document{Title: "Two datasets compared"}
	for _, f := range c.Findings {
		d.AddTo(table.OnScreen, table.Line(f))
		d.AddTo(table.InMarkdown, table.Note{Text: f})
	}
	d.Add(table.Gap)
	d.Sections(sections(c)...)
	return d
}

// Data returns the comparison in its documented form.
func (c Comparison) Data() any { return c }

// row is a line of CSV.
type row struct {
	Dataset       string
	DatasetSHA256 string
	Other         string
	OtherSHA256   string
	Threshold     float64
	Seed          uint64
	Scope         string
	Category      orbench.Category
	// Prompts is also set for a sample, which has no Overlap.
	Rows, Prompts *int
	*Overlap
	*similar.Diversity
}

// Rows returns a row for each of the two datasets (scope "all"), one for the
// sample of the larger one (scope "sample"), and one for each category (scope
// "category"). The sample has no counts of the overlap, and categories have no
// measures of variety; these cells are empty. Shares are from 0 to 1.
func (c Comparison) Rows() any {
	var rows []row
	for i, s := range []Side{c.A, c.B} {
		other := []Side{c.B, c.A}[i]
		add := func(r row) {
			r.Dataset, r.DatasetSHA256, r.Other, r.OtherSHA256, r.Threshold, r.Seed = s.Name, s.SHA256, other.Name, other.SHA256, c.Threshold, c.Seed
			rows = append(rows, r)
		}
		add(row{Scope: "all", Rows: &s.Rows, Prompts: &s.Prompts, Overlap: &s.Overlap, Diversity: &s.Diversity})
		if s.Sampled != nil {
			add(row{Scope: "sample", Prompts: &s.Sampled.Texts, Diversity: s.Sampled})
		}
		for _, category := range c.Categories {
			if o := []Overlap{category.A, category.B}[i]; o.Prompts > 0 {
				add(row{Scope: "category", Category: category.Category, Prompts: &o.Prompts, Overlap: &o})
			}
		}
	}
	return rows
}

// pairRow is a line of CSV about a pair of prompts.
type pairRow struct {
	Match    string
	Jaccard  float64
	Conflict bool
	A, B     promptCells
}

type promptCells struct {
	ID       orbench.PromptID
	Category orbench.Category
	Label    orbench.Label
	Prompt   string
}

func cellsOf(p orbench.Prompt) promptCells {
	return promptCells{p.ID, p.Category, p.Label, p.Transcript()}
}

// WritePairs writes the pairs of a comparison as CSV, with their texts.
func (c Comparison) WritePairs(w io.Writer) error {
	out := table.NewRowWriter[pairRow](w)
	for _, p := range c.Pairs {
		match := "near"
		if p.Exact {
			match = "exact"
		}
		if err := out.Add(pairRow{match, p.Jaccard, p.Conflict(), cellsOf(p.A), cellsOf(p.B)}); err != nil {
			return err
		}
	}
	return out.Flush()
}

func sections(c Comparison) []table.Section {
	all := table.Section{
		Title: "Prompts that both have", Left: 2,
		Header: []string{"", "dataset", "rows", "prompts", "same words", "nearly", "in the other", "other label", "nearly, other label"},
		Note:   "Nearly: a Jaccard index of word sequences of at least " + table.Number(c.Threshold) + ". Rows with equal text are one prompt.",
	}
	for i, s := range []Side{c.A, c.B} {
		all.Rows = append(all.Rows, []string{
			[]string{"A", "B"}[i], s.Name + "@" + table.ShortHash(s.SHA256), table.Count(s.Rows), table.Count(s.Prompts), table.Count(s.Exact), table.Count(s.Near),
			table.Percent(s.Share), table.Count(s.ExactConflicts), table.Count(s.NearConflicts),
		})
	}
	by := table.Section{
		Title: "By category", Left: 1, Detail: true,
		Header: []string{"category", "in A", "same words", "nearly", "in the other", "in B", "same words", "nearly", "in the other"},
	}
	for _, category := range c.Categories {
		row := []string{table.Category(category.Category)}
		for _, o := range []Overlap{category.A, category.B} {
			if o.Prompts == 0 {
				row = append(row, "–", "–", "–", "–")
				continue
			}
			row = append(row, table.Count(o.Prompts), table.Count(o.Exact), table.Count(o.Near), table.Percent(o.Share))
		}
		by.Rows = append(by.Rows, row)
	}
	return []table.Section{all, by, diversitySection(c)}
}

// diversitySection has a column for each dataset and one for the sample of the
// larger dataset.
func diversitySection(c Comparison) table.Section {
	s := table.Section{
		Title: "How varied each is", Left: 1,
		Note: "Distinct-n, Self-BLEU and near-duplicates depend on the number of prompts, so compare columns with the same number. " +
			"Self-BLEU is of at most 1,000 prompts. The seed of all samples is " + strconv.FormatUint(c.Seed, 10) + ".",
	}
	columns := [][]string{
		{
			"", "prompts", "distinct words (distinct-1)", "distinct word pairs (distinct-2)", "Self-BLEU, lower is more varied", "prompts for Self-BLEU",
			"near-duplicates within", "share of near-duplicates", "most common opener", "share of that opener", "effective number of openers",
			"words, mean", "words, 5% / median / 95%",
		},
	}
	for i, side := range []Side{c.A, c.B} {
		name := []string{"A", "B"}[i]
		columns = append(columns, diversityColumn(name, side.Diversity))
		if side.Sampled != nil {
			columns = append(columns, diversityColumn("sample of "+name, *side.Sampled))
		}
	}
	for i := range columns[0] {
		var line []string
		for _, column := range columns {
			line = append(line, column[i])
		}
		s.Rows = append(s.Rows, line)
	}
	s.Header, s.Rows = s.Rows[0], s.Rows[1:]
	return s
}

// diversityColumn returns the figures that diversitySection lists, in its
// order.
func diversityColumn(name string, d similar.Diversity) []string {
	decimals := func(f float64, n int) string { return strconv.FormatFloat(f, 'f', n, 64) }
	opener, _ := untrusted.Cut(untrusted.Terminal(d.TopOpener), 28)
	return []string{
		name, table.Count(d.Texts), decimals(d.Distinct1, 3), decimals(d.Distinct2, 3), decimals(d.SelfBLEU, 3), table.Count(d.SelfBLEUTexts),
		table.Count(d.NearDuplicates), table.Percent(d.NearDuplicateRate), opener, table.Percent(d.TopOpenerShare), decimals(d.EffectiveOpeners, 1),
		decimals(d.Words.Mean, 1), table.Count(d.Words.P5) + " / " + table.Count(d.Words.Median) + " / " + table.Count(d.Words.P95),
	}
}
