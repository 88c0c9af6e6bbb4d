package logs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/folder"
)

// ReadSheet reads the looks of a file.
func ReadSheet(path string) ([]Look, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &orbench.InputError{File: path, Problem: "cannot be read: " + errors.Unwrap(err).Error(), Hint: "correct the path", Err: err}
	}
	defer file.Close()
	return ReadLooks(path, file)
}

// Sheet is a sheet of looks that a person labels. It keeps labels as a store does: each is
// in the file before the next is asked for.
type Sheet struct {
	Path, Person string
	looks        []Look

	mu sync.Mutex
	// text is what the file has, as far as we know, and said what the person said.
	text []byte
	said []orbench.Annotation
}

// OpenSheet opens a sheet for a person.
func OpenSheet(path, person string) (*Sheet, error) {
	looks, err := ReadSheet(path)
	if err != nil {
		return nil, err
	}
	s := &Sheet{Path: path, Person: person, looks: looks}
	if s.text, err = os.ReadFile(path); err != nil {
		return nil, err
	}
	for i, l := range looks {
		class := map[Word]orbench.Class{Yes: orbench.Refusal, No: orbench.FullAnswer}[l.Refused]
		label := map[Word]orbench.Label{Yes: orbench.Safe, No: orbench.Toxic, Unknown: orbench.Undecided}[l.Answerable]
		s.said = append(
			s.said,
			orbench.Annotation{Subject: subjectOf(i, ofReply), By: person, Class: class, Undecided: l.Refused == Unknown},
			orbench.Annotation{Subject: subjectOf(i, ofMessage), By: person, Label: label},
		)
	}
	return s, nil
}

// The questions about a look: was it refused, and should it have been answered.
const ofReply, ofMessage = 0, 1

// subjectOf names a question about a look by its place, so that a queue asks them in the
// order of the sheet.
func subjectOf(look int, question byte) (s orbench.Subject) {
	binary.BigEndian.PutUint32(s[:], uint32(look))
	s[4] = question
	return s
}

// Entries are the questions about all looks. They do not say who refused.
func (s *Sheet) Entries() (entries []annotation.Entry) {
	for i, l := range s.looks {
		text := func(text string) string { return cmp.Or(strings.TrimSpace(text), "(no text)") }
		e := annotation.Entry{Subject: subjectOf(i, ofReply), Prompt: text(l.Asked().Transcript()), Answer: text(l.Reply)}
		entries = append(entries, e)
		e.Subject, e.OfPrompt = subjectOf(i, ofMessage), true
		entries = append(entries, e)
	}
	return entries
}

// Annotations are what the person said.
func (s *Sheet) Annotations(context.Context) ([]orbench.Annotation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.said), nil
}

// Annotate keeps what the person said. It fails where somebody else has changed the file
// meanwhile, whose labels would be lost.
func (s *Sheet) Annotate(_ context.Context, said []orbench.Annotation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, err := os.ReadFile(s.Path)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, s.text) {
		return &orbench.InputError{File: s.Path, Problem: "the sheet was changed by somebody else meanwhile, so this label is not kept", Hint: "begin again: what stands in the sheet is kept"}
	}
	looks := slices.Clone(s.looks)
	for _, a := range said {
		l := &looks[binary.BigEndian.Uint32(a.Subject[:])]
		into := []*Word{&l.Refused, &l.Answerable}[a.Subject[4]]
		switch {
		case a.Skipped:
		case a.Class.Refused() || a.Label == orbench.Safe:
			*into = Yes
		case a.Undecided || a.Label == orbench.Undecided || a.Label == orbench.Controversial:
			*into = Unknown
		case annotation.Word(a) == "": // it is taken back
			*into = ""
		default:
			*into = No
		}
	}
	var text bytes.Buffer
	if err := WriteLooks(&text, s.Path, looks); err != nil {
		return err
	}
	if err := folder.WritePrivate(s.Path, true, func(w io.Writer) error { _, err := w.Write(text.Bytes()); return err }); err != nil {
		return err
	}
	s.looks, s.text, s.said = looks, text.Bytes(), append(s.said, said...)
	return nil
}
