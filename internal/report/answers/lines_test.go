package answers

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/orbench/orbench"
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
