package refusal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/orbench/orbench/refusal"
)

// Write trains the weights and writes weights.txt and sequences.txt into the folder out.
// Where the labeled files are in the folder data, the file of their vectors is made anew
// first.
func Write(data, vectors, out string) error {
	own, err := Own()
	if err != nil {
		return err
	}
	switch err := refresh(own, data, vectors); {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(os.Stderr, "train: %v; %s is used as it is\n", err, vectors)
	case err != nil:
		return err
	}
	text, err := os.ReadFile(vectors)
	if err != nil {
		return err
	}
	all, err := ReadVectors(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", vectors, err)
	}
	if !slices.Equal(all.Names, featureNames()) {
		return fmt.Errorf("%s was made by other features than the detector has: put the files of Sources into %s, which makes it anew", vectors, data)
	}
	theirs := all.Rows
	all.Rows = nil
	all.Add(own)
	all.Rows = append(all.Rows, theirs...)
	w := all.Fit()

	features, sequences := all.Texts(w)
	if err := os.WriteFile(filepath.Join(out, "weights.txt"), []byte(features), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "sequences.txt"), []byte(sequences), 0o644)
}

// leastWeight is the weight, of all sequences together, below which one is left out
// and the others are fitted anew.
const leastWeight = 0.01

// leastAnswers is the number of answers that a sequence must be in to have a weight.
const leastAnswers = 6

// refresh makes the file of vectors anew from the labeled files.
func refresh(own []LabeledAnswer, data, vectors string) error {
	var rows []LabeledAnswer
	for _, source := range Sources {
		if !source.Fit {
			continue
		}
		more, err := source.Read(data)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	all := &Vectors{Names: featureNames(), Sequences: choose(slices.Concat(own, rows))}
	all.Add(slices.Concat(own, rows))
	w := all.Fit()
	v := &Vectors{Names: all.Names}
	for i, sequence := range all.Sequences {
		if math.Abs(w[len(all.Names)+i]*sequenceValue) >= leastWeight {
			v.Sequences = append(v.Sequences, sequence)
		}
	}
	v.Add(rows)
	var b bytes.Buffer
	if err := v.Write(&b); err != nil {
		return err
	}
	return os.WriteFile(vectors, b.Bytes(), 0o644)
}

// choose gives the sequences to have weights: those in leastAnswers answers or
// more, and of several that are in the same answers the one that sorts first.
func choose(rows []LabeledAnswer) []string {
	in := map[string][]int{}
	for i, row := range rows {
		for _, sequence := range refusal.Sequences(row.Answer) {
			in[sequence] = append(in[sequence], i)
		}
	}
	maps.DeleteFunc(in, func(_ string, answers []int) bool { return len(answers) < leastAnswers })
	known := map[string]bool{}
	var chosen []string
	for _, sequence := range slices.Sorted(maps.Keys(in)) {
		if key := fmt.Sprint(in[sequence]); !known[key] {
			known[key] = true
			chosen = append(chosen, sequence)
		}
	}
	return chosen
}

func featureNames() []string {
	var names []string
	for _, f := range refusal.Features("", "") {
		names = append(names, f.Name)
	}
	return names
}

// Add adds the vectors of answers.
func (v *Vectors) Add(rows []LabeledAnswer) {
	place := map[string]int{}
	for i, sequence := range v.Sequences {
		place[sequence] = i
	}
	values := func(prompt, answer string) (values []float64) {
		for _, f := range refusal.Features(prompt, answer) {
			values = append(values, f.Value)
		}
		return values
	}
	for _, row := range rows {
		var sequences []int
		for _, sequence := range refusal.Sequences(row.Answer) {
			if i, ok := place[sequence]; ok {
				sequences = append(sequences, i)
			}
		}
		slices.Sort(sequences)
		v.Rows = append(v.Rows, Vector{
			Set: row.Set, Model: row.Model, Refused: row.Refused,
			With: values(row.Prompt, row.Answer), Without: values("", row.Answer), Sequences: sequences,
		})
	}
}
