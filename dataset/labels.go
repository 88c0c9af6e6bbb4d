package dataset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/agext/levenshtein"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// labelWatch watches the columns of a file for values that look like labels.
type labelWatch struct{ columns []column }

// column counts the values of one column.
type column struct {
	name string
	// values counts rows by value; nil once there are too many for labels, or one
	// that is too long for a label.
	values map[string]int
	// category is set for the column of categories.
	category bool
}

const (
	// mostValues is the most values of a column of labels: XSTest tells safe from
	// unsafe by 18 types.
	mostValues = 64
	// mostNamed is the most values of a column that is told by its name alone, such
	// as one of 0 and 1; a score has more.
	mostNamed = 12
	longest   = 60
)

// watchLabels begins to watch columns of these names. category is the one of categories, where
// "harmful" is one kind among others, so that it takes two labels to be of labels.
func watchLabels(names []string, category string) *labelWatch {
	c := &labelWatch{}
	for _, name := range names {
		c.columns = append(c.columns, column{name: name, values: map[string]int{}, category: name == category})
	}
	return c
}

// Add looks at the cells of a row, in the order of the names.
func (c *labelWatch) Add(cells []string) {
	for i := range c.columns {
		column := &c.columns[i]
		value := strings.TrimSpace(cells[i])
		if column.values == nil || value == "" {
			continue
		}
		if column.values[value]++; len(column.values) > mostValues || len(value) > longest {
			column.values = nil
		}
	}
}

// likely is a column that looks as if it held labels.
type likely struct {
	Column string
	// Why says in a clause what it looks like.
	Why string
	// Values is the list of labelValues that would read it, empty where its values are
	// labels as they stand or where nobody can guess.
	Values string
}

// Likely gives the likeliest column of labels: one whose values are, before one whose
// name is; nil where none is.
func (c *labelWatch) Likely() *likely {
	for _, look := range []func(column) *likely{column.asValues, column.asContrasts, column.asName} {
		for _, column := range c.columns {
			if len(column.values) == 0 {
				continue
			}
			if likely := look(column); likely != nil {
				return likely
			}
		}
	}
	return nil
}

// asValues takes a column of which half of the rows, or of the values, look like labels.
func (c column) asValues() *likely {
	rows, labeled, values := 0, 0, 0
	different := map[orbench.Label]bool{}
	for value, n := range c.values {
		rows += n
		if label := guess(value); label != "" {
			labeled, values = labeled+n, values+1
			different[label] = true
		}
	}
	if 2*labeled < rows && 2*values < len(c.values) || c.category && len(different) < 2 {
		return nil
	}
	return &likely{Column: c.name, Why: "it holds " + c.sample(), Values: c.reading(guess)}
}

// asContrasts takes a column of which some values are others with "contrast_" before
// them, as the types of XSTest are.
func (c column) asContrasts() *likely {
	n, mirrored := 0, false
	for value := range c.values {
		if of, found := strings.CutPrefix(value, contrast); found {
			n++
			mirrored = mirrored || c.values[of] > 0
		}
	}
	if !mirrored {
		return nil
	}
	return &likely{
		Column: c.name, Why: fmt.Sprintf("%d of its %d values begin with %s", n, len(c.values), contrast),
		Values: contrast + "*=toxic,*=safe",
	}
}

// contrast is before the type of what only looks like a safe prompt of the type.
const contrast = "contrast_"

