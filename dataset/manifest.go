package dataset

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/orbench/orbench"
)

// declaredLabel gives the label that a benchmark's manifest, beside a file, says
// its prompts have: the sets that "orbench build" writes have the published
// columns, which name no label. It is empty for any other file.
func declaredLabel(path string) orbench.Label {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "manifest.json"))
	if err != nil {
		return ""
	}
	var manifest struct {
		Format int `json:"orbench_benchmark"`
		Files  map[string]struct {
			Label orbench.Label `json:"label"`
		} `json:"files"`
	}
	if json.Unmarshal(text, &manifest) != nil || manifest.Format == 0 {
		return ""
	}
	label, _ := orbench.ParseLabel(string(manifest.Files[filepath.Base(path)].Label))
	return label
}
