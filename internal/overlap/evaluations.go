package overlap

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/rows"
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

	// sets holds the set of each turn, as an index of Checked.
	sets  []int
	turns *Turns
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

// Match is the turn of an evaluation set that a prompt repeats.
type Match struct {
	Set  string `json:"set"`
	Text string `json:"text"`
	// Exact is true if the words are the same; Jaccard is then 1. Otherwise
	// Jaccard is the similarity, from the threshold to 1.
	Exact   bool    `json:"exact"`
	Jaccard float64 `json:"jaccard"`
}

// Against opens the evaluation sets to compare with: those of refs, which are
// names or paths, and all named sets on this machine, except those in except.
// cache is the folder of pulled datasets. The threshold is above 0 and at most
// 1. A set in refs that cannot be opened is an *orbench.InputError.
func Against(ctx context.Context, refs, except []string, cache string, threshold float64) (*Evaluations, error) {
	if err := checkThreshold(threshold, NearThreshold); err != nil {
		return nil, err
	}
	e := &Evaluations{Threshold: threshold, Checked: []Evaluation{}, Unchecked: []Unchecked{}, turns: NewTurns(threshold)}
	named := dataset.List(cache)
	for _, name := range except {
		if !slices.ContainsFunc(named, func(d dataset.Entry) bool { return d.Name == name }) {
			return nil, &orbench.InputError{
				Setting: "except", Problem: fmt.Sprintf("there is no dataset named %s", untrusted.Quote(name)),
				Hint: "the names are in orbench dataset list",
			}
		}
		if slices.Contains(refs, name) {
			return nil, &orbench.InputError{Setting: "except", Problem: name + " is named by `decontaminate` too", Hint: "leave one of them out"}
		}
	}
	for _, d := range named {
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
		add := e.addFile
		if dataset.IsName(ref) {
			add = func(ctx context.Context, name string) error { return e.addNamed(ctx, name, cache) }
		}
		if err := add(ctx, ref); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// checkThreshold rejects an invalid least similarity; its error suggests a
// usual one.
func checkThreshold(threshold, usual float64) error {
	if threshold > 0 && threshold <= 1 {
		return nil
	}
	return &orbench.InputError{
		Setting: "threshold", Problem: fmt.Sprintf("%v is not above 0 and at most 1", threshold), Hint: fmt.Sprintf("give a share such as %v", usual),
	}
}

// addNamed indexes a named dataset.
func (e *Evaluations) addNamed(ctx context.Context, name, cache string) error {
	set, err := dataset.Open(ctx, name, dataset.Options{Cache: cache, AssumeSafe: true})
	if err != nil {
		return err
	}
	for p, err := range set.Prompts() {
		if err == nil && len(e.sets)%1024 == 0 {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		e.keep(Said(p))
	}
	e.Checked = append(e.Checked, Evaluation{set.Name, name, set.SHA256, set.Count})
	return nil
}

// addFile indexes a file. It is read like training data: labels do not matter,
// and prompts may be in any usual form.
func (e *Evaluations) addFile(ctx context.Context, path string) error {
	if !rows.Readable(path) {
		return &orbench.InputError{
			File: path, Problem: "there is no dataset of this name, and no file of prompts",
			Hint: "name one of orbench dataset list, or a file that ends in " + strings.Join(rows.Endings(), ", "),
		}
	}
	n := 0
	if err := readRows(path, func(row int, said, _ []string) error {
		if len(said) > 0 {
			n++
		}
		e.keep(said)
		return context.Cause(ctx)
	}); err != nil {
		return err
	}
	if n == 0 {
		return &orbench.InputError{File: path, Problem: "no column in it is known to hold prompts", Hint: "call the column prompt"}
	}
	sum, err := untrusted.HashFile(path)
	name := filepath.Base(path)
	e.Checked = append(e.Checked, Evaluation{strings.TrimSuffix(name, filepath.Ext(name)), path, sum, n})
	return err
}

// keep indexes what the user says in a prompt of the set that is being added.
func (e *Evaluations) keep(said []string) {
	for range said {
		e.sets = append(e.sets, len(e.Checked))
	}
	e.turns.Keep(said...)
}

// Find returns the turn of an evaluation set that one of the turns repeats: one
// with the same words, or else the most similar of those that are nearly the
// same.
func (e *Evaluations) Find(said []string) (Match, bool) {
	m, found := e.turns.Find(said)
	if !found {
		return Match{}, false
	}
	return Match{Set: e.Checked[e.sets[m.At]].Name, Text: e.turns.texts[m.At], Exact: m.Exact, Jaccard: m.Jaccard}, true
}

// Names lists the sets that are compared with.
func (e *Evaluations) Names() string {
	var all []string
	for _, c := range e.Checked {
		all = append(all, c.Name)
	}
	return strings.Join(all, ", ")
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
	var all []string
	if len(e.Checked) > 0 {
		all = append(all, "Compared with "+e.Names()+", from a similarity of "+table.Number(e.Threshold)+".")
	}
	absent := map[string][]string{}
	var whys []string
	for _, u := range e.Unchecked {
		if absent[u.Why] == nil {
			whys = append(whys, u.Why)
		}
		absent[u.Why] = append(absent[u.Why], u.Name)
	}
	for _, why := range whys {
		all = append(all, "Not compared with "+strings.Join(absent[why], ", ")+": "+why+".")
	}
	return all
}
