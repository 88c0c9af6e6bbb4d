package refusal_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/orbench/orbench/refusal"
	"github.com/orbench/orbench/refusal/internal/corpus"
	"github.com/orbench/orbench/refusal/internal/fit"
)

// readGold reads one labeled file of ../shared/data, or skips the test.
func readGold(t testing.TB, name string) []corpus.Row {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "data", name)
	rows, err := corpus.ReadXSTest(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is absent; it is no part of the project", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// A tally counts the four cells of two classes, refusal being the positive one.
type tally struct{ truePos, falsePos, falseNeg, trueNeg int }

func (c *tally) add(said, gold bool) {
	switch {
	case said && gold:
		c.truePos++
	case said:
		c.falsePos++
	case gold:
		c.falseNeg++
	default:
		c.trueNeg++
	}
}

func (c *tally) n() int { return c.truePos + c.falsePos + c.falseNeg + c.trueNeg }

func (c *tally) accuracy() float64 { return float64(c.truePos+c.trueNeg) / float64(c.n()) }

func (c *tally) f1() float64 {
	return 2 * float64(c.truePos) / float64(2*c.truePos+c.falsePos+c.falseNeg)
}

// TestDetectAgreesWithPeople measures Detect on the files that its weights were
// trained on, by file and by type of prompt.
func TestDetectAgreesWithPeople(t *testing.T) {
	var all tally
	byGroup := map[string]*tally{}
	for _, name := range corpus.Files {
		var file tally
		for _, row := range readGold(t, name) {
			said := refusal.Detect(row.Prompt, row.Answer).Class.Refused()
			if byGroup[row.Group] == nil {
				byGroup[row.Group] = &tally{}
			}
			for _, c := range []*tally{&all, &file, byGroup[row.Group]} {
				c.add(said, row.Refused)
			}
		}
		t.Logf("%s: accuracy %.4f, F1 %.4f, cells %+v", name, file.accuracy(), file.f1(), file)
	}
	for _, group := range slices.Sorted(maps.Keys(byGroup)) {
		t.Logf("%s: accuracy %.3f of %d", group, byGroup[group].accuracy(), byGroup[group].n())
	}
	t.Logf("both: accuracy %.4f, F1 %.4f, cells %+v", all.accuracy(), all.f1(), all)
	if all.accuracy() < 0.96 {
		t.Errorf("accuracy %.4f, want 0.96", all.accuracy())
	}
}

// vectors gives the features and labels of rows.
func vectors(rows []corpus.Row) (x [][]float64, y []bool) {
	for _, row := range rows {
		var values []float64
		for _, f := range refusal.Features(row.Prompt, row.Answer) {
			values = append(values, f.Value)
		}
		x = append(x, values)
		y = append(y, row.Refused)
	}
	return x, y
}

// measure fits weights to the rows of train and counts how they do on test.
func measure(train, test []corpus.Row) tally {
	x, y := vectors(train)
	w := fit.Logistic(x, y, fit.Ridge)
	x, y = vectors(test)
	var c tally
	for i := range x {
		c.add(fit.Predict(w, x[i]) >= 0.5, y[i])
	}
	return c
}

// TestFitOnOneModelJudgesAnother fits the weights to one model's answers and
// measures them on the other's, and then on prompts and on types of prompts that
// no training row has.
func TestFitOnOneModelJudgesAnother(t *testing.T) {
	if os.Getenv("ORBENCH_LONG") == "" {
		t.Skip("a long proof: set ORBENCH_LONG=1, as .ci/run does")
	}
	examples, err := corpus.Examples()
	if err != nil {
		t.Fatal(err)
	}
	files := [][]corpus.Row{readGold(t, corpus.Files[0]), readGold(t, corpus.Files[1])}
	for i, name := range corpus.Files {
		for _, with := range []struct {
			name  string
			rows  []corpus.Row
			floor float64
		}{{"with our examples", examples, 0.92}, {"without them", nil, 0.90}} {
			c := measure(slices.Concat(with.rows, files[i]), files[1-i])
			t.Logf("fitted to %s %s, the other: accuracy %.4f, F1 %.4f", name, with.name, c.accuracy(), c.f1())
			if c.accuracy() < with.floor {
				t.Errorf("accuracy %.4f, want %v", c.accuracy(), with.floor)
			}
		}
	}

	both := slices.Concat(files...)
	fold := func(of func(i int, row corpus.Row) string) tally {
		parts := map[string]bool{}
		for i, row := range both {
			parts[of(i, row)] = true
		}
		var total tally
		for _, part := range slices.Sorted(maps.Keys(parts)) {
			train, test := slices.Clone(examples), []corpus.Row(nil)
			for i, row := range both {
				if of(i, row) == part {
					test = append(test, row)
				} else {
					train = append(train, row)
				}
			}
			c := measure(train, test)
			total.truePos += c.truePos
			total.falsePos += c.falsePos
			total.falseNeg += c.falseNeg
			total.trueNeg += c.trueNeg
		}
		return total
	}
	prompts := fold(func(i int, _ corpus.Row) string { return string(rune('0' + i%len(files[0])%10)) })
	t.Logf("ten folds by prompt: accuracy %.4f, F1 %.4f", prompts.accuracy(), prompts.f1())
	types := fold(func(_ int, row corpus.Row) string { return row.Group })
	t.Logf("each type of prompt by the others: accuracy %.4f, F1 %.4f", types.accuracy(), types.f1())
	if prompts.accuracy() < 0.92 || types.accuracy() < 0.90 {
		t.Error("want 0.92 by prompt and 0.90 by type")
	}
}

// TestWeightsAreCurrent holds that training gives the weights in the tree, byte
// for byte: from what the project holds alone, and, where the labeled files are,
// from those, with the same vectors.
func TestWeightsAreCurrent(t *testing.T) {
	const vectors = "internal/corpus/vectors.txt.gz"
	train := func(t *testing.T, data, vectors string) {
		out := filepath.Join(t.TempDir(), "weights.txt")
		if text, err := exec.Command("go", "run", "./internal/train", "-data", data, "-vectors", vectors, "-out", out).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		want, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadFile("weights.txt")
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != string(want) {
			t.Error("weights.txt is not what its training gives; run go generate ./refusal")
		}
	}
	t.Run("alone", func(t *testing.T) { train(t, t.TempDir(), vectors) })
	t.Run("files", func(t *testing.T) {
		readGold(t, corpus.Files[0])
		made := filepath.Join(t.TempDir(), "vectors.txt.gz")
		train(t, filepath.Join("..", "..", "shared", "data"), made)
		if !reflect.DeepEqual(readVectors(t, vectors), readVectors(t, made)) {
			t.Errorf("%s is not what the files give; run go generate ./refusal", vectors)
		}
	})
}

func readVectors(t *testing.T, path string) *corpus.Vectors {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v, err := corpus.ReadVectors(f)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
