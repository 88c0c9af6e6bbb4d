package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/orbench/orbench/refusal"
	"github.com/orbench/orbench/refusal/internal/corpus"
	"github.com/orbench/orbench/refusal/internal/fit"
)

func main() {
	data := flag.String("data", filepath.Join("..", "..", "shared", "data"), "folder of the labeled files, which may be absent")
	vectors := flag.String("vectors", filepath.Join("internal", "corpus", "vectors.txt.gz"), "file of their vectors, made anew when they are there")
	out := flag.String("out", ".", "folder to write weights.txt and sequences.txt to")
	flag.Parse()
	if err := train(*data, *vectors, *out); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func train(data, vectors, out string) error {
	own, err := corpus.Own()
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
	all, err := corpus.ReadVectors(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", vectors, err)
	}
	if !slices.Equal(all.Names, featureNames()) {
		return fmt.Errorf("%s was made by other features than the detector has: put the files of corpus.Sources into %s, which makes it anew", vectors, data)
	}
	theirs := all.Rows
	all.Rows = nil
	addRows(all, own)
	all.Rows = append(all.Rows, theirs...)
	w := fit.Logistic(all.FitRows(), len(all.Names)+len(all.Sequences), fit.Ridge)

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
func refresh(own []corpus.Row, data, vectors string) error {
	var rows []corpus.Row
	for _, source := range corpus.Sources {
		if !source.Fit {
			continue
		}
		more, err := source.Read(data)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	all := &corpus.Vectors{Names: featureNames(), Sequences: choose(slices.Concat(own, rows))}
	addRows(all, slices.Concat(own, rows))
	w := fit.Logistic(all.FitRows(), len(all.Names)+len(all.Sequences), fit.Ridge)
	v := &corpus.Vectors{Names: all.Names}
	for i, sequence := range all.Sequences {
		if math.Abs(w[len(all.Names)+i]*fit.SequenceValue) >= leastWeight {
			v.Sequences = append(v.Sequences, sequence)
		}
	}
	addRows(v, rows)
	var b bytes.Buffer
	if err := v.Write(&b); err != nil {
		return err
	}
	return os.WriteFile(vectors, b.Bytes(), 0o644)
}

// choose gives the sequences to have weights: those in leastAnswers answers or
// more, and of several that are in the same answers the one that sorts first.
func choose(rows []corpus.Row) []string {
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

func addRows(v *corpus.Vectors, rows []corpus.Row) {
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
		v.Rows = append(v.Rows, corpus.Vector{
			Set: row.Set, Model: row.Model, Refused: row.Refused,
			With: values(row.Prompt, row.Answer), Without: values("", row.Answer), Sequences: sequences,
		})
	}
}
