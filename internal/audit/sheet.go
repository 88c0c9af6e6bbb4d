package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/sheet"
	"github.com/orbench/orbench/internal/untrusted"
)

// The columns of a sheet.
const (
	idColumn       = "id"
	promptColumn   = "prompt"
	categoryColumn = "category"
	// labelColumn holds the labels of a single rater, named after the file.
	labelColumn = "label"
	// raterPrefix and moderatorPrefix precede the name of a person and of a
	// moderator.
	raterPrefix     = "rater:"
	moderatorPrefix = "moderator:"
)

// Ensemble names the joint decision of all moderators, as a column and as a
// rater.
const Ensemble = "ensemble"

// WriteSheet writes a sample as a CSV table for people to fill in. Each row has
// a prompt's ID, text and category, and an empty column for the labels. With
// raters it has a column for each of them instead. Nothing in it shows what the
// moderators said.
//
// A text that a spreadsheet would take for a formula gets an apostrophe before
// it. ReadSheet removes it again.
func WriteSheet(w io.Writer, sample []Item, raters []string) error {
	header := []string{idColumn, promptColumn, categoryColumn}
	if len(raters) == 0 {
		header = append(header, labelColumn)
	}
	for _, name := range raters {
		header = append(header, raterPrefix+name)
	}
	rows := make([][]string, len(sample))
	for i, it := range sample {
		rows[i] = make([]string, len(header))
		rows[i][0], rows[i][1], rows[i][2] = string(it.ID), it.Prompt, string(it.Category)
	}
	return sheet.Write(w, false, header, rows)
}

// CheckRaters rejects names that cannot head a column: empty names, repeated
// names, and names with characters that --truth would misread.
func CheckRaters(raters []string) error {
	for i, name := range raters {
		problem := ""
		switch {
		case strings.TrimSpace(name) != name || name == "":
			problem = "a rater's name is empty or has space around it"
		case strings.ContainsAny(name, "(),\"\r\n"):
			problem = fmt.Sprintf("the rater's name %q has a parenthesis, a comma, a quotation mark or a line break", name)
		case name == Ensemble || name == labelColumn:
			problem = fmt.Sprintf("%q cannot be a rater's name: it is a column of its own", name)
		case slices.Contains(raters[:i], name):
			problem = fmt.Sprintf("the rater %q is named twice", name)
		}
		if problem != "" {
			return &orbench.InputError{Setting: "raters", Problem: problem, Hint: "give names such as `raters` ana,ben"}
		}
	}
	return nil
}

// Sheet is a table of labels.
type Sheet struct {
	// File is the path as the user named it. SHA256 is the hash of its bytes,
	// in hex.
	File, SHA256 string
	// People and Moderators are the raters with a column, in the order of the
	// columns. Ensemble is true if there is a column for the ensemble's
	// decision.
	People, Moderators []string
	Ensemble           bool
	// Others lists the further columns that were requested and exist.
	Others []string
	Rows   []LabeledRow
}

// LabeledRow is one row of a Sheet.
type LabeledRow struct {
	// Line is where the row starts, from 1.
	Line     int
	ID       orbench.PromptID
	Category orbench.Category
	// Labels is by rater, or by the name of a further column. A rater who left
	// the cell empty has no entry.
	Labels map[string]orbench.Label
}

// OpenSheet reads a file of labels; see ReadSheet.
func OpenSheet(path string, others []string) (*Sheet, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &orbench.InputError{File: path, Problem: "cannot read the labels: " + err.Error(), Hint: "name a CSV file of labels"}
	}
	sheet, err := ReadSheet(path, file, others)
	return sheet, errors.Join(err, file.Close())
}

