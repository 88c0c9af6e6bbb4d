package refusal_test

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orbench/orbench/refusal"
)

// Write trains the weights and writes weights.txt and sequences.txt into the folder out.
// Where the labeled files are in the folder data, the file of their vectors is made anew
// first.
func Write(data, vectors, out string) error {
	own, err := Own()
	if err != nil {
		return err
	}
	switch err := refresh(own, data, vectors); {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(os.Stderr, "train: %v; %s is used as it is\n", err, vectors)
	case err != nil:
		return err
	}
	text, err := os.ReadFile(vectors)
	if err != nil {
		return err
	}
	all, err := ReadVectors(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", vectors, err)
	}
	if !slices.Equal(all.Names, featureNames()) {
		return fmt.Errorf("%s was made by other features than the detector has: put the files of Sources into %s, which makes it anew", vectors, data)
	}
	theirs := all.Rows
	all.Rows = nil
	all.Add(own)
	all.Rows = append(all.Rows, theirs...)
	w := all.Fit()

	features, sequences := all.Texts(w)
	if err := os.WriteFile(filepath.Join(out, "weights.txt"), []byte(features), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "sequences.txt"), []byte(sequences), 0o644); err != nil {
		return err
	}
	lacking, err := Lacking()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "unable.txt"), []byte(lacking), 0o644)
}

//go:embed testdata/train/unable.txt
var unableExamples string

//go:embed testdata/train/done.txt
var doneExamples string

const (
	// lackingWords is the most words that have weights for what an answer lacks, and
	// leastLacking the number of answers that a word must be in.
	lackingWords = 255
	leastLacking = 3
	// lackingLength is the most words of an answer that they are fitted to.
	lackingLength = 60
)

// A lackingFit is what tells answers that lack something from others: words, in order, and
// behind the bias their weights against refusals and against answers.
type lackingFit struct {
	words   []string
	weights [2][]float64
}

// Lacking gives unable.txt: the weights of words, by the rows of lackingRows.
func Lacking() (string, error) {
	lacking, refusals, answers, err := lackingRows()
	if err != nil {
		return "", err
	}
	fit := fitLacking(lacking, refusals, answers)
	var b strings.Builder
	b.WriteString("# Weights of words that tell cannot from will not, and from answers; ^ for the bias.\n# go generate ./refusal makes them.\n")
	for i, word := range append([]string{"^"}, fit.words...) {
		fmt.Fprintf(&b, "%.3f %.3f %s\n", fit.weights[0][i], fit.weights[1][i], word)
	}
	return b.String(), nil
}

// lackingRows are short answers in English: those in testdata/train that lack something,
// refusals, and answers that do what was asked.
func lackingRows() (lacking, refusals, answers []LabeledAnswer, err error) {
	unable, err := parseExamples("unable.txt", unableExamples, "unable")
	if err != nil {
		return nil, nil, nil, err
	}
	done, err := parseExamples("done.txt", doneExamples, "done")
	if err != nil {
		return nil, nil, nil, err
	}
	own, err := Own()
	if err != nil {
		return nil, nil, nil, err
	}
	for _, row := range slices.Concat(unable, done, own) {
		switch {
		case row.Set == "unable" && !row.Refused:
			lacking = append(lacking, row)
		case refusal.Language(row.Answer) != "en":
		case row.Refused:
			refusals = append(refusals, row)
		case len(strings.Fields(row.Answer)) <= lackingLength:
			answers = append(answers, row)
		}
	}
	return lacking, refusals, answers, nil
}

// fitLacking chooses the words with the greatest weights in first fits of all, and fits those.
func fitLacking(lacking, refusals, answers []LabeledAnswer) (fit lackingFit) {
	in := map[string]int{}
	for _, row := range slices.Concat(lacking, refusals, answers) {
		for _, word := range singleWords(row.Answer) {
			in[word]++
		}
	}
	maps.DeleteFunc(in, func(_ string, answers int) bool { return answers < leastLacking })
	fit.words = slices.Sorted(maps.Keys(in))
	size := map[string]float64{}
	for _, others := range [][]LabeledAnswer{refusals, answers} {
		for i, w := range weighLacking(lacking, others, fit.words)[1:] {
			size[fit.words[i]] = max(size[fit.words[i]], math.Abs(w))
		}
	}
	slices.SortStableFunc(fit.words, func(a, b string) int { return cmp.Compare(size[b], size[a]) })
	fit.words = fit.words[:min(lackingWords, len(fit.words))]
	slices.Sort(fit.words)
	fit.weights = [2][]float64{weighLacking(lacking, refusals, fit.words), weighLacking(lacking, answers, fit.words)}
	return fit
}

