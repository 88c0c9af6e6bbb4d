package refusal

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"sync"

	"github.com/orbench/orbench/refusal/internal/language"
)

// Version tells two builds of the detector apart: a short hash of its phrases and
// weights. What is written in Go is not in it.
var Version = sync.OnceValue(func() string {
	h := sha256.New()
	for _, text := range []string{language.Text, sequencesText, weightsText} {
		h.Write([]byte(text))
	}
	files, err := fs.Glob(phraseFiles, "phrases/*.txt")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, name := range files {
		text, err := phraseFiles.ReadFile(name)
		if err != nil {
			panic(err) // the files are embedded
		}
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
})
