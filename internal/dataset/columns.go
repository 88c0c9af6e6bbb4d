package dataset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/untrusted"
)

// Columns names the columns that a dataset is read from, as spelled in the file. An empty
// name means that there is no such column.
type Columns struct {
	Prompt   string `json:"prompt"`
	Category string `json:"category,omitempty"`
	Label    string `json:"label,omitempty"`
	Cluster  string `json:"cluster,omitempty"`
	Pair     string `json:"pair,omitempty"`
	// Response is the column of the answers at the end of prompts.
	Response string `json:"response,omitempty"`
	// passedOver is as in Reading, and id is the column of the file's own IDs.
	passedOver, id string
}

// The usual names of columns, the likelier first, used if the user names none. XSTest has
// both "type" and "label"; PHTest has "Request" and "Harmfulness".
var (
	promptNames   = []string{"prompt", "text", "question", "instruction", "query", "goal", "request", "input"}
	categoryNames = []string{"category", "type", "topic", "harm_category", "harm_type"}
	labelNames    = []string{"label", "harmfulness"}
	clusterNames  = []string{"seed_id", "seed", "cluster"}
	pairNames     = []string{"pair", "pair_id"}
)

// unsentNames are the columns of parts of prompts other than text. A model asked without
// them is asked something else.
var unsentNames = []string{"tools", "functions", "image", "images", "image_url"}

// findColumns chooses the columns of a file, by the user's names or else by the usual
// ones. They may be missing unless the user named them.
func findColumns(file string, have []string, at func(string) bool, opts Options) (c Columns, err error) {
	if c.Prompt, err = findPrompt(file, have, at, opts.Prompt); err != nil {
		return c, err
	}
	c.id, _ = findColumn(file, have, at, "", joinNames, "") // two columns of one name are none
	if opts.Unlabeled {
		c.passedOver, _ = findColumn(file, have, at, "", labelNames, "label-column")
		return c, nil
	}
	find := func(found *string, want string, usual []string, setting string) {
		if err == nil {
			*found, err = findColumn(file, have, at, want, usual, setting)
		}
	}
	find(&c.Category, opts.Category, categoryNames, "category-column")
	find(&c.Label, opts.Label, labelNames, "label-column")
	find(&c.Cluster, opts.Cluster, clusterNames, "dataset")
	find(&c.Pair, opts.Pair, pairNames, "dataset")
	find(&c.Response, opts.Response, nil, "response-column")
	return c, err
}

// layout reads the category, label, cluster, pair and ID together with the prompt. It refuses
// a label that only some rows have: it would be missed, and the rows counted under the
// label of the others. flags lets labels be numbers and booleans. The columns that must
// be empty and the watched ones are read after all others.
func (c Columns) layout(flags bool, unsent, watched []string) rows.Layout {
	l := rows.Layout{Prompt: c.Prompt, PassBlank: true, Fields: []rows.Field{
		{Name: c.Category},
		{Name: c.Label, Scalar: flags},
		{Name: c.Cluster, Scalar: true},
		{Name: c.Pair, Scalar: true},
		{Name: c.id, Scalar: true, Lenient: true},
	}}
	if c.Response != "" {
		l.Fields = append(l.Fields, rows.Field{Name: c.Response, Required: true})
	}
	for _, name := range unsent {
		l.Fields = append(l.Fields, rows.Field{Name: name, Scalar: true, Whole: true})
	}
	for _, name := range watched {
		l.Fields = append(l.Fields, rows.Field{Name: name, Scalar: true, Lenient: true})
	}
	if c.Label == "" {
		l.Stray = labelNames
	}
	return l
}

// unsent are the columns that must be empty, except for those that are read for another
// purpose.
func (c Columns) unsent(have []string) []string {
	read := []string{c.Prompt, c.Category, c.Label, c.Cluster, c.Pair, c.Response}
	return slices.DeleteFunc(slices.Clone(have), func(name string) bool {
		return !slices.Contains(unsentNames, strings.ToLower(strings.TrimSpace(name))) || slices.Contains(read, name)
	})
}

// others are the columns that may contain labels, in a file without a known label column.
func (c Columns) others(have []string) []string {
	read := []string{c.Prompt, c.Response, c.Cluster, c.Pair, rows.MessagesColumn}
	return slices.DeleteFunc(slices.Clone(have), func(name string) bool { return slices.Contains(read, name) })
}

// findPrompt chooses the prompt column: the user's, or a usual one, or a list of
// messages, or "".
func findPrompt(file string, have []string, at func(string) bool, want string) (string, error) {
	name, err := findColumn(file, have, at, want, promptNames, "prompt-column")
	if name == "" && err == nil && at != nil && slices.Contains(have, rows.MessagesColumn) {
		return rows.MessagesColumn, nil
	}
	return name, err
}

// noColumn is the fault of a file without a column that it needs.
func noColumn(file string, have []string, what, hint string) error {
	if !strings.Contains(strings.ToLower(file), ".json") {
		hint += "; line 1 of a CSV file names its columns"
	}
	return &orbench.InputError{File: file, Line: 1, Problem: fmt.Sprintf("no %s column among %s", what, rows.List(have)), Hint: hint}
}

// findColumn gives the column that the user wants, which may be a path for at, or the
// first usual one that the file has, or "". The usual ones may be written in any case, with
// blanks, hyphens or nothing for underscores.
func findColumn(file string, have []string, at func(string) bool, want string, usual []string, setting string) (string, error) {
	names, spelled := usual, strings.NewReplacer(" ", "", "-", "", "_", "")
	if want != "" {
		names, spelled = []string{want}, strings.NewReplacer()
	}
	for _, name := range names {
		found := ""
		for _, h := range have {
			switch {
			case !strings.EqualFold(spelled.Replace(strings.TrimSpace(h)), spelled.Replace(strings.TrimSpace(name))):
			case found != "":
				return "", &orbench.InputError{
					File: file, Line: 1, Problem: fmt.Sprintf("two columns are named %s", untrusted.Quote(h)), Hint: "rename one of them",
				}
			default:
				found = h
			}
		}
		if found != "" {
			return found, nil
		}
	}
	if want == "" || at != nil && at(want) {
		return want, nil
	}
	hint := fmt.Sprintf("the columns are %s; correct `%s`", rows.List(have), setting)
	if near := settings.Nearest(want, have); near != "" {
		hint = fmt.Sprintf("did you mean %s? The columns are %s", untrusted.Quote(near), rows.List(have))
	}
	return "", &orbench.InputError{File: file, Line: 1, Problem: fmt.Sprintf("no column %s", untrusted.Quote(want)), Hint: hint}
}
