package trigger

import (
	"cmp"
	"context"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// maxSet is the most words of a set that is tried on other prompts.
const maxSet = 3

// The default settings.
const (
	DefaultCalls = 24
	DefaultWords = 20
	DefaultInto  = 30
)

// Study says where and how to look for triggers.
type Study struct {
	Targets  []evaluate.Target
	Datasets []*dataset.Dataset
	// Limit bounds the prompts of each dataset, from its start; 0 means all.
	Limit int
	// Labels are the labels of the prompts to use.
	Labels []orbench.Label
	Judge  judge.Judge
	// Calls is the most calls for rewordings of one prompt to one target, at least 1. The
	// call for the prompt itself, and those of judges and defenses, are extra.
	Calls int
	// Words is how many sets of words are tried in each group, those found in most
	// prompts first.
	Words int
	// Into is the number of answered prompts in each group that words are inserted into.
	Into int
	// Seed splits the refused prompts and draws words.
	Seed uint64
}

// group is one target on the prompts of one label of one dataset.
type group struct {
	target  evaluate.Target
	dataset *dataset.Dataset
	label   orbench.Label
	items   []*item
	// finding and trying are the refused prompts on which sets are found and tried. into
	// are the answered prompts that words are inserted into.
	finding, trying, into []*item
	candidates            []*candidate
	// failed is the last error of a call. simulated is true if any reply was simulated.
	failed    string
	simulated bool
	// complete is true if nothing is missing except failed calls.
	complete bool
}

// item is a prompt in a group.
type item struct {
	prompt orbench.Prompt
	words  []string
	stance stance
	// lacking is true if replies to the prompt itself, or to its rewordings, are missing.
	lacking bool
	// own sums up the questions about the prompt itself, reworded those about its
	// rewordings.
	own, reworded asked
	// For prompts on which sets are found.
	outcome Outcome
	sets    [][]string
	// For the other prompts: the target's responses to rewordings.
	trials []trial
	// left counts trials or controls for which no calls were left.
	left int
}

// candidate is a set of words that is tried.
type candidate struct {
	words []string
	key   string
	// found is the number of prompts in which the word was found, held the number that contain
	// it.
	found, held int
}

// keyOf identifies a set.
func keyOf(words []string) string { return strings.Join(words, " + ") }

// draw gives a pseudorandom number for a text.
func (s *Study) draw(purpose, text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strconv.FormatUint(s.Seed, 10) + "\x00" + purpose + "\x00" + text))
	// The finalizer of SplitMix64 spreads texts that differ only at their end.
	v := h.Sum64()
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// groups reads the prompts.
func (s *Study) groups() ([]*group, error) {
	var all []*group
	for _, set := range s.Datasets {
		of := map[orbench.Label][]orbench.Prompt{}
		n := 0
		for p, err := range set.Prompts() {
			if err != nil {
				return nil, err
			}
			if s.Limit > 0 && n == s.Limit {
				break
			}
			n++
			of[p.Label] = append(of[p.Label], p)
		}
		for _, label := range orbench.Labels {
			if !slices.Contains(s.Labels, label) || len(of[label]) == 0 {
				continue
			}
			for _, t := range s.Targets {
				g := &group{target: t, dataset: set, label: label}
				for _, p := range of[label] {
					g.items = append(g.items, &item{prompt: p, words: content(p.Text())})
				}
				all = append(all, g)
			}
		}
	}
	return all, nil
}

// Subject describes the folder of the study.
func (s *Study) Subject() folder.Subject {
	var sets []string
	var targets []evaluate.Target
	for _, set := range s.Datasets {
		sets = append(sets, set.Name+" "+set.SHA256)
	}
	for _, t := range s.Targets {
		targets = append(targets, t.Each()...)
	}
	return folder.NewSubject("study of trigger words", sets, targets, s.Limit, s.Labels,
		s.Judge.Name(), judge.Version(s.Judge), s.run().Models(), s.Calls, s.Words, s.Into, s.Seed)
}

