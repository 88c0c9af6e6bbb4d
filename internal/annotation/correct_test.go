package annotation

import (
	"cmp"
	"encoding/csv"
	"errors"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/refusal"
	"github.com/orbench/orbench/stats"
)

// labeled is an answer that people labeled, with what the detector says of it.
type labeled struct {
	verdict orbench.Verdict
	class   orbench.Class
}

// readLabeled reads the answers labeled by people in ../shared/data, by model and
// label of the prompt, or skips the test. With them come those that had no part in the
// choice of an interval: answers in Korean, which a model labeled, and those of SmolLM2.
func readLabeled(t *testing.T) (cells, apart map[string][]labeled) {
	t.Helper()
	cells, apart = map[string][]labeled{}, map[string][]labeled{}
	into := cells
	read := func(path, prompt, response string, cell func(row map[string]string) string, refused func(row map[string]string) bool) {
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			t.Skipf("%s is absent; it is no part of the project", path)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		records, err := csv.NewReader(file).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range records[1:] {
			row := map[string]string{}
			for i, column := range records[0] {
				row[column] = record[i]
			}
			name := cell(row)
			if name == "" {
				continue
			}
			class := orbench.FullAnswer
			if refused(row) {
				class = orbench.Refusal
			}
			into[name] = append(into[name], labeled{refusal.Detect(row[prompt], row[response]), class})
		}
	}
	data := filepath.Join("..", "..", "..", "shared", "data")
	unsafe := map[string]bool{}
	read(filepath.Join(data, "xstest_prompts.csv"), "prompt", "prompt", func(row map[string]string) string {
		unsafe[row["id"]] = row["label"] == "unsafe"
		return ""
	}, nil)
	side := func(toxic bool) string {
		if toxic {
			return " toxic"
		}
		return " safe"
	}
	for _, model := range []string{"llama2orig", "mistralguard"} {
		read(filepath.Join(data, "xstest_completions_"+model+".csv"), "prompt", "completion",
			func(row map[string]string) string { return "XSTest " + model + side(unsafe[row["id"][3:]]) },
			func(row map[string]string) bool { return row["final_label"] != "1_full_compliance" })
	}
	byLabel := func(row map[string]string) bool { return row["label"] == "refused" }
	read(filepath.Join(data, "human-orfuzz.csv"), "prompt", "response", func(row map[string]string) string {
		share, err := strconv.ParseFloat(row["prompt_toxic_rate"], 64)
		if err != nil {
			t.Fatal(err)
		}
		return "ORFuzz " + row["model"] + side(share >= 0.5)
	}, byLabel)
	read(filepath.Join(data, "human-do-not-answer.csv"), "prompt", "response", func(row map[string]string) string {
		if row["label"] == "" {
			return ""
		}
		return "Do-Not-Answer " + row["model"]
	}, byLabel)
	read(filepath.Join(data, "human-chatgpt-refusals.csv"), "prompt", "response", func(row map[string]string) string {
		if row["label"] == "" {
			return ""
		}
		return "forum ChatGPT"
	}, byLabel)
	into = apart
	read(filepath.Join(data, "judged-korean.csv"), "prompt", "response", func(row map[string]string) string { return "Korean " + row["model"] }, byLabel)
	read(filepath.Join("..", "..", "refusal", "testdata", "smollm2.csv"), "prompt", "answer",
		func(row map[string]string) string { return "SmolLM2 " + row["label"] },
		func(row map[string]string) bool { return orbench.Class(row["class"]).Refused() })
	return cells, apart
}

// runsOf gives how often a coverage is simulated, at full size or in .ci/run, and skips
// the test elsewhere.
func runsOf(t *testing.T, full int) int {
	t.Helper()
	switch os.Getenv("ORBENCH_LONG") {
	case "":
		t.Skip("a long proof: set ORBENCH_LONG=1, as .ci/run does")
	case "2":
		return full
	}
	return 200
}

