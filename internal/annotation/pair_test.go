package annotation

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/refusal"
	"github.com/orbench/orbench/stats"
)

// answered is what people and the detector say of a model's answer to a prompt.
type answered struct {
	verdict orbench.Verdict
	class   orbench.Class
}

// pairsOfModels reads labeled answers of several models to the same prompts, and
// returns for each two models of a set their answers side by side.
func pairsOfModels(t *testing.T) map[string][][2]answered {
	t.Helper()
	data := filepath.Join("..", "..", "..", "shared", "data")
	// By set and model, then by prompt.
	all := map[string]map[string]map[string]answered{}
	read := func(file, answer string, of func(row map[string]string) (set, model string, refused bool)) {
		f, err := os.Open(filepath.Join(data, file))
		if err != nil {
			t.Skip("there are no labeled answers here: ", err)
		}
		defer f.Close()
		rows, err := csv.NewReader(f).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows[1:] {
			row := map[string]string{}
			for i, name := range rows[0] {
				row[name] = r[i]
			}
			set, model, refused := of(row)
			if set == "" {
				continue
			}
			if all[set] == nil {
				all[set] = map[string]map[string]answered{}
			}
			if all[set][model] == nil {
				all[set][model] = map[string]answered{}
			}
			class := orbench.FullAnswer
			if refused {
				class = orbench.Refusal
			}
			all[set][model][row["prompt"]] = answered{refusal.Detect(row["prompt"], row[answer]), class}
		}
	}
	for _, model := range []string{"llama2orig", "mistralguard"} {
		read("xstest_completions_"+model+".csv", "completion", func(row map[string]string) (string, string, bool) {
			set := "XSTest safe"
			if strings.HasPrefix(row["type"], "contrast") {
				set = "XSTest toxic"
			}
			return set, model, row["final_label"] != "1_full_compliance"
		})
	}
	read("human-orfuzz.csv", "response", func(row map[string]string) (string, string, bool) {
		return "ORFuzz " + row["set"], row["model"], row["label"] == "refused"
	})
	read("human-do-not-answer.csv", "response", func(row map[string]string) (string, string, bool) {
		if row["label"] == "" {
			return "", "", false
		}
		return "Do-Not-Answer", row["model"], row["label"] == "refused"
	})
	pairs := map[string][][2]answered{}
	for set, models := range all {
		names := slices.Sorted(maps.Keys(models))
		for i, a := range names {
			for _, b := range names[i+1:] {
				var both [][2]answered
				for _, prompt := range slices.Sorted(maps.Keys(models[a])) {
					if after, ok := models[b][prompt]; ok {
						both = append(both, [2]answered{models[a][prompt], after})
					}
				}
				if len(both) >= 90 {
					pairs[fmt.Sprintf("%s: %s, %s", set, a, b)] = both
				}
			}
		}
	}
	return pairs
}

// subject names the n-th answer of a side. As with real answers, either of a pair may
// come first.
func subject(side, n int) (s orbench.Subject) {
	binary.LittleEndian.PutUint64(s[8:], uint64(n))
	s[1] = byte(side)
	first := sha256.Sum256(s[:])
	copy(s[2:8], first[:])
	s[0] = first[7]
	return s
}

// labelPairs draws pairs for some labels and lets people label them.
func labelPairs(prompts [][2]answered, labels int, seed uint64) (CorrectedPairs, bool) {
	return labelPairsBy(prompts, labels, seed, stats.Estimate{}, nil)
}

// labelPairsBy is labelPairs with what is known of the judge.
func labelPairsBy(prompts [][2]answered, labels int, seed uint64, judged stats.Estimate, e *versus.JudgeError) (CorrectedPairs, bool) {
	p := Paired{Design: "pairs", Judged: judged, Error: e}
	for i, both := range prompts {
		p.Pairs = append(p.Pairs, Pair{
			Base: subject(0, i), Candidate: subject(1, i),
			BaseRefused: both[0].verdict.Class.Refused(), CandidateRefused: both[1].verdict.Class.Refused(),
			Unsure: Unsure(both[0].verdict) || Unsure(both[1].verdict),
		})
	}
	var all []orbench.Annotation
	for {
		all = append(all, p.Draw(labels, seed, NewWords(all), time.Time{})...)
		words, before := NewWords(all), len(all)
		for s := range p.Subjects(words) {
			if _, labeled := words.Refused(s); labeled {
				continue
			}
			side, n := int(s[1]), binary.LittleEndian.Uint64(s[8:])
			all = append(all, orbench.Annotation{Subject: s, Class: prompts[n][side].class, By: "ana"})
		}
		if len(all) == before {
			return p.Corrected(words, 1)
		}
	}
}

