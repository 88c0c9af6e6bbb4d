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
	// Clustered is true if the folder names the seed of each row, so that
	// splits were checked by seed.
	Clustered bool      `json:"clustered"`
	Findings  []Finding `json:"findings"`
}

// CheckedFile is a file of rows.
type CheckedFile struct {
	Name string `json:"name"`
	// Split is the split that the file's name indicates; empty if it indicates
	// none.
	Split string `json:"split,omitempty"`
	Rows  int    `json:"rows"`
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
	// Row is the number of the row, from 1, or of the line in JSON Lines; 0 for
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
	c := &Checked{Dir: dir, Files: []CheckedFile{}, Unread: []Unchecked{}, Evaluations: *against, Findings: []Finding{}}
	files, err := c.list(skip)
	if err != nil {
		return nil, err
	}
	// By split; "" is for files that name none.
	splits := map[string]*splitTurns{}
	for _, name := range files {
		split := splitOfFile(name)
		if splits[split] == nil {
			splits[split] = &splitTurns{turns: NewTurns(against.Threshold)}
		}
		if err := c.read(ctx, name, split, splits[split]); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(c.Files, func(f CheckedFile) bool { return f.Rows > f.NoPrompt }) {
		return nil, &orbench.InputError{
			File: dir, Problem: "no file in it has rows with a prompt",
			Hint: "name a folder of JSON Lines, Parquet or CSV files with a column such as prompt or messages",
		}
	}
	for i, later := range Splits {
		for _, earlier := range Splits[:i] {
			if splits[later] != nil && splits[earlier] != nil {
				c.between(splits[later], splits[earlier])
			}
		}
	}
	return c, nil
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

// splitNames maps a word in a file's path to its split, by the rules of the
// datasets library.
var splitNames = map[string]string{
	"train": "train", "training": "train", "validation": "validation", "valid": "validation", "dev": "validation", "val": "validation",
	"test": "test", "testing": "test", "eval": "test", "evaluation": "test",
}

// splitOfFile returns the split that a file's path names, or "".
func splitOfFile(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !(r >= 'a' && r <= 'z') })
	for _, word := range slices.Backward(words) {
		if split, ok := splitNames[word]; ok {
			return split
		}
	}
	return ""
}

// splitTurns holds the prompts of a split, each as Whole returns it, and their
// positions.
type splitTurns struct {
	turns *Turns
	at    []place
}

type place struct {
	file string
	row  int
}

// read compares the rows of a file with the evaluation sets and keeps their
// turns in those of its split.
func (c *Checked) read(ctx context.Context, name, split string, s *splitTurns) error {
	f := CheckedFile{Name: name, Split: split}
	err := readRows(filepath.Join(c.Dir, name), func(row int, said, others []string) error {
		f.Rows++
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(said) == 0 {
			f.NoPrompt++
		}
		c.compare(name, row, said, others)
		if len(said) == 0 {
			return nil
		}
		s.turns.Keep(Whole(said))
		s.at = append(s.at, place{name, row})
		return nil
	})
	c.Files = append(c.Files, f)
	return err
}

// compare compares what the user says in a row with the evaluation sets, and
// then its other lines.
func (c *Checked) compare(name string, row int, said, others []string) {
	match, found := c.Evaluations.Find(said)
	text := Whole(said)
	if !found {
		// Only lines are compared, since a prompt is a small part of a long answer.
		match, found = c.Evaluations.Find(others)
		text = strings.Join(others, "\n")
	}
	if found {
		problem := NearlyContaminated
		if match.Exact {
			problem = Contaminated
		}
		c.Findings = append(c.Findings, Finding{Problem: problem, File: name, Row: row, Text: text, Match: &match})
	}
}

