package sim

import (
	_ "embed"
	"strings"
)

//go:embed phrases.txt
var phrasesText string

// phrases are the lists of phrases.txt, by their names.
var phrases, _ = readLists(phrasesText, "\n")

// readLists reads lists, and gives them by their names and the names in their order. A
// line "[name]" begins a list, and those below it are its entries, parted by sep and by
// lines. Blank lines and those that begin with # say nothing.
func readLists(text, sep string) (lists map[string][]string, names []string) {
	lists = map[string][]string{}
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			name = strings.Trim(line, "[]")
			names = append(names, name)
		default:
			for entry := range strings.SplitSeq(line, sep) {
				lists[name] = append(lists[name], strings.TrimSpace(entry))
			}
		}
	}
	return lists, names
}
