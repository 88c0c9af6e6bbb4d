package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/facet"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store/address"
)

// TestIndexAtScale makes the index of a run of 32 models, with answers of 30 and of 150
// words, and holds what it takes to bounds, as TestPace does, and how fast it answers to bars
// of its processors' time. There are 80,000 prompts, or as many as ORBENCH_BENCH_PROMPTS says.
// It runs for make bench only.
func TestIndexAtScale(t *testing.T) {
	if os.Getenv("ORBENCH_BENCH") == "" {
		t.Skip("a measurement: run make bench, or set ORBENCH_BENCH=1")
	}
	prompts := 80_000
	if n, err := strconv.Atoi(os.Getenv("ORBENCH_BENCH_PROMPTS")); err == nil {
		prompts = n
	}
	for _, words := range []int{30, 150} {
		t.Run(fmt.Sprintf("%d words", words), func(t *testing.T) { indexAtScale(t, prompts, words) })
	}
}

func indexAtScale(t *testing.T, prompts, words int) {
	const models, url = 32, "http://127.0.0.1:9/v1"
	at, indexes := filepath.Join(t.TempDir(), "m.db"), t.TempDir()
	file, names := generate(t, at, url, "big", models, prompts, someText(words))
	bare := barePass(t, at, models*prompts)
	timed := func(what string, bound float64, args ...string) {
		t.Helper()
		c, _, stderr := orbench(append(args, "--store", at)...)
		c.Env = append(os.Environ(), "ORBENCH_INDEX="+indexes)
		if err := c.Run(); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		pace(t, c, what, bare, bound)
	}
	eval := []string{
		"eval", "--target", strings.Join(names, ","), "--base-url", url, "--dataset", file,
		"--judge", "lexical,paper-keywords", "--name", "big", "--quiet", "--format", "json",
	}
	timed("eval of what is remembered", 8, eval...)
	if err := os.RemoveAll(indexes); err != nil {
		t.Fatal(err)
	}
	timed("report, derived", 5, "report", "big", "--format", "json")
	timed("report of an unchanged study", 0.35, "report", "big", "--format", "json")
	timed("eval of an unchanged study", 0.35, eval...)
	timed("first label draw", 0.5, "label", "draw", "big", "--size", "200")
	timed("second label draw", 0.5, "label", "draw", "big", "--size", "200", "--seed", "2")
	pages(t, at, indexes)
}