// between compares the prompts of a later split with those of an earlier one.
func (c *Checked) between(later, earlier *splitTurns) {
	for n, text := range later.turns.texts {
		found, ok := earlier.turns.Find([]string{text})
		if !ok {
			continue
		}
		there, here := earlier.at[found.At], later.at[n]
		c.Findings = append(c.Findings, Finding{
			Problem: AcrossSplits, File: here.file, Row: here.row, Text: text,
			Match:  &Match{Set: there.file, Text: earlier.turns.texts[found.At], Exact: found.Exact, Jaccard: found.Jaccard},
			Detail: fmt.Sprintf("row %d of %s", there.row, there.file),
		})
	}
}

// shownFindings is how many findings are printed in full.
const shownFindings = 50

// Document returns what people read: what was checked and what was found.
func (c *Checked) Document() table.Document {
	d := table.Document{Title: "Prompts compared with evaluation sets"}
	files := table.Section{Title: "Files", Header: []string{"file", "split", "rows", "without a prompt"}, Left: 2}
	for _, f := range c.Files {
		files.Rows = append(files.Rows, []string{f.Name, f.Split, table.Count(f.Rows), table.Count(f.NoPrompt)})
	}
	d.Sections(files)
	for _, u := range c.Unread {
		d.AddTo(table.OnScreen, table.Note{Mark: "Not read: ", Text: u.Name + ", " + u.Why})
		d.AddTo(table.InMarkdown, table.Paragraph("Not read: "+u.Name+", "+u.Why))
	}
	d.Basis(c.Evaluations.Compared()...)
	n, same, nearly := 0, 0, 0
	for _, f := range c.Files {
		n += f.Rows
	}
	for _, f := range c.Findings {
		switch f.Problem {
		case Contaminated:
			same++
		case NearlyContaminated:
			nearly++
		}
	}
	d.Add(table.Paragraph(fmt.Sprintf("Of %s rows, %s have the same words as one there, and %s nearly the same: %s.",
		table.Count(n), table.Count(same), table.Count(nearly), table.Percent(float64(same+nearly)/float64(n)))))
	if text := c.Evaluations.Little(); text != "" && c.Dir != "" {
		d.Add(table.Note{Mark: "! ", Text: text})
	}
	for i, f := range c.Findings {
		if i == shownFindings {
			d.Add(table.Line(fmt.Sprintf("… and %s more (the JSON has them all)", table.Count(len(c.Findings)-i))))
			break
		}
		d.Add(table.Note{Mark: "! ", Text: f.String()})
	}
	if len(c.Findings) == 0 && c.Dir != "" {
		what := "No row is in an evaluation set, nor nearly the same as one there, and no prompt is in two splits."
		if len(c.Evaluations.Checked) == 0 {
			what = "The rows were not compared with any evaluation set. No prompt is in two splits, exactly or nearly."
		}
		if c.Clustered {
			what += " No seed is in two splits, and all files are as they were written."
		}
		d.Add(table.Paragraph(what))
	}
	return d
}

// Rows returns the findings.
func (c *Checked) Rows() any { return c.Findings }

// Data returns the check in its documented form.
func (c *Checked) Data() any { return c }

// String returns the finding in one line.
func (f Finding) String() string {
	where := untrusted.Terminal(f.File)
	if f.Row > 0 {
		where += fmt.Sprintf(", row %d", f.Row)
	}
	quote := func(s string) string { return `"` + untrusted.Excerpt(untrusted.Terminal(s), 160) + `"` }
	switch f.Problem {
	case Contaminated:
		return fmt.Sprintf("%s: %s has the words of %s in %s", where, quote(f.Text), quote(f.Match.Text), untrusted.Terminal(f.Match.Set))
	case NearlyContaminated:
		return fmt.Sprintf("%s: %s is nearly %s in %s (%.2f)", where, quote(f.Text), quote(f.Match.Text), untrusted.Terminal(f.Match.Set), f.Match.Jaccard)
	case AcrossSplits:
		return fmt.Sprintf("%s: %s is, or nearly (%.2f), %s, %s of another split", where, quote(f.Text), f.Match.Jaccard, quote(f.Match.Text), untrusted.Terminal(f.Detail))
	}
	return where + ": " + untrusted.Terminal(f.Detail)
}
