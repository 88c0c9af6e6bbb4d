package train

import (
	"bytes"
	"compress/gzip"
	"reflect"
	"strings"
	"testing"
)

func TestVectorsRoundTrip(t *testing.T) {
	want := &Vectors{
		Names:     []string{"bias", "said", "plain.share"},
		Sequences: []string{"> i can not", "i can", "."},
		Rows: []Vector{
			{Set: "s", Model: "m 1", With: []float64{1, 0, 1.0 / 3}, Without: []float64{1, 0, 0}, Sequences: []int{1, 2}},
			{Set: "s", Refused: true, With: []float64{1, 1, 0}, Without: []float64{1, 1, 0}},
		},
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
		{"empty", "bias,said\n", "want a line of names and one of sequences"},
		{"label", "bias,said\na,b\ns\tm\tperhaps\t0:1\t0:1\t\n", "line 3: want six fields"},
		{"place", "bias,said\na,b\ns\tm\tyes\t0:1\t2:1\t\n", `line 3: "2" is no place among 2 features`},
		{"value", "bias,said\na,b\ns\tm\tyes\t0:one\t0:1\t\n", "line 3: "},
		{"sequence", "bias,said\na,b\ns\tm\tno\t0:1\t0:1\t1 1\n", `line 3: "1" leads to no place among 2 sequences`},
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
