package rows

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// Bounds on a row. They protect the machine's memory from a damaged file, such as one
// with an unclosed quotation mark.
const (
	// MaxCell is the longest prompt and the longest recorded answer, in bytes.
	MaxCell = 1 << 20
	// MaxRow is the longest row of a text file, including everything in it, in bytes.
	MaxRow = 4 << 20
)

// Layout says what to read from each row of a file.
type Layout struct {
	// Prompt is the prompt column, empty for none. In JSON and Parquet it may contain a
	// list of messages.
	Prompt string
	// Fields are the other columns, in the order of Row.Cells.
	Fields []Field
	// Stray are columns that a row of JSON must not have.
	Stray []string
	// Whole reads all columns with all their content, as Row.Fields.
	Whole bool
	// PassBlank skips empty rows of a table. If it is false, they may be empty answers.
	PassBlank bool
	// Exchange has OpenAnswers read each row as an exchange, by these columns; nil for none.
	Exchange *ExchangeColumns
}

// Whole is a Chooser of all columns. Its rows have only Fields.
func Whole(string, []string, func(path string) bool) (Layout, error) { return Layout{Whole: true}, nil }

// Field is a column to read. A field without a name is read as empty.
type Field struct {
	Name string
	// Scalar accepts numbers and booleans in their written form. Other fields accept only
	// text.
	Scalar bool
	// Required makes a missing or null value a fault. In other fields it is the empty
	// text.
	Required bool
	// Lenient reads an unacceptable value as the empty text instead of reporting a fault.
	Lenient bool
	// Whole accepts JSON lists and objects in their written form.
	Whole bool
}

// Chooser chooses among the columns of a file. at reports whether the first row has a
// value at a path such as messages[-1].content. It is nil for files whose values are all
// texts; there no prompt can be a list of messages.
type Chooser func(file string, have []string, at func(path string) bool) (Layout, error)

// MessagesColumn is the column of a whole conversation, in JSON files.
const MessagesColumn = "messages"

// Row is one row of a file, before it is checked.
type Row struct {
	// Line counts from 1; it is 0 in formats without lines.
	Line int
	// Number counts the rows from 1, without the header.
	Number int
	// Text is the prompt, unless it is in Messages.
	Text     string
	Messages []orbench.Message
	// Cells are the texts of Layout.Fields. The next row overwrites the slice, but not
	// its strings.
	Cells []string
	// Fields has the values of all columns by name, for Whole. Values of JSON are as
	// encoding/json reads them, and those of Parquet are alike. Those of other formats are
	// texts.
	Fields map[string]any
	// Exchange is the row as Layout.Exchange has it read; nil without that.
	Exchange *Exchange
	// said is how the answer of another tool's log ended: Finish, which may be empty, Block
	// and Usage. It is nil for all other rows.
	said *model.Response
	// nested says which cells are JSON lists or objects in their written form; nil if none is.
	nested []bool
}

// nextFunc gives a file's rows one by one, then io.EOF. The caller may keep the strings
// of a row.
type nextFunc func() (Row, error)

// Fault is an error about this row.
func (r Row) Fault(file, problem, hint string) error {
	if r.Line == 0 {
		problem = fmt.Sprintf("row %d: %s", r.Number, problem)
	}
	return &orbench.InputError{File: file, Line: r.Line, Problem: problem, Hint: hint}
}

// Missing is the fault of a row without a required value.
func (r Row) Missing(file, column string) error {
	return r.Fault(file, fmt.Sprintf("no %q", column), "fill it in, with an empty text if need be, or delete the row")
}

// Unsent is the fault of a row with content that is not text, such as tools. id is the ID
// of its prompt, empty if there is none.
func (r Row) Unsent(file, id, what string) error {
	prompt := "the prompt"
	if id != "" {
		prompt += " " + untrusted.Quote(id)
	}
	return r.Fault(file, fmt.Sprintf("%s has %s, which orbench cannot send yet", prompt, untrusted.Quote(what)),
		"delete the row, or its "+untrusted.Terminal(what)+" where the prompt means the same without them")
}

// Holds reports whether a value is not empty; it may also be a JSON list or object.
func Holds(value string) bool {
	return !slices.Contains([]string{"", "null", "[]", "{}"}, strings.TrimSpace(value))
}

// UTF8Hint is the hint for the usual cause of invalid UTF-8: an old program saved the
// file.
const UTF8Hint = "save the file as UTF-8, for example with: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW"
