package conversation

import (
	_ "embed"
	"slices"
	"sync"

	"github.com/orbench/orbench/internal/settings"
)

//go:embed scripts/v1.yaml
var scriptsV1 []byte

// Scripts lists the named scripts.
func Scripts() []Script { return slices.Clone(stock()) }

var stock = sync.OnceValue(func() []Script {
	var file struct {
		Scripts []Script `yaml:"scripts"`
	}
	if err := settings.Decode("scripts/v1.yaml", scriptsV1, &file, ""); err != nil {
		panic("conversation: the scripts with names cannot be read: " + err.Error())
	}
	return file.Scripts
})

// own is the word for a turn that is the target's own answer.
const own = "own"

// UnmarshalYAML reads the word own, or an object with the text of a turn.
func (t *Turn) UnmarshalYAML(unmarshal func(any) error) error {
	var word string
	if unmarshal(&word) == nil {
		// Check reports other words, at their line.
		t.Own = word == own
		return nil
	}
	type object Turn
	return unmarshal((*object)(t))
}
