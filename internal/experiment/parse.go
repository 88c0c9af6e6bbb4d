package experiment

import (
	"os"
	"slices"
	"strings"
)

// writeSystem is the system prompt of a flag as YAML: the name of a known one, the text of
// one's own, or @FILE for its content. An empty text is none.
func writeSystem(value string) string {
	s := System{Name: "own", Text: value}
	if path, ok := strings.CutPrefix(value, "@"); ok {
		s = System{Name: "own", File: path}
	} else if value == "" {
		s.Name = None
	} else if slices.Contains(systemNames(), value) {
		s = System{Name: value}
	}
	return "[" + quote(s) + "]"
}

// SplitList parts comma-separated targets or datasets. A value that is the path of a file is
// taken whole, commas and all.
func SplitList(values []string) []string {
	var out []string
	for _, v := range values {
		if _, err := os.Stat(strings.TrimPrefix(v, ReplayPrefix)); err == nil {
			out = append(out, v)
			continue
		}
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}