// ReadSheet reads a table of labels, in any form that sheet.Read supports. It
// needs a column id or prompt, and may have these columns of labels (safe,
// toxic or controversial, with the usual synonyms, or empty):
//
//   - label, of the rater that the file is named after
//   - rater:NAME, of a person
//   - moderator:NAME and ensemble, of moderators and of their joint decision,
//     which may also be undecided
//   - those named in others, such as a truth from elsewhere
//
// Other columns are ignored. If id is missing or empty, the ID is computed from
// the prompt's text. Faults are *orbench.InputError with the file and the line.
func ReadSheet(file string, in io.Reader, others []string) (*Sheet, error) {
	table, err := sheet.Read(file, in)
	if err != nil {
		return nil, err
	}
	s := &Sheet{File: file, SHA256: table.SHA256}
	columns, err := s.columns(table.Header, others)
	if err != nil {
		return nil, err
	}
	seen := map[orbench.PromptID]int{}
	for _, r := range table.Rows {
		line := r.Line
		row, err := s.row(line, r.Cells, columns)
		if err != nil {
			return nil, err
		}
		if before, ok := seen[row.ID]; ok {
			return nil, s.fault(line, fmt.Sprintf("the prompt %s is already in line %d", row.ID, before), "leave one row of each prompt")
		}
		seen[row.ID] = line
		s.Rows = append(s.Rows, row)
	}
	return s, nil
}

// column is a column to read and what it holds.
type column struct {
	at   int
	kind string // idColumn, promptColumn, categoryColumn, or labelColumn for any labels
	name string // whose labels
}

// columns returns the columns to read.
func (s *Sheet) columns(header, others []string) ([]column, error) {
	var found []column
	named := map[string]int{}
	identified := false
	for i, cell := range header {
		title := strings.TrimSpace(cell)
		lower := strings.ToLower(title)
		c := column{at: i, kind: labelColumn}
		switch {
		case lower == idColumn || lower == promptColumn:
			c.kind, c.name, identified = lower, lower, true
		case lower == categoryColumn:
			c.kind, c.name = lower, lower
		case lower == Ensemble:
			c.name, s.Ensemble = Ensemble, true
		case lower == labelColumn && !slices.Contains(others, title):
			base := filepath.Base(s.File)
			c.name = strings.TrimSuffix(base, filepath.Ext(base))
			s.People = append(s.People, c.name)
		case strings.HasPrefix(lower, raterPrefix):
			c.name = strings.TrimSpace(title[len(raterPrefix):])
			s.People = append(s.People, c.name)
		case strings.HasPrefix(lower, moderatorPrefix):
			c.name = strings.TrimSpace(title[len(moderatorPrefix):])
			s.Moderators = append(s.Moderators, c.name)
		case slices.Contains(others, title):
			c.name = title
			s.Others = append(s.Others, title)
		default:
			continue
		}
		if c.name == "" {
			return nil, s.fault(1, fmt.Sprintf("the column %q does not name a person", title), "write the name after the colon")
		}
		if before, ok := named[c.name]; ok {
			return nil, s.fault(1, fmt.Sprintf("the columns %d and %d are both %s's", before+1, i+1, c.name), "rename one of them")
		}
		named[c.name] = i
		found = append(found, c)
	}
	if !identified {
		return nil, s.fault(1, "there is no column id and no column prompt", "keep the header that \"orbench audit draw\" wrote")
	}
	return found, nil
}

func (s *Sheet) row(line int, record []string, columns []column) (LabeledRow, error) {
	row := LabeledRow{Line: line, Labels: map[string]orbench.Label{}}
	prompt := ""
	for _, c := range columns {
		cell := strings.TrimSpace(record[c.at])
		switch c.kind {
		case idColumn:
			row.ID = orbench.PromptID(cell)
		case promptColumn:
			prompt = record[c.at]
		case categoryColumn:
			row.Category = orbench.Category(cell)
		default:
			if cell == "" {
				continue
			}
			label, ok := orbench.ParseLabel(cell)
			if !ok {
				return LabeledRow{}, s.fault(line, fmt.Sprintf("%s's label is %s", c.name, untrusted.Quote(cell)), "write safe, toxic or controversial, or leave the cell empty")
			}
			if label == orbench.Undecided && slices.Contains(s.People, c.name) {
				return LabeledRow{}, s.fault(line, fmt.Sprintf("%s's label is %s, which is for moderators", c.name, untrusted.Quote(cell)), "write safe, toxic or controversial, or leave the cell empty")
			}
			row.Labels[c.name] = label
		}
	}
	if row.ID == "" {
		if strings.TrimSpace(prompt) == "" {
			return LabeledRow{}, s.fault(line, "the row has no id and no prompt", "restore it from the sample, or delete the row")
		}
		row.ID = orbench.NewPrompt(prompt, "", "").ID
	}
	return row, nil
}

func (s *Sheet) fault(line int, problem, hint string) error {
	return &orbench.InputError{File: s.File, Line: line, Problem: problem, Hint: hint}
}
