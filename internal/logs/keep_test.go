package logs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/folder"
)

// TestKeeping has two people label one sheet: the second label of the first one is refused,
// since it would undo that of the other.
func TestKeeping(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sheet.csv")
	looks := []Look{{Stratum: "model", Size: 9, Drawn: 2, Times: 1, Message: "a", Reply: "no"}, {Stratum: "model", Size: 9, Drawn: 2, Times: 1, Message: "b", Reply: "no"}}
	if err := folder.WritePrivate(path, false, SheetOf(path, looks)); err != nil {
		t.Fatal(err)
	}
	mine, err := Keeping(path, looks)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		looks[0].Refused, looks[0].Answerable = Yes, No
		if err := mine(); err != nil {
			t.Fatal(err)
		}
	}
	theirs, err := ReadSheet(path)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Keeping(path, theirs)
	if err != nil {
		t.Fatal(err)
	}
	theirs[1].Refused, theirs[1].Answerable = Yes, Yes
	if err := other(); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := mine(); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "changed by somebody else") {
		t.Errorf("got %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
		t.Errorf("the sheet of the other is changed: %v", err)
	}
}