// pages has the rows of the run shown, in this process, and logs how long that takes.
func pages(t *testing.T, at, indexes string) {
	ctx := t.Context()
	m, err := address.OpenExisting(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	stored, err := run.Find(ctx, m, "big")
	if err != nil {
		t.Fatal(err)
	}
	r, err := stored.Open(ctx, m, "")
	if err != nil {
		t.Fatal(err)
	}
	x := index.Open(ctx, indexes, at, m, t.Logf)
	defer x.Close()
	// This is another program than made them, which makes its own first.
	if _, err := x.Study(ctx, m, r, nil); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	s, err := x.Study(ctx, m, r, nil)
	if err != nil || s == nil {
		t.Fatal(err)
	}
	t.Logf("the rows opened: %.3f s", time.Since(began).Seconds())
	size := func() int64 {
		var n int64
		files, _ := filepath.Glob(filepath.Join(indexes, "*/index.db*"))
		for _, file := range files {
			if info, err := os.Stat(file); err == nil {
				n += info.Size()
			}
		}
		return n >> 20
	}
	rows := size()
	began, before := time.Now(), ownTime(t)
	if ok, err := s.Texts(ctx, m, nil); err != nil || !ok {
		t.Fatal(err)
	}
	t.Logf("the words of all texts: %.1f s, %.1f s of processors, %d MB beside %d MB of rows",
		time.Since(began).Seconds(), (ownTime(t) - before).Seconds(), size()-rows, rows)

	random := rand.New(rand.NewPCG(1, 2))
	targets := r.Config.TargetNames()
	filter := func() facet.Terms {
		f := facet.Terms{}
		if random.IntN(2) == 0 {
			f["variant"] = []string{targets[random.IntN(len(targets))]}
		}
		if random.IntN(2) == 0 {
			f["verdict by lexical"] = []string{[]string{"refusal", "full_answer", "garbled"}[random.IntN(3)]}
		}
		if random.IntN(4) == 0 {
			f["verdict by paper-keywords"] = []string{[]string{"refusal", "full_answer"}[random.IntN(2)]}
		}
		return f
	}
	orders := []index.Order{{}, {}, {By: "lexical", Descending: true}, {By: "length"}}
	measure := func(what string, bar time.Duration, times int, do func() error) {
		t.Helper()
		var took, busy []time.Duration
		for range times {
			began, before := time.Now(), ownTime(t)
			if err := do(); err != nil {
				t.Fatal(err)
			}
			took, busy = append(took, time.Since(began)), append(busy, ownTime(t)-before)
		}
		slices.Sort(took)
		slices.Sort(busy)
		t.Logf("%s: median %v, 95th percentile %v, of processors %v and %v (bar %v)", what, took[times/2].Round(10*time.Microsecond),
			took[times*95/100].Round(10*time.Microsecond), busy[times/2].Round(10*time.Microsecond), busy[times*95/100].Round(10*time.Microsecond), bar)
		if busy[times*95/100] > bar {
			t.Errorf("%s takes %v of processors, more than %v", what, busy[times*95/100], bar)
		}
	}
	measure("a filtered page of 50, with its texts", 50*time.Millisecond, 300, func() error {
		f, o := filter(), orders[random.IntN(len(orders))]
		chosen, err := s.Choose(ctx, f, nil)
		if err != nil {
			return err
		}
		positions, err := chosen.Page(ctx, o, 50*random.IntN(3), 50)
		if err != nil {
			return err
		}
		_, err = s.Read(ctx, m, positions)
		return err
	})
	measure("facets", 100*time.Millisecond, 300, func() error {
		chosen, err := s.Choose(ctx, filter(), nil)
		if err == nil {
			chosen.Count()
		}
		return err
	})
	vocabulary := someWords()
	measure("search, its total and a page", time.Second, 100, func() error {
		f := filter()
		var words []string
		for range 1 + random.IntN(3) {
			words = append(words, vocabulary[random.IntN(1<<random.IntN(13))])
		}
		found, err := s.Search(ctx, strings.Join(words, " "))
		if err != nil {
			return err
		}
		chosen, err := s.Choose(ctx, f, found)
		if err != nil {
			return err
		}
		chosen.Count()
		positions, err := chosen.Page(ctx, index.Order{}, 0, 50)
		if err != nil {
			return err
		}
		_, err = s.Read(ctx, m, positions)
		return err
	})
}

// someWords are made-up words, the first of which are the most common in someText.
func someWords() []string {
	random := rand.New(rand.NewPCG(3, 4))
	words := make([]string, 20_000)
	for i := range words {
		var b strings.Builder
		for range 2 + random.IntN(3) {
			b.WriteByte("bcdfghklmnprstvw"[random.IntN(16)])
			b.WriteByte("aeiou"[random.IntN(5)])
		}
		words[i] = b.String()
	}
	return words
}

// someText gives texts of so many words, each different, whose words are as common as those
// of a language (Zipf's law).
func someText(words int) func(m, n int) string {
	vocabulary := someWords()
	const length = 1 << 20
	drawn := make([]string, length)
	zipf := rand.NewZipf(rand.New(rand.NewPCG(5, 6)), 1.07, 2.7, uint64(len(vocabulary)-1))
	for i := range drawn {
		drawn[i] = vocabulary[zipf.Uint64()]
	}
	return func(m, n int) string {
		start := int(uint64(m*1_000_003+n) * 0x9e3779b97f4a7c15 >> 44)
		end := fmt.Sprintf(" Shed %d of farm %d.", n, m)
		from := start % (length - words)
		text := strings.Join(drawn[from:from+words], " ") + end
		if (n+m)%5 < 2 {
			return "I'm sorry, but I can't help with that. " + text
		}
		return "Here is what is known: " + text
	}
}
