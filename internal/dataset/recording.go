package dataset

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// RecordingOptions control how recorded answers are read. The zero value reads prompts
// and answers and nothing else.
type RecordingOptions struct {
	// Prompt and Response name columns; empty means that they are found by their usual
	// names. A file may lack prompts, unless Prompt names their column.
	Prompt, Response string
	// Gold names the column of people's labels; empty
	// means none. Both may contain numbers or booleans.
	Gold string
	// User and Time name the columns of who asked and when; empty means that they are found
	// by their usual names. Stores keep both, so that answers can be forgotten.
	User, Time string
	// usual is true where no setting names columns.
	usual bool
}

// RecordingColumns names the columns that a Recording is read from, as spelled in the
// file. An empty name means that there is no such column.
type RecordingColumns struct {
	Prompt   string `json:"prompt,omitempty"`
	Response string `json:"response"`
	Gold     string `json:"gold,omitempty"`

	// Chance names the column of the chance with which each answer was drawn. It is used
	// only with people's labels.
	Chance string `json:"chance,omitempty"`
	// User and Time name the columns of who asked and when.
	User string `json:"user,omitempty"`
	Time string `json:"time,omitempty"`

	simulated, model string
}

// responseNames are the usual names of the answer column, the likelier first. They are
// used if the user names no column.
var responseNames = []string{
	"response", "response_text", "completion", "model_output", "model_response", "prediction", "predict", "answer", "output", "generation", "reply", "generated_text",
}

// MaxValues is the most distinct values of a gold or grouping column. A column with more,
// such as one of texts or row numbers, was named by mistake.
const MaxValues = 1000

// Recording describes a file of recorded answers that has been read once in full and
// found valid. It holds the answers unless they are very long. It is safe for concurrent use as long as its
// fields do not change.
type Recording struct {
	// Path is the file as the user named it.
	Path string
	Recorded
	// Notes say what a reader must know of another tool's log, in lines.
	Notes []string
	// Models counts the answers of each model that the file names, and is empty if it
	// names none. Beyond MaxValues models the others are left out.
	Models map[string]int

	opts  RecordingOptions
	stamp rows.Stamp
	// kept are the answers if they do not come from a file.
	kept iter.Seq2[orbench.Prompt, error]
	// held are the answers if their texts have at most mostHeld bytes, else nil.
	held []Answer
}

const mostHeld = 128 << 20

// Recorded identifies the answers of a Recording.
type Recorded struct {
	// SHA256 is the hash of the prompts and answers in hex, in order. The same answers
	// have the same hash, whatever other columns are used. See hasher.
	SHA256 string `json:"sha256"`
	// Kept is the hash of everything that a store keeps of them, in hex. It is empty if
	// no store keeps them.
	Kept string `json:"kept_sha256"`
	// Count is the number of answers. Rows with the same text all count.
	Count int `json:"answers"`
	// Columns names the columns that are used.
	Columns RecordingColumns `json:"columns"`
	// GoldValues counts the values of the gold column, without surrounding white space. It
	// is empty without such a column.
	GoldValues map[string]int `json:"gold_values,omitempty"`
	// Forgotten counts the answers that were taken out of the store. All else is about those
	// that are left.
	Forgotten int `json:"forgotten,omitempty"`
}

// Answer is one row of a Recording.
type Answer struct {
	// Line is the line where the row starts, from 1; it is 0 in formats without lines.
	// Number counts the rows from 1.
	Line, Number int
	// Prompt is empty in a file without prompts. For a conversation it is the last user
	// message.
	Prompt string
	// Messages are the prompt if it is a conversation, else nil.
	Messages []orbench.Message
	// Response is the answer as recorded, including any thinking; it may be empty.
	Response string
	// Gold is people's label of the answer. It is never empty if there is a gold column.
	Gold string
	// Chance is the chance with which the answer was drawn, above 0 and at most 1; 0 without
	// such a column.
	Chance float64
	// User is UserHash of who asked, empty if the file does not say it. Time is when, in whole
	// seconds; the zero time if the file does not say it in a form that is known.
	User string
	Time time.Time
	// Model is the text of a column "model", without model.SimulatedMark.
	Model string
	// Finish says how the answer ended, and Block how it was withheld, as in
	// model.Response. Finish is empty, and Usage is zero, where the file does not say so; only
	// another tool's log does.
	Finish model.Finish
	Block  *model.Block
	Usage  model.Usage
	// Simulated is true if the file says that a simulated model answered: in a column
	// "simulated", or by a name in a column "model" that ends in model.SimulatedMark.
	Simulated bool
}

