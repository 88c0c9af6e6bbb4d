package similar_test

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orbench/orbench/similar"
)

// prompts makes n texts of 10 to 25 words as a generator of prompts makes them.
// Every text starts with one of 60 openers, the most common of which opens
// about a quarter of all; most go on with one of 300 phrases; the rest are words
// as frequent as those of a language. One text in ten repeats an earlier one
// with a word changed, put in or left out.
func prompts(n int, seed uint64) iter.Seq[string] {
	r := rand.New(rand.NewPCG(seed, 0))
	words := rand.NewZipf(r, 1.1, 3, 40_000)
	word := func() string { return "w" + strconv.FormatUint(words.Uint64(), 10) }
	phrase := func(name string, n int) []string {
		p := make([]string, n)
		for i := range p {
			p[i] = name + strconv.Itoa(i) + word()
		}
		return p
	}
	var openers, phrases [][]string
	for i := range 60 {
		openers = append(openers, phrase(fmt.Sprintf("o%d", i), 3+r.IntN(2)))
	}
	for i := range 300 {
		phrases = append(phrases, phrase(fmt.Sprintf("p%d", i), 3+r.IntN(5)))
	}
	opener, phraseOf := rand.NewZipf(r, 1.3, 1.2, 59), rand.NewZipf(r, 1.1, 5, 299)

	return func(yield func(string) bool) {
		var recent [][]string // some of the earlier texts, to repeat
		for i := range n {
			var w []string
			if len(recent) == 1000 && r.IntN(10) == 0 {
				w = slices.Clone(recent[r.IntN(len(recent))])
				switch at := r.IntN(len(w)); r.IntN(3) {
				case 0:
					w[at] = word()
				case 1:
					w = slices.Insert(w, at, word())
				default:
					w = slices.Delete(w, at, at+1)
				}
			} else {
				length := 10 + r.IntN(16)
				w = append(w, openers[opener.Uint64()]...)
				for len(w) < length {
					if r.IntN(6) == 0 {
						w = append(w, phrases[phraseOf.Uint64()]...)
					} else {
						w = append(w, word())
					}
				}
				w = w[:length]
				if len(recent) < 1000 {
					recent = append(recent, w)
				} else if i%50 == 0 {
					recent[r.IntN(len(recent))] = w
				}
			}
			if !yield(strings.Join(w, " ")) {
				return
			}
		}
	}
}

// memory measures the peak of the process's memory, where the system is Linux.
func memory(b *testing.B) (report func()) {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // start from what is in use
	return func() {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return
		}
		_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
		if fields := bytes.Fields(rest); len(fields) > 0 {
			kB, _ := strconv.ParseFloat(string(fields[0]), 64)
			b.ReportMetric(kB/1024, "peak-MB")
		}
	}
}

// BenchmarkNearDuplicates compares prompts all at once. Its memory is that of
// the texts as well. The last collections are made from one template, so that
// nearly all texts share nearly all their words.
func BenchmarkNearDuplicates(b *testing.B) {
	template := make([]string, 80_000)
	for i := range template {
		template[i] = fmt.Sprintf("How do people usually handle situation number %d?", i)
	}
	for _, c := range []struct {
		name      string
		texts     func() []string
		threshold float64
	}{
		{"80K at 0.5", func() []string { return slices.Collect(prompts(80_000, 1)) }, 0.5},
		{"80K at 0.7", func() []string { return slices.Collect(prompts(80_000, 1)) }, 0.7},
		{"1M at 0.5", func() []string { return slices.Collect(prompts(1_000_000, 1)) }, 0.5},
		{"80K template at 0.7", func() []string { return template }, 0.7},
		{"80K template at 0.8", func() []string { return template }, 0.8},
	} {
		b.Run(c.name, func(b *testing.B) {
			texts := c.texts()
			report := memory(b)
			for b.Loop() {
				b.ReportMetric(float64(len(similar.NearDuplicates(texts, c.threshold))), "pairs")
			}
			report()
		})
	}
}

// BenchmarkIndex adds prompts one by one as they are made, and includes making
// them. In "late opener" the second half begins with words that the first half
// does not have.
func BenchmarkIndex(b *testing.B) {
	for _, c := range []struct {
		name  string
		texts iter.Seq[string]
	}{
		{"1M at 0.5", prompts(1_000_000, 1)},
		{"200K late opener at 0.5", slices.Values(lateOpener(100_000))},
	} {
		b.Run(c.name, func(b *testing.B) {
			report := memory(b)
			for b.Loop() {
				x := similar.NewIndex(0.5)
				n := 0
				for t := range c.texts {
					x.Add(t)
					n++
				}
				b.ReportMetric(float64(n-x.Len()), "pairs")
			}
			report()
		})
	}
}

func BenchmarkSelfBLEU(b *testing.B) {
	texts := slices.Collect(prompts(80_000, 1))
	for _, n := range []int{1000, -1} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				score, _ := similar.SelfBLEU(texts, n, 0)
				b.ReportMetric(score, "score")
			}
		})
	}
}

func BenchmarkDiversity(b *testing.B) {
	texts := slices.Collect(prompts(80_000, 1))
	for b.Loop() {
		similar.DiversityOf(texts, 0.5, 1)
	}
}

// BenchmarkNearest looks up as many prompts as there are, where all are kept. In
// "template" every prompt is nearly every other.
func BenchmarkNearest(b *testing.B) {
	template := func(first int) []string {
		texts := make([]string, 80_000)
		for i := range texts {
			texts[i] = fmt.Sprintf("How do people usually handle situation number %d?", first+i)
		}
		return texts
	}
	for _, c := range []struct {
		name        string
		kept, asked []string
	}{
		{"80K", slices.Collect(prompts(80_000, 1)), slices.Collect(prompts(80_000, 2))},
		{"80K template", template(0), template(80_000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				x := similar.NewIndex(0.5)
				for _, t := range c.kept {
					x.Keep(t)
				}
				found := 0
				for _, t := range c.asked {
					if _, _, ok := x.Nearest(t); ok {
						found++
					}
				}
				b.ReportMetric(float64(found), "found")
			}
		})
	}
}
