package construct

import (
	_ "embed"

	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/settings"
)

// Template is a commented build.yaml that builds a small benchmark with
// simulated models; its comments name what the paper used.
//
//go:embed build.yaml
var Template string

// Load reads a configuration. Settings missing from the file are as in Default. A fault
// is an *orbench.InputError with its line.
func Load(path string) (benchmark.BuildConfig, error) {
	text, err := settings.ReadFile(path, `write one with "orbench config init"`)
	if err != nil {
		return benchmark.BuildConfig{}, err
	}
	return Parse(path, text)
}

// Parse reads the text of a configuration. Errors call it name.
func Parse(name string, text []byte) (benchmark.BuildConfig, error) {
	c := Default()
	if err := settings.Decode(name, text, &c, `"orbench config init" prints a file with every setting`); err != nil {
		return benchmark.BuildConfig{}, err
	}
	complete(&c)
	if f := check(&c); f != nil {
		return benchmark.BuildConfig{}, f.Error(name, text)
	}
	return c, nil
}

// Schema is the JSON Schema of build.yaml, for editors that check the file while it is
// written.
//
//go:embed schema.json
var Schema []byte
