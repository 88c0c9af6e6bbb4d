package dataset

import (
	"fmt"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

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
func parseLabelValues(list string) (labelValues, error) {
	var all labelValues
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
