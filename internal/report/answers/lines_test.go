package answers

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/facet"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
)

// fill sets a value to random contents and leaves some of its fields empty.
func fill(random *rand.Rand, v reflect.Value) {
	if random.IntN(3) == 0 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		texts := []string{"plain", `"quoted" \`, "\n\t", "<b>&", "世界", "\xff", "\x1b[0m"}
		v.SetString(texts[random.IntN(len(texts))] + texts[random.IntN(len(texts))])
	case reflect.Int, reflect.Int64:
		v.SetInt(random.Int64N(1000))
	case reflect.Uint8:
		v.SetUint(uint64(random.IntN(256)))
	case reflect.Float64:
		v.SetFloat(random.Float64())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(random, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), random.IntN(3), 2))
		for i := range v.Len() {
			fill(random, v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(random, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(random, key)
		fill(random, value)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(random, v.Field(i))
			}
		}
	default:
		panic("a row has a " + v.Kind().String() + ", which fill does not know")
	}
}

// TestLines compares lines with the output of encoding/json, whatever the
// fields of rows contain.
func TestLines(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 1000 {
		var row score.AnswerRow
		fill(random, reflect.ValueOf(&row).Elem())
		var want, got bytes.Buffer
		enc := json.NewEncoder(untrusted.NewWriter(&want))
		enc.SetEscapeHTML(false)
		if err := enc.Encode(&row); err != nil {
			t.Fatal(err)
		}
		if err := encoder(&got).Encode(&row); err != nil {
			t.Fatal(err)
		}
		// encoding/json writes an escape for broken UTF-8; the line has the
		// character.
		if want := bytes.ReplaceAll(want.Bytes(), []byte(`\ufffd`), []byte("\ufffd")); !bytes.Equal(got.Bytes(), want) {
			t.Fatalf("%s\nwant %s", got.Bytes(), want)
		}
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestAFullDiskIsReported(t *testing.T) {
	t.Parallel()
	files, err := folder.Create(filepath.Join(t.TempDir(), "r"), folder.Subject{})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Discard()
	w, err := NewWriter(files, "answers.html", "answers.jsonl", false)
	if err != nil {
		t.Fatal(err)
	}
	w.lines = fullDisk{}
	p := orbench.NewPrompt("x", "", orbench.Safe)
	if err := w.Add(score.Chunk{Prompts: []orbench.Prompt{p}, Rows: [][][]score.AnswerRow{{{{Target: "a/b", Prompt: p}}}}}); !errors.Is(err, errFull) {
		t.Errorf("Add returned %v", err)
	}
}

func TestRowsConserved(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		run  score.RunResult
		want string
	}{
		"whole":           {score.RunResult{About: score.About{Dataset: "d", Label: orbench.Safe}, N: 2, Answered: 1, Unanswered: 1}, ""},
		"a row more":      {score.RunResult{About: score.About{Dataset: "d", Label: orbench.Safe}, N: 1, Answered: 1}, "on d (safe) count 1 prompts, 0 of them unanswered, but there are 2 rows, 1 of them"},
		"a row less":      {score.RunResult{About: score.About{Dataset: "d", Label: orbench.Safe}, N: 3, Answered: 1, Unanswered: 1}, "on d (safe) count 3 prompts, 1 of them unanswered, but there are 2 rows, 1 of them"},
		"another dataset": {score.RunResult{About: score.About{Dataset: "e", Label: orbench.Safe}, N: 2, Unanswered: 1}, "on d (safe) count 0 prompts"},
		"another label":   {score.RunResult{About: score.About{Dataset: "d", Label: orbench.Toxic}, N: 2, Unanswered: 1}, "on d (safe) count 0 prompts"},
	} {
		var table facet.Table
		for i, status := range []score.Status{score.Answered, score.Unanswered} {
			table.Add(i, &score.AnswerRow{Target: "t", Dataset: "d", Prompt: orbench.NewPrompt(strings.Repeat("x", i+1), "", orbench.Safe), Status: status})
		}
		err := conserved(table, score.Result{Runs: []score.RunResult{test.run}})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
