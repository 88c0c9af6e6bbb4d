package refusal_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// A Vector is a labeled answer as the detector sees it: numbers, and none of the
// text that they were made from.
type Vector struct {
	// Set and Model are those of the row.
	Set, Model string
	Refused    bool
	// Features are the values of the detector's features, with the prompt and
	// without it, and Sequences the places of the answer's sequences of words.
	With, Without []float64
	Sequences     []int
}

// Vectors are the vectors of labeled answers.
type Vectors struct {
	// Names are those of the features, Sequences the sequences of words that are
	// looked for.
	Names, Sequences []string
	Rows             []Vector
}

// Write writes the vectors as compressed JSON that ReadVectors gives back bit for bit.
func (v *Vectors) Write(w io.Writer) error {
	zip, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(zip).Encode(v), zip.Close())
}

// ReadVectors reads what Write wrote.
func ReadVectors(r io.Reader) (*Vectors, error) {
	zip, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	v := &Vectors{}
	if err := json.NewDecoder(zip).Decode(v); err != nil {
		return nil, err
	}
	for i, row := range v.Rows {
		if len(row.With) != len(v.Names) || len(row.Without) != len(v.Names) {
			return nil, fmt.Errorf("row %d: want the values of %d features", i+1, len(v.Names))
		}
		for _, at := range row.Sequences {
			if at < 0 || at >= len(v.Sequences) {
				return nil, fmt.Errorf("row %d: %d is no place among %d sequences", i+1, at, len(v.Sequences))
			}
		}
	}
	return v, nil
}

// imitatedWeight is what an answer of SetImitated counts. From 0.1 on they take comfort for
// refusals, which floors.txt forbids, and leave more Korean answers unjudged than
// TestLeaveOneOut allows; by 0.05 fewer of the hard answers in testdata are found.
const imitatedWeight = 0.07

// Fit gives the weights of the features and then of the sequences. Each answer counts with
// its prompt and without it, for half an example each, so that a verdict rests little on
// the prompt.
func (v *Vectors) Fit() []float64 {
	var rows []example
	for _, vector := range v.Rows {
		weight := 1.0
		if vector.Set == SetImitated {
			weight = imitatedWeight
		}
		for _, values := range [][]float64{vector.With, vector.Without} {
			row := example{positive: vector.Refused, weight: weight / 2}
			for j, value := range values {
				if value != 0 {
					row.places, row.values = append(row.places, j), append(row.values, value)
				}
			}
			for _, j := range vector.Sequences {
				row.places, row.values = append(row.places, len(v.Names)+j), append(row.values, sequenceValue)
			}
			rows = append(rows, row)
		}
	}
	return logistic(rows, len(v.Names)+len(v.Sequences), ridge)
}

// Texts writes weights of Fit down as the detector reads them:
// those of the features, and those of the sequences.
func (v *Vectors) Texts(w []float64) (features, sequences string) {
	var b strings.Builder
	b.WriteString("# Weights of the refusal detector, one feature a line; go generate ./refusal makes them.\n")
	for i, name := range v.Names {
		fmt.Fprintf(&b, "%s %.3f\n", name, w[i])
	}
	features = b.String()
	b.Reset()
	b.WriteString("# Weights of sequences of words, one a line; > is one of the beginning, ^ the start of\n# the text, a point the end of a sentence; go generate ./refusal makes them.\n")
	for i, sequence := range v.Sequences {
		fmt.Fprintf(&b, "%.3f %s\n", w[len(v.Names)+i]*sequenceValue, sequence)
	}
	return features, b.String()
}

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
