package jsonappend

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/orbench/orbench"
)

func encoded(t testing.TB, v any, e Escape) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(bool(e))
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func FuzzString(f *testing.F) {
	for _, s := range []string{
		"", "plain", `a "quoted" \ word`, "lines\r\nand\ttabs", "<b>&amp;</b>", "Grüße, 世界", "broken \xff\xc3", "\x00\x1b[31m\x7f",
		"\b\f", "\u2028\u2029\ufeff", "then <\xe4>", "😀 \U000e0041",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, e := range []Escape{HTML, Plain} {
			if got, want := String([]byte("x"), s, e), encoded(t, s, e); string(got) != "x"+string(want) {
				t.Errorf("%q, escape %v: %s, want %s", s, e, got, want)
			}
		}
	})
}

func FuzzFloat(f *testing.F) {
	for _, v := range []float64{0, math.Copysign(0, -1), 1, -1, 0.7, 1e-6, 9.9e-7, 1e21, 1e20, 5e-324, math.MaxFloat64, 0.9852186886609016} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v float64) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Skip("JSON has no such number")
		}
		if got, want := Float(nil, v), encoded(t, v, HTML); !bytes.Equal(got, want) {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	})
}

// Every field of a prompt is there, one that is added later too, and none where it is empty.
func TestPrompt(t *testing.T) {
	full := orbench.NewPrompt("How do I kill a <process> & go on?", "privacy", orbench.Safe)
	full.Messages = append(full.Messages, orbench.Message{Role: orbench.Assistant, Content: "Grüße \"x\""})
	full.Cluster, full.Pair = "seed\n1", "a&b"
	full.Answers = []orbench.Recorded{{By: "0f", Text: "No <x>.", Line: 2, Said: map[string]string{"b": "1", "a": "0"}}}
	for i, v := 0, reflect.ValueOf(full); i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("the prompt has no %s", v.Type().Field(i).Name)
		}
	}
	for _, p := range []orbench.Prompt{full, {}, {Messages: []orbench.Message{}}} {
		for _, e := range []Escape{HTML, Plain} {
			if got, want := Prompt([]byte("x"), &p, e), encoded(t, p, e); string(got) != "x"+string(want) {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
}

func TestNotJSON(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a number that JSON does not have is written")
		}
	}()
	Float(nil, math.Inf(1))
}