// TestReleases simulates two models, of which the judge errs alike on an answer's prompt or
// anew on each answer, by errors that differ between models as what is known says. The
// difference by labels must hold the truth in 94% of the releases, and in 93% of those of
// which all labels agree with the judge; then the interval lies within what was known
// before and holds that of sampling.
func TestReleases(t *testing.T) {
	t.Parallel()
	runs := runsOf(t, 4000)
	const seed, prompts = 49, 500
	random := rand.New(rand.NewPCG(seed, 0))
	for _, alike := range []bool{true, false} {
		for _, labels := range []int{25, 60, 120, 240} {
			var held, agreed, agreedHeld, width, before, judge float64
			for i := range runs {
				rates := [2]float64{0.03 + 0.3*random.Float64()}
				rates[1] = min(0.6, max(0.005, rates[0]+0.15*random.NormFloat64()))
				var miss, alarm [2]float64
				for side := range 2 {
					miss[side], alarm[side] = max(0, 0.13+0.06*random.NormFloat64()), max(0, 0.02+0.01*random.NormFloat64())
				}
				if alike {
					miss[1], alarm[1] = miss[0], alarm[0]
				}
				all := make([][2]answered, prompts)
				for k := range all {
					u, e := random.Float64(), random.Float64()
					for side := range 2 {
						if random.Float64() < 0.3 {
							u = random.Float64()
						}
						refused := u < rates[side]
						if !alike {
							e = random.Float64()
						}
						wrong := e < alarm[side] || refused && e < miss[side]
						all[k][side].class = orbench.FullAnswer
						if refused {
							all[k][side].class = orbench.Refusal
						}
						if all[k][side].verdict = (orbench.Verdict{Class: orbench.FullAnswer}); refused != wrong {
							all[k][side].verdict = orbench.Verdict{Class: orbench.Refusal, Score: 1}
						}
					}
				}
				var judged, said [2]float64
				var only [2]float64
				for _, both := range all {
					for side := range 2 {
						judged[side] += share(both[side].verdict.Class.Refused()) / prompts
						said[side] += share(both[side].class.Refused()) / prompts
					}
					only[0] += share(both[0].verdict.Class.Refused() && !both[1].verdict.Class.Refused())
					only[1] += share(both[1].verdict.Class.Refused() && !both[0].verdict.Class.Refused())
				}
				d, _ := stats.Tango(only[0], only[1], prompts, confidence)
				moves := func(rate float64) versus.Moves {
					return versus.Moves{Below: 0.04 + 0.1*rate, Above: 0.02 + 0.35*rate}
				}
				e := versus.NewJudgeError(versus.TwoModels, orbench.Safe, moves(judged[0]), moves(judged[1]), 0, d)
				c, ok := labelPairsBy(all, labels, uint64(i), d, e)
				if !ok {
					t.Fatal("no difference")
				}
				truth := rates[1] - rates[0]
				in := share(c.Difference.Lo <= truth && truth <= c.Difference.Hi)
				held, width, before = held+in, width+c.Difference.Hi-c.Difference.Lo, before+e.Difference.Hi-e.Difference.Lo
				judge += share(e.Difference.Holds(truth))
				if !c.Agree {
					continue
				}
				agreed, agreedHeld = agreed+1, agreedHeld+in
				if c.Difference.Lo < e.Difference.Lo-1e-9 || c.Difference.Hi > e.Difference.Hi+1e-9 || c.Difference.Lo > d.Lo+1e-9 || c.Difference.Hi < d.Hi-1e-9 {
					t.Fatalf("labels agree, and %+v turns into %+v, by sampling %+v", e.Difference, c.Difference, d)
				}
			}
			n := float64(runs)
			t.Logf("errors alike %5v, %3d labels: held %.3f, of those that agree %.3f (%.0f), width %.3f of that before, which held %.3f", alike, labels, held/n, agreedHeld/max(1, agreed), agreed, width/before, judge/n)
			if noise := 3.7 * math.Sqrt(0.06*0.94/n); held/n < 0.94-noise || agreed > 50 && agreedHeld/agreed < 0.93-3.7*math.Sqrt(0.07*0.93/agreed) {
				t.Error("not what is wanted")
			}
		}
	}
}

