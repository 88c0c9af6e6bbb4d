package rows

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// OpenAnswers opens a file of recorded answers: another tool's log, which its content
// shows, or any other as Open does, but each answer of a file of verdicts once. The rows of a
// log have the columns PromptColumn, ResponseColumn and ModelColumn beside its own. The logs in
// a folder are read one after the other. With Layout.Exchange, the texts of a row are found as
// those of a product's log are, and rows may be messages.
func OpenAnswers(path string, choose Chooser) (*File, error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return openFolder(path, choose)
	}
	as := answersFile
	if err != nil || !info.Mode().IsRegular() {
		as = datasetFile
	}
	l := &Log{}
	own, tells := 0, 0 // the numbers of the caller's columns, and of those after them
	chosen := func(file string, have []string, at func(string) bool) (Layout, error) {
		layout, err := choose(file, have, at)
		if err != nil || layout.Exchange == nil {
			return layout, err
		}
		if l.columns, l.missing = *layout.Exchange, map[int][]string{}; at == nil && len(l.columns.Reply) == 0 {
			return layout, errNested
		}
		own = len(layout.Fields)
		if missing := Without(answerColumns, have...); len(Without(missing, "number")) == 0 {
			for _, name := range Without(answerColumns, missing...) {
				layout.Fields = append(layout.Fields, Field{Name: name, Scalar: true, Lenient: true})
			}
		}
		tells = len(layout.Fields) - own
		found, err := l.choose(file, have, at)
		layout.Fields = append(layout.Fields, found.Fields...)
		return layout, err
	}
	l.File, err = openFile(path, as, chosen)
	if errors.Is(err, errNested) {
		l.File, err = openFile(path, trafficFile, chosen)
	}
	if err != nil || l.parts == nil {
		return l.File, err
	}
	return l.answers(own, tells), nil
}

// errNested is the error of a table without a column of replies, which may have them in JSON.
var errNested = errors.New("no column of replies")

// answerColumns tell an answer from others in a file of verdicts that orbench wrote, which
// has a row for each verdict, beside who gave it. Files of before have numbers.
var answerColumns = []string{"judge", "judge_version", "run", "target", "dataset", "prompt_id", "sample", "number"}

// verdictColumns is how many of answerColumns say who gave a verdict.
const verdictColumns = 2

// answers gives the rows of a log with their exchanges and the cells of the caller's own columns.
// Of the rows with the same cells in those that tell an answer, the first is read. What is no
// exchange of texts is left out, where no columns are known for them.
func (l *Log) answers(own, tells int) *File {
	next, stop := iter.Pull2(l.Records)
	f := &File{Name: l.Name, Stamp: l.Stamp, closer: func() error {
		stop()
		return l.Close()
	}}
	rows, answers, left := 0, 0, map[string]int{}
	var last []string
	f.next = func() (Row, error) {
		for {
			r, err, more := next()
			switch {
			case err != nil:
				return r.row, err
			case !more && rows > 0 && answers == 0:
				return r.row, l.Check(left[LacksReply] > 0, false, left)
			case !more:
				if f.Notes = l.Notes; tells > 0 && rows > answers {
					f.Notes = append(f.Notes, fmt.Sprintf("%s: %s of %s, each read once; their verdicts are left out",
						f.Name, table.Counted(answers, "answer", "answers"), table.Counted(rows, "verdict", "verdicts")))
				} else if rows > answers {
					f.Notes = append(f.Notes, fmt.Sprintf("%s: %s", f.Name, table.Counted(rows-answers, "row without a prompt and an answer is left out", "rows without a prompt and an answer are left out")))
				}
				return r.row, cmp.Or(l.unfound(l.Name), io.EOF)
			}
			rows++
			of := r.row.Cells[own+min(tells, verdictColumns) : own+tells]
			if tells > 0 && slices.Equal(of, last) {
				continue
			}
			last = slices.Clone(of)
			e, err := r.Exchange()
			if err == nil && l.flat {
				err = l.fault(r, e)
			}
			if err != nil {
				return r.row, err
			}
			if e.unsent != "" || e.foreign && e.Block == nil {
				e.Lacks = cmp.Or(e.Lacks, LacksText)
			} else if e.Reply == "" && e.Block == nil {
				e.Lacks = cmp.Or(e.Lacks, LacksReply)
			}
			if e.Lacks != "" && !l.flat && !e.Called {
				left[e.Lacks]++
				continue
			}
			answers++
			r.row.Exchange, r.row.Cells = &e, r.row.Cells[:own]
			if tells > 0 {
				r.row.Number = answers
			}
			return r.row, nil
		}
	}
	return f
}

// fault says why an answer in a known column cannot be judged; nil if it can.
func (l *Log) fault(r Record, e Exchange) error {
	switch {
	case e.unsent == unknownForm:
		return r.Fault(untrusted.Quote(l.columns.Prompt[0])+" is not text", "write the prompt as a JSON string, or name a value inside it, such as messages, with `prompt-column`")
	case e.unsent != "":
		return r.row.Unsent(l.Name, "", e.unsent)
	case l.apart && e.foreign && e.Block == nil:
		return r.Fault(untrusted.Quote(l.columns.Reply[0])+" is not text", "write it as a JSON string")
	case !l.apart && e.Reply == "" && e.Block == nil && !e.Called:
		return r.Fault("the conversation does not end with an answer", "name the column of the answers with `response-column`, or delete the row")
	}
	return nil
}