// Reply is the answer as its model gave it, without its thinking. An answer whose Finish is
// empty counts as one that ended by itself; it has no Usage, by which it is told from one
// that is known to have ended so.
func (a Answer) Reply() model.Response {
	text, thinking := reply.Kept(a.Response)
	if a.Finish == "" {
		return model.Response{Text: text, Thinking: thinking, Finish: model.Stop}
	}
	return model.Response{Text: text, Thinking: thinking, Finish: a.Finish, Block: a.Block, Usage: a.Usage}
}

// Fault says what is wrong with the prompt and the response of an answer, and what to do.
// It gives "" for nothing. Without a prompt column the prompt may be empty.
func (a Answer) Fault(c RecordingColumns) (problem, hint string) {
	if c.Prompt != "" {
		messages := a.Messages
		if messages == nil {
			messages = []orbench.Message{{Role: orbench.User, Content: a.Prompt}}
		}
		if problem, hint = checkMessages(messages, c.Prompt); problem == "" {
			problem, hint = checkAsked(messages)
		}
		if problem != "" {
			return problem, hint
		}
	}
	if len(a.Response) > MaxCell {
		return fmt.Sprintf("the answer has %d bytes; the most is %d", len(a.Response), MaxCell), "cut or delete it, or look for a quotation mark that is left open"
	}
	return checkText(a.Response, c.Response)
}

// Asked is the prompt with its ID. It has no words in a file without prompts.
func (a Answer) Asked() orbench.Prompt {
	if a.Messages == nil {
		return orbench.NewPrompt(a.Prompt, "", "")
	}
	return orbench.Prompt{ID: orbench.PromptIDOf(a.Messages), Messages: a.Messages}
}

// OpenRecording reads a file of recorded answers once in full: CSV, TSV, JSON Lines, JSON or
// Parquet, by its ending, or another tool's log, by its content; a folder of logs is read as
// one file. An empty answer is valid. A missing one (null), an empty prompt
// in a prompt column and an empty gold label are faults. The error is an
// *orbench.InputError if the user can correct it, the context's error, or an error of the
// file system.
func OpenRecording(ctx context.Context, path string, opts RecordingOptions) (*Recording, error) {
	r := &Recording{
		Path: path, opts: opts, Models: map[string]int{}, Recorded: Recorded{GoldValues: map[string]int{}},
	}
	in, err := r.open()
	if err != nil {
		return nil, err
	}
	r.stamp, r.Columns = in.Stamp, in.columns
	sum := newHasher(recordingHashVersion)
	held, same := 0, 0
	for a, err := range itemsOf(in, nil) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		r.add(a, sum)
		if a.Response == a.Prompt {
			same++
		}
		held += len(a.Response) + len(a.Prompt)
		for _, m := range a.Messages {
			held += len(m.Content)
		}
		if held <= mostHeld {
			// Clone the texts, so that the rest of the row can be freed.
			a.Response, a.Prompt = strings.Clone(a.Response), strings.Clone(a.Prompt)
			r.held = append(r.held, a)
		} else {
			r.held = nil
		}
		if _, known := r.Models[a.Model]; a.Model != "" && (known || len(r.Models) < MaxValues) {
			r.Models[a.Model]++
		}
		if err := r.checkValues(); err != nil {
			return nil, err
		}
	}
	if r.Count == 0 {
		return nil, &orbench.InputError{File: path, Problem: "the file has no rows", Hint: "give a file with at least one answer"}
	}
	if 2*same > r.Count && r.Count > 1 {
		return nil, &orbench.InputError{File: path, Problem: fmt.Sprintf("in %d of %d rows the answer is the prompt", same, r.Count), Hint: "name the column of the answers with `response-column`"}
	}
	r.SHA256, r.Notes = sum.sum(), in.Notes
	if len(in.passed) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s: the answers are those of the column %s, and not of %s", path, untrusted.Quote(r.Columns.Response), rows.List(in.passed)))
	}
	return r, nil
}