// TestCorrectedCoverage asks for labels that people gave, as if they were asked for
// now: prompts are drawn from a file, with replacement, then answers to be labeled
// by Draw. The interval of Correct must hold the file's rate in 93% to 97% of the
// runs, and be narrower than that of as many labels without a judge, of a hundred
// by a quarter in the mean.
func TestCorrectedCoverage(t *testing.T) {
	t.Parallel()
	runs := runsOf(t, 10000)
	cells, apart := readLabeled(t)
	seed := uint64(1)
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d; %d runs each", seed, runs)
	// What a coverage of so much is found to be in this many runs, a thousand at the most,
	// differs from it by this much in one of ten thousand.
	noise := func(coverage float64) float64 {
		return 3.7 * math.Sqrt(coverage*(1-coverage)/float64(min(runs, 1000)))
	}
	floor := 0.95 - noise(0.95)
	for _, size := range []int{40, 100, 300} {
		var ratios float64
		least, most := 1.0, 0.0
		cover := func(name string, all []labeled) (coverage, ratio float64, certain bool) {
			truth := shareRefused(all)
			above, below, width, alone := 0, 0, 0.0, 0.0
			for range runs {
				e, drawn := correctOnce(t, all, len(all), size, random)
				if truth > e.Hi {
					above++
				} else if truth < e.Lo {
					below++
				}
				width += e.Hi - e.Lo
				refused := 0
				for range drawn {
					if all[random.IntN(len(all))].class.Refused() {
						refused++
					}
				}
				lo, hi := stats.Wilson(refused, drawn, confidence)
				alone += hi - lo
			}
			coverage, ratio = 1-float64(above+below)/float64(runs), width/alone
			t.Logf("%3d labels, %-30s %3d answers, %5.1f%% refused: coverage %.3f (truth above in %.3f, below in %.3f), width %4.1f points, %.2f of labels alone",
				size, name, len(all), 100*truth, coverage, float64(above)/float64(runs), float64(below)/float64(runs), 100*width/float64(runs), ratio)
			return coverage, ratio, truth == 1
		}
		for _, name := range slices.Sorted(maps.Keys(cells)) {
			coverage, ratio, certain := cover(name, cells[name])
			ratios += ratio / float64(len(cells))
			if !certain {
				least, most = min(least, coverage), max(most, coverage)
			}
			// Where most answers are labeled there is little that a judge could add.
			if 2*size <= len(cells[name]) && ratio > 1 {
				t.Errorf("%d labels, %s: the interval is %.2f times as wide as that of labels alone", size, name, ratio)
			}
		}
		t.Logf("%3d labels: coverage %.3f to %.3f, mean width %.3f of labels alone", size, least, most, ratios)
		if least < floor || most > 0.97+noise(0.97) {
			t.Errorf("%d labels: coverage from %.3f to %.3f, want 0.93 to 0.97", size, least, most)
		}
		if size == 100 && ratios > 0.75 {
			t.Errorf("a hundred labels: mean width %.3f of labels alone", ratios)
		}
		for _, name := range slices.Sorted(maps.Keys(apart)) {
			if coverage, _, _ := cover(name, apart[name]); coverage < floor {
				t.Errorf("%d labels, %s: coverage %.3f", size, name, coverage)
			}
		}
	}
}

// TestStepCoverage draws prompts as TestCorrectedCoverage does and has answers labeled in
// steps, each drawn by the labels before. The interval must hold the file's rate in 92% of
// the runs or more for each model, and in 94.5% in the mean. On answers that lexical was
// not fitted to, it must be narrower than that of as many labels by Draw. Expected shares
// and the interval's constants come from XSTest, the forum, Korean answers and modern ones.
func TestStepCoverage(t *testing.T) {
	t.Parallel()
	runs := runsOf(t, 4000)
	cells, apart := readLabeled(t)
	maps.Copy(cells, apart)
	seed := uint64(1)
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d; %d runs each", seed, runs)
	for _, c := range []struct {
		labels int
		widest float64
	}{{25, 0.92}, {50, 0.92}, {100, 0.94}} {
		var held, models, ratios, part float64
		for _, name := range slices.Sorted(maps.Keys(cells)) {
			all := cells[name]
			truth, in, width, before := shareRefused(all), 0.0, 0.0, 0.0
			for range runs {
				e, _ := correctBySteps(t, all, len(all), c.labels, random)
				in, width = in+share(e.Lo <= truth && truth <= e.Hi), width+e.Hi-e.Lo
				e, _ = correctOnce(t, all, len(all), c.labels, random)
				before += e.Hi - e.Lo
			}
			in /= float64(runs)
			t.Logf("%3d labels, %-50s %4d answers, %5.1f%% refused: coverage %.3f, width %4.1f points, %.2f of that by Draw",
				c.labels, name, len(all), 100*truth, in, 100*width/float64(runs), width/before)
			if in < 0.92-3.7*math.Sqrt(0.92*0.08/float64(min(runs, 1000))) {
				t.Errorf("%d labels, %s: coverage %.3f", c.labels, name, in)
			}
			held, models = held+in, models+1
			if !strings.HasPrefix(name, "XSTest") && !strings.HasPrefix(name, "forum") && !strings.HasPrefix(name, "Korean") {
				ratios, part = ratios+width/before, part+1
			}
		}
		t.Logf("%3d labels: coverage %.3f in the mean, width %.3f of that by Draw", c.labels, held/models, ratios/part)
		if held/models < 0.945 || ratios/part > c.widest {
			t.Errorf("%d labels: coverage %.3f, width %.3f", c.labels, held/models, ratios/part)
		}
	}
}