// weighLacking gives the bias and the weights of words. Both sides count alike.
func weighLacking(lacking, others []LabeledAnswer, words []string) []float64 {
	var examples []example
	for _, side := range [][]LabeledAnswer{lacking, others} {
		for _, row := range side {
			e := example{
				places: []int{0}, values: []float64{1}, positive: len(examples) < len(lacking),
				weight: float64(len(lacking)+len(others)) / 2 / float64(len(side)),
			}
			for _, word := range singleWords(row.Answer) {
				if i, ok := slices.BinarySearch(words, word); ok {
					e.places, e.values = append(e.places, i+1), append(e.values, 1)
				}
			}
			examples = append(examples, e)
		}
	}
	return logistic(examples, len(words)+1, ridge)
}

// singleWords are the different words of an answer's first hundred.
func singleWords(answer string) []string {
	return slices.DeleteFunc(refusal.Sequences(answer), func(sequence string) bool {
		return strings.ContainsAny(sequence, " .^>")
	})
}

// leastWeight is the weight, of all sequences together, below which one is left out
// and the others are fitted anew.
const leastWeight = 0.01

// leastAnswers is the number of answers that a sequence must be in to have a weight.
const leastAnswers = 6

// refresh makes the file of vectors anew from the labeled files.
func refresh(own []LabeledAnswer, data, vectors string) error {
	var rows []LabeledAnswer
	for _, source := range Sources {
		if !source.Fit {
			continue
		}
		more, err := source.Read(data)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	all := &Vectors{Names: featureNames(), Sequences: choose(slices.Concat(own, rows))}
	all.Add(slices.Concat(own, rows))
	w := all.Fit()
	v := &Vectors{Names: all.Names}
	for i, sequence := range all.Sequences {
		if math.Abs(w[len(all.Names)+i]*sequenceValue) >= leastWeight {
			v.Sequences = append(v.Sequences, sequence)
		}
	}
	v.Add(rows)
	var b bytes.Buffer
	if err := v.Write(&b); err != nil {
		return err
	}
	return os.WriteFile(vectors, b.Bytes(), 0o644)
}

// choose gives the sequences to have weights: those in leastAnswers answers or
// more, and of several that are in the same answers the one that sorts first.
func choose(rows []LabeledAnswer) []string {
	in := map[string][]int{}
	for i, row := range rows {
		for _, sequence := range refusal.Sequences(row.Answer) {
			in[sequence] = append(in[sequence], i)
		}
	}
	maps.DeleteFunc(in, func(_ string, answers []int) bool { return len(answers) < leastAnswers })
	known := map[string]bool{}
	var chosen []string
	for _, sequence := range slices.Sorted(maps.Keys(in)) {
		if key := fmt.Sprint(in[sequence]); !known[key] {
			known[key] = true
			chosen = append(chosen, sequence)
		}
	}
	return chosen
}

func featureNames() []string {
	var names []string
	for _, f := range refusal.Features("", "") {
		names = append(names, f.Name)
	}
	return names
}

// Add adds the vectors of answers.
func (v *Vectors) Add(rows []LabeledAnswer) {
	place := map[string]int{}
	for i, sequence := range v.Sequences {
		place[sequence] = i
	}
	values := func(prompt, answer string) (values []float64) {
		for _, f := range refusal.Features(prompt, answer) {
			values = append(values, f.Value)
		}
		return values
	}
	for _, row := range rows {
		var sequences []int
		for _, sequence := range refusal.Sequences(row.Answer) {
			if i, ok := place[sequence]; ok {
				sequences = append(sequences, i)
			}
		}
		slices.Sort(sequences)
		v.Rows = append(v.Rows, Vector{
			Set: row.Set, Model: row.Model, Refused: row.Refused,
			With: values(row.Prompt, row.Answer), Without: values("", row.Answer), Sequences: sequences,
		})
	}
}
