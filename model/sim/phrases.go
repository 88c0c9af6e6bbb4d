package sim

import (
	_ "embed"
	"strings"
)

//go:embed phrases.txt
var phrasesText string

// phrases are the lists of phrases.txt, by their names.
var phrases = func() map[string][]string {
	lists, name := map[string][]string{}, ""
	for line := range strings.Lines(phrasesText) {
		switch line = strings.TrimSpace(line); {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			name = strings.Trim(line, "[]")
		default:
			lists[name] = append(lists[name], line)
		}
	}
	return lists
}()