// advance takes a group as far as the store allows: first its prompts' own answers, then
// the search, then the trials. It gives the calls of the scope up to the first step that
// is not done. A failed call counts as missing but does not stop the rest.
func (s *Study) advance(ctx context.Context, m store.Reader, scope job.Scope, g *group) (all []job.Call, err error) {
	stage := func(items []*item, do func(*asking, *item)) (bool, error) {
		steps := make([]job.Step, len(items))
		for i, it := range items {
			steps[i].About = job.Call{Dataset: g.dataset.Name, Prompt: it.prompt.ID, Target: g.target.Name}
			steps[i].Do = func(look model.Lookup) []model.Request {
				a := &asking{target: g.target, judge: s.Judge, look: look, left: s.Calls}
				do(a, it)
				g.simulated = g.simulated || a.simulated
				it.lacking = len(a.missing) > 0
				return a.missing
			}
		}
		calls, err := job.Recall(ctx, m, scope, steps)
		if err != nil {
			return false, err
		}
		all = append(all, slices.Concat(calls...)...)
		if m == nil {
			return job.CountMissing(calls) == 0, nil
		}
		lacking := make([][]model.Request, len(calls))
		for i, of := range calls {
			lacking[i] = job.Requests(of)
		}
		failures, err := fill.Failures(ctx, m, lacking)
		if err != nil {
			return false, err
		}
		done := true
		for i, requests := range lacking {
			done = done && (len(requests) == 0 || failures[i].Message != "")
			g.failed = cmp.Or(failures[i].Message, g.failed)
		}
		return done, nil
	}
	done, err := stage(g.items, func(a *asking, it *item) {
		it.stance, _ = a.ask(it.prompt)
		it.own = a.asked
	})
	if err != nil || !done {
		return all, err
	}
	s.divide(g)
	rank := suspects(g)
	done, err = stage(g.finding, func(a *asking, it *item) {
		words := slices.Clone(it.words)
		slices.SortStableFunc(words, func(x, y string) int { return cmp.Compare(rank[y], rank[x]) })
		it.sets, it.outcome = a.search(it.prompt, words)
		it.reworded = a.asked
	})
	if err != nil || !done {
		return all, err
	}
	s.choose(g)
	done, err = stage(slices.Concat(g.trying, g.into), func(a *asking, it *item) {
		s.try(a, g, it)
		it.reworded = a.asked
	})
	g.complete = done
	return all, err
}

// divide splits the refused prompts into halves and draws the answered prompts that words
// are inserted into. Prompts of one cluster are in the same half.
func (s *Study) divide(g *group) {
	of := func(it *item) string { return cmp.Or(it.prompt.Cluster, string(it.prompt.ID)) }
	drawn := func(st stance, purpose string) []*item {
		items := slices.DeleteFunc(slices.Clone(g.items), func(it *item) bool { return it.stance != st })
		slices.SortStableFunc(items, func(x, y *item) int {
			return cmp.Or(cmp.Compare(s.draw(purpose, of(x)), s.draw(purpose, of(y))), cmp.Compare(x.prompt.ID, y.prompt.ID))
		})
		return items
	}
	items := drawn(refused, "split")
	half := (len(items) + 1) / 2
	for half > 0 && half < len(items) && of(items[half-1]) == of(items[half]) {
		half++
	}
	g.finding, g.trying = items[:half], items[half:]
	items = drawn(answered, "into")
	g.into = items[:min(s.Into, len(items))]
}

