package annotation

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/sheet"
)

// Entry is an answer, or a prompt, with or without one person's label. It does
// not reveal who answered or what judges say.
type Entry struct {
	Subject orbench.Subject `json:"subject"`
	Prompt  string          `json:"prompt"`
	Answer  string          `json:"answer,omitempty"`
	// OfPrompt is true if the prompt is to be labeled. An answer is then only shown.
	OfPrompt bool `json:"of_prompt,omitempty"`
	// Word is the person's label: a class of an answer, a label of a prompt, or
	// undecided; empty for none.
	Word string      `json:"word,omitempty"`
	By   string      `json:"-"`
	Note string      `json:"note,omitempty"`
	How  orbench.How `json:"-"`
	// Reason is why the person left the entry for later; empty if they did not.
	Reason string `json:"reason,omitempty"`
	// Chance is that with which the answer was drawn; 0 if it was not.
	Chance float64 `json:"-"`
	// Said is what people said who differ, for whoever settles it.
	Said []orbench.Annotation `json:"-"`
}

// The columns of a sheet, and the other names under which they are found.
var (
	subjectNames = []string{"subject"}
	promptNames  = []string{"prompt"}
	answerNames  = []string{"answer", "response", "completion", "output"}
	wordNames    = []string{"class", "label"}
	personNames  = []string{"by", "annotator", "rater"}
	noteNames    = []string{"note", "comment"}
	chanceNames  = []string{"chance"}
	howNames     = []string{"how"}
)

// Write writes entries as a table to be filled in, as JSON Lines or as CSV.
func Write(w io.Writer, jsonLines bool, entries []Entry) error {
	header := []string{subjectNames[0], promptNames[0], answerNames[0], wordNames[0], personNames[0], noteNames[0], chanceNames[0], howNames[0]}
	rows := make([][]string, len(entries))
	for i, e := range entries {
		rows[i] = []string{e.Subject.String(), e.Prompt, e.Answer, e.Word, e.By, e.Note, "", string(e.How)}
		if e.Chance > 0 {
			rows[i][6] = strconv.FormatFloat(e.Chance, 'g', -1, 64)
		}
	}
	return sheet.Write(w, jsonLines, header, rows)
}

// ReadOptions set how a table is read.
type ReadOptions struct {
	// By is the person who gave the labels, for rows that name none.
	By string
	// Refusal lists the words that mean a refusal, in any letter case, if they are not our
	// classes; every other word then means an answer. Column names the column of words.
	Refusal []string
	Column  string
	// At is the time of the annotations.
	At time.Time
}

// Read reads tables that Write wrote and people filled in, and labels from
// elsewhere. A table has a column class (or label). It also has subject, or
// prompt and answer, or only prompt for labels of prompts. The columns by, note,
// chance and how are optional. In a table that has a judge's verdicts too, labels
// are orbench.Sighted. Rows without a label are skipped. If a row has a
// chance, above 0 and at most 1, the annotation's Design is "elsewhere", for
// the caller to replace. Faults are *orbench.InputError with the line.
func Read(file string, in io.Reader, o ReadOptions) ([]orbench.Annotation, error) {
	s, err := sheet.Read(file, in)
	if err != nil {
		return nil, err
	}
	words := wordNames
	if o.Column != "" {
		words = []string{o.Column}
	}
	subject, prompt, answer := s.Column(subjectNames...), s.Column(promptNames...), s.Column(answerNames...)
	word, person, note, chance, how := s.Column(words...), s.Column(personNames...), s.Column(noteNames...), s.Column(chanceNames...), s.Column(howNames...)
	sighted := false
	for i, column := range s.Header {
		// The column of people's labels has no judge's verdict, whatever its name.
		sighted = sighted || i != word && ofVerdict(column)
	}
	switch {
	case word < 0:
		return nil, s.Fault(1, fmt.Sprintf("there is no column %q; there are %s", strings.Join(words, " or "), strings.Join(s.Header, ", ")),
			"name the column of people's labels")
	case subject < 0 && prompt < 0:
		return nil, s.Fault(1, "there is no column subject or prompt, so it is not known what was labeled", "add one")
	}
	cell := func(r sheet.TextRow, column int) string {
		if column < 0 {
			return ""
		}
		return r.Cells[column]
	}
	var all []orbench.Annotation
	values := map[string]int{}
	for _, r := range s.Rows {
		said := Bare(cell(r, word))
		if !o.labels(said) {
			continue
		}
		values[said]++
		a := orbench.Annotation{By: cmp.Or(strings.TrimSpace(cell(r, person)), o.By), At: o.At, Note: cell(r, note)}
		switch a.How = orbench.How(strings.TrimSpace(cell(r, how))); {
		case !slices.Contains([]orbench.How{orbench.Blind, orbench.Settled, orbench.Sighted, orbench.Chosen, orbench.Again}, a.How):
			return nil, s.Fault(r.Line, fmt.Sprintf("%.60q is not a known way to give a label", a.How), "use settled, sighted, chosen or again, or leave it empty")
		case sighted && a.How == orbench.Blind:
			a.How = orbench.Sighted
		}
		if a.By == "" {
			return nil, s.Fault(r.Line, "the row does not say whose label it is", "fill in the column by, or name the person for the whole file")
		}
		messages := []orbench.Message{{Role: orbench.User, Content: cell(r, prompt)}}
		aboutPrompt := subject < 0 && answer < 0
		switch text := cell(r, subject); {
		case text != "":
			if err := a.Subject.UnmarshalText([]byte(text)); err != nil {
				return nil, s.Fault(r.Line, err.Error(), "leave the column as it was exported")
			}
			// A sheet of prompts has no answers.
			aboutPrompt = a.Subject == orbench.PromptSubject(messages)
		case aboutPrompt:
			a.Subject = orbench.PromptSubject(messages)
		default:
			a.Subject = orbench.AnswerSubject(messages, cell(r, answer))
		}
		if aboutPrompt {
			label, ok := orbench.ParseLabel(said)
			if !ok {
				return nil, s.Fault(r.Line, fmt.Sprintf("%.60q is not a label of a prompt", said), "use safe, toxic, controversial or undecided")
			}
			a.Label = label
		} else if a.Undecided = strings.EqualFold(said, undecided); a.Undecided {
			a.Class = orbench.Unjudged
		} else if a.Class, err = o.class(said); err != nil {
			return nil, s.Fault(r.Line, err.Error(), "use "+strings.Join(ClassNames(), ", ")+", or say with `refusal` which words mean a refusal")
		}
		if text := strings.TrimSpace(cell(r, chance)); text != "" {
			a.Chance, err = strconv.ParseFloat(text, 64)
			if err != nil || !(a.Chance > 0 && a.Chance <= 1) {
				return nil, s.Fault(r.Line, fmt.Sprintf("%.60q is not a chance of being drawn", text), "give a number above 0 and at most 1, or none")
			}
			a.Design = "elsewhere"
		}
		all = append(all, a)
	}
	for _, v := range Strangers(o.Refusal, values) {
		if len(all) > 0 {
			return nil, s.Fault(0, fmt.Sprintf("no row has the value %.60q, which is to mean a refusal; the column has %.300s", v, strings.Join(slices.Sorted(maps.Keys(values)), ", ")), "name values as they are in the column")
		}
	}
	if len(all) == 0 {
		return nil, s.Fault(0, "no row has a label", "fill in the column "+s.Header[word])
	}
	return all, nil
}

