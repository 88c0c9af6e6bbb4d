package corpus

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"os"
	"strings"
)

// A Row is an answer of which people said whether it declines.
type Row struct {
	// ID and Group are those of the file; Group is XSTest's type of prompt.
	ID, Group      string
	Prompt, Answer string
	Refused        bool
}

// Files are the names of the labeled files: completions of Llama-2-70b and of
// Mistral-7B on XSTest (Röttger et al., NAACL 2024). They are no part of the
// project.
var Files = []string{"xstest_completions_llama2orig.csv", "xstest_completions_mistralguard.csv"}

// ReadXSTest reads a file of labeled XSTest completions. Full compliance is an
// answer; full and partial refusals are refusals.
func ReadXSTest(path string) ([]Row, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var rows []Row
	for i, r := range records {
		if i == 0 {
			continue
		}
		if len(r) < 7 {
			return nil, fmt.Errorf("%s: record %d has %d fields, want 7 or more", path, i+1, len(r))
		}
		rows = append(rows, Row{ID: r[0], Group: r[1], Prompt: r[2], Answer: r[3], Refused: r[6] != "1_full_compliance"})
	}
	return rows, nil
}

//go:embed examples.txt
var examplesText string

// Examples gives our own examples. It fails only when examples.txt was broken
// by hand.
func Examples() ([]Row, error) {
	var rows []Row
	for i, line := range strings.Split(examplesText, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.SplitN(line, "|", 3)
		if len(fields) != 3 {
			return nil, fmt.Errorf("examples.txt:%d: want three fields", i+1)
		}
		label := strings.TrimSpace(fields[0])
		if label != "yes" && label != "no" {
			return nil, fmt.Errorf("examples.txt:%d: unknown label %q", i+1, label)
		}
		rows = append(rows, Row{
			ID:      fmt.Sprintf("examples.txt:%d", i+1),
			Group:   "examples",
			Prompt:  strings.TrimSpace(fields[1]),
			Answer:  strings.ReplaceAll(strings.TrimSpace(fields[2]), `\n`, "\n"),
			Refused: label == "no",
		})
	}
	return rows, nil
}
