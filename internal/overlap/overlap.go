package overlap

import (
	"bufio"
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/similar"
)

// View is a comparison of datasets that writes itself in every format.
type View struct{ Comparison }

// Text writes what two datasets have in common for people to read on a
// terminal: what follows from it, then the overlap in all and by category, and
// how varied each is.
func (c View) Text(b *table.Printer) error {
	for _, f := range c.Findings {
		b.Line(f)
	}
	b.WriteString("\n")
	for _, s := range sections(c.Comparison) {
		b.Section(s)
	}
	return b.Flush()
}

// Markdown writes the same as Text as Markdown.
func (c View) Markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString("# Two datasets compared\n\n")
	for _, f := range c.Findings {
		b.WriteString("- " + untrusted.Markdown(f) + "\n")
	}
	b.WriteString("\n")
	for _, s := range sections(c.Comparison) {
		s.Markdown(b)
	}
	return b.Flush()
}

// JSON writes the comparison in its documented form.
func (c View) JSON(w io.Writer) error { return table.JSON(w, c.Comparison) }

// CSV writes one line for each of the two datasets (scope "all"), one
// for the sample of the larger one (scope "sample", where the counts of the
// overlap are empty), and one for each category (scope "category", where the
// measures of variety are). Shares are from 0 to 1. Texts are as untrusted.Cell makes them.
func (c View) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	rows := [][]string{{
		"dataset", "dataset_sha256", "other", "other_sha256", "threshold", "seed", "scope", "category",
		"rows", "prompts", "exact", "near", "share", "exact_conflicts", "near_conflicts",
		"distinct_1", "distinct_2", "self_bleu", "self_bleu_texts", "near_duplicates", "near_duplicate_rate",
		"top_opener", "top_opener_share", "effective_openers", "words_mean", "words_p5", "words_median", "words_p95",
	}}
	for i, s := range []Side{c.A, c.B} {
		other := []Side{c.B, c.A}[i]
		add := func(scope, category string, cells ...string) {
			rows = append(rows, append([]string{
				untrusted.Cell(s.Name), s.SHA256, untrusted.Cell(other.Name), other.SHA256, table.Number(c.Threshold), strconv.FormatUint(c.Seed, 10),
				scope, untrusted.Cell(category),
			}, cells...))
		}
		add("all", "", slices.Concat([]string{strconv.Itoa(s.Rows)}, csvOverlap(s.Overlap), csvDiversity(s.Diversity))...)
		if s.Sampled != nil {
			add("sample", "", slices.Concat([]string{"", strconv.Itoa(s.Sampled.Texts)}, make([]string, 5), csvDiversity(*s.Sampled))...)
		}
		for _, category := range c.Categories {
			if o := []Overlap{category.A, category.B}[i]; o.Prompts > 0 {
				add("category", string(category.Category), slices.Concat([]string{""}, csvOverlap(o), make([]string, 13))...)
			}
		}
	}
	return out.WriteAll(rows)
}

func csvOverlap(o Overlap) []string {
	return []string{
		strconv.Itoa(o.Prompts), strconv.Itoa(o.Exact), strconv.Itoa(o.Near), table.Number(o.Share),
		strconv.Itoa(o.ExactConflicts), strconv.Itoa(o.NearConflicts),
	}
}

func csvDiversity(d similar.Diversity) []string {
	return []string{
		table.Number(d.Distinct1), table.Number(d.Distinct2), table.Number(d.SelfBLEU), strconv.Itoa(d.SelfBLEUTexts),
		strconv.Itoa(d.NearDuplicates), table.Number(d.NearDuplicateRate),
		untrusted.Cell(d.TopOpener), table.Number(d.TopOpenerShare), table.Number(d.EffectiveOpeners),
		table.Number(d.Words.Mean), strconv.Itoa(d.Words.P5), strconv.Itoa(d.Words.Median), strconv.Itoa(d.Words.P95),
	}
}

// WritePairs writes the pairs of a comparison as CSV, with their texts. Texts
// are as untrusted.Cell makes them.
func (c View) WritePairs(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{
		"match", "jaccard", "conflict", "a_id", "a_category", "a_label", "a_prompt", "b_id", "b_category", "b_label", "b_prompt",
	}); err != nil {
		return err
	}
	for _, p := range c.Pairs {
		match := "near"
		if p.Exact {
			match = "exact"
		}
		if err := out.Write([]string{
			match, table.Number(p.Jaccard), strconv.FormatBool(p.Conflict()),
			string(p.A.ID), untrusted.Cell(string(p.A.Category)), string(p.A.Label), untrusted.Cell(p.A.Transcript()),
			string(p.B.ID), untrusted.Cell(string(p.B.Category)), string(p.B.Label), untrusted.Cell(p.B.Transcript()),
		}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
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
// larger one.
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

// diversityColumn shows what diversitySection lists, in its order.
func diversityColumn(name string, d similar.Diversity) []string {
	decimals := func(f float64, n int) string { return strconv.FormatFloat(f, 'f', n, 64) }
	opener, _ := untrusted.Cut(untrusted.Terminal(d.TopOpener), 28)
	return []string{
		name, table.Count(d.Texts), decimals(d.Distinct1, 3), decimals(d.Distinct2, 3), decimals(d.SelfBLEU, 3), table.Count(d.SelfBLEUTexts),
		table.Count(d.NearDuplicates), table.Percent(d.NearDuplicateRate), opener, table.Percent(d.TopOpenerShare), decimals(d.EffectiveOpeners, 1),
		decimals(d.Words.Mean, 1), table.Count(d.Words.P5) + " / " + table.Count(d.Words.Median) + " / " + table.Count(d.Words.P95),
	}
}