// add counts an answer.
func (r *Recorded) add(a Answer, sum *hasher) {
	r.Count++
	sum.addAnswer(a)
	if r.Columns.Gold != "" {
		r.GoldValues[a.Gold]++
	}
}

// checkValues refuses a column of labels with too many values.
func (r *Recording) checkValues() error {
	if len(r.GoldValues) <= MaxValues {
		return nil
	}
	return &orbench.InputError{
		File: r.Path, Problem: fmt.Sprintf("column %q has more than %d different values", r.Columns.Gold, MaxValues),
		Hint: "name another with `gold-column`",
	}
}

// Answers streams the answers in the order of the file. It may be used any number of
// times. The file is read again. If it has changed since OpenRecording, the sequence ends
// with an error: at once if its size or time of change differ, otherwise at the first bad
// row or after the last one.
func (r *Recording) Answers() iter.Seq2[Answer, error] {
	if r.kept != nil {
		return r.keptAnswers
	}
	return func(yield func(Answer, error) bool) {
		for _, a := range r.held {
			if !yield(a, nil) {
				return
			}
		}
		if r.held != nil {
			return
		}
		in, err := r.open()
		if err == nil && in.Stamp != r.stamp {
			in.Close()
			err = r.changed()
		}
		sum := newHasher(recordingHashVersion)
		for a, err := range itemsOf(in, err) {
			if err == nil {
				sum.addAnswer(a)
			}
			if !yield(a, err) || err != nil {
				return
			}
		}
		if sum.sum() != r.SHA256 {
			yield(Answer{}, r.changed())
		}
	}
}

func (r *Recording) changed() error {
	return &orbench.InputError{File: r.Path, Problem: "the file changed after it was checked", Hint: "run the command again"}
}

// recordingInput is an opened Recording.
type recordingInput struct {
	*rows.File
	columns RecordingColumns
	// passed are columns that answers are usually in, beside the one that was found.
	passed []string
}

// open opens the file and finds its columns.
func (r *Recording) open() (*recordingInput, error) {
	in := &recordingInput{}
	var err error
	in.File, err = rows.OpenAnswers(r.Path, func(file string, have []string, at func(string) bool) (rows.Layout, error) {
		var err error
		in.columns, err = findRecordingColumns(file, have, at, r.opts)
		c := in.columns
		if r.opts.Response == "" {
			in.passed = slices.DeleteFunc(without(without(have, c.Response), c.Prompt), func(name string) bool { return !usualResponse(name) })
		}
		return rows.Layout{Prompt: c.Prompt, Fields: []rows.Field{
			{Name: c.Response, Required: true},
			{Name: c.Gold, Scalar: true},
			{Name: c.simulated, Scalar: true},
			{Name: c.model, Scalar: true},
			{Name: c.Chance, Scalar: true},
			{Name: c.User, Scalar: true, Lenient: true},
			{Name: c.Time, Scalar: true, Lenient: true},
		}}, err
	})
	return in, err
}

