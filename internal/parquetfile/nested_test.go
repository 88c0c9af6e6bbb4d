package parquetfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/rows"
)

// TestNestedParquet reads columns that are in others, in groups and in both forms of lists.
func TestNestedParquet(t *testing.T) {
	t.Parallel()
	type turn struct {
		Role    string `parquet:"role"`
		Content string `parquet:"content"`
	}
	type row struct {
		Doc struct {
			Prompt string  `parquet:"prompt"`
			Score  float64 `parquet:"score"`
		} `parquet:"doc"`
		Messages []turn `parquet:"messages,list"`
		Turns    []turn `parquet:"turns"`
		Answer   string `parquet:"answer"`
	}
	var all []row
	for _, name := range []string{"egg", "onion"} {
		r := row{Messages: []turn{{"user", "Cook an " + name}, {"assistant", "Gladly: " + name}}, Answer: name}
		r.Doc.Prompt, r.Turns = "Boil an "+name, r.Messages
		all = append(all, r)
	}
	path := filepath.Join(t.TempDir(), "nested.parquet")
	if err := parquet.WriteFile(path, all); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ prompt, answer, want string }{
		{"doc.prompt", "messages[-1].content", "Boil an egg|Gladly: egg;Boil an onion|Gladly: onion;"},
		{"turns[0].content", "turns[1].content", "Cook an egg|Gladly: egg;Cook an onion|Gladly: onion;"},
		{"doc.prompt", "answer", "Boil an egg|egg;Boil an onion|onion;"},
		{"answer", "doc", `column "doc" holds a nested value, not text`},
		{"messages", "answer", "user:Cook an egg;assistant:Gladly: egg;|egg;user:Cook an onion;assistant:Gladly: onion;|onion;"},
		{"doc.prompt", "messages[2].content", "no column messages[2].content"},
	} {
		got := ""
		f, err := rows.Open(path, func(file string, _ []string, at func(string) bool) (rows.Layout, error) {
			for _, name := range []string{tc.prompt, tc.answer} {
				if !at(name) {
					return rows.Layout{}, &orbench.InputError{File: file, Line: 1, Problem: "no column " + name}
				}
			}
			return rows.Layout{Prompt: tc.prompt, Fields: []rows.Field{{Name: tc.answer, Required: true}}}, nil
		})
		for err == nil {
			var r rows.Row
			if r, err = f.Next(); err == nil {
				for _, m := range r.Messages {
					got += string(m.Role) + ":" + m.Content + ";"
				}
				got += r.Text + "|" + r.Cells[0] + ";"
			}
		}
		if errors.Is(err, io.EOF) && got != tc.want || !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s, %s: %v, %s", tc.prompt, tc.answer, err, got)
		}
		if f != nil {
			f.Close()
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := rows.Open(path, rows.Whole); !errors.Is(err, orbench.ErrInput) {
		t.Errorf("half a file: %v", err)
	}
}
