package refusal

import (
	"bytes"
	"os"
	"reflect"
	"testing"
)

// TestBuiltLexicon holds lexicon.bin to what the tables and the code that reads them make.
// With ORBENCH_UPDATE=1 it writes it.
func TestBuiltLexicon(t *testing.T) {
	want := newLexicon(sequencesText)
	text := want.appendBuilt(nil, Version())
	if os.Getenv("ORBENCH_UPDATE") != "" {
		if err := os.WriteFile("lexicon.bin", text, 0o644); err != nil {
			t.Fatal(err)
		}
		builtLexicon = text
	}
	if !bytes.Equal(builtLexicon, text) {
		t.Error(errStale)
	}
	got, err := readBuilt(text, Version())
	if err != nil {
		t.Fatal(err)
	}
	got.languages = want.languages
	if !reflect.DeepEqual(got, want) {
		t.Error("the lexicon that was read is not the one that was written")
	}
	for _, stale := range [][]byte{nil, text[:7], text[:len(text)/2], append([]byte("x"), text...)} {
		if _, err := readBuilt(stale, Version()); err == nil {
			t.Errorf("%d bytes that are no lexicon are read as one", len(stale))
		}
	}
}

// BenchmarkEmbedded prints how much sooner the first answer is read than with the lexicon
// built from its tables.
func BenchmarkEmbedded(b *testing.B) {
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if _, err := readBuilt(builtLexicon, Version()); err != nil {
				b.Fatal(err)
			}
			parseLanguages()
		}
	})
	b.Run("built", func(b *testing.B) {
		for b.Loop() {
			newLexicon(sequencesText)
		}
	})
}