// findRecordingColumns is findColumns for recordings. A column that the user names for
// one purpose is not found for another by its usual name.
func findRecordingColumns(file string, have []string, at func(string) bool, opts RecordingOptions) (c RecordingColumns, err error) {
	if opts.Prompt != "" {
		if c.Prompt, err = findPrompt(file, have, at, opts.Prompt); err != nil {
			return c, err
		}
	}
	rest := have
	if opts.Response == "" {
		rest = without(have, c.Prompt)
	}
	if c.Response, err = findColumn(file, rest, at, opts.Response, responseNames, "response-column"); err != nil {
		return c, err
	}
	if opts.Prompt == "" {
		if c.Prompt, err = findPrompt(file, without(have, c.Response), at, ""); err != nil {
			return c, err
		}
	}
	if c.Prompt != "" && c.Prompt == c.Response {
		return c, &orbench.InputError{File: file, Line: 1, Problem: fmt.Sprintf("the column %s is named for the prompts and for the answers", untrusted.Quote(c.Response)), Hint: "name another with `response-column`"}
	}
	if c.Prompt == "" && slices.Contains(promptNames, strings.ToLower(c.Response)) && slices.ContainsFunc(have, usualResponse) {
		return c, &orbench.InputError{File: file, Line: 1, Problem: fmt.Sprintf("the column %s has the prompts", untrusted.Quote(c.Response)), Hint: "name the column of the answers with `response-column`"}
	}
	if err := findOthers(file, have, at,
		sought{&c.Gold, opts.Gold, nil, "gold-column"},
		sought{&c.User, opts.User, nil, "user_column"}, sought{&c.Time, opts.Time, nil, "time_column"},
	); err != nil {
		return c, err
	}
	// usual gives the first of some names that the file has for no other purpose.
	usual := func(names ...string) string {
		for _, name := range names {
			if i := slices.IndexFunc(have, func(h string) bool { return strings.EqualFold(strings.TrimSpace(h), name) }); i >= 0 {
				name = have[i]
			} else if at == nil || !at(name) {
				continue
			}
			if name != c.Prompt && name != c.Response {
				return name
			}
		}
		return ""
	}
	c.User, c.Time = cmp.Or(c.User, usual(rows.UserNames()...)), cmp.Or(c.Time, usual(rows.TimeNames()...))
	c.simulated, c.model = usual("simulated"), usual("model")
	if c.Gold != "" {
		c.Chance = usual("chance")
	}
	if c.Response == "" {
		hint := "name it with `response-column`"
		if opts.usual {
			hint = "call it response"
		}
		return c, noColumn(file, have, "response", hint)
	}
	return c, nil
}

// usualResponse reports whether answers are usually in a column of the name.
func usualResponse(name string) bool {
	return slices.Contains(responseNames, strings.ToLower(strings.TrimSpace(name)))
}

// without gives the names other than one.
func without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}

// item checks a row and gives its answer.
func (in *recordingInput) item(r rows.Row) (a Answer, err error) {
	a = Answer{Line: r.Line, Number: r.Number, Prompt: r.Text, Response: r.Cells[0]}
	if r.Said != nil {
		a.Finish, a.Block, a.Usage = r.Said.Finish, r.Said.Block, r.Said.Usage
	}
	if in.columns.Prompt != "" && r.Messages != nil {
		a.Prompt, a.Messages = orbench.Prompt{Messages: r.Messages}.Text(), r.Messages
	}
	if problem, hint := a.Fault(in.columns); problem != "" {
		return Answer{}, r.Fault(in.Name, problem, hint)
	}
	if a.Gold, err = cellName(in.Name, r, 1, "gold label", in.columns.Gold, "gold-column"); err != nil {
		return Answer{}, err
	}
	if said, dress := reply.Unwrap(a.Gold); dress != "" {
		a.Gold = strings.TrimSpace(said)
	}
	if in.columns.Gold != "" && a.Gold == "" {
		return Answer{}, r.Fault(in.Name, fmt.Sprintf("no gold label in column %q", in.columns.Gold), "fill it in or delete the row")
	}
	if text := strings.TrimSpace(r.Cells[4]); in.columns.Chance != "" {
		if a.Chance, err = strconv.ParseFloat(text, 64); err != nil || !(a.Chance > 0 && a.Chance <= 1) {
			return Answer{}, r.Fault(in.Name, fmt.Sprintf("%.60q in column %q is not a chance of being drawn", text, in.columns.Chance), "give a number above 0 and at most 1, or delete the column")
		}
	}
	a.User = UserHash(r.Cells[5])
	if at, ok := rows.Time(r.Cells[6]); ok {
		a.Time = at.Truncate(time.Second)
	}
	name, marked := strings.CutSuffix(strings.TrimSpace(r.Cells[3]), model.SimulatedMark)
	a.Model, a.Simulated = strings.TrimSpace(name), marked || strings.TrimSpace(r.Cells[2]) == "true"
	return a, nil
}

// recordingHashVersion is the first input of the hash. It changes if the form changes.
const recordingHashVersion = "orbench recording 1\n"
