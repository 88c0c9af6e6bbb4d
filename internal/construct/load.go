package construct

import (
	_ "embed"

	"github.com/orbench/orbench/internal/settings"
)

// Template is a commented build.yaml that builds a small benchmark with
// simulated models; its comments name what the paper used.
//
//go:embed build.yaml
var Template string

// Load reads a configuration. What the file leaves out is as in Default. A fault
// is an *orbench.InputError with its line.
func Load(path string) (Config, error) {
	text, err := settings.ReadFile(path, `write one with "orbench config init"`)
	if err != nil {
		return Config{}, err
	}
	return Parse(path, text)
}

// Parse reads the text of a configuration; name stands for it in errors.
func Parse(name string, text []byte) (Config, error) {
	c := Default()
	if err := settings.Decode(name, text, &c, `"orbench config init" prints a file with every setting`); err != nil {
		return Config{}, err
	}
	c.complete()
	if f := c.check(); f != nil {
		return Config{}, f.Error(name, text)
	}
	return c, nil
}

// Schema is the JSON Schema of build.yaml, for editors that check as one types.
func Schema() []byte {
	return settings.Schema("build.yaml of orbench", []string{"name", "seeds", "moderation"}, &Config{})
}
