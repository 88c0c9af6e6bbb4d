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

// labelWatch watches the columns of a file for values that look like labels; nil watches none.
type labelWatch []column

// column counts the values of one column.
type column struct {
	name string
	// values counts rows by value. It is nil once there are too many values for labels,
	// or one is too long for a label.
	values map[string]int
	// category is set for the column of categories.
	category bool
}

const (
	// mostValues is the most values of a label column. XSTest separates safe from unsafe
	// by 18 types.
	mostValues = 64
	// mostNamed is the most values of a column recognized by its name alone, such as one
	// of 0 and 1; a score has more.
	mostNamed = 12
	longest   = 60
)

// watchLabels begins to watch the columns with these names. category is the category
// column. There "harmful" may be one category among others, so two label values are
// needed to take it for a label column.
func watchLabels(names []string, category string) labelWatch {
	watch := labelWatch{}
	for _, name := range names {
		watch = append(watch, column{name: name, values: map[string]int{}, category: name == category})
	}
	return watch
}

// Add looks at the cells of a row, in the order of the names.
func (w labelWatch) Add(cells []string) {
	for i := range w {
		column := &w[i]
		value := strings.TrimSpace(cells[i])
		if column.values == nil || value == "" {
			continue
		}
		if column.values[value]++; len(column.values) > mostValues || len(value) > longest {
			column.values = nil
		}
	}
}

// likely is a column that may contain labels.
type likely struct {
	Column string
	// Why says in a clause why it looks like labels.
	Why string
	// Values is the list of labelValues that would read the column. It is empty if the
	// values already are labels, or if nobody can guess them.
	Values string
}

// Likely gives the likeliest label column. A column with label-like values comes before
// one with a label-like name. It is nil if there is none.
func (w labelWatch) Likely() *likely {
	for _, look := range []func(column) *likely{column.asValues, column.asContrasts, column.asName} {
		for _, column := range w {
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

// asValues accepts a column if half of its rows, or of its values, look like labels.
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

// asContrasts accepts a column if some values are other values with "contrast_" in front,
// like the types of XSTest.
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

// contrast precedes a safe type in the names of its toxic contrasts.
const contrast = "contrast_"

// asName accepts a column whose name is nearly a usual name of label columns, or says
// what its values mean.
func (c column) asName() *likely {
	if len(c.values) > mostNamed {
		return nil
	}
	name := strings.ToLower(strings.TrimSpace(c.name))
	for _, usual := range usualNames {
		// Two letters that changed places count as one typing error.
		if d := levenshtein.Distance(name, usual, nil); d <= 1 || d == 2 && sameLetters(name, usual) {
			return &likely{Column: c.name, Why: "its name is nearly " + usual, Values: c.reading(guess)}
		}
	}
	says := guess(name)
	for _, w := range words(name) {
		says = cmp.Or(says, abstract[w])
	}
	if says == "" {
		return nil
	}
	return &likely{Column: c.name, Why: "its name says so, and it holds " + c.sample(), Values: c.reading(func(value string) orbench.Label {
		if label := guess(value); label != "" {
			return label
		}
		yes := slices.Contains(yesses, strings.ToLower(value))
		switch {
		case !yes && !slices.Contains(noes, strings.ToLower(value)):
			return ""
		case yes == (says == orbench.Toxic):
			return orbench.Toxic
		}
		return orbench.Safe
	})}
}

// usualNames are the usual names of label columns, and others that people use.
var usualNames = []string{"label", "labels", "harmfulness", "prompt_label", "gold_label"}

var (
	toxicWords = []string{"toxic", "unsafe", "harmful", "malicious"}
	safeWords  = []string{"safe", "benign", "harmless", "nontoxic", "unharmful", "nonharmful"}
	negations  = []string{"not", "non", "un"}
	// What has the quality that a noun names has this label.
	abstract = map[string]orbench.Label{"safety": orbench.Safe, "toxicity": orbench.Toxic, "harmfulness": orbench.Toxic, "risk": orbench.Toxic}
	yesses   = []string{"1", "true", "yes", "1.0"}
	noes     = []string{"0", "false", "no", "0.0"}
)

// guess gives the label that a text seems to name, or "".
func guess(text string) orbench.Label {
	if label, ok := orbench.ParseLabel(text); ok {
		// This value occurs in columns of all kinds.
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

// namedToxic reports whether a file's name says that its content is not safe.
func namedToxic(name string) bool {
	said := words(name)
	return slices.ContainsFunc(said, func(word string) bool {
		i := slices.Index(said, word)
		return (i == 0 || !slices.Contains(negations, said[i-1])) &&
			slices.ContainsFunc(toxicWords, func(toxic string) bool { return strings.HasPrefix(word, toxic) })
	})
}

// words are the words of a name, in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// sameLetters reports whether two words consist of the same letters.
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

// reading writes the meaning of the values, with a guess for each. It is empty if they
// already are labels, or if one cannot be guessed or written.
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

// labelValues gives the meaning of the values of a column. The zero value knows only
// labels, as orbench.ParseLabel reads them.
type labelValues []labelValue

// labelValue gives a value its label.
type labelValue struct {
	// Is is the value in lower case, or its beginning if Begins is set.
	Is     string
	Begins bool
	Label  orbench.Label
}

// parseLabelValues reads a list such as "contrast_*=toxic,*=safe": values, or their
// beginnings followed by a star, each with its label. An empty text gives the zero value.
func parseLabelValues(list string) (all labelValues, err error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(list, ",") {
		at := strings.LastIndex(part, "=")
		if at < 0 {
			return nil, wrongValues(fmt.Sprintf("%s has no =", untrusted.Quote(part)))
		}
		label, ok := orbench.ParseLabel(part[at+1:])
		if !ok {
			return nil, wrongValues(fmt.Sprintf("unknown label %s", untrusted.Quote(strings.TrimSpace(part[at+1:]))))
		}
		value := strings.ToLower(strings.TrimSpace(part[:at]))
		beginning, begins := strings.CutSuffix(value, "*")
		if value == "" {
			return nil, wrongValues(fmt.Sprintf("%s names no value", untrusted.Quote(part)))
		}
		all = append(all, labelValue{Is: beginning, Begins: begins, Label: label})
	}
	return all, nil
}

func wrongValues(problem string) error {
	return &orbench.InputError{
		Setting: "label-values", Problem: problem,
		Hint: "write VALUE=LABEL with commas between, such as contrast_*=toxic,*=safe; labels are safe, toxic, controversial and undecided",
	}
}

// Label gives the label of a cell: that of the first value that equals it or begins it,
// ignoring case. If there is none, the cell must itself be a label.
func (v labelValues) Label(written string) (orbench.Label, bool) {
	text := strings.ToLower(strings.TrimSpace(written))
	for _, value := range v {
		if text != "" && (text == value.Is || value.Begins && strings.HasPrefix(text, value.Is)) {
			return value.Label, true
		}
	}
	return orbench.ParseLabel(written)
}
