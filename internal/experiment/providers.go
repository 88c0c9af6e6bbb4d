package experiment

import (
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/sim"
)

// Providers lists the providers of the targets and of those who stand before them,
// or where these have none of an address of their own, those of the judges.
func (c *Experiment) Providers() []string {
	var specs []string
	for _, t := range c.Targets {
		if t.BaseURL == "" {
			specs = append(specs, t.Target)
		}
	}
	for _, v := range c.Expand() {
		specs = append(specs, string(v.Defense))
	}
	if named := Providers(specs); len(named) > 0 {
		return named
	}
	return Providers(c.Judges)
}

// Providers lists the providers that targets, judges or defenses name, each once;
// simulated models and recorded answers have none. A provider is what stands before the first slash, after the judge's own prefix. A name after
// that slash may hold a colon, as in ollama/llama3:8b.
func Providers(specs []string) (names []string) {
	for _, spec := range specs {
		if strings.HasPrefix(spec, dataset.ReplayPrefix) {
			continue
		}
		// A spec may be a list or a panel of others.
		for _, part := range strings.FieldsFunc(spec, func(r rune) bool { return strings.ContainsRune(",( )", r) }) {
			// A setting of a guard may hold a slash.
			if guard, ok := strings.CutPrefix(part, GuardPrefix); ok {
				_, part, _ = strings.Cut(guard, "@")
			}
			head, _, ok := strings.Cut(part, "/")
			name := head[strings.LastIndexAny(head, ":@")+1:]
			if ok && name != sim.Provider && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
