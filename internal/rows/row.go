package rows

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// Bounds on what a row may hold. They stand between a damaged file, such as one
// with a quotation mark left open, and the memory of the machine.
const (
	// MaxCell is the longest prompt and the longest recorded answer, in bytes.
	MaxCell = 1 << 20
	// MaxRow is the longest row of a text file with everything in it, in bytes.
	MaxRow = 4 << 20
)

// Layout says what to read of each row of a file.
type Layout struct {
	// Prompt is the column of the prompts, empty for none. In JSON it may hold a
	// list of messages.
	Prompt string
	// Fields are the other columns, in the order of Row.Cells.
	Fields []Field
	// Stray are columns that a row of JSON must not have.
	Stray []string
	// whole is true for all columns with all that they hold, as Row.Fields.
	whole bool
	// PassBlank passes over rows of a table in which nothing stands. Where it is false they
	// may be empty answers.
	PassBlank bool
}

// Whole is a Chooser of all columns: rows have Fields alone.
func Whole(string, []string, func(path string) bool) (Layout, error) { return Layout{whole: true}, nil }

// Field is a column to read; one without a name is read as empty.
type Field struct {
	Name string
	// Scalar lets numbers and booleans in, as they are written; other fields
	// hold text only.
	Scalar bool
	// Required means that a missing or null value is a fault; in other fields
	// it is the empty text.
	Required bool
	// Lenient reads what the field may not hold as the empty text, in place of a fault.
	Lenient bool
	// Whole takes lists and objects of JSON as they are written.
	Whole bool
}

// Chooser chooses among the columns that a file has. at reports whether the first row has
// something at a path such as messages[-1].content; it is nil for formats in which values
// are texts, so that no prompt can be a list of messages.
type Chooser func(file string, have []string, at func(path string) bool) (Layout, error)

// MessagesColumn is the column of a whole conversation, in JSON files.
const MessagesColumn = "messages"

// Row is one row as it stands in a file, before it is checked.
type Row struct {
	// Line counts from 1; 0 in formats without lines.
	Line int
	// Number counts the rows from 1, without the header.
	Number int
	// Text is the prompt, unless Messages has it.
	Text     string
	Messages []orbench.Message
	// Cells are the texts of Layout.Fields. The next row overwrites the slice,
	// though not its strings.
	Cells []string
	// Fields are the values of all columns by their names, for Whole: of JSON as
	// encoding/json reads them, of Parquet likewise with texts as strings or bytes, and
	// of other files texts.
	Fields map[string]any
}

// nextFunc gives a file's rows one by one, then io.EOF. The strings of a row
// are the caller's to keep.
type nextFunc func() (Row, error)

// Fault is an error about this row.
func (r Row) Fault(file, problem, hint string) error {
	if r.Line == 0 {
		problem = fmt.Sprintf("row %d: %s", r.Number, problem)
	}
	return &orbench.InputError{File: file, Line: r.Line, Problem: problem, Hint: hint}
}

// missing is the fault of a row without a value that it must have.
func (r Row) missing(file, column string) error {
	return r.Fault(file, fmt.Sprintf("no %q", column), "fill it in, with an empty text if need be, or delete the row")
}

// ErrEmpty is the cause of the fault of a file without any rows or names of columns.
var ErrEmpty = errors.New("the file is empty")

// Unsent is the fault of a row with what is no text, such as tools. id names its prompt,
// empty where nothing does.
func (r Row) Unsent(file, id, what string) error {
	prompt := "the prompt"
	if id != "" {
		prompt += " " + untrusted.Quote(id)
	}
	return r.Fault(file, fmt.Sprintf("%s has %s, which orbench cannot send yet", prompt, untrusted.Quote(what)),
		"delete the row, or its "+untrusted.Terminal(what)+" where the prompt means the same without them")
}

// Holds reports whether a value has something in it, also one that is a list or an object
// of JSON.
func Holds(value string) bool {
	return !slices.Contains([]string{"", "null", "[]", "{}"}, strings.TrimSpace(value))
}

// UTF8Hint is for the usual cause of invalid UTF-8: a file saved by a program of
// an older time.
const UTF8Hint = "save the file as UTF-8, for example with: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW"
