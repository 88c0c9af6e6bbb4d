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
		{"empty", "", "EOF"},
		{"no vectors", "bias,said\n", "invalid character"},
		{"label", `{"Names":["bias"],"Rows":[{"Refused":"perhaps"}]}`, "json: cannot unmarshal string"},
		{"features", `{"Names":["bias","said"],"Rows":[{"With":[1,1],"Without":[1]}]}`, "row 1: want the values of 2 features"},
		{"value", `{"Names":["bias"],"Rows":[{"With":["one"]}]}`, "json: cannot unmarshal string"},
		{"sequence", `{"Names":[],"Sequences":["a","b"],"Rows":[{"Sequences":[2]}]}`, "row 1: 2 is no place among 2 sequences"},
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
