package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orbench/orbench/refusal"
	"github.com/orbench/orbench/refusal/internal/corpus"
	"github.com/orbench/orbench/refusal/internal/fit"
)

func main() {
	data := flag.String("data", filepath.Join("..", "..", "shared", "data"), "folder of the labeled files, which may be absent")
	vectors := flag.String("vectors", filepath.Join("internal", "corpus", "vectors.txt.gz"), "file of their vectors, made anew when they are there")
	out := flag.String("out", "weights.txt", "file to write")
	flag.Parse()
	if err := train(*data, *vectors, *out); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func train(data, vectors, out string) error {
	switch err := refresh(data, vectors); {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(os.Stderr, "train: %v; %s is used as it is\n", err, vectors)
	case err != nil:
		return err
	}
	text, err := os.ReadFile(vectors)
	if err != nil {
		return err
	}
	theirs, err := corpus.ReadVectors(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", vectors, err)
	}
	examples, err := corpus.Examples()
	if err != nil {
		return err
	}
	all := vectorsOf(examples)
	if !slices.Equal(all.Names, theirs.Names) {
		return fmt.Errorf("%s was made by other features than the detector has: put %s into %s, which makes it anew",
			vectors, strings.Join(corpus.Files, " and "), data)
	}
	all.X = append(all.X, theirs.X...)
	all.Refused = append(all.Refused, theirs.Refused...)
	w := fit.Logistic(all.X, all.Refused, fit.Ridge)
	var b strings.Builder
	b.WriteString("# Weights of the refusal detector, one feature a line; go generate ./refusal makes them.\n")
	for i, name := range all.Names {
		fmt.Fprintf(&b, "%s %.3f\n", name, w[i])
	}
	return os.WriteFile(out, []byte(b.String()), 0o644)
}

// refresh makes the file of vectors anew from the labeled files.
func refresh(data, vectors string) error {
	var rows []corpus.Row
	for _, name := range corpus.Files {
		more, err := corpus.ReadXSTest(filepath.Join(data, name))
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	var b bytes.Buffer
	if err := vectorsOf(rows).Write(&b); err != nil {
		return err
	}
	return os.WriteFile(vectors, b.Bytes(), 0o644)
}

func vectorsOf(rows []corpus.Row) *corpus.Vectors {
	v := &corpus.Vectors{}
	for _, f := range refusal.Features("", "") {
		v.Names = append(v.Names, f.Name)
	}
	for _, row := range rows {
		var values []float64
		for _, f := range refusal.Features(row.Prompt, row.Answer) {
			values = append(values, f.Value)
		}
		v.X = append(v.X, values)
		v.Refused = append(v.Refused, row.Refused)
	}
	return v
}
