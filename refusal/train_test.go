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

// The words that tell an answer which lacks something from one that will not: at most
// lackingWords, each in leastLacking answers or more.
const (
	lackingWords = 255
	leastLacking = 3
)

// Lacking gives unable.txt: the weights of words, by the rows of lackingRows.
func Lacking() (string, error) {
	rows, err := lackingRows()
	if err != nil {
		return "", err
	}
	words, weights := fitLacking(rows)
	var b strings.Builder
	b.WriteString("# Weights of words that tell cannot (above 0) from will not, ^ for the bias; go generate\n# ./refusal makes them.\n")
	for i, word := range append([]string{"^"}, words...) {
		fmt.Fprintf(&b, "%.3f %s\n", weights[i], word)
	}
	return b.String(), nil
}

// lackingRows are the answers in testdata/train/unable.txt, and the other refusals in English
// that the project holds.
func lackingRows() ([]LabeledAnswer, error) {
	rows, err := parseExamples("unable.txt", unableExamples, "unable")
	if err != nil {
		return nil, err
	}
	own, err := Own()
	for _, row := range own {
		if row.Refused && refusal.Language(row.Answer) == "en" {
			rows = append(rows, row)
		}
	}
	return rows, err
}

// fitLacking gives words, in order, and their weights, behind the bias. The words are those
// with the greatest weights in a first fit of all.
func fitLacking(rows []LabeledAnswer) (words []string, weights []float64) {
	in := map[string]int{}
	for _, row := range rows {
		for _, word := range singleWords(row.Answer) {
			in[word]++
		}
	}
	maps.DeleteFunc(in, func(_ string, answers int) bool { return answers < leastLacking })
	words = slices.Sorted(maps.Keys(in))
	size := map[string]float64{}
	for i, w := range weighLacking(rows, words)[1:] {
		size[words[i]] = math.Abs(w)
	}
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(size[b], size[a]) })
	words = words[:min(lackingWords, len(words))]
	slices.Sort(words)
	return words, weighLacking(rows, words)
}

// weighLacking gives the bias and the weights of words. Both sides count alike.
func weighLacking(rows []LabeledAnswer, words []string) []float64 {
	refused := 0
	for _, row := range rows {
		if row.Refused {
			refused++
		}
	}
	var examples []example
	for _, row := range rows {
		e := example{places: []int{0}, values: []float64{1}, positive: !row.Refused}
		if e.weight = float64(len(rows)) / 2 / float64(len(rows)-refused); row.Refused {
			e.weight = float64(len(rows)) / 2 / float64(refused)
		}
		for _, word := range singleWords(row.Answer) {
			if i, ok := slices.BinarySearch(words, word); ok {
				e.places, e.values = append(e.places, i+1), append(e.values, 1)
			}
		}
		examples = append(examples, e)
	}
	return logistic(examples, len(words)+1, lackingRidge)
}

// lackingRidge is the penalty on the weights of these words.
const lackingRidge = 1.0

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
