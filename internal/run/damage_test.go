package run_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store/address"
)

// damages are ways in which a file is damaged. Each changes the content.
var damages = []struct {
	name string
	do   func(*rand.Rand, []byte) []byte
}{
	{"flipped bits", func(r *rand.Rand, b []byte) []byte {
		for range 1 + r.IntN(8) {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
		return b
	}},
	{"a page of zeros", func(r *rand.Rand, b []byte) []byte {
		n := r.IntN(len(b) / pageSize)
		clear(b[n*pageSize:][:pageSize])
		return b
	}},
	{"a page of noise", func(r *rand.Rand, b []byte) []byte {
		n := r.IntN(len(b) / pageSize)
		for i := range pageSize {
			b[n*pageSize+i] = byte(r.Uint32())
		}
		return b
	}},
	{"a page in place of another", func(r *rand.Rand, b []byte) []byte {
		to, from := r.IntN(len(b)/pageSize), r.IntN(len(b)/pageSize)
		copy(b[to*pageSize:][:pageSize], b[from*pageSize:][:pageSize])
		return b
	}},
	{"a cut", func(r *rand.Rand, b []byte) []byte { return b[:r.IntN(len(b))] }},
}

const pageSize = 4096

// TestDamagedStores damages a store in many ways: the figures of its run stay as they are,
// or are said to rest on a part. ORBENCH_LONG=1 takes 200 stores.
func TestDamagedStores(t *testing.T) {
	t.Parallel()
	stores := 10
	if os.Getenv("ORBENCH_LONG") != "" {
		stores = 200
	}
	path := filepath.Join(t.TempDir(), "orbench.db")
	whole := measured(t, path)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for seed := range uint64(stores) {
		random := rand.New(rand.NewPCG(seed, 1))
		kind := damages[int(seed)%len(damages)]
		hurt := kind.do(random, bytes.Clone(content))
		what := fmt.Sprintf("seed %d, %s", seed, kind.name)
		file := filepath.Join(t.TempDir(), "hurt.db")
		if err := os.WriteFile(file, hurt, 0o600); err != nil {
			t.Fatal(err)
		}
		figures, said, err := figuresOf(t, file)
		switch {
		case err != nil && !errors.Is(err, orbench.ErrInput):
			t.Errorf("%s: %v", what, err)
		case err != nil:
			counts["not shown, with an error"]++
		case figures == whole && said:
			counts["the same figures, and a word"]++
		case figures == whole:
			counts["the same figures"]++
		case said:
			counts["other figures, and a word"]++
		default:
			t.Errorf("%s: other figures, and no word", what)
		}
	}
	t.Logf("%d stores: %v", stores, counts)
}

// measured makes a store with a run of which everything is asked, and some labels, and
// gives its figures.
func measured(t *testing.T, path string) string {
	t.Helper()
	m := openStore(t, path)
	clients := newClients(t)
	config := parse(t, `{name: main, targets: [sim/balanced], datasets: [starter], judges: [lexical, "llm:sim/judge"], limit: 60}`)
	r, err := run.New(t.Context(), config, clients, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Save(t.Context(), m, time.Now()); err != nil {
		t.Fatal(err)
	}
	filled(t, r, clients, m)
	var said []orbench.Annotation
	_, err = r.Derive(t.Context(), m, func(row score.AnswerRow) error {
		if len(said) < 20 {
			said = append(said, orbench.Annotation{Subject: row.Subject(), Class: orbench.Refusal, By: "ana", At: time.Unix(1, 0).UTC()})
		}
		return nil
	})
	if err = errors.Join(err, m.Annotate(t.Context(), said), m.Close(), address.Vacuum(t.Context(), path)); err != nil {
		t.Fatal(err)
	}
	figures, damaged, err := figuresOf(t, path)
	if err != nil || damaged {
		t.Fatal(damaged, err)
	}
	return figures
}

// figuresOf derives the figures of the run in a store, and tells whether anything is said
// of damage.
func figuresOf(t *testing.T, path string) (figures string, said bool, err error) {
	t.Helper()
	m, err := address.OpenReading(t.Context(), path, func() {})
	if err != nil {
		return "", false, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	stored, err := run.Find(t.Context(), m, "main")
	if err != nil {
		return "", false, err
	}
	r, err := stored.Open(t.Context(), m, "")
	if err != nil {
		return "", false, err
	}
	result, err := run.Derive(t.Context(), m, []*run.Run{r}, evaluate.Sinks{}, run.Walk)
	if err != nil {
		return "", false, err
	}
	said = len(result.Provenance.Warnings()) > 0
	result.Provenance = nil
	b, err := json.Marshal(result)
	return string(b), said, err
}
