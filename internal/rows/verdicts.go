package rows

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/orbench/orbench/internal/table"
)

// answerColumns tell an answer from others in a file of verdicts that orbench wrote, which
// has a row for each verdict. Files of before have numbers.
var answerColumns = []string{"run", "target", "dataset", "prompt_id", "sample", "number"}

// openVerdicts opens a file that may be one of verdicts. Of such a file it reads each answer
// once, and says so in the file's notes.
func openVerdicts(path string, as purpose, choose Chooser) (*File, error) {
	first := -1 // where the cells of answerColumns begin
	opened, err := openFile(path, as, func(file string, have []string, at func(path string) bool) (Layout, error) {
		layout, err := choose(file, have, at)
		if err != nil || layout.Whole {
			return layout, err
		}
		for _, name := range append([]string{"judge", "judge_version"}, answerColumns...) {
			if name != "number" && !slices.Contains(have, name) {
				return layout, nil
			}
		}
		first = len(layout.Fields)
		layout.Fields = slices.Clone(layout.Fields)
		for _, name := range answerColumns {
			if !slices.Contains(have, name) {
				continue
			}
			layout.Fields = append(layout.Fields, Field{Name: name, Scalar: true, Lenient: true})
		}
		return layout, nil
	})
	if err != nil || first < 0 {
		return opened, err
	}
	next, verdicts, answers := opened.next, 0, 0
	var last []string
	opened.next = func() (Row, error) {
		for {
			row, err := next()
			if errors.Is(err, io.EOF) && verdicts > answers {
				opened.Notes = append(opened.Notes, fmt.Sprintf("%s: %s of %s, each read once; their verdicts are left out",
					path, table.Counted(answers, "answer", "answers"), table.Counted(verdicts, "verdict", "verdicts")))
			}
			if err != nil {
				return row, err
			}
			verdicts++
			if of := row.Cells[first:]; !slices.Equal(of, last) {
				answers++
				last = slices.Clone(of)
				row.Cells, row.Number = row.Cells[:first], answers
				return row, nil
			}
		}
	}
	return opened, nil
}
