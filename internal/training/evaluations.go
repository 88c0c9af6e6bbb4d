package training

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
	"github.com/orbench/orbench/similar"
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
	// kept are what users say in the sets, and index finds what is nearly the same.
	kept  []Match
	index *similar.Index
}

// Match is a turn in an evaluation set that a text repeats.
type Match struct {
	// Set is the name of the set.
	Set  string `json:"set"`
	Text string `json:"text"`
	// Jaccard is the similarity, from the threshold to 1, which means the same words.
	Jaccard float64 `json:"jaccard"`
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

// Unchecked is a named set that was not compared with, or a file that was not read whole,
// and why.
type Unchecked struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Why a set was not compared with: it was left out on request, or is not here.
const (
	Excepted = "left out on request"
	notHere  = "not on this machine (orbench dataset pull)"
)

// Against opens the evaluation sets to compare with: those of refs, which are
// names or paths, and all named sets on this machine, except those in except.
// cache is the folder of pulled datasets. The threshold is above 0 and at most
// 1. A set in refs that cannot be opened is an *orbench.InputError.
func Against(ctx context.Context, refs, except []string, cache string, threshold float64) (*Evaluations, error) {
	for _, name := range except {
		if !dataset.IsName(name) || slices.Contains(refs, name) {
			return nil, &orbench.InputError{
				Setting: "except", Problem: untrusted.Quote(name) + " is not a named dataset, or is to be compared too",
				Hint: "name one of orbench dataset list, and leave it out of `decontaminate`",
			}
		}
	}
	unchecked := []Unchecked{}
	for _, d := range dataset.List(cache) {
		switch {
		case slices.Contains(except, d.Name):
			unchecked = append(unchecked, Unchecked{d.Name, Excepted})
		case slices.Contains(refs, d.Name), d.Training:
		case d.Present:
			refs = append(slices.Clip(refs), d.Name)
		default:
			unchecked = append(unchecked, Unchecked{d.Name, notHere})
		}
	}
	e, err := Only(ctx, refs, cache, threshold)
	if err != nil {
		return nil, err
	}
	e.Unchecked = unchecked
	return e, nil
}

// Only opens the evaluation sets of refs and no others, as Against does.
func Only(ctx context.Context, refs []string, cache string, threshold float64) (*Evaluations, error) {
	if !(threshold > 0 && threshold <= 1) {
		return nil, &orbench.InputError{
			Setting: "threshold", Problem: fmt.Sprintf("%v is not above 0 and at most 1", threshold), Hint: "give a share such as 0.5",
		}
	}
	e := &Evaluations{Threshold: threshold, Checked: []Evaluation{}, Unchecked: []Unchecked{}, index: similar.NewIndex(threshold)}
	for _, ref := range refs {
		set := Evaluation{Name: strings.TrimSuffix(filepath.Base(ref), filepath.Ext(ref)), Ref: ref}
		var err error
		set.SHA256, err = eachRow(ctx, ref, cache, func(_ int, said, _ []string) {
			if len(said) > 0 {
				set.Prompts++
			}
			for _, text := range said {
				e.kept = append(e.kept, Match{set.Name, text, 1})
				e.index.Keep(text)
			}
		})
		if err == nil && set.Prompts == 0 {
			err = noPrompts(ref)
		}
		if err != nil {
			return nil, err
		}
		e.Checked = append(e.Checked, set)
	}
	return e, nil
}

// Find returns the text that most repeats a turn in an evaluation set, and that turn.
func (e *Evaluations) Find(texts []string) (text string, best Match, found bool) {
	for _, one := range texts {
		if at, jaccard, ok := e.index.Nearest(one); ok && jaccard > best.Jaccard {
			text, best, found = one, Match{e.kept[at].Set, e.kept[at].Text, jaccard}, true
		}
	}
	return text, best, found
}

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
	return "Leaks were checked against no published evaluation set: none is on this machine, and you named none of your own. Pull the sets that the model will be measured on (orbench dataset pull), or name them with decontaminate, and repeat this."
}

// mostAbsent is how many sets that were not compared with are named.
const mostAbsent = 3

// Compared says what was compared with and what was not.
func (e *Evaluations) Compared() []string {
	var all []string
	if len(e.Checked) > 0 {
		names := table.RowsOf(e.Checked, func(c Evaluation) string { return c.Name })
		all = append(all, "Compared with "+strings.Join(names, ", ")+", from a similarity of "+table.Number(e.Threshold)+".")
	}
	absent := map[string][]string{}
	for _, u := range e.Unchecked {
		absent[u.Why] = append(absent[u.Why], u.Name)
	}
	for _, why := range slices.Sorted(maps.Keys(absent)) {
		names := strings.Join(absent[why], ", ")
		if n := len(absent[why]); n > mostAbsent {
			names = table.Count(n) + " published sets (named in JSON)"
		}
		all = append(all, "Not compared with "+names+": "+why+".")
	}
	return all
}