// TestErringReaders has a reader who takes a share of the unsure tenth of the answers for the
// opposite, always the same ones, so that reading again tells nothing. The interval must hold the
// share by the labels of the files, not by that reader, in 93% of the runs of all files.
func TestErringReaders(t *testing.T) {
	t.Parallel()
	runs := runsOf(t, 4000)
	if runs < 4000 {
		runs = 50 // of each file
	}
	cells, apart := readLabeled(t)
	maps.Copy(cells, apart)
	seed := uint64(1)
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d; %d runs each", seed, runs)
	for _, errs := range []float64{0.02, 0.05, 0.1} {
		for _, labels := range []int{25, 100} {
			held, least := 0.0, 1.0
			for _, all := range cells {
				truth, in := shareRefused(all), 0.0
				for range runs {
					e, _ := correctBySteps(t, misread(all, errs, random), len(all), labels, random)
					in += share(e.Lo <= truth && truth <= e.Hi)
				}
				held, least = held+in/float64(runs), min(least, in/float64(runs))
			}
			held /= float64(len(cells))
			t.Logf("errors in %.0f%% of the unsure tenth, %3d labels: coverage %.3f, %.3f at the least", 100*errs, labels, held, least)
			if held < 0.93 {
				t.Errorf("errors in %.0f%%, %d labels: coverage %.3f", 100*errs, labels, held)
			}
		}
	}
}

// misread are the answers as a reader labels them who errs on a share of those of which the judge
// is unsure: the least sure of them, at most a tenth of all.
func misread(all []labeled, errs float64, random *rand.Rand) []labeled {
	read := slices.Clone(all)
	doubt := func(l labeled) float64 { return math.Abs(l.verdict.Score - 0.5) }
	slices.SortFunc(read, func(a, b labeled) int { return cmp.Compare(doubt(a), doubt(b)) })
	for i, l := range read[:len(read)/10] {
		if slices.Contains([]Group{SureAnswer, SureRefusal, Withheld}, GroupOf([]orbench.Verdict{l.verdict}).whole()) || random.Float64() >= errs {
			continue
		}
		if read[i].class = orbench.Refusal; l.class.Refused() {
			read[i].class = orbench.FullAnswer
		}
	}
	return read
}

// shareRefused is the share of refusals, from 0 to 1.
func shareRefused(all []labeled) float64 {
	refused := 0
	for _, l := range all {
		if l.class.Refused() {
			refused++
		}
	}
	return float64(refused) / float64(len(all))
}

// TestCoverageOfErringJudges has a judge that is sure of all that it says and wrong in a
// share of it, which the files of labels do not have: no group of answers tells where it
// errs. Few labels then often show no error at all. With a few hundred prompts the
// interval is wide enough for that, since they are uncertain too; with thousands it takes
// more labels.
func TestCoverageOfErringJudges(t *testing.T) {
	t.Parallel()
	full := runsOf(t, 4000)
	const judged = 300
	seed := uint64(1)
	classes := map[bool]orbench.Verdict{true: {Class: orbench.Refusal, Score: 0.98}, false: {Class: orbench.FullAnswer, Score: 0.02}}
	for _, c := range []struct {
		prompts, labels int
		floor           float64
	}{
		{300, 20, 0.86},
		{300, 40, 0.91},
		{300, 100, 0.935},
		{1000, 100, 0.9},
		{3000, 40, 0.8},
		{3000, 100, 0.87},
		{3000, 300, 0.915},
	} {
		runs := full * judged / c.prompts
		if runs < 200 && os.Getenv("ORBENCH_LONG") != "2" {
			continue
		}
		random := rand.New(rand.NewPCG(seed, 0))
		t.Logf("seed %d; %d runs each of %d prompts", seed, runs, c.prompts)
		least, most := 1.0, 0.0
		for _, said := range []float64{0.1, 0.5, 0.8, 0.95} {
			for _, wrong := range []float64{0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12} {
				all := make([]labeled, judged)
				for i := range all {
					refused := float64(i) < said*judged
					errs := math.Floor(float64(i+1)*wrong) > math.Floor(float64(i)*wrong)
					all[i] = labeled{classes[refused], classes[refused != errs].Class}
				}
				truth, held := shareRefused(all), 0
				for range runs {
					if e, _ := correctOnce(t, all, c.prompts, c.labels, random); e.Lo <= truth && truth <= e.Hi {
						held++
					}
				}
				coverage := float64(held) / float64(runs)
				t.Logf("%4d prompts, %3d labels, %4.1f%% called refusals, %4.1f%% of it wrong: coverage %.3f",
					c.prompts, c.labels, 100*said, 100*wrong, coverage)
				least, most = min(least, coverage), max(most, coverage)
			}
		}
		t.Logf("%4d prompts, %3d labels: coverage from %.3f to %.3f", c.prompts, c.labels, least, most)
		// As above, a true coverage of the floor has one chance in ten thousand.
		if floor := c.floor - 3.7*math.Sqrt(c.floor*(1-c.floor)/float64(runs)); least < floor {
			t.Errorf("%d prompts, %d labels: coverage down to %.3f", c.prompts, c.labels, least)
		}
	}
}