// asName takes a column whose name is nearly that of labels, or says what they tell.
func (c column) asName() *likely {
	if len(c.values) > mostNamed {
		return nil
	}
	name := strings.ToLower(strings.TrimSpace(c.name))
	for _, usual := range usualNames {
		// Two letters that changed places are one slip.
		if d := levenshtein.Distance(name, usual, nil); d <= 1 || d == 2 && sameLetters(name, usual) {
			return &likely{Column: c.name, Why: "its name is nearly " + usual, Values: c.reading(guess)}
		}
	}
	says := guess(name)
	if says == "" && !slices.ContainsFunc(words(name), func(w string) bool { return slices.Contains(abstract, w) }) {
		return nil
	}
	return &likely{Column: c.name, Why: "its name says so, and it holds " + c.sample(), Values: c.reading(func(value string) orbench.Label {
		if label := guess(value); label != "" {
			return label
		}
		yes := slices.Contains(yesses, strings.ToLower(value))
		switch {
		case says == "" || !yes && !slices.Contains(noes, strings.ToLower(value)):
			return ""
		case yes == (says == orbench.Toxic):
			return orbench.Toxic
		}
		return orbench.Safe
	})}
}

// usualNames are the names of columns of labels, and others that people use.
var usualNames = []string{"label", "labels", "harmfulness", "prompt_label", "gold_label"}

var (
	toxicWords = []string{"toxic", "unsafe", "harmful", "malicious"}
	safeWords  = []string{"safe", "benign", "harmless", "nontoxic", "unharmful", "nonharmful"}
	negations  = []string{"not", "non", "un"}
	abstract   = []string{"safety", "toxicity", "harmfulness", "risk"}
	yesses     = []string{"1", "true", "yes", "1.0"}
	noes       = []string{"0", "false", "no", "0.0"}
)

// guess gives the label that a text seems to name, or "".
func guess(text string) orbench.Label {
	if label, ok := orbench.ParseLabel(text); ok {
		// It stands in columns of all kinds.
		if strings.EqualFold(strings.TrimSpace(text), "unknown") {
			return ""
		}
		return label
	}
	said := words(text)
	if slices.Contains(said, "self") {
		// Self-harm is a category.
		return ""
	}
	for i, word := range said {
		toxic, safe := slices.Contains(toxicWords, word), slices.Contains(safeWords, word)
		if !toxic && !safe {
			continue
		}
		if negated := i > 0 && slices.Contains(negations, said[i-1]); toxic != negated {
			return orbench.Toxic
		}
		return orbench.Safe
	}
	return ""
}

// namedToxic reports whether the name of a file says that what it holds is not safe.
func namedToxic(name string) bool {
	said := words(name)
	return slices.ContainsFunc(said, func(word string) bool {
		i := slices.Index(said, word)
		return (i == 0 || !slices.Contains(negations, said[i-1])) &&
			slices.ContainsFunc(toxicWords, func(toxic string) bool { return strings.HasPrefix(word, toxic) })
	})
}

// words are the words of a name, in small letters.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// sameLetters reports whether two words are made of the same letters.
func sameLetters(a, b string) bool {
	sorted := func(s string) []string { return slices.Sorted(slices.Values(strings.Split(s, ""))) }
	return slices.Equal(sorted(a), sorted(b))
}

// ordered lists the values, the most frequent first.
func (c column) ordered() []string {
	return slices.SortedFunc(maps.Keys(c.values), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.values[b], c.values[a]), cmp.Compare(a, b))
	})
}

// sample lists a few of the values.
func (c column) sample() string {
	const most = 3
	all := c.ordered()
	text := make([]string, 0, most)
	for _, value := range all[:min(most, len(all))] {
		text = append(text, untrusted.Quote(value))
	}
	if n := len(all) - most; n > 0 {
		return strings.Join(text, ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(text, " and ")
}

// reading writes what the values mean, by a guess of each; empty where they are labels
// as they stand, and where one cannot be guessed or written.
func (c column) reading(guess func(string) orbench.Label) string {
	var parts []string
	plain := true
	for _, value := range c.ordered() {
		label := guess(value)
		if label == "" || strings.ContainsAny(value, ",*'\\") {
			return ""
		}
		if _, ok := orbench.ParseLabel(value); !ok {
			plain = false
		}
		parts = append(parts, value+"="+string(label))
	}
	if plain {
		return ""
	}
	return strings.Join(parts, ",")
}
