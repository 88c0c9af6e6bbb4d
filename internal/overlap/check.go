package overlap

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// Splits are the names of the splits, the one to train on first.
var Splits = [3]string{"train", "validation", "test"}

// Checked is the result of checking a folder of training data, or a dataset.
type Checked struct {
	// Dir is empty for a dataset.
	Dir string `json:"dir,omitempty"`
	// Files lists the files that were read, with their numbers of rows. Unread
	// lists those that were not, and why.
	Files  []CheckedFile `json:"files"`
	Unread []Unchecked   `json:"unread"`
	// Evaluations are the sets that rows were compared with.
	Evaluations Evaluations `json:"evaluations"`
	Findings    []Finding   `json:"findings"`
}

// CheckedFile is a file of rows.
type CheckedFile struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
	// NoPrompt counts the rows in which no known column holds a prompt.
	NoPrompt int `json:"no_prompt,omitempty"`
}

// Problem names what is wrong with a row or a file.
type Problem string

// The problems.
const (
	// Contaminated rows have a turn with the same words as one in an evaluation
	// set. NearlyContaminated rows have one with nearly the same words.
	Contaminated       Problem = "in_evaluation"
	NearlyContaminated Problem = "near_evaluation"
	// AcrossSplits rows have a prompt that also occurs, exactly or nearly, in a
	// file of another split.
	AcrossSplits Problem = "across_splits"
	// SeedAcrossSplits and Changed are found by package training, in folders
	// that it wrote. SeedAcrossSplits means that the rows of a seed are in
	// several splits. Changed means that a file is missing or that its content
	// differs from the manifest.
	SeedAcrossSplits Problem = "seed_across_splits"
	Changed          Problem = "changed"
)

// Finding is a problem.
type Finding struct {
	Problem Problem `json:"problem"`
	File    string  `json:"file"`
	// Row is the number of the row, from 1; 0 for
	// a whole file.
	Row int `json:"row,omitempty"`
	// Text is what the user says in the row, or where the prompt stands in a system message
	// or an answer, their lines. Match is the similar text in an
	// evaluation set or in another file.
	Text  string `json:"text,omitempty"`
	Match *Match `json:"match,omitempty"`
	// Detail gives further information.
	Detail string `json:"detail,omitempty"`
}

// Check compares the rows of every file of a folder, except those in skip, with
// evaluation sets, and compares different splits with each other. A folder
// without any row to check is an *orbench.InputError.
func Check(ctx context.Context, dir string, against *Evaluations, skip []string) (*Checked, error) {
	c := checkedAgainst(against)
	c.Dir = dir
	files, err := c.list(skip)
	if err != nil {
		return nil, err
	}
	// Prompts of a split are compared with those of the splits before it.
	slices.SortStableFunc(files, func(a, b string) int { return splitOfFile(a) - splitOfFile(b) })
	splits := []*Turns{NewTurns(against.Threshold), NewTurns(against.Threshold), NewTurns(against.Threshold)}
	for _, name := range files {
		if err := c.read(ctx, filepath.Join(dir, name), "", name, splits[:splitOfFile(name)+1]); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(c.Files, func(f CheckedFile) bool { return f.Rows > f.NoPrompt }) {
		return nil, noPrompts(dir)
	}
	return c, nil
}

// Compare finds the prompts of a dataset that another one has, as Check does. Each is
// a name or a file. The threshold is above 0 and at most 1; dataset.NearThreshold is the
// usual one. The prompts of b are held in memory: 80,000 against 80,000 take about
// 4 seconds. What cannot be read is an *orbench.InputError.
func Compare(ctx context.Context, a, b, cache string, threshold float64) (*Checked, error) {
	e, err := newEvaluations(threshold)
	if err != nil {
		return nil, err
	}
	if err := e.add(ctx, b, cache); err != nil {
		return nil, err
	}
	c := checkedAgainst(e)
	if err := c.read(ctx, a, cache, nameOf(a), nil); err != nil || c.Files[0].Rows > c.Files[0].NoPrompt {
		return c, err
	}
	return nil, noPrompts(a)
}

// checkedAgainst has no file yet.
func checkedAgainst(e *Evaluations) *Checked {
	return &Checked{Files: []CheckedFile{}, Unread: []Unchecked{}, Evaluations: *e, Findings: []Finding{}}
}

// list finds the files of rows, and records those that are not read.
func (c *Checked) list(skip []string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(c.Dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(c.Dir, path)
		switch {
		case err != nil:
			return &orbench.InputError{File: path, Problem: "cannot be read: " + err.Error(), Hint: "correct its permissions", Err: err}
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return filepath.SkipDir
			}
		case d.IsDir(), slices.Contains(skip, name):
		case slices.Contains([]string{"README.md", "LICENSE", "LICENSE.txt", "dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"}, d.Name()):
		case rows.Readable(path):
			files = append(files, name)
		default:
			c.Unread = append(c.Unread, Unchecked{Name: name, Why: "not JSON Lines, JSON, Parquet or CSV"})
		}
		return nil
	})
	return files, err
}

