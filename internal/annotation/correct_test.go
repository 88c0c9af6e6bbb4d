package annotation

import (
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
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/refusal"
	"github.com/orbench/orbench/stats"
)

// labeled is an answer that people labeled, with what the detector says of it.
type labeled struct {
	verdict orbench.Verdict
	class   orbench.Class
}

// readLabeled reads the answers labeled by people in ../shared/data, by model and
// label of the prompt, or skips the test.
func readLabeled(t *testing.T) map[string][]labeled {
	t.Helper()
	cells := map[string][]labeled{}
	read := func(name, prompt, response string, cell func(row map[string]string) string, refused func(row map[string]string) bool) {
		file, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", name))
		if errors.Is(err, fs.ErrNotExist) {
			t.Skipf("%s is absent; it is no part of the project", name)
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
			cells[name] = append(cells[name], labeled{refusal.Detect(row[prompt], row[response]), class})
		}
	}
	unsafe := map[string]bool{}
	read("xstest_prompts.csv", "prompt", "prompt", func(row map[string]string) string {
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
		read("xstest_completions_"+model+".csv", "prompt", "completion",
			func(row map[string]string) string { return "XSTest " + model + side(unsafe[row["id"][3:]]) },
			func(row map[string]string) bool { return row["final_label"] != "1_full_compliance" })
	}
	byLabel := func(row map[string]string) bool { return row["label"] == "refused" }
	read("human-orfuzz.csv", "prompt", "response", func(row map[string]string) string {
		share, err := strconv.ParseFloat(row["prompt_toxic_rate"], 64)
		if err != nil {
			t.Fatal(err)
		}
		return "ORFuzz " + row["model"] + side(share >= 0.5)
	}, byLabel)
	read("human-do-not-answer.csv", "prompt", "response", func(row map[string]string) string {
		if row["label"] == "" {
			return ""
		}
		return "Do-Not-Answer " + row["model"]
	}, byLabel)
	read("human-chatgpt-refusals.csv", "prompt", "response", func(row map[string]string) string {
		if row["label"] == "" {
			return ""
		}
		return "forum ChatGPT"
	}, byLabel)
	return cells
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
// by Draw. The interval of Correct must hold the file's rate in about 95% of the
// runs, and be narrower than that of as many labels without a judge.
func TestCorrectedCoverage(t *testing.T) {
	t.Parallel()
	runs := runsOf(t, 1000)
	cells := readLabeled(t)
	seed := uint64(1)
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d; %d runs each", seed, runs)
	for _, size := range []int{40, 100, 300} {
		var ratios float64
		least, most := 1.0, 0.0
		for _, name := range slices.Sorted(maps.Keys(cells)) {
			all := cells[name]
			refusals := 0
			for _, l := range all {
				if l.class.Refused() {
					refusals++
				}
			}
			truth := float64(refusals) / float64(len(all))
			held, width, alone := 0, 0.0, 0.0
			for range runs {
				e, drawn := correctOnce(t, all, size, random)
				if e.Lo <= truth && truth <= e.Hi {
					held++
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
			coverage, ratio := float64(held)/float64(runs), width/alone
			t.Logf("%3d labels, %-30s %3d answers, %5.1f%% refused: coverage %.3f, width %4.1f points, %.2f of labels alone",
				size, name, len(all), 100*truth, coverage, 100*width/float64(runs), ratio)
			ratios += ratio / float64(len(cells))
			if truth < 1 {
				least, most = min(least, coverage), max(most, coverage)
			}
			// Where most answers are labeled there is little that a judge could add.
			if 2*size <= len(all) && ratio > 1 {
				t.Errorf("%d labels, %s: the interval is %.2f times as wide as that of labels alone", size, name, ratio)
			}
		}
		t.Logf("%3d labels: coverage %.3f to %.3f, mean width %.3f of labels alone", size, least, most, ratios)
		// A coverage of 95% that is found to be this low in so many runs has a chance
		// of one in ten thousand.
		if floor := 0.95 - 3.7*math.Sqrt(0.95*0.05/float64(runs)); least < floor {
			t.Errorf("%d labels: coverage down to %.3f", size, least)
		}
	}
}

// TestCoverageOfErringJudges has a judge that is sure of all that it says and wrong in a
// share of it, which the files of labels do not have: no group of answers tells where it
// errs. Forty labels then often show no error at all, and the interval is narrower than
// the error is; a hundred tell.
func TestCoverageOfErringJudges(t *testing.T) {
	t.Parallel()
	runs := runsOf(t, 4000)
	const answers = 300
	seed := uint64(1)
	t.Logf("seed %d; %d runs each of %d answers", seed, runs, answers)
	classes := map[bool]orbench.Verdict{true: {Class: orbench.Refusal, Score: 0.98}, false: {Class: orbench.FullAnswer, Score: 0.02}}
	for _, c := range []struct {
		labels int
		floor  float64
	}{{20, 0.79}, {40, 0.88}, {100, 0.935}} {
		random := rand.New(rand.NewPCG(seed, 0))
		least, most := 1.0, 0.0
		for _, said := range []float64{0.1, 0.5, 0.8, 0.95} {
			for _, wrong := range []float64{0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12} {
				all := make([]labeled, answers)
				refusals := 0
				for i := range all {
					refused := float64(i) < said*answers
					errs := math.Floor(float64(i+1)*wrong) > math.Floor(float64(i)*wrong)
					all[i] = labeled{classes[refused], classes[refused != errs].Class}
					if all[i].class.Refused() {
						refusals++
					}
				}
				truth := float64(refusals) / answers
				held := 0
				for range runs {
					if e, _ := correctOnce(t, all, c.labels, random); e.Lo <= truth && truth <= e.Hi {
						held++
					}
				}
				coverage := float64(held) / float64(runs)
				t.Logf("%3d labels, %4.1f%% called refusals, %4.1f%% of it wrong: coverage %.3f", c.labels, 100*said, 100*wrong, coverage)
				least, most = min(least, coverage), max(most, coverage)
			}
		}
		t.Logf("%3d labels: coverage from %.3f to %.3f", c.labels, least, most)
		// As above, a true coverage of the floor has one chance in ten thousand.
		if floor := c.floor - 3.7*math.Sqrt(c.floor*(1-c.floor)/float64(runs)); least < floor {
			t.Errorf("%d labels: coverage down to %.3f", c.labels, least)
		}
	}
}

// correctOnce draws prompts, has size answers of them labeled and gives the
// corrected rate, with the number of answers that were.
func correctOnce(t *testing.T, all []labeled, size int, random *rand.Rand) (stats.Estimate, int) {
	cell := Cell{Target: "m", Dataset: "d", Label: orbench.Safe}
	items := make([]Item, len(all))
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
	drawn, _, err := Draw(items, nil, size, 1, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range drawn {
		drawn = append(drawn, orbench.Annotation{Subject: a.Subject, Class: classes[a.Subject], By: "ana"})
	}
	tally := NewTally(cell, NewWords(drawn))
	for _, it := range items {
		tally.Add(it.Subject, it.Group)
	}
	c, ok := tally.Corrected(1)
	if !ok {
		t.Fatalf("no corrected rate of %d labels: %+v", size, c)
	}
	return c.Rate, size
}
