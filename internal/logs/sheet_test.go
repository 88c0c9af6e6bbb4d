package logs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/folder"
)

// TestSheet has two people label one sheet: the second label of the first one is refused,
// since it would undo that of the other.
func TestSheet(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sheet.csv")
	looks := []Look{{Stratum: "model", Size: 9, Drawn: 2, Times: 1, Message: "a", Reply: "no"}, {Stratum: "model", Size: 9, Drawn: 2, Times: 1, Message: "b", Reply: "no"}}
	if err := folder.WritePrivate(path, false, func(w io.Writer) error { return WriteLooks(w, path, looks) }); err != nil {
		t.Fatal(err)
	}
	open := func(person string) *Sheet {
		s, err := OpenSheet(path, person)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	mine := open("ana")
	first, last := mine.Entries()[0].Subject, mine.Entries()[3].Subject
	keep := func(s *Sheet, a orbench.Annotation) error {
		a.By = s.Person
		return s.Annotate(t.Context(), []orbench.Annotation{a})
	}
	for range 2 {
		if err := keep(mine, orbench.Annotation{Subject: first, Class: orbench.Partial}); err != nil {
			t.Fatal(err)
		}
	}
	other := open("ben")
	if err := keep(other, orbench.Annotation{Subject: last, Label: orbench.Controversial}); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := keep(mine, orbench.Annotation{Subject: last, Label: orbench.Safe}); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "changed by somebody else") {
		t.Errorf("got %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
		t.Errorf("the sheet of the other is changed: %v", err)
	}
	looks, err = ReadSheet(path)
	if err != nil {
		t.Fatal(err)
	}
	if looks[0].Refused != Yes || looks[0].Answerable != "" || looks[1].Refused != "" || looks[1].Answerable != Unknown {
		t.Errorf("the sheet has %+v", looks)
	}
	// What is taken back is open again, and what is left for later stays as it was.
	for _, a := range []orbench.Annotation{{Subject: first, Skipped: true}, {Subject: last}} {
		if err := keep(other, a); err != nil {
			t.Fatal(err)
		}
	}
	if said, err := open("cem").Annotations(t.Context()); err != nil || annotation.Word(said[0]) != string(orbench.Refusal) || annotation.Word(said[3]) != "" {
		t.Errorf("%v: the sheet says %+v", err, said)
	}
}