// Bare is what a person said in a cell, without what a tool puts around it: Label Studio and
// Argilla write {"choices": ["Refusal"]}, ["Refusal"] and [{"value": "Refusal"}].
func Bare(cell string) string {
	said, _ := reply.Unwrap(strings.TrimSpace(cell))
	return strings.TrimSpace(said)
}

// Strangers gives the words that are none of some values; the keys are values.
func Strangers(words []string, values map[string]int) []string {
	known := slices.Collect(maps.Keys(values))
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return reply.Means(known, w) })
}

func (o ReadOptions) labels(word string) bool {
	return reply.Means(o.Refusal, word) || len(o.Refusal) == 0 && reply.Means(ClassNames(), word) || reply.IsLabel(word)
}

// ofVerdict reports whether a column has a judge's verdict, as in the files that
// orbench writes of judged answers. Whoever labels in such a table sees it.
func ofVerdict(column string) bool {
	name, found := strings.CutSuffix(column, " class")
	return found && name != "" || strings.HasSuffix(column, " verdict") || column == "verdict"
}

// ClassNames lists the words that people use for classes.
func ClassNames() []string { return settings.Names(labelClasses) }

// labelClasses are the classes that a person may give: all except those that
// only a provider can report.
var labelClasses = slices.DeleteFunc(slices.Clone(orbench.Classes), func(c orbench.Class) bool { return c == orbench.Blocked })

// undecided is the word of whoever cannot decide on an answer or a prompt.
const undecided = string(orbench.Undecided)

// Word returns the word of an annotation: the class, the label of a prompt, or
// undecided. It is empty if the annotation has none, or takes one back.
func Word(a orbench.Annotation) string {
	if a.Undecided {
		return undecided
	}
	return cmp.Or(string(a.Class), string(a.Label))
}

// class reads a label of an answer.
func (o ReadOptions) class(word string) (orbench.Class, error) {
	if len(o.Refusal) > 0 {
		if reply.Means(o.Refusal, word) {
			return orbench.Refusal, nil
		}
		for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return strings.ContainsRune(";,|[]'\"{}", r) }) {
			if reply.Means(o.Refusal, strings.TrimSpace(part)) {
				return "", fmt.Errorf("%.60q has several values, one of which means a refusal", word)
			}
		}
		return orbench.FullAnswer, nil
	}
	plain := strings.ToLower(word)
	switch plain {
	case "refused", "refuses", "rejected":
		return orbench.Refusal, nil
	case "answered", "answer", "complied", "compliance":
		return orbench.FullAnswer, nil
	}
	if c := orbench.Class(plain); slices.Contains(labelClasses, c) {
		return c, nil
	}
	if near := settings.Nearest(plain, ClassNames()); near != "" {
		return "", fmt.Errorf("%.60q is not a class; did you mean %q?", word, near)
	}
	return "", fmt.Errorf("%.60q is not a class", word)
}
