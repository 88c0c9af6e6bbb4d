package logs

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/sheet"
	"github.com/orbench/orbench/internal/table"
)

// header are the columns of a sheet of looks.
var header = []string{"stratum", "size", "drawn", "times", "message", "reply", "refused", "should_answer"}

// The columns that some sheets have more: of a log in which a guard gives scores, and in which
// something was said before messages, as JSON.
const scoreColumn, contextColumn = "guard_score", "context"

// WriteLooks writes a sheet of looks in the form of a file: JSON Lines, or CSV that is safe to
// open in a spreadsheet.
func WriteLooks(w io.Writer, file string, looks []Look) error {
	scored := slices.ContainsFunc(looks, func(l Look) bool { return l.Score != "" })
	told := slices.ContainsFunc(looks, func(l Look) bool { return len(l.Context) > 0 })
	columns := slices.Clone(header)
	if scored {
		columns = append(columns, scoreColumn)
	}
	if told {
		columns = append(columns, contextColumn)
	}
	rows := make([][]string, len(looks))
	for i, l := range looks {
		rows[i] = []string{
			l.Stratum, strconv.Itoa(l.Size), strconv.Itoa(l.Drawn), strconv.Itoa(l.Times), l.Message, l.Reply, string(l.Refused), string(l.Answerable),
		}
		if scored {
			rows[i] = append(rows[i], l.Score)
		}
		if told {
			context, err := json.Marshal(l.Context)
			if err != nil {
				return err
			}
			rows[i] = append(rows[i], string(context))
		}
	}
	return sheet.Write(w, filepath.Ext(file) == ".jsonl", columns, rows)
}

// wordsOf are the forms in which people write a Word.
var wordsOf = map[string]Word{
	"": "", "yes": Yes, "y": Yes, "true": Yes, "1": Yes, "no": No, "n": No, "false": No, "0": No,
	"cannot tell": Unknown, "c": Unknown, "?": Unknown, "unsure": Unknown, "unknown": Unknown,
}

// ReadLooks reads a sheet of looks, filled in or not. A row that is missing, a word that is
// not known, and another table are an *orbench.InputError.
func ReadLooks(file string, in io.Reader) ([]Look, error) {
	s, err := sheet.Read(file, in)
	if err != nil {
		return nil, err
	}
	var at [8]int
	for i, name := range header {
		if at[i] = s.Column(name); at[i] < 0 {
			return nil, s.Fault(1, fmt.Sprintf("no column %q, so this is not a sheet of drawn exchanges", name), "draw one with: orbench logs draw")
		}
	}
	scored, told := s.Column(scoreColumn), s.Column(contextColumn)
	var looks []Look
	times, sizes := map[string]int{}, map[string][2]int{}
	for _, row := range s.Rows {
		cell := func(i int) string { return row.Cells[at[i]] }
		l := Look{Stratum: cell(0), Message: cell(4), Reply: cell(5)}
		for i, into := range []*int{&l.Size, &l.Drawn, &l.Times} {
			if *into, err = strconv.Atoi(cell(1 + i)); err != nil || *into < 1 {
				return nil, s.Fault(row.Line, fmt.Sprintf("%.40q in column %s is no number of exchanges", cell(1+i), header[1+i]), "leave the columns size, drawn and times as they were drawn")
			}
		}
		for i, into := range []*Word{&l.Refused, &l.Answerable} {
			said := strings.ToLower(strings.TrimSpace(cell(6 + i)))
			word, known := wordsOf[said]
			if !known {
				return nil, s.Fault(row.Line, fmt.Sprintf("%.40q in column %s is no answer", said, header[6+i]), "write yes, no or cannot tell, or leave it empty")
			}
			*into = word
		}
		if scored >= 0 {
			l.Score = row.Cells[scored]
		}
		if told >= 0 && row.Cells[told] != "" && json.Unmarshal([]byte(row.Cells[told]), &l.Context) != nil {
			return nil, s.Fault(row.Line, "the column context has no list of messages", "leave it as it was drawn")
		}
		if before, ok := sizes[l.Stratum]; ok && before != [2]int{l.Size, l.Drawn} {
			return nil, s.Fault(row.Line, fmt.Sprintf("the stratum %.40q has another size or drawing than in a row above", l.Stratum), "give one sheet, as it was drawn")
		}
		sizes[l.Stratum] = [2]int{l.Size, l.Drawn}
		times[l.Stratum] += l.Times
		looks = append(looks, l)
	}
	for name, n := range times {
		if drawn := sizes[name][1]; n != drawn {
			return nil, s.Fault(0, fmt.Sprintf("the stratum %.40q has %d drawn exchanges of %d", name, n, drawn), "leave every row in the sheet; one that nobody can judge is left empty")
		}
	}
	return looks, nil
}

// Asked is the conversation up to the message, as datasets have them: a system prompt, then the
// user's and the assistant's words in turns.
func (l Look) Asked() orbench.Prompt {
	var all []orbench.Message
	for _, m := range append(slices.Clip(l.Context), orbench.Message{Role: orbench.User, Content: l.Message}) {
		n, of := len(all)-1, func(i int) orbench.Role { return all[i].Role }
		switch {
		case m.Role == orbench.System && n >= 0 && of(0) == orbench.System:
			all[0].Content += "\n\n" + m.Content
		case m.Role == orbench.System:
			all = slices.Insert(all, 0, m)
		case n >= 0 && m.Role == of(n):
			all[n].Content += "\n\n" + m.Content
		case m.Role == orbench.User || n >= 0 && of(n) == orbench.User: // a greeting answers nobody
			all = append(all, m)
		}
	}
	return orbench.Prompt{Messages: all}
}

// weight is about how many exchanges of the log it stands for.
func (l Look) weight() float64 { return float64(l.Times) * float64(l.Size) / float64(l.Drawn) }

// Open reports whether somebody still has to look at it.
func (l Look) Open() bool { return l.Refused == "" || l.Answerable == "" }

// Left counts the looks that are open.
func Left(looks []Look) (n int) {
	for _, l := range looks {
		if l.Open() {
			n++
		}
	}
	return n
}

// byStratum parts the looks by stratum, in the order of the strata's names.
func byStratum(looks []Look) [][]Look {
	all := map[string][]Look{}
	for _, l := range looks {
		all[l.Stratum] = append(all[l.Stratum], l)
	}
	return table.RowsOf(slices.Sorted(maps.Keys(all)), func(name string) []Look { return all[name] })
}
