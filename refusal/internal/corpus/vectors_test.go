package corpus

import (
	"bytes"
	"compress/gzip"
	"reflect"
	"strings"
	"testing"
)

func TestVectorsRoundTrip(t *testing.T) {
	want := &Vectors{
		Names:   []string{"bias", "said", "plain.share"},
		X:       [][]float64{{1, 0, 1.0 / 3}, {1, 1, 0}},
		Refused: []bool{false, true},
	}
	var b bytes.Buffer
	if err := want.Write(&b); err != nil {
		t.Fatal(err)
	}
	have, err := ReadVectors(&b)
	if err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("read %+v, error %v, want %+v", have, err, want)
	}
}

func TestReadVectorsFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"label", "bias said\nperhaps 0:1\n", "line 2: want a line that begins with yes or no"},
		{"place", "bias said\nyes 0:1\nno 2:1\n", `line 3: "2" is no place among 2 features`},
		{"value", "bias said\nyes 0:one\n", "line 2: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			zip := gzip.NewWriter(&b)
			zip.Write([]byte(c.text))
			zip.Close()
			if _, err := ReadVectors(&b); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error %v, want %s…", err, c.want)
			}
		})
	}
}