// suspects ranks words by how much more frequent they are in the refused prompts of the
// first half than in the answered ones. The rank is the log odds ratio, with half a
// prompt added to each count.
func suspects(g *group) map[string]float64 {
	count := func(items []*item) map[string]float64 {
		n := map[string]float64{}
		for _, it := range items {
			for _, w := range it.words {
				n[w]++
			}
		}
		return n
	}
	others := slices.DeleteFunc(slices.Clone(g.items), func(it *item) bool { return it.stance != answered || slices.Contains(g.into, it) })
	in, out := count(g.finding), count(others)
	rank := map[string]float64{}
	for w, k := range in {
		odds := func(k, n float64) float64 { return math.Log((k + 0.5) / (n - k + 0.5)) }
		rank[w] = odds(k, float64(len(g.finding))) - odds(out[w], float64(len(others)))
	}
	return rank
}

// choose lists the sets to try.
func (s *Study) choose(g *group) {
	g.candidates = nil
	index := map[string]*candidate{}
	for _, it := range g.finding {
		for _, set := range it.sets {
			c := index[keyOf(set)]
			if c == nil {
				c = &candidate{words: set, key: keyOf(set)}
				index[c.key] = c
				g.candidates = append(g.candidates, c)
			}
			c.found++
		}
	}
	for _, c := range g.candidates {
		for _, it := range g.finding {
			if holds(it.words, c.words) {
				c.held++
			}
		}
	}
	slices.SortFunc(g.candidates, func(x, y *candidate) int {
		return cmp.Or(cmp.Compare(y.found, x.found), cmp.Compare(x.held, y.held), cmp.Compare(x.key, y.key))
	})
	g.candidates = g.candidates[:min(s.Words, len(g.candidates))]
}

// trial is a target's response to one candidate in one prompt, and to its control.
type trial struct {
	candidate *candidate
	// way is the kind of trial.
	way way
	// got and beside are the stances on the reworded prompt and on its control.
	got, beside stance
}

// way is a kind of trial.
type way int

const (
	// deleting: the words are deleted. Control: as many others are deleted.
	deleting way = iota
	// exchanging: stand-ins replace the words. There is no control.
	exchanging
	// inserting: the word replaces another. Control: the stand-in replaces it.
	inserting
)

// try tries the candidates in a prompt of the second half, or in an answered one.
func (s *Study) try(a *asking, g *group, it *item) {
	it.trials, it.left = nil, 0
	text := it.prompt.Text()
	// others are the words that no candidate contains, in a random order.
	others := slices.Clone(it.words)
	for _, c := range g.candidates {
		others = outside(others, c.words)
	}
	slices.SortFunc(others, func(x, y string) int {
		return cmp.Compare(s.draw("other "+string(it.prompt.ID), x), s.draw("other "+string(it.prompt.ID), y))
	})
	controls := map[string]stance{}
	control := func(text string) (st stance, ok bool) {
		if st, ok = controls[text]; !ok {
			if st, ok = a.reword(it.prompt, text); ok {
				controls[text] = st
			}
		}
		return st, ok
	}
	note := func(c *candidate, w way, reworded, beside string) {
		t := trial{candidate: c, way: w}
		var ok bool
		before := len(a.missing)
		t.got, ok = a.reword(it.prompt, reworded)
		switch {
		case ok:
			it.trials = append(it.trials, t)
		case len(a.missing) == before:
			it.left++
			return
		}
		// Trials do not wait for each other, so the control is asked together with the
		// first.
		if beside == "" {
			return
		}
		before = len(a.missing)
		stance, got := control(beside)
		if !got && len(a.missing) == before {
			it.left++
		}
		if t.beside = stance; ok {
			it.trials[len(it.trials)-1] = t
		}
	}
	for _, c := range g.candidates {
		held := holds(it.words, c.words)
		switch {
		case held && it.stance == refused:
			beside := ""
			if len(others) >= len(c.words) {
				beside = without(text, others[:len(c.words)])
			}
			note(c, deleting, without(text, c.words), beside)
			note(c, exchanging, exchanged(text, c.words), "")
		case !held && it.stance == answered && len(c.words) == 1 && len(others) > 0:
			note(c, inserting, inserted(text, others[0], c.words[0]), inserted(text, others[0], StandIn(c.words[0])))
		}
	}
}
