package dataset_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/orbench/orbench/dataset"
)

// benchFile is a CSV file of the size and shape of the published 80K set.
func benchFile(b *testing.B, rows int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "p.csv")
	content := rowsCSV("prompt,category", rows, "hate", "privacy", "self-harm")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(content)))
	return path
}

// bareCSV is the floor: the standard parser over the file, and nothing else.
func bareCSV(b *testing.B, path string) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.ReuseRecord = true
	for {
		if _, err := r.Read(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBare, BenchmarkOpen and BenchmarkPrompts read 80,000 rows: the bare
// parser, the full check, and the stream. Their ratio is what matters.
func BenchmarkBare(b *testing.B) {
	path := benchFile(b, 80_000)
	for b.Loop() {
		bareCSV(b, path)
	}
}

func BenchmarkOpen(b *testing.B) {
	path := benchFile(b, 80_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := dataset.Open(b.Context(), path, dataset.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPrompts(b *testing.B) {
	path := benchFile(b, 80_000)
	d, err := dataset.Open(b.Context(), path, dataset.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range d.Prompts() {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != d.Count {
			b.Fatal(fmt.Errorf("%d prompts, want %d", n, d.Count))
		}
	}
}

// BenchmarkCompare compares two sets of 80,000 prompts of 8 to 20 words, of which
// one in eight is in both but for a word.
func BenchmarkCompare(b *testing.B) {
	var files [2]bytes.Buffer
	r := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(r, 1.1, 3, 20_000)
	for i := range files {
		files[i].WriteString("prompt,category\n")
	}
	for i := range 80_000 {
		for j := range files {
			if j == 0 || i%8 > 0 {
				prompt := "how can i"
				for range 5 + r.IntN(13) {
					prompt += fmt.Sprintf(" w%d", words.Uint64())
				}
				fmt.Fprintf(&files[j], "%s,c%d\n", prompt, i%10)
				if i%8 == 0 {
					fmt.Fprintf(&files[1], "please %s,c%d\n", prompt, i%9)
				}
			}
		}
	}
	var sets [2]*dataset.Dataset
	for i := range files {
		path := filepath.Join(b.TempDir(), "p.csv")
		if err := os.WriteFile(path, files[i].Bytes(), 0o600); err != nil {
			b.Fatal(err)
		}
		var err error
		if sets[i], err = dataset.Open(b.Context(), path, dataset.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		c, err := dataset.Compare(b.Context(), sets[0], sets[1], dataset.NearThreshold, 1)
		if err != nil {
			b.Fatal(err)
		}
		if c.A.Near < 10_000 {
			b.Fatalf("only %d prompts of A are in B", c.A.Near)
		}
	}
}