// splitNames maps a word in a file's path to its split in Splits, by the rules of
// the datasets library.
var splitNames = map[string]int{
	"train": 0, "training": 0, "validation": 1, "valid": 1, "dev": 1, "val": 1, "test": 2, "testing": 2, "eval": 2, "evaluation": 2,
}

// splitOfFile returns the split that a file's path names, or -1.
func splitOfFile(name string) int {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !(r >= 'a' && r <= 'z') })
	for _, word := range slices.Backward(words) {
		if split, ok := splitNames[word]; ok {
			return split
		}
	}
	return -1
}

// read compares the rows of a file, or of a named dataset, with the evaluation sets, and
// its prompts with those of the splits before its own, which is the last of splits. It keeps
// its prompts there.
func (c *Checked) read(ctx context.Context, ref, cache, name string, splits []*Turns) error {
	f := CheckedFile{Name: name}
	_, err := eachRow(ctx, ref, cache, func(row int, said, others []string) {
		f.Rows++
		whole := strings.Join(said, "\n")
		found := func(problem Problem, text string, match Match) {
			c.Findings = append(c.Findings, Finding{Problem: problem, File: name, Row: row, Text: text, Match: &match})
		}
		problem, text := NearlyContaminated, whole
		match, is := c.Evaluations.Find(said)
		if !is {
			// Only lines are compared, since a prompt is a small part of a long answer.
			match, is = c.Evaluations.Find(others)
			text = strings.Join(others, "\n")
		}
		if match.Exact {
			problem = Contaminated
		}
		if is {
			found(problem, text, match)
		}
		if len(said) == 0 {
			f.NoPrompt++
		}
		if len(said) == 0 || len(splits) == 0 {
			return
		}
		// Single turns, such as a greeting, may well be in several splits.
		own := len(splits) - 1
		for _, earlier := range splits[:own] {
			if match, is := earlier.Find([]string{whole}); is {
				found(AcrossSplits, whole, match)
			}
		}
		splits[own].Keep(fmt.Sprintf("row %d of %s", row, name), whole)
	})
	c.Files = append(c.Files, f)
	return err
}

// shownFindings is how many findings are printed in full.
const shownFindings = 50

// Document returns what people read: what was checked and what was found.
func (c *Checked) Document() table.Document {
	d := table.Document{Title: "Prompts compared with evaluation sets"}
	d.Basis(c.Evaluations.Compared()...)
	for _, u := range c.Unread {
		d.Add(table.Note{Mark: "! ", Text: "Not read: " + u.Name + ", " + u.Why})
	}
	n, of := 0, map[Problem]int{}
	for _, f := range c.Files {
		n += f.Rows
		if f.NoPrompt > 0 {
			d.Add(table.Note{Mark: "! ", Text: fmt.Sprintf("%s: %s of %s rows have no column that is known to hold a prompt", f.Name, table.Count(f.NoPrompt), table.Count(f.Rows))})
		}
	}
	for _, f := range c.Findings {
		of[f.Problem]++
	}
	d.Add(table.Paragraph(fmt.Sprintf("Of %s, %s have the same words as one there, and %s nearly the same: %s.",
		table.Counted(n, "row", "rows"), table.Count(of[Contaminated]), table.Count(of[NearlyContaminated]), table.Percent(float64(of[Contaminated]+of[NearlyContaminated])/float64(n)))))
	if text := c.Evaluations.Little(); text != "" && c.Dir != "" {
		d.Add(table.Note{Mark: "! ", Text: text})
	}
	shown := min(len(c.Findings), shownFindings)
	for _, f := range c.Findings[:shown] {
		d.Add(table.Note{Mark: "! ", Text: f.String()})
	}
	if more := len(c.Findings) - shown; more > 0 {
		d.Add(table.Line(fmt.Sprintf("… and %s more (the JSON has them all)", table.Count(more))))
	}
	return d
}

// Rows returns the findings.
func (c *Checked) Rows() any { return c.Findings }

// Data returns the check in its documented form.
func (c *Checked) Data() any { return c }

// String returns the finding in one line.
func (f Finding) String() string {
	where := f.File
	if f.Row > 0 {
		where += fmt.Sprintf(", row %d", f.Row)
	}
	what := f.Detail
	if m := f.Match; m != nil {
		verb := "has the words of"
		if !m.Exact {
			verb = "is nearly"
		}
		what = fmt.Sprintf("%q %s %q in %s", untrusted.Excerpt(f.Text, 160), verb, untrusted.Excerpt(m.Text, 160), m.Set)
	}
	return untrusted.Terminal(where + ": " + what)
}