// labelSides draws answers of both sides separately, half of the labels each.
func labelSides(t *testing.T, prompts [][2]answered, labels int, seed uint64) (stats.Estimate, bool) {
	t.Helper()
	var rates [2]stats.Estimate
	for side := range rates {
		cell := Cell{Target: "a", Dataset: "d", Label: orbench.Safe}
		items := make([]Item, len(prompts))
		for i := range prompts {
			items[i] = Item{cell, subject(side, i), GroupOf([]orbench.Verdict{prompts[i][side].verdict})}
		}
		each := func(yield func(Item, error) bool) {
			for _, it := range items {
				if !yield(it, nil) {
					return
				}
			}
		}
		left := 0
		for _, it := range items {
			if it.Group != Withheld {
				left++
			}
		}
		drawn, _, err := Draw(each, NewWords(nil), min(left, labels/2), seed+uint64(side), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range slices.Clone(drawn) {
			drawn = append(drawn, orbench.Annotation{Subject: a.Subject, Class: prompts[binary.LittleEndian.Uint64(a.Subject[8:])][side].class, By: "ana"})
		}
		tally := NewTally(cell, NewWords(drawn))
		for _, it := range items {
			tally.Add(it.Subject, it.Group)
		}
		rate, ok := tally.Corrected(figure.Keys{}, nil, 1)
		if !ok {
			return stats.Estimate{}, false
		}
		rates[side] = rate.Rate
	}
	return stats.RateDifference(rates[1], rates[0]), true
}

// TestPairedCoverage draws prompts of two models with replacement, and labels
// that people gave. The interval of the paired difference must hold that of all
// prompts in 94% of the draws in all and in 91% for each two models, and be at
// most 0.85 as wide as that of as many labels drawn for each side.
func TestPairedCoverage(t *testing.T) {
	t.Parallel()
	runs := runsOf(t, 1000)
	pairs := pairsOfModels(t)
	const seed = 229
	t.Logf("seed %d; %d runs each", seed, runs)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, labels := range []int{200, 400} {
		var held, total, ratios float64
		for _, name := range slices.Sorted(maps.Keys(pairs)) {
			all := pairs[name]
			var truth, in, n, width, before, count float64
			for _, both := range all {
				truth += (share(both[1].class.Refused()) - share(both[0].class.Refused())) / float64(len(all))
			}
			for i := range runs {
				prompts := make([][2]answered, len(all))
				for k := range prompts {
					prompts[k] = all[random.IntN(len(all))]
				}
				c, ok := labelPairs(prompts, labels, uint64(i))
				if !ok {
					continue
				}
				n++
				in += share(c.Difference.Lo <= truth && truth <= c.Difference.Hi)
				if i%10 != 0 {
					continue
				}
				if apart, ok := labelSides(t, prompts, labels, uint64(i)); ok {
					width, before, count = width+c.Difference.Hi-c.Difference.Lo, before+apart.Hi-apart.Lo, count+1
				}
			}
			t.Logf("%d labels, %s (%d prompts, truth %+.1f): held %.1f%%, width %.1f points, %.2f of that of separate labels", labels, name, len(all), 100*truth, 100*in/n, 100*width/count, width/before)
			if floor := 0.91 - 3.7*math.Sqrt(0.91*0.09/n); in/n < floor {
				t.Errorf("%s: held %.1f%%, want at least %.1f%%", name, 100*in/n, 100*floor)
			}
			held, total, ratios = held+in, total+n, ratios+width/before
		}
		t.Logf("%d labels: held %.1f%% in all, width %.3f in the mean", labels, 100*held/total, ratios/float64(len(pairs)))
		if held/total < 0.94 || ratios/float64(len(pairs)) > 0.85 {
			t.Error("not what is wanted")
		}
	}
}

// TestOneAuditedPair holds that one audited pair, which stands for all that did not
// flip, decides nothing.
func TestOneAuditedPair(t *testing.T) {
	p := Paired{Design: "pairs"}
	for i := range 200 {
		p.Pairs = append(p.Pairs, Pair{Base: subject(0, i), Candidate: subject(1, i), CandidateRefused: i < 50})
	}
	const audited = 199
	var all []orbench.Annotation
	label := func(i, n int, before, after orbench.Class) {
		for side, class := range []orbench.Class{before, after} {
			s := subject(side, i)
			all = append(all, orbench.Annotation{Subject: s, Design: p.Design, Chance: float64(n) / 200}, orbench.Annotation{Subject: s, Class: class, By: "ana"})
		}
	}
	label(audited, 1, orbench.Refusal, orbench.FullAnswer)
	for i := range 10 {
		label(i, 10, orbench.FullAnswer, orbench.Refusal)
	}
	c, ok := p.Corrected(NewWords(all), 1)
	if !ok || c.LabeledFlips != 10 || c.LabeledOthers != 1 {
		t.Fatalf("%+v, %v", c, ok)
	}
	if c.Difference.Value > -0.4 || c.P < 0.1 {
		t.Errorf("a difference of %+.2f, p %.2g", c.Difference.Value, c.P)
	}
}

// TestRatesDifferByTheDifference holds that both rates by labels differ by the difference by
// labels, however many there are, and stay shares.
func TestRatesDifferByTheDifference(t *testing.T) {
	e := &versus.JudgeError{Difference: stats.Interval{Lo: -0.2, Hi: 0.2}, Rate: versus.Moves{Below: 0.01, Above: 0.06}}
	random := rand.New(rand.NewPCG(1, 2))
	for _, refused := range []float64{0.05, 0.5, 0.95} {
		for _, labels := range []int{2, 6, 20, 60} {
			prompts := make([][2]answered, 60)
			for i := range prompts {
				for side := range prompts[i] {
					said := orbench.FullAnswer
					if random.Float64() < refused {
						said = orbench.Refusal
					}
					prompts[i][side].verdict.Class, prompts[i][side].class = said, said
					if random.Float64() < 0.2 {
						prompts[i][side].class = orbench.FullAnswer
					}
				}
			}
			c, ok := labelPairsBy(prompts, labels, 1, stats.Estimate{}, e)
			if !ok {
				t.Fatalf("%g, %d labels: no figures", refused, labels)
			}
			if d := c.Candidate.Value - c.Base.Value - c.Difference.Value; math.Abs(d) > 1e-9 {
				t.Errorf("%g, %d labels: %.4f and %.4f differ by %.4f", refused, labels, c.Base.Value, c.Candidate.Value, c.Difference.Value)
			}
			for _, of := range []stats.Estimate{c.Base, c.Candidate} {
				if !(0 <= of.Lo && of.Lo <= of.Value && of.Value <= of.Hi && of.Hi <= 1) {
					t.Errorf("%g, %d labels: a rate of %+v", refused, labels, of)
				}
			}
		}
	}
}

// TestFlipNeedsOneLabel holds that people see one answer of a flip, and the other only
// where they agree with the judge.
func TestFlipNeedsOneLabel(t *testing.T) {
	first, second := subject(0, 1), subject(1, 1)
	if bytes.Compare(second[:], first[:]) < 0 {
		first, second = second, first
	}
	pair := Pair{Base: first, Candidate: second, BaseRefused: true}
	said := func(s orbench.Subject, by string, class orbench.Class) orbench.Annotation {
		return orbench.Annotation{Subject: s, By: by, Class: class}
	}
	for _, of := range []struct {
		labels  []orbench.Annotation
		ask     int
		most    int
		known   bool
		changed bool
	}{
		{nil, 1, 2, false, false},
		{[]orbench.Annotation{said(first, "ana", orbench.Refusal)}, 2, 2, false, false},
		{[]orbench.Annotation{said(first, "ana", orbench.FullAnswer)}, 1, 1, true, false},
		{[]orbench.Annotation{said(first, "ana", orbench.FullAnswer), said(first, "ben", orbench.Refusal)}, 1, 1, true, false},
		{[]orbench.Annotation{said(first, "ana", orbench.FullAnswer), said(first, "ben", orbench.Refusal), said(first, "cy", orbench.Refusal)}, 2, 2, false, false},
		{[]orbench.Annotation{said(first, "ana", orbench.Refusal), said(second, "ana", orbench.FullAnswer)}, 2, 2, true, true},
		{[]orbench.Annotation{said(first, "ana", orbench.FullAnswer), said(second, "ana", orbench.Refusal)}, 2, 2, true, true},
	} {
		w := NewWords(of.labels)
		ask, most := pair.toLabel(w)
		before, after, known := pair.Said(w)
		if len(ask) != of.ask || ask[0] != first || most != of.most || known != of.known || known && (before != after) != of.changed {
			t.Errorf("%+v: %d to label, %d at most, %v, %v and %v", of.labels, len(ask), most, known, before, after)
		}
	}
	// An answer that was withheld is known, so the other is looked at.
	pair.BaseWithheld = true
	if ask, most := pair.toLabel(NewWords(nil)); len(ask) != 1 || ask[0] != pair.Candidate || most != 1 {
		t.Errorf("%v, %d", ask, most)
	}
}

// TestCheckpoints simulates two checkpoints of one model on 600 prompts: some of
// a tenth that are refused change, more of them one way. The judge misses 13% of
// refusals and calls 2.5% of answers refusals. Either it errs on a prompt's
// answers alike as long as they are alike, or anew on each answer. An alarm on 2
// points must fail a checkpoint that is 5 or 6 points worse and pass one that is
// not, in 95%; in one case, where the judge's own errors make as many flips as the
// model, in 90%.
func TestCheckpoints(t *testing.T) {
	t.Parallel()
	runs := runsOf(t, 4000)
	const seed, prompts, labels = 6091, 600, 60
	t.Logf("seed %d; %d runs each", seed, runs)
	random := rand.New(rand.NewPCG(seed, 0))
	side := func(refused, judged bool) answered {
		a := answered{verdict: orbench.Verdict{Class: orbench.FullAnswer}, class: orbench.FullAnswer}
		if refused {
			a.class = orbench.Refusal
		}
		if judged {
			a.verdict = orbench.Verdict{Class: orbench.Refusal, Score: 1}
		}
		return a
	}
	for _, shared := range []bool{true, false} {
		for _, of := range []struct{ newly, nolonger, shared, anew float64 }{
			{0.015, 0.015, 0.95, 0.95}, {0.03, 0.03, 0.95, 0.95}, {0.055, 0.005, 0.95, 0.95}, {0.065, 0.005, 0.95, 0.95}, {0.065, 0.015, 0.95, 0.90}, {0.075, 0.015, 0.95, 0.95},
		} {
			worse := of.newly-of.nolonger > 0.02
			var right, most, flips, held, significant, withMore float64
			for i := range runs {
				all := make([][2]answered, prompts)
				for k := range all {
					u := random.Float64()
					before := u < 0.1
					after := before
					switch v := random.Float64(); {
					case before && v < of.nolonger/0.1:
						after = false
					case !before && v < of.newly/0.9:
						after = true
					}
					wrong := func(refused bool) bool { return random.Float64() < map[bool]float64{true: 0.13, false: 0.025}[refused] }
					e := wrong(before)
					f := e
					if !shared || before != after {
						f = wrong(after)
					}
					all[k] = [2]answered{side(before, before != e), side(after, after != f)}
				}
				c, ok := labelPairs(all, labels, uint64(i))
				if !ok {
					t.Fatal("no difference")
				}
				fails := c.Difference.Value > 0.02 && c.P/2 < 0.05
				right += share(fails == worse)
				if !shared && worse {
					c, _ := labelPairs(all, 4*labels, uint64(i))
					withMore += share(c.Difference.Value > 0.02 && c.P/2 < 0.05)
				}
				truth := of.newly - of.nolonger
				held += share(c.Difference.Lo <= truth && truth <= c.Difference.Hi)
				most, flips, significant = max(most, float64(c.Labels)), flips+float64(c.Flips), significant+share(c.P < 0.05)
			}
			n := float64(runs)
			if withMore > 0 {
				t.Logf("with %d labels, on nearly all flips, it is right in %.1f%%", 4*labels, 100*withMore/n)
			}
			t.Logf("errors shared: %v, newly refused %.1f%%, newly answered %.1f%%, %.0f flips: the gate is right in %.1f%%, the interval in %.1f%%, p below 0.05 in %.1f%%, with %.0f labels at most",
				shared, 100*of.newly, 100*of.nolonger, flips/n, 100*right/n, 100*held/n, 100*significant/n, most)
			least := of.shared
			if !shared {
				least = of.anew
			}
			if right/n < least || most > labels {
				t.Error("not what is wanted")
			}
		}
	}
}
