package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/orbench/orbench/refusal"
	"github.com/orbench/orbench/refusal/internal/corpus"
	"github.com/orbench/orbench/refusal/internal/fit"
)

func main() {
	data := flag.String("data", filepath.Join("..", "..", "shared", "data"), "folder of the labelled files")
	out := flag.String("out", "weights.txt", "file to write")
	flag.Parse()
	if err := train(*data, *out); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func train(data, out string) error {
	rows, err := corpus.Examples()
	if err != nil {
		return err
	}
	for _, name := range corpus.Files {
		more, err := corpus.ReadXSTest(filepath.Join(data, name))
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	var x [][]float64
	var y []bool
	for _, row := range rows {
		var values []float64
		for _, f := range refusal.Features(row.Prompt, row.Answer) {
			values = append(values, f.Value)
		}
		x = append(x, values)
		y = append(y, row.Refused)
	}
	w := fit.Logistic(x, y, fit.Ridge)
	var b strings.Builder
	b.WriteString("# Weights of the refusal detector, one feature a line; go generate ./refusal makes them.\n")
	for i, f := range refusal.Features("", "") {
		fmt.Fprintf(&b, "%s %.3f\n", f.Name, w[i])
	}
	return os.WriteFile(out, []byte(b.String()), 0o644)
}
