package dataset

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/orbench/orbench"
)

// manifest is what a dataset needs of manifest.json, which lies beside the sets
// that "orbench build" writes. They have the published columns, which name no
// label and nobody who made them.
type manifest struct {
	Format int `json:"orbench_benchmark"`
	Files  map[string]struct {
		SHA256 string        `json:"sha256"`
		Label  orbench.Label `json:"label"`
	} `json:"files"`
	Config struct {
		Seeds struct {
			Generators []string `json:"generators"`
		} `json:"seeds"`
		Rewrites struct {
			Rewriters []string `json:"rewriters"`
		} `json:"rewrites"`
		Moderation struct {
			Moderators []namedModel `json:"moderators"`
		} `json:"moderation"`
		SecondChance namedModel `json:"second_chance"`
		Hard         struct {
			Selectors []namedModel `json:"selectors"`
		} `json:"hard"`
	} `json:"config"`
	Steering struct {
		Target string `json:"target"`
	} `json:"steering"`
}

type namedModel struct {
	Model string `json:"model"`
}

// hardSet is the name without ending of the set that selectors chose.
const hardSet = "hard"

// readManifest reads the manifest beside a file. It reports false where there is
// none that names the file.
func readManifest(path string) (manifest, bool) {
	var m manifest
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "manifest.json"))
	if err != nil || json.Unmarshal(text, &m) != nil || m.Format == 0 {
		return manifest{}, false
	}
	_, named := m.Files[filepath.Base(path)]
	return m, named
}

// label is what the manifest says that the prompts of a file are, empty for
// nothing.
func (m *manifest) label(path string) orbench.Label {
	label, _ := orbench.ParseLabel(string(m.Files[filepath.Base(path)].Label))
	return label
}

// making says who made the prompts of a file.
func (m *manifest) making(path string) Making {
	made := Making{}
	add := func(role Role, names ...string) {
		for _, name := range names {
			if name != "" {
				made[role] = append(made[role], name)
			}
		}
	}
	add(Generator, m.Config.Seeds.Generators...)
	add(Generator, m.Config.Rewrites.Rewriters...)
	for _, moderator := range m.Config.Moderation.Moderators {
		add(Moderator, moderator.Model)
	}
	add(SecondChance, m.Config.SecondChance.Model)
	base := filepath.Base(path)
	if base[:len(base)-len(filepath.Ext(base))] == hardSet {
		for _, selector := range m.Config.Hard.Selectors {
			add(Selector, selector.Model)
		}
	}
	// A steered build wrote more of what its target refuses.
	add(Selector, m.Steering.Target)
	return made
}
