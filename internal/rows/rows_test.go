package rows_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/rows"
)

// TestFormats reads the same rows from every text format, with their places.
func TestFormats(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		content string
		have    []string
		lines   []int
	}{
		"a.csv":   {"prompt,n\n\"one\ntwo\",1\nthree,\n", []string{"prompt", "n"}, []int{2, 4}},
		"a.tsv":   {"prompt\tn\n\"one\ntwo\"\t1\nthree\t\n", []string{"prompt", "n"}, []int{2, 4}},
		"a.jsonl": {`{"prompt":"one\ntwo","n":1}` + "\n\n" + `{"prompt":"three"}`, []string{"n", "prompt"}, []int{1, 3}},
		"b.json":  {`{"prompt":"one\ntwo","n":1}` + "\n" + `{"prompt":"three"}`, []string{"n", "prompt"}, []int{0, 0}},
		"c.json":  {`{"version":2,"data":[ {"prompt":"one\ntwo","n":1},{"prompt":"three","n":null}],"notes":["a"]}` + "\n", []string{"n", "prompt"}, []int{0, 0}},
		"d.json":  {`{"sums":[{"mean":1}],"rows":[{"prompt":"one\ntwo","n":1},{"prompt":"three"}]}`, []string{"n", "prompt"}, []int{0, 0}},
		"e.json":  {`{"q1":{"prompt":"one\ntwo","n":1},"q2":{"prompt":"three","n":null}}`, []string{"n", "prompt"}, []int{0, 0}},
		"a.json":  {`[{"prompt":"one\ntwo","n":1},{"prompt":"three","n":null}]`, []string{"n", "prompt"}, []int{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := rows.Open(path, func(_ string, have []string, at func(string) bool) (rows.Layout, error) {
				if !reflect.DeepEqual(have, tc.have) || (at != nil) != strings.HasPrefix(filepath.Ext(path), ".json") {
					t.Errorf("the columns are %q, paths %t", have, at != nil)
				}
				return rows.Layout{Prompt: "prompt", Fields: []rows.Field{{Name: "n", Scalar: true}, {}}}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for i, want := range []rows.Row{{Text: "one\ntwo", Cells: []string{"1", ""}}, {Text: "three", Cells: []string{"", ""}}} {
				want.Line, want.Number = tc.lines[i], i+1
				if got, err := f.Next(); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("got %+v, %v; want %+v", got, err, want)
				}
			}
			if got, err := f.Next(); !errors.Is(err, io.EOF) {
				t.Errorf("after the last row: %+v, %v", got, err)
			}
			key := map[string]string{"c.json": "data", "d.json": "rows"}[name]
			if want := fmt.Sprintf("%s: its rows are the list in %q", path, key); key != "" && !slices.Equal(f.Notes, []string{want}) || key == "" && name != "e.json" && f.Notes != nil {
				t.Errorf("the notes are %q, want %q for the key %q", f.Notes, want, key)
			}
		})
	}
}

// TestListed takes no list for the rows of a file that may be part of a row.
func TestListed(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"a prompt beside it": `{"prompt":"one","parts":[{"n":1,"query":"a long list of all parts"}]}`,
		"turns":              `{"id":"one","turns_of_all":[{"role":"user","n":1,"text":"","content":"How do I boil an egg?"}]}`,
		"a small part":       `{"id":"one","note":"more than half of all that the file has","tags":[{"n":1,"query":"a"}]}`,
		"an object after it": `{"id":"one","rows":[{"n":1,"query":"a long list of all parts"}]}` + "\n" + `{"id":"two"}`,
		"a list for each":    `{"one":[{"n":1,"prompt":"a list"}],"two":[{"n":2,"prompt":"a list that is much longer than the other"}]}`,
		"a call":             `{"sent":{"n":1,"model":"m"},"got":{"n":1,"text":"a text of an answer"}}`,
		"one object":         `{"id":"one","row":{"n":1,"prompt":"an object in one that is a row"}}`,
		"no prompts":         `{"id":"one","rows":[{"n":1,"note":"a list of what nobody asks"}]}`,
		"texts":              `{"id":"one","rows":["a list of texts, which are no objects"]}`,
	} {
		path := filepath.Join(t.TempDir(), "a.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var have []string
		f, err := rows.Open(path, func(_ string, names []string, _ func(string) bool) (rows.Layout, error) {
			have = names
			return rows.Layout{}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if slices.Contains(have, "n") || len(have) < 2 {
			t.Errorf("%s: the columns are %q", name, have)
		}
	}
	path := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(path, []byte(`{"rows":[{"prompt":"one"}]} x`), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := rows.Open(path, func(string, []string, func(string) bool) (rows.Layout, error) {
		return rows.Layout{Prompt: "prompt"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 2 {
		_, err = f.Next()
	}
	if !errors.Is(err, orbench.ErrInput) {
		t.Errorf("what follows the object is read as %v", err)
	}
}

// TestRequired refuses a row without a value that it must have, and says where.
func TestRequired(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte("{\"answer\":\"x\"}\n{\"answer\":null}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := rows.Open(path, func(string, []string, func(string) bool) (rows.Layout, error) {
		return rows.Layout{Fields: []rows.Field{{Name: "answer", Required: true}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Next(); err != nil {
		t.Fatal(err)
	}
	_, err = f.Next()
	var input *orbench.InputError
	if !errors.As(err, &input) || input.Line != 2 || !strings.Contains(input.Problem, `no "answer"`) {
		t.Errorf("got %v", err)
	}
}

// TestOfModel tells columns of answers from those about answers, and from those of people.
func TestOfModel(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"acme_7b_response": true, "Model Response": true, "generated": true, "completions": true, "predicted": true,
		"answerable": false, "response_id": false, "expected_output": false, "reference_answer": false, "completion_date": false, "output_format": false,
		"response.text": false, "answer_score": false, "prompt": false,
		"Metric: answered": false, "answer_quality": false, "is_response": false, "model_answers": true, "this_response": true,
	} {
		if rows.OfModel(name) != want {
			t.Errorf("OfModel(%q) = %t", name, !want)
		}
	}
}

// TestRecorded reads the one text of an object, and an error in place of it for what it tells.
func TestRecorded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte(`{"a":{"text":"Mix it."}}`+"\n"+`{"a":{"error":{"code":"1301","message":"unsafe content"}}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := rows.OpenAnswers(path, func(string, []string, func(string) bool) (rows.Layout, error) {
		return rows.Layout{Exchange: &rows.ExchangeColumns{Recorded: true, Prompt: []string{""}, Reply: []string{"a"}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, want := range []string{"Mix it.", ""} {
		if got, err := f.Next(); err != nil || got.Exchange.Reply != want || (got.Exchange.Block == nil) != (want != "") {
			t.Errorf("%+v, %v; want %s", got.Exchange, err, want)
		}
	}
}
