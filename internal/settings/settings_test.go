package settings

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/orbench/orbench"
)

type sample struct {
	Name  string `yaml:"name"`
	Inner struct {
		List []string `yaml:"list"`
	} `yaml:"inner"`
}

func TestLine(t *testing.T) {
	t.Parallel()
	const text = "# a comment\nname: x\ninner:\n  list:\n    - a\n    - b\n"
	for path, want := range map[string]int{
		"$.name":           2,
		"$.inner.list[1]":  6,
		"$.inner.list[7]":  5, // its neighbors begin there
		"$.inner.nothing":  4,
		"$.nothing.at.all": 0,
		"$":                0,
		"":                 0,
		"$.[":              0,
	} {
		if got := Line([]byte(text), path); got != want {
			t.Errorf("Line of %s = %d, want %d", path, got, want)
		}
	}
}

func TestDecodeIsStrict(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		line int
		want string
	}{
		"unknown setting": {"name: x\nnmae: y\n", 2, `unknown field "nmae"`},
		"wrong kind":      {"name: x\ninner: 4\n", 2, "a number stands where settings by name are expected"},
		"not YAML":        {"name: [", 1, "sequence"},
		"two documents":   {"name: x\n---\n# more\nname: y\n", 4, "a second YAML document"},
	} {
		var s sample
		err := Decode("file.yaml", []byte(tc.text), &s, "correct it")
		var input *orbench.InputError
		if !errors.As(err, &input) || input.File != "file.yaml" || input.Line != tc.line || input.Hint == "" || !strings.Contains(input.Problem, tc.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A name that is no setting where it stands is one elsewhere, or is near one.
func TestDecodeSaysWhere(t *testing.T) {
	t.Parallel()
	type temperature struct {
		Value   float64 `yaml:"temperature"`
		Samples int     `yaml:"samples"`
	}
	for text, want := range map[string]string{
		"samples: 2":                             "did you mean sample or variants.temperatures[*].samples? see there",
		"generators: [a]":                        "did you mean seeds.generators? see there",
		"generator: a":                           "did you mean seeds.generators? see there",
		"temprature: 1":                          "did you mean variants.temperatures? see there",
		"variants: {temperatures: [{value: 1}]}": "see there",
	} {
		var s struct {
			Sample int `yaml:"sample"`
			Seeds  struct {
				Generators []string `yaml:"generators"`
				Moderators []string `yaml:"moderators"`
			} `yaml:"seeds"`
			Variants struct {
				Temperatures []temperature `yaml:"temperatures"`
			} `yaml:"variants"`
		}
		var input *orbench.InputError
		if err := Decode("file.yaml", []byte(text), &s, "see there"); !errors.As(err, &input) || input.Hint != want {
			t.Errorf("%s: got %v, want the hint %q", text, err, want)
		}
	}
}

func TestDecodeOneDocument(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "# nothing\n", "---\nname: x\n", "name: x\n---\n", "%YAML 1.2\n---\nname: x\n...\n"} {
		var s sample
		if err := Decode("file.yaml", []byte(text), &s, ""); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The YAML reader panics on this text; it is an error like others.
func TestDecodeDoesNotPanic(t *testing.T) {
	t.Parallel()
	var s struct {
		Targets []string `yaml:"targets"`
	}
	const text = "targets: !0000000000000\n0000000000000"
	if err := Decode("file.yaml", []byte(text), &s, ""); !errors.Is(err, orbench.ErrInput) {
		t.Errorf("got %v", err)
	}
	Line([]byte(text), "$.targets[0]")
}

type entry struct {
	N int `json:"n"`
}

func positive(e entry) error {
	if e.N <= 0 {
		return fmt.Errorf("%d is not positive", e.N)
	}
	return nil
}

func TestList(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]entry{
		"[]":                                  nil,
		"# two\n- n: 1\n\n- {n: 2}\n":         {{1}, {2}},
		"\ufeff[ {\"n\": 1},\r\n{\"n\":2}]\n": {{1}, {2}},
		"[\n\t{\"n\":\t1}\n]":                 {{1}},
	} {
		got, err := List(strings.NewReader(in), "f", positive)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q gives %v, %v, want %v", in, got, err, want)
		}
	}
}

func TestListFault(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                            "f:1: this is not a list of entries",
		"null":                        "f:1: this is not a list of entries",
		"n: 1":                        "f:1: settings by name stand where a list is expected",
		"- n: 1\n\n- n: -1":           "f:3: -1 is not positive",
		"[{\"n\":1},\n\n {\"n\":-1}]": "f:3: -1 is not positive",
		"[{\"n\":1}\n{\"n\":2}]":      "f:2: ",
		"[{\"n\":1},\n{\"n\":1\n\n}x": "f:",
		"[5]":                         "f:1: a number stands where settings by name are expected",
		"[]\n[]":                      "f:2: ",
		strings.Repeat(" ", 2<<20):    "f:1: the file has more than 1048576 bytes",
	} {
		_, err := List(strings.NewReader(in), "f", positive)
		if !errors.Is(err, orbench.ErrInput) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q gives %v, want %q", in, err, want)
		}
	}
	_, err := List(iotest.ErrReader(io.ErrClosedPipe), "f", positive)
	if !errors.Is(err, io.ErrClosedPipe) || errors.Is(err, orbench.ErrInput) {
		t.Errorf("got %v, want the reader's own error", err)
	}
}

func TestReadFileNamesThePathOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none.yaml")
	_, err := ReadFile(path, "make one")
	if !errors.Is(err, orbench.ErrInput) || !errors.Is(err, os.ErrNotExist) || strings.Count(err.Error(), path) != 1 {
		t.Errorf("got %v", err)
	}
}
