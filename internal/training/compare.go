package training

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// Checked is the result of checking a folder of training data, or a dataset.
type Checked struct {
	// Dir is the folder, empty for a dataset or a file.
	Dir string `json:"dir,omitempty"`
	// Files lists the files that were read, and Count counts their rows. Unread
	// lists those that were not read, or not whole, and why.
	Files  []string    `json:"files"`
	Count  int         `json:"rows"`
	Unread []Unchecked `json:"unread"`
	// Evaluations are the sets that rows were compared with.
	Evaluations Evaluations `json:"evaluations"`
	Findings    []Finding   `json:"findings"`
}

// Problem names what is wrong with a row or a file.
type Problem string

// The problems.
const (
	// Contaminated rows have a turn with the same words as one in an evaluation
	// set. NearlyContaminated rows have one with nearly the same words.
	Contaminated       Problem = "in_evaluation"
	NearlyContaminated Problem = "near_evaluation"
	// SeedAcrossSplits and Changed are found in folders that Write wrote.
	// SeedAcrossSplits means that the rows of a seed are in
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
	// Text is what the user says in the row, or a line of a system message or of an answer.
	// Match is the similar text in an evaluation set or in another file. Without one, Text
	// says what is wrong.
	Text  string `json:"text"`
	Match *Match `json:"match,omitempty"`
}

// Compare compares the rows of a named dataset or a file, or of every file of a folder except
// those in skip, with evaluation sets. The evaluation sets are held in memory: 80,000 prompts against 80,000 take about 4 seconds.
// What cannot be read, or has no prompt, is an *orbench.InputError.
func Compare(ctx context.Context, ref, cache string, against *Evaluations, skip []string) (*Checked, error) {
	c := &Checked{Files: []string{ref}, Unread: []Unchecked{}, Evaluations: *against, Findings: []Finding{}}
	if info, err := os.Stat(ref); err == nil && info.IsDir() {
		if err := c.list(ref, skip); err != nil {
			return nil, err
		}
	}
	prompts, seen := 0, map[string]string{}
	for _, name := range c.Files {
		n, err := c.read(ctx, filepath.Join(c.Dir, name), cache, name, seen)
		if err != nil {
			return nil, err
		}
		prompts += n
	}
	if prompts == 0 {
		return nil, noPrompts(ref)
	}
	return c, nil
}

// list finds the files of rows in a folder, and records those that are not read.
func (c *Checked) list(dir string, skip []string) error {
	c.Dir, c.Files = dir, []string{}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
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
			c.Files = append(c.Files, name)
		default:
			c.Unread = append(c.Unread, Unchecked{name, "not read, since it is not JSON Lines, JSON, Parquet or CSV"})
		}
		return nil
	})
}

// read compares the rows of a file, or of a named dataset, with the evaluation sets. It
// returns how many of them have a prompt. The rows of a file that is seen in another format count
// once.
func (c *Checked) read(ctx context.Context, ref, cache, name string, seen map[string]string) (prompts int, err error) {
	before, found, texts := c.Count, len(c.Findings), sha256.New()
	_, err = eachRow(ctx, ref, cache, func(row int, said, lines []string) {
		c.Count++
		fmt.Fprintf(texts, "%q%q", said, lines)
		if len(said) > 0 {
			prompts++
		}
		// Only lines are compared, since a prompt is a small part of a long answer.
		if text, match, is := c.Evaluations.Find(slices.Concat(said, lines)); is {
			problem := NearlyContaminated
			if match.Jaccard == 1 {
				problem = Contaminated
			}
			c.Findings = append(c.Findings, Finding{problem, name, row, text, &match})
		}
	})
	sum := string(texts.Sum(nil))
	if same, ok := seen[sum]; ok && c.Count > before {
		c.Count, c.Findings = before, c.Findings[:found]
		if strings.TrimSuffix(same, filepath.Ext(same)) != strings.TrimSuffix(name, filepath.Ext(name)) {
			c.Unread = append(c.Unread, Unchecked{name, "the same rows as " + same + ", which count once"})
		}
		return prompts, err
	}
	seen[sum] = name
	if read := c.Count - before; prompts < read {
		c.Unread = append(c.Unread, Unchecked{name, fmt.Sprintf("%s of %s rows have no column that is known to hold a prompt", table.Count(read-prompts), table.Count(read))})
	}
	return prompts, err
}

// shownFindings is how many findings are printed in full.
const shownFindings = 50

// Document returns what people read: what was checked and what was found.
func (c *Checked) Document() table.Document {
	d := table.Document{Title: "Prompts compared with evaluation sets"}
	d.Basis(c.Evaluations.Compared()...)
	for _, u := range c.Unread {
		d.Add(table.Note{Mark: "! ", Text: u.Name + ": " + u.Why})
	}
	of := map[Problem]int{}
	for _, f := range c.Findings {
		of[f.Problem]++
	}
	d.Add(table.Paragraph(fmt.Sprintf("Of %s, %s have the same words as one there, and %s nearly the same: %s.",
		table.Counted(c.Count, "row", "rows"), table.Count(of[Contaminated]), table.Count(of[NearlyContaminated]), table.Percent(float64(of[Contaminated]+of[NearlyContaminated])/float64(c.Count)))))
	if text := c.Evaluations.Little(); text != "" && len(c.Evaluations.Unchecked) > 0 {
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
	what := f.Text
	if m := f.Match; m != nil {
		verb := "has the words of"
		if m.Jaccard < 1 {
			verb = "is nearly"
		}
		what = fmt.Sprintf("%q %s %q in %s", untrusted.Excerpt(f.Text, 160), verb, untrusted.Excerpt(m.Text, 160), m.Set)
	}
	return untrusted.Terminal(where + ": " + what)
}
