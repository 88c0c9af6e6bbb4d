package answers

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
)

// Lines writes each row as a line of JSON. It is not safe for concurrent use; the lines are
// in the order of Add.
type Lines struct {
	out     *bufio.Writer
	line    bytes.Buffer
	encoder *json.Encoder
	rows    int
	counts  map[part]count
}

// part identifies the rows that a RunResult counts, for all samples of all targets.
type part struct {
	dataset string
	label   orbench.Label
}

type count struct{ rows, unanswered int }

// NewLines makes Lines that are written to a file.
func NewLines(file io.Writer) *Lines {
	l := &Lines{out: bufio.NewWriterSize(file, 1<<16), counts: map[part]count{}}
	l.encoder = encoder(&l.line)
	return l
}

// encoder writes JSON for files. Some programs that read a file line by line treat more than
// one character as the end of a line, and people view files on terminals.
func encoder(out io.Writer) *json.Encoder {
	e := json.NewEncoder(untrusted.NewWriter(out))
	e.SetEscapeHTML(false)
	return e
}

// Add writes one row, and gives its line, which is good until the next Add.
func (l *Lines) Add(row *score.AnswerRow) ([]byte, error) {
	l.rows++
	l.line.Reset()
	err := l.encoder.Encode(row)
	if err == nil {
		_, err = l.out.Write(l.line.Bytes())
	}
	if err != nil {
		return nil, fmt.Errorf("write answer %d (prompt %s): %w", l.rows, row.Prompt.ID, err)
	}
	of := part{row.Dataset, row.Prompt.Label}
	n := l.counts[of]
	n.rows++
	if row.Status == score.Unanswered {
		n.unanswered++
	}
	l.counts[of] = n
	return l.line.Bytes(), nil
}

// Flush writes out what is buffered. Call it after the last Add.
func (l *Lines) Flush() error {
	if err := l.out.Flush(); err != nil {
		return fmt.Errorf("write answers: %w", err)
	}
	return nil
}

// Conserved checks the figures against the added rows: every prompt of every run must have
// its line, and the number of those without an answer must be the same.
func (l *Lines) Conserved(r score.Result) error {
	figures := map[part]count{}
	var parts []part
	for _, run := range r.Runs {
		of := part{run.Dataset, run.Label}
		figures[of] = count{figures[of].rows + run.N, figures[of].unanswered + run.Unanswered}
		parts = append(parts, of)
	}
	for of := range l.counts {
		parts = append(parts, of)
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.dataset, b.dataset), cmp.Compare(a.label, b.label))
	})
	for _, of := range parts {
		if n, added := figures[of], l.counts[of]; n != added {
			return fmt.Errorf("the figures on %s (%s) count %d prompts, %d of them unanswered, but there are %d rows, %d of them unanswered, which is a fault of orbench",
				of.dataset, of.label, n.rows, n.unanswered, added.rows, added.unanswered)
		}
	}
	return nil
}
