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
	text := want.appendBuilt(nil)
	if os.Getenv("ORBENCH_UPDATE") != "" {
		if err := os.WriteFile("lexicon.bin", text, 0o644); err != nil {
			t.Fatal(err)
		}
		builtLexicon = text
	}
	if !bytes.Equal(builtLexicon, text) {
		t.Error("lexicon.bin is not of these tables; go generate ./refusal makes it anew")
	}
	if Version() != tablesVersion() {
		t.Errorf("version %s, and the tables are of %s", Version(), tablesVersion())
	}
	if !reflect.DeepEqual(readBuilt(text), want) {
		t.Error("the lexicon that was read is not the one that was written")
	}
}

// BenchmarkEmbedded prints how much sooner the first answer is read than with the lexicon
// built from its tables.
func BenchmarkEmbedded(b *testing.B) {
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			readBuilt(builtLexicon)
		}
	})
	b.Run("built", func(b *testing.B) {
		for b.Loop() {
			newLexicon(sequencesText)
		}
	})
}
