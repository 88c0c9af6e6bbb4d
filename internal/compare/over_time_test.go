package compare

import (
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
)

// world is a model that is asked night by night.
type world struct {
	random *rand.Rand
	// rate is the mean refusal, flips the share of verdicts that differ between two nights,
	// and spread the standard deviation of the nights.
	rate, flips, spread float64
	// others is true if each night asks other prompts.
	others  bool
	prompts []float64
}

// asked is the number of prompts of a night.
const asked = 300

// draw draws prompts with propensities of a beta distribution. Flips are at most those of
// prompts that are all alike.
func (w *world) draw() {
	if w.flips == 1 {
		w.prompts = slices.Repeat([]float64{w.rate}, asked)
		return
	}
	steady := 1 - min(w.flips/(2*w.rate*(1-w.rate)), 0.98)
	size := (1 - steady) / steady
	of := distuv.Beta{Alpha: w.rate * size, Beta: (1 - w.rate) * size, Src: w.random}
	w.prompts = w.prompts[:0]
	for range asked {
		w.prompts = append(w.prompts, of.Rand())
	}
}

// night asks all prompts, after a step.
func (w *world) night(step float64) Night {
	if w.others {
		// Each prompt comes once, so it is as if all were alike.
		w.flips = 1
	}
	if w.prompts == nil {
		w.draw()
	}
	mean := 0.0
	for _, p := range w.prompts {
		mean += p / asked
	}
	shift := step + w.spread*w.random.NormFloat64()
	n := Night{N: asked}
	if !w.others {
		n.Shares = make([]float64, asked)
	}
	for i, p := range w.prompts {
		// A shift moves verdicts of prompts that would have the other one.
		switch {
		case shift > 0:
			p += (1 - p) * min(1, shift/(1-mean))
		case shift < 0:
			p += p * max(-1, shift/mean)
		}
		if w.random.Float64() < p {
			n.Refused++
			if !w.others {
				n.Shares[i] = 1
			}
		}
	}
	return n
}

func alarmed(n Night) bool { return n.Alarm }

// TestWatch simulates years in which nothing changes, and steps of five points at a random
// night of the first 300.
func TestWatch(t *testing.T) {
	t.Parallel()
	// Without ORBENCH_LONG two of the hardest cells tell what is plainly wrong.
	years := map[string]int{"": 30, "1": 100, "2": 4000}[os.Getenv("ORBENCH_LONG")]
	for _, others := range []bool{false, true} {
		for _, rate := range []float64{0.005, 0.05, 0.2} {
			for _, flips := range []float64{0.02, 0.07} {
				if others && flips > 0.02 {
					// A prompt that comes once has no flips.
					continue
				}
				for _, spread := range []float64{0, 0.01} {
					if years == 30 && (spread == 0 || rate != 0.2 || flips > 0.02) {
						continue
					}
					t.Run(fmt.Sprint(others, rate, flips, spread), func(t *testing.T) {
						t.Parallel()
						alarms, found, fell, within := 0, 0, 0, 3
						if others {
							within = 7
						}
						for year := range years {
							w := &world{random: rand.New(rand.NewPCG(uint64(year), 7)), rate: rate, flips: flips, spread: spread, others: others}
							var nights []Night
							for range FewestNights + 365 {
								nights = append(nights, w.night(0))
							}
							step := FewestNights + w.random.IntN(300)
							changed := func(by float64) []Night {
								all := slices.Clone(nights[:step])
								for range within {
									all = append(all, w.night(by))
								}
								return all
							}
							more, fewer := changed(0.05), changed(-0.05)
							Watch(nights, !others, 1)
							if slices.ContainsFunc(nights, alarmed) {
								alarms++
							}
							if Watch(more, !others, 1); slices.ContainsFunc(more[step:], alarmed) {
								found++
							}
							if Watch(fewer, !others, 1); slices.ContainsFunc(fewer[step:], alarmed) {
								fell++
							}
						}
						share := func(n int) float64 { return float64(n) / float64(years) }
						t.Logf("%v %v %v %v: false alarms in %.3f of %d years, steps found in %.3f up, %.3f down", others, rate, flips, spread, share(alarms), years, share(found), share(fell))
						// Few years only tell what is plainly wrong.
						slack := 1 / math.Sqrt(float64(years))
						if years == 4000 {
							slack = 0.005
						}
						if share(alarms) > 0.05+slack {
							t.Errorf("false alarms in %d of %d years", alarms, years)
						}
						if share(found) < 0.9-slack || rate == 0.2 && share(fell) < 0.9-slack {
							t.Errorf("%d and %d of %d steps found", found, fell, years)
						}
					})
				}
			}
		}
	}
}

// TestReport adds nights of two labels in any order: the first 30 make a baseline, and the
// last ones of the safe prompts raise an alarm, which the page shows.
func TestReport(t *testing.T) {
	t.Parallel()
	r := OverTime{Model: "a/b", Simulated: true}
	for i := 39; i >= 0; i-- {
		date := time.Date(2026, 1, 1+i, 2, 0, 0, 0, time.UTC)
		safe := Night{Name: fmt.Sprint("night-", i), Date: date, Refused: 20 + i%3, N: 300}
		if i >= 37 {
			safe.Refused += 30
		}
		safe.Shares = slices.Concat(slices.Repeat([]float64{1}, safe.Refused), make([]float64, safe.N-safe.Refused))
		r.Add(Series{Dataset: "mine", Label: orbench.Safe, Judge: "lexical"}, "same", safe)
		r.Add(Series{Dataset: "mine", Label: orbench.Toxic, Judge: "lexical"}, fmt.Sprint(i), Night{Date: date, Refused: 200 + i%2, N: 300})
	}
	if !r.Watch() {
		t.Error("no alarm")
	}
	safe, toxic := r.Series[0], r.Series[1]
	if n := safe.Nights[39]; !n.Alarm || n.Name != "night-39" || math.Abs(n.Of-0.1) > 0.01 || n.CI95[0] > *n.Change || safe.Nights[36].Alarm || safe.Nights[29].Change != nil || safe.Nights[30].Change == nil {
		t.Errorf("%+v", safe.Nights[28:])
	}
	if toxic.SamePrompts || !safe.SamePrompts || toxic.Nights[39].Alarm {
		t.Errorf("%v, %v, %+v", toxic.SamePrompts, safe.SamePrompts, toxic.Nights[39])
	}
	dir := filepath.Join(t.TempDir(), "page")
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, PageFile))
	if err != nil || !strings.Contains(html.UnescapeString(string(text)), "Alarm: over the last nights the rate is +10.") || strings.Count(string(text), "<svg") != 2 {
		t.Errorf("%v: %d bytes", err, len(text))
	}
	var b strings.Builder
	if err := table.AsCSV.Of(r)(&b); err != nil || !strings.HasPrefix(strings.SplitAfter(b.String(), "\n")[1], "mine,safe,lexical,2026-01-01T02:00:00Z,night-0,20,300,") {
		t.Errorf("%v: %s", err, b.String())
	}
	if err := table.AsText.Of(r)(&b); err != nil || !strings.Contains(b.String(), "different prompts, so 7 nights are looked at together") {
		t.Errorf("%v: %s", err, b.String())
	}
}