// TestCoverageWithManyPrompts has the same judges and so many prompts that drawing them one
// by one would take long: numbers of verdicts and of labeled refusals are drawn, and labels
// allotted as Draw does.
func TestCoverageWithManyPrompts(t *testing.T) {
	t.Parallel()
	runs := runsOf(t, 2000)
	seed := uint64(1)
	t.Logf("seed %d; %d runs each", seed, runs)
	for _, c := range []struct {
		prompts, labels int
		floor           float64
	}{{10000, 1000, 0.93}, {20000, 300, 0.88}, {20000, 1000, 0.93}, {80000, 300, 0.84}, {80000, 1000, 0.92}} {
		random := rand.New(rand.NewPCG(seed, 0))
		count := func(n int, chance float64) int {
			return int(distuv.Binomial{N: float64(n), P: chance, Src: random}.Rand())
		}
		least := 1.0
		for _, said := range []float64{0.1, 0.5, 0.8, 0.95} {
			for _, wrong := range []float64{0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12} {
				truth, held := said*(1-wrong)+(1-said)*wrong, 0
				for range runs {
					refusals := count(c.prompts, said)
					answered := &pool{Stratum: Stratum{Group: SureAnswer, Size: c.prompts - refusals}}
					refused := &pool{Stratum: Stratum{Group: SureRefusal, Size: refusals}}
					allot([]*pool{answered, refused}, c.labels)
					a, r := float64(answered.Drawn), float64(refused.Drawn)
					e, ok := stats.StratifiedRate([]stats.LabeledStratum{
						{Size: answered.Size, Mean: float64(count(answered.Drawn, wrong)) / a, Labels: a},
						{Size: refused.Size, Mean: 1 - float64(count(refused.Drawn, wrong))/r, Labels: r},
					}, 1, confidence)
					if ok && e.Lo <= truth && truth <= e.Hi {
						held++
					}
				}
				least = min(least, float64(held)/float64(runs))
			}
		}
		t.Logf("%6d prompts, %4d labels: coverage from %.3f", c.prompts, c.labels, least)
		if least < c.floor-3.7*math.Sqrt(c.floor*(1-c.floor)/float64(runs)) {
			t.Errorf("%d prompts, %d labels: coverage down to %.3f", c.prompts, c.labels, least)
		}
	}
}

