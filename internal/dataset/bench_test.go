package dataset_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/dataset"
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

// BenchmarkRecordingHeld opens recorded answers of 1,000 letters, and gives what memory then
// holds as a share of the file. It must not grow with the length of the answers.
func BenchmarkRecordingHeld(b *testing.B) {
	var content strings.Builder
	content.WriteString("prompt,response\n")
	for i := range 20_000 {
		fmt.Fprintf(&content, "How do I bake bread number %d?,%s\n", i, strings.Repeat("Mix flour. ", 90))
	}
	path := filepath.Join(b.TempDir(), "answers.csv")
	if err := os.WriteFile(path, []byte(content.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	file := float64(content.Len())
	content.Reset()
	held := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	for b.Loop() {
		before := held()
		r, err := dataset.OpenRecording(b.Context(), path, dataset.Options{})
		if err != nil {
			b.Fatal(err)
		}
		share := (held() - before) / file
		b.ReportMetric(share, "held/file")
		if share > 0.5 {
			b.Errorf("memory holds %.2f of the file", share)
		}
		runtime.KeepAlive(r)
	}
}
