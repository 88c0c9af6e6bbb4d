package untrusted_test

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/untrusted"
)

func TestMarks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		``: 0, `{"a": 1, "b": [2, 3]}`: 2, `"a,b"`: 0, `"a\",b",`: 1, `"a\\",",",`: 2, `"open, and never closed`: 0,
	} {
		if got := untrusted.Marks([]byte(text), ","); got != want {
			t.Errorf("%s has %d commas outside of strings, want %d", text, got, want)
		}
	}
	if got := untrusted.Marks([]byte(`{"a": [1, 2]}`), ",{["); got != 3 {
		t.Errorf("got %d marks of three kinds, want 3", got)
	}
}

func TestReadLine(t *testing.T) {
	t.Parallel()
	const most = 40
	in := bufio.NewReaderSize(strings.NewReader("one\n"+strings.Repeat("x", 100)+"\nthree\n"+strings.Repeat("y", most)), 16)
	for i, want := range []string{"one\n", "", "three\n", strings.Repeat("y", most)} {
		line, long, err := untrusted.ReadLine(in, most)
		if long != (i == 1) || errors.Is(err, io.EOF) != (i == 3) || !long && string(line) != want {
			t.Errorf("line %d is %q, long %t, %v, want %q", i+1, line, long, err, want)
		}
	}
}