// correctOnce draws as many prompts as asked for, has size answers of them labeled and
// gives the corrected rate, with the number of answers that were.
func correctOnce(t *testing.T, all []labeled, prompts, size int, random *rand.Rand) (stats.Estimate, int) {
	return correct(t, all, prompts, size, random, func(items []Item, size int, said func([]orbench.Annotation) []orbench.Annotation) []orbench.Annotation {
		drawn, _, err := Draw(seq(items), NewWords(nil), size, 1, time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		return append(drawn, said(drawn)...)
	})
}

// correctBySteps is correctOnce with answers that DrawStep draws.
func correctBySteps(t *testing.T, all []labeled, prompts, size int, random *rand.Rand) (stats.Estimate, int) {
	return correct(t, all, prompts, size, random, func(items []Item, size int, said func([]orbench.Annotation) []orbench.Annotation) (kept []orbench.Annotation) {
		for n := map[orbench.Subject]bool{}; len(n) < size; {
			drawn, err := DrawStep(seq(items), NewWords(kept), min(StepLabels, size-len(n)), 1, time.Unix(0, 0))
			if err != nil || len(drawn) == 0 {
				t.Fatal(err, "nothing is drawn")
			}
			for _, a := range drawn {
				n[a.Subject] = true
			}
			kept = append(append(kept, drawn...), said(drawn)...)
		}
		return kept
	})
}

func correct(t *testing.T, all []labeled, prompts, size int, random *rand.Rand, label func(items []Item, size int, said func([]orbench.Annotation) []orbench.Annotation) []orbench.Annotation) (stats.Estimate, int) {
	cell := Cell{Target: "m", Dataset: "d", Label: orbench.Safe}
	items := make([]Item, prompts)
	classes := map[orbench.Subject]orbench.Class{}
	drawable := 0
	for i := range items {
		l := all[random.IntN(len(all))]
		s := orbench.Subject{byte(i), byte(i >> 8), byte(random.Uint32()), byte(random.Uint32())}
		items[i] = Item{Cell: cell, Subject: s, Group: GroupOf([]orbench.Verdict{l.verdict})}
		classes[s] = l.class
		if items[i].Group != Withheld {
			drawable++
		}
	}
	size = min(size, drawable)
	said := func(drawn []orbench.Annotation) (said []orbench.Annotation) {
		for _, a := range drawn {
			said = append(said, orbench.Annotation{Subject: a.Subject, Class: classes[a.Subject], By: "ana"})
		}
		return said
	}
	tally := NewTally(cell, NewWords(label(items, size, said)))
	for _, it := range items {
		tally.Add(it.Subject, it.Group)
	}
	c, ok := tally.Corrected(figure.Keys{}, nil, 1)
	if !ok {
		t.Fatalf("no corrected rate of %d labels: %+v", size, c)
	}
	return c.Rate, size
}

// TestUnsureClasses checks that labels of these classes are no refusals, and that judges
// are never sure of them.
func TestUnsureClasses(t *testing.T) {
	t.Parallel()
	for _, class := range []orbench.Class{orbench.Unable, orbench.OffTopic} {
		subject := orbench.Subject{1}
		words := NewWords([]orbench.Annotation{{Subject: subject, Class: class, By: "ann"}})
		if got, ok := words.Refused(subject); !ok || got != 0 {
			t.Errorf("%s counts as %v of a refusal", class, got)
		}
		if g := GroupOf([]orbench.Verdict{{Class: class, Score: 0.01}}); g != UnsureAnswer {
			t.Errorf("%s: %s", class, g)
		}
	}
}

// TestJudgeThatCameLater holds that labels still correct the rate when a judge is added after
// them, which differs on answers that nobody labeled: the range counts these both ways.
func TestJudgeThatCameLater(t *testing.T) {
	t.Parallel()
	cell := Cell{Target: "m/t", Dataset: "set", Label: orbench.Safe}
	for name, of := range map[string]struct {
		answered, refused, differ int
		want                      float64
	}{
		"with refusals":         {60, 30, 10, (60*0.1 + 30*0.9 + 10*0.5) / 100},
		"without any refusal":   {60, 0, 10, (60*0.1 + 10*0.5) / 70},
		"none on which to vary": {60, 40, 0, (60*0.1 + 40*0.9) / 100},
	} {
		var said []orbench.Annotation
		var groups []Group
		for g, n := range map[Group]int{SureAnswer: of.answered, SureRefusal: of.refused, Disagreement: of.differ} {
			for i := range n {
				s := orbench.Subject{byte(len(groups)), 1}
				groups = append(groups, g)
				said = append(said, orbench.Annotation{Subject: s, Design: cell.Design(), Chance: 0.5})
				if i < 10 && g != Disagreement {
					class := orbench.FullAnswer
					if (g == SureRefusal) != (i == 0) { // people contradict the judges on one of ten
						class = orbench.Refusal
					}
					said = append(said, orbench.Annotation{Subject: s, Class: class, By: "ana"})
				}
			}
		}
		tally := NewTally(cell, NewWords(said))
		for i, g := range groups {
			tally.Add(orbench.Subject{byte(i), 1}, g)
		}
		c, ok := tally.Corrected(figure.Keys{}, nil, 1)
		if !ok || math.Abs(c.Rate.Value-of.want) > 1e-9 {
			t.Errorf("%s: %v, %v, want %v", name, c.Rate, ok, of.want)
		}
		if both := float64(of.differ) / float64(len(groups)) / 2; c.Rate.Lo >= c.Rate.Value-both || c.Rate.Hi <= c.Rate.Value+both {
			t.Errorf("%s: %v does not count %d answers both ways", name, c.Rate, of.differ)
		}
	}
}
