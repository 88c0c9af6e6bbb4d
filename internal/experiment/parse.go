package experiment

import (
	"os"
	"strings"

	"github.com/orbench/orbench/internal/dataset"
)

// SplitList splits comma-separated targets or datasets. A value that is the path of a file
// is taken whole, commas and all.
func SplitList(values []string) []string {
	var out []string
	for _, v := range values {
		if _, err := os.Stat(strings.TrimPrefix(v, dataset.ReplayPrefix)); err == nil {
			out = append(out, v)
			continue
		}
		out = append(out, commas([]string{v})...)
	}
	return out
}
