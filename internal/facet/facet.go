package facet

import (
	"slices"
	"strconv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// The words for verdicts of several classes, or of none.
const (
	Refused  = "refused"
	Answered = "answered"
	Judged   = "judged"
	Unjudged = "unjudged"
)

// Cut is the status of answers that the token limit cut, beside their own.
const Cut = "cut"

// Terms are values by parameter.
type Terms map[string][]string

// missing lists the parameters of which other terms are wanted. A parameter that the terms
// do not have is no matter of theirs.
func (t Terms) missing(wanted Terms) (names []string) {
	for name, values := range wanted {
		own, ok := t[name]
		if ok && !slices.ContainsFunc(values, func(v string) bool { return slices.Contains(own, v) }) {
			names = append(names, name)
		}
	}
	return names
}

// Verdict is the parameter of the verdicts by a judge.
func Verdict(judge string) string { return "verdict by " + judge }

// Verdicts lists the values of such a parameter.
func Verdicts() []string {
	classes := table.RowsOf(orbench.Classes, func(c orbench.Class) string { return string(c) })
	return append([]string{Refused, Answered, Judged, Unjudged}, classes...)
}

// Sample is one sample of a target.
type Sample struct {
	Target string
	// Base is the target that it is a variant of; empty for none.
	Base string
	// Number is that of the sample, from 1, 0 for a target that is asked once.
	Number int
}

func (s Sample) terms() Terms {
	t := Terms{"variant": {s.Target}, "target": {s.Target}, "sample": {}}
	if s.Base != "" {
		t["target"] = append(t["target"], s.Base)
	}
	if s.Number > 0 {
		t["sample"] = append(t["sample"], strconv.Itoa(s.Number))
	}
	return t
}

// Kind is what answers have in common that only differ in their texts, and in how sure their
// judges are.
type Kind struct {
	Dataset   string
	Label     orbench.Label
	Category  orbench.Category
	Status    score.Status
	Ending    score.Ending
	Simulated bool
	Verdicts  []Said
}

// Said is a verdict of a Kind.
type Said struct {
	Judge  string
	Class  orbench.Class
	Reason orbench.Reason
}

func (k Kind) terms(judges []string) Terms {
	t := Terms{"dataset": {k.Dataset}, "label": {string(k.Label)}, "category": {table.Category(k.Category)}, "status": {string(k.Status)}, "split": {}}
	if k.Ending == score.CutEnding {
		t["status"] = append(t["status"], Cut)
	}
	said := map[string]bool{}
	for _, judge := range judges {
		words := []string{}
		n := slices.IndexFunc(k.Verdicts, func(v Said) bool { return v.Judge == judge && v.Class != orbench.Unjudged })
		switch {
		case n >= 0:
			word := Answered
			if k.Verdicts[n].Class.Refused() {
				word = Refused
			}
			said[word] = true
			words = append(words, word, Judged, string(score.PrintedClass(judge, k.Verdicts[n].Class)))
		case k.Status == score.Answered || k.Status == score.Blocked:
			words = append(words, Unjudged)
		}
		t[Verdict(judge)] = words
	}
	if len(said) > 1 {
		t["split"] = []string{"yes"}
	}
	return t
}

// Table counts answers by sample and kind.
type Table struct {
	Samples []Sample
	Judges  []string
	Kinds   []Kind
	// Counts are by sample, and for each by the number of the kind.
	Counts []map[int]int

	numbers map[string]int
	key     []byte
}

// Add counts an answer of a sample, and gives the number of its kind.
func (t *Table) Add(sample int, row *score.AnswerRow) int {
	key := append(t.key[:0], byte(row.Ending), 0)
	if row.Simulated {
		key[1] = 1
	}
	add := func(text string) { key = append(append(key, text...), 0) }
	add(row.Dataset)
	add(string(row.Prompt.Label))
	add(string(row.Prompt.Category))
	add(string(row.Status))
	for _, v := range row.Verdicts {
		add(v.Judge)
		add(string(v.Class))
		add(string(v.Reason))
	}
	t.key = key
	n, ok := t.numbers[string(key)]
	if !ok {
		if t.numbers == nil {
			t.numbers = map[string]int{}
		}
		n = len(t.Kinds)
		k := Kind{row.Dataset, row.Prompt.Label, row.Prompt.Category, row.Status, row.Ending, row.Simulated, nil}
		for _, v := range row.Verdicts {
			k.Verdicts = append(k.Verdicts, Said{v.Judge, v.Class, v.Reason})
			if !slices.Contains(t.Judges, v.Judge) {
				t.Judges = append(t.Judges, v.Judge)
			}
		}
		t.numbers[string(key)], t.Kinds = n, append(t.Kinds, k)
	}
	for len(t.Counts) <= sample {
		t.Counts = append(t.Counts, map[int]int{})
	}
	t.Counts[sample][n]++
	return n
}

// Terms gives the terms of all samples and of all kinds.
func (t *Table) Terms() (samples, kinds []Terms) {
	return table.RowsOf(t.Samples, Sample.terms), table.RowsOf(t.Kinds, func(k Kind) Terms { return k.terms(t.Judges) })
}

// Choice is the answers of a Table that have one of the wanted values of each parameter.
type Choice struct {
	samples, kinds []Terms
	// without has what each sample and each kind is missing.
	withoutSample, withoutKind [][]string
}

// Choose chooses answers.
func (t *Table) Choose(wanted Terms) *Choice {
	samples, kinds := t.Terms()
	missing := func(of Terms) []string { return of.missing(wanted) }
	return &Choice{samples, kinds, table.RowsOf(samples, missing), table.RowsOf(kinds, missing)}
}

// Has reports whether the answers of a sample and a kind are chosen.
func (c *Choice) Has(sample, kind int) bool {
	return len(c.withoutSample[sample]) == 0 && len(c.withoutKind[kind]) == 0
}

// Count gives how many of some answers, counted as in a Table, are chosen and, for each
// parameter, how many would be with each value. The counts of a parameter ignore the wanted
// values of it.
func (c *Choice) Count(counts []map[int]int) (total int, facets map[string]map[string]int) {
	facets = map[string]map[string]int{}
	for sample, byKind := range counts {
		for kind, n := range byKind {
			missing := slices.Concat(c.withoutSample[sample], c.withoutKind[kind])
			if len(missing) == 0 {
				total += n
			}
			if len(missing) > 1 {
				continue
			}
			for _, terms := range []Terms{c.samples[sample], c.kinds[kind]} {
				for name, values := range terms {
					if len(missing) == 1 && missing[0] != name {
						continue
					}
					if facets[name] == nil {
						facets[name] = map[string]int{}
					}
					for _, v := range values {
						facets[name][v] += n
					}
				}
			}
		}
	}
	return total, facets
}

// Texts lists the texts of a chunk: of each prompt, its own and those of the answers to it.
func Texts(c score.Chunk) (texts []string) {
	answers := slices.Concat(c.Rows...)
	for i := range c.Prompts {
		texts = append(texts, c.Prompts[i].Said())
		for _, rows := range answers {
			texts = append(texts, rows[i].Response.Text)
		}
	}
	return texts
}
