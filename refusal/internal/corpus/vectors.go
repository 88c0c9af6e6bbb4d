package corpus

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Vectors are labeled answers as the detector's features see them: numbers, and
// none of the text that they were made from.
type Vectors struct {
	// Names are those of the features.
	Names []string
	// X has a row of values for each answer, Refused its label.
	X       [][]float64
	Refused []bool
}

// Write writes the vectors as compressed text that ReadVectors gives back bit for
// bit: a line of names, then for each answer a line of its label, yes for an
// answer and no for a refusal, and place:value for each value that is not 0.
func (v *Vectors) Write(w io.Writer) error {
	zip, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(zip)
	fmt.Fprintln(out, strings.Join(v.Names, " "))
	for i, row := range v.X {
		label := "yes"
		if v.Refused[i] {
			label = "no"
		}
		out.WriteString(label)
		for j, value := range row {
			if value != 0 {
				fmt.Fprintf(out, " %d:%s", j, strconv.FormatFloat(value, 'g', -1, 64))
			}
		}
		out.WriteByte('\n')
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return zip.Close()
}

// ReadVectors reads what Write wrote.
func ReadVectors(r io.Reader) (*Vectors, error) {
	zip, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		return nil, err
	}
	names, rest, _ := strings.Cut(string(text), "\n")
	v := &Vectors{Names: strings.Fields(names)}
	for line := range strings.Lines(rest) {
		fields := strings.Fields(line)
		number := len(v.X) + 2
		if len(fields) == 0 || fields[0] != "yes" && fields[0] != "no" {
			return nil, fmt.Errorf("line %d: want a line that begins with yes or no", number)
		}
		row := make([]float64, len(v.Names))
		for _, field := range fields[1:] {
			place, value, _ := strings.Cut(field, ":")
			j, err := strconv.Atoi(place)
			if err != nil || j < 0 || j >= len(row) {
				return nil, fmt.Errorf("line %d: %q is no place among %d features", number, place, len(row))
			}
			if row[j], err = strconv.ParseFloat(value, 64); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
		}
		v.X = append(v.X, row)
		v.Refused = append(v.Refused, fields[0] == "no")
	}
	return v, nil
}
