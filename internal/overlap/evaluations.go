package overlap

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// NearThreshold is the usual least similarity of turns that are nearly the
// same. It is lower than dataset.NearThreshold, because leaving a prompt out
// needlessly costs little. Of the prompts of or-bench-hard-1k with one word
// replaced it finds all, and with two words replaced 85%. It mistakes none of
// XSTest's 450 prompts and the 260 of starter for one of them
// (TestPlantedInPublished).
const NearThreshold = 0.3

// Evaluations are evaluation sets, indexed to find whether a prompt is in one
// of them.
type Evaluations struct {
	// Threshold is the least Jaccard index, as in package similar, of two turns
	// that are nearly the same.
	Threshold float64 `json:"threshold"`
	// Checked lists the sets that prompts are compared with. Unchecked lists
	// the named sets that they are not compared with.
	Checked   []Evaluation `json:"checked"`
	Unchecked []Unchecked  `json:"unchecked"`
	*Turns    `json:"-"`
}

// Evaluation is an evaluation set.
type Evaluation struct {
	// Name is the set's own name. Ref is the name or path by which it was
	// opened.
	Name string `json:"name"`
	Ref  string `json:"ref"`
	// SHA256 is the hash of the prompts of a named dataset, or of the bytes of
	// a file.
	SHA256  string `json:"sha256"`
	Prompts int    `json:"prompts"`
}

// Unchecked is a named set that was not compared with, and why.
type Unchecked struct {
	Name string `json:"name"`
	Why  string `json:"why"`
	// Excepted is true if that was requested.
	Excepted bool `json:"excepted,omitempty"`
}

// Against opens the evaluation sets to compare with: those of refs, which are
// names or paths, and all named sets on this machine, except those in except.
// cache is the folder of pulled datasets. The threshold is above 0 and at most
// 1. A set in refs that cannot be opened is an *orbench.InputError.
func Against(ctx context.Context, refs, except []string, cache string, threshold float64) (*Evaluations, error) {
	e, err := newEvaluations(threshold)
	if err != nil {
		return nil, err
	}
	for _, name := range except {
		if _, ok := dataset.Named(name); !ok || slices.Contains(refs, name) {
			return nil, &orbench.InputError{
				Setting: "except", Problem: untrusted.Quote(name) + " is not a named dataset, or is to be compared too",
				Hint: "name one of orbench dataset list, and leave it out of `decontaminate`",
			}
		}
	}
	for _, d := range dataset.List(cache) {
		switch {
		case slices.Contains(except, d.Name):
			e.Unchecked = append(e.Unchecked, Unchecked{d.Name, "left out on request", true})
		case slices.Contains(refs, d.Name), d.Training:
		case d.Present:
			refs = append(slices.Clip(refs), d.Name)
		default:
			e.Unchecked = append(e.Unchecked, Unchecked{Name: d.Name, Why: "not on this machine (orbench dataset pull)"})
		}
	}
	for _, ref := range refs {
		if err := e.add(ctx, ref, cache); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// newEvaluations has no set yet.
func newEvaluations(threshold float64) (*Evaluations, error) {
	if !(threshold > 0 && threshold <= 1) {
		return nil, &orbench.InputError{
			Setting: "threshold", Problem: fmt.Sprintf("%v is not above 0 and at most 1", threshold), Hint: "give a share such as 0.5",
		}
	}
	return &Evaluations{Threshold: threshold, Checked: []Evaluation{}, Unchecked: []Unchecked{}, Turns: NewTurns(threshold)}, nil
}

// add indexes a named dataset, or a file, whose prompts may be in any usual form.
func (e *Evaluations) add(ctx context.Context, ref, cache string) (err error) {
	set := Evaluation{Name: nameOf(ref), Ref: ref}
	set.SHA256, err = eachRow(ctx, ref, cache, func(_ int, said, _ []string) {
		if len(said) > 0 {
			set.Prompts++
		}
		e.Keep(set.Name, said...)
	})
	if err == nil && set.Prompts == 0 {
		err = noPrompts(ref)
	}
	e.Checked = append(e.Checked, set)
	return err
}

// nameOf is the name of a dataset, and of a file without its ending.
func nameOf(ref string) string { return strings.TrimSuffix(filepath.Base(ref), filepath.Ext(ref)) }

// noPrompts is the error for a file or folder.
func noPrompts(path string) error {
	return &orbench.InputError{File: path, Problem: "no column in it is known to hold prompts", Hint: "call the column prompt, or messages"}
}

// Little warns that prompts were compared with none but a set that comes with the program,
// or is "".
func (e *Evaluations) Little() string {
	for _, set := range e.Checked {
		if named, ok := dataset.Named(set.Ref); !ok || !named.BuiltIn {
			return ""
		}
	}
	return "Little was compared: no published evaluation set is on this machine, and you named none of your own. Pull the sets that the model will be measured on (orbench dataset pull), or name them with decontaminate, and repeat this."
}

// Compared says what was compared with and what was not.
func (e *Evaluations) Compared() []string {
	var all, names []string
	for _, c := range e.Checked {
		names = append(names, c.Name)
	}
	if len(names) > 0 {
		all = append(all, "Compared with "+strings.Join(names, ", ")+", from a similarity of "+table.Number(e.Threshold)+".")
	}
	absent := map[string][]string{}
	for _, u := range e.Unchecked {
		absent[u.Why] = append(absent[u.Why], u.Name)
	}
	for _, why := range slices.Sorted(maps.Keys(absent)) {
		all = append(all, "Not compared with "+strings.Join(absent[why], ", ")+": "+why+".")
	}
	return all
}
