package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/model"
)

// Runs compares two runs, the base first. Each run has only the compared
// target. of gives their rows, which need no texts. o.ClusteredBy is set from their
// datasets. The flips of the result have no answers yet; see AddAnswers.
func (c *Comparison) Runs(ctx context.Context, m store.Reader, sides [2]*run.Run, o Options, of run.Figures) (Result, error) {
	annotations, err := m.Annotations(ctx)
	if err != nil {
		return Result{}, err
	}
	o.words = annotation.NewWords(annotations)
	c.keepsSubjects = len(o.Gates) > 0 || o.Labeling || !o.words.Empty()
	c.entries, c.at = make([]entry, 0, sides[base].Prompts()), make(map[score.PromptKey]int, sides[base].Prompts())
	edited, err := editedBetween(sides)
	if err != nil {
		return Result{}, err
	}
	var record provenance.Record
	for i, side := range sides {
		c.recorded[i] = side.Targets[0].Provider == model.Replay
	}
	for i, add := range []func(score.AnswerRow) error{c.AddBase, c.AddCandidate} {
		derived, made, err := sides[i].Made(ctx, m, evaluate.Sinks{Row: add, NoSubjects: !c.keepsSubjects, Walked: o.Walked}, of)
		if err != nil {
			return Result{}, fmt.Errorf("derive the run %s: %w", sides[i].Name, err)
		}
		record.Runs, o.results[i] = append(record.Runs, made), derived
	}
	record.Damage = run.Damage(m)
	o.ClusteredBy = clusteredBy(sides)
	switch of := o.results; {
	case sides[base].Name == sides[candidate].Name && len(of[base].Runs) > 0 && len(of[candidate].Runs) > 0:
		o.assumes = score.Assume(of[base].Runs[0].Asked, of[candidate].Runs[0].Asked)
	case o.words.OneModel(kinSide(sides[base]), kinSide(sides[candidate])):
		o.assumes = versus.OneModel
	}
	o.variant = sides[base].Name == sides[candidate].Name && o.assumes != versus.TwoModels
	if c.judges[base] == c.judges[candidate] && !o.Unpaired && c.shared() {
		if err := c.findOnce(ctx, m, sides); err != nil {
			return Result{}, err
		}
	}
	result := c.Result(o)
	result.Edited = edited
	result.SettingsThatDiffer, result.Provenance = c.differences(sides), &record
	for i, side := range []*Side{&result.Base, &result.Candidate} {
		side.Run, side.Target = sides[i].Name, sides[i].Targets[0].Name
		for _, of := range o.results[i].Runs {
			side.Unclear = score.Together(side.Unclear, slices.DeleteFunc(slices.Clone(of.ServedBy), func(by score.ServedBy) bool { return by.As != model.Unclear }))
		}
		side.LabelAssumed = slices.ContainsFunc(sides[i].Datasets, func(d *dataset.Dataset) bool { return d.LabelAssumed })
	}
	return result, nil
}

// findOnce marks the pairs that are one stored answer: all calls behind both sides are the
// same, read in one way. That all pairs are is an error.
func (c *Comparison) findOnce(ctx context.Context, m store.Reader, sides [2]*run.Run) error {
	if !reflect.DeepEqual(sides[base].Reading, sides[candidate].Reading) {
		return nil
	}
	always, perhaps := sides[base].Targets[0].SameCalls(sides[candidate].Targets[0])
	if !always && !perhaps {
		return nil
	}
	var pairs []int
	for i := range c.entries {
		if e := &c.entries[i]; e.asked() {
			e.once, pairs = always, append(pairs, i)
		}
	}
	for some := range slices.Chunk(pairs, flipsAtOnce) {
		if always {
			break
		}
		flips := make([]Flip, len(some))
		for k, i := range some {
			e := &c.entries[i]
			flips[k] = Flip{Prompt: e.prompt, datasets: e.datasets, samples: e.samples}
		}
		var calls [2][][]model.Hash
		for side, s := range sides {
			var err error
			if calls[side], err = s.Calls(ctx, m, askedOf(s, side, flips)); err != nil {
				return fmt.Errorf("read the answers of the run %s: %w", s.Name, err)
			}
		}
		for k, i := range some {
			c.entries[i].once = slices.Equal(calls[base][k], calls[candidate][k])
		}
	}
	if slices.ContainsFunc(pairs, func(i int) bool { return !c.entries[i].once }) {
		return nil
	}
	return &orbench.InputError{
		File:    "compare",
		Problem: fmt.Sprintf("nothing was measured twice: the runs %s and %s count the same stored answers", sides[base].Name, sides[candidate].Name),
		Hint:    "`fresh` asks again, samples=5 measures its noise",
	}
}

// editedBetween says in what datasets of one name differ.
func editedBetween(sides [2]*run.Run) (all []Edited, err error) {
	for _, of := range sides[base].Datasets {
		i := slices.IndexFunc(sides[candidate].Datasets, func(d *dataset.Dataset) bool { return d.Name == of.Name && d.SHA256 != of.SHA256 })
		if i < 0 {
			continue
		}
		was, err := of.LabelsOf()
		now, fault := sides[candidate].Datasets[i].LabelsOf()
		if err := errors.Join(err, fault); err != nil {
			return nil, err
		}
		e := Edited{Dataset: of.Name}
		for id, label := range now {
			if old, ok := was[id]; !ok {
				e.New++
			} else if old != label {
				e.Relabeled++
			}
		}
		e.Gone = len(was) + e.New - len(now)
		all = append(all, e)
	}
	return all, nil
}

// CheckCategories refuses gates on categories that no prompt of either side has.
func CheckCategories(gates []Gate, sides [2]*run.Run) error {
	gates = slices.DeleteFunc(slices.Clone(gates), func(g Gate) bool { return g.category == "" })
	there := map[orbench.Label][]string{}
	for _, d := range slices.Concat(sides[base].Datasets, sides[candidate].Datasets) {
		if len(gates) == 0 {
			return nil
		}
		for p, err := range d.Prompts() {
			if err != nil {
				return err
			}
			if p.Category != "" && !slices.Contains(there[p.Label], string(p.Category)) {
				there[p.Label] = append(there[p.Label], string(p.Category))
			}
		}
	}
	for _, g := range gates {
		names := there[g.label]
		if slices.Contains(names, string(g.category)) {
			continue
		}
		slices.Sort(names)
		return &orbench.InputError{
			Problem: fmt.Sprintf("gate %q: there is no %s prompt of the category %q", g, g.label, g.category),
			Hint:    "there are " + untrusted.Shorten(cmp.Or(strings.Join(names, ", "), "none"), 1000),
		}
	}
	return nil
}

// Kin says whether two runs asked one model, each with its one target.
func Kin(sides [2]*run.Run, oneModel bool) orbench.Kin {
	return orbench.Kin{Sides: [2]orbench.KinSide{kinSide(sides[base]), kinSide(sides[candidate])}, OneModel: oneModel}
}

func kinSide(r *run.Run) orbench.KinSide {
	return orbench.KinSide{Run: r.Name, Model: r.Targets[0].Provider + "/" + r.Targets[0].Model}
}

// differences returns the settings in which the two sides differ, as far as
// they matter to the comparison. Settings of judges that are not compared do
// not.
func (c *Comparison) differences(sides [2]*run.Run) []provenance.Difference {
	var both []provenance.Run
	for i, name := range sideNames {
		one := provenance.Run{Name: name}
		for _, s := range sides[i].Settings() {
			other := s.Judging && s.Of != c.judges[i] && !strings.HasPrefix(s.Of, c.judges[i]+" at ")
			if s.Name != provenance.Judges && !other {
				one.Settings = append(one.Settings, s)
			}
		}
		both = append(both, one)
	}
	return provenance.Differences(both)
}

// clusteredBy names what groups the prompts of either side into clusters.
func clusteredBy(sides [2]*run.Run) string {
	var names table.Names
	for _, d := range slices.Concat(sides[base].Datasets, sides[candidate].Datasets) {
		if d.ClusteredBy != "" {
			names.Add(d.ClusteredBy)
		}
	}
	return strings.Join(names, ", ")
}

// AddAnswers adds the answers to flipped prompts; nothing is judged again.
// Flips hold no answers before, so comparing uses no memory for texts that
// nobody reads.
func AddAnswers(ctx context.Context, m store.Reader, sides [2]*run.Run, flips []Flip) error {
	for side, s := range sides {
		answers := *s
		answers.Judges = nil
		sides[side] = &answers
	}
	for some := range slices.Chunk(flips, flipsAtOnce) {
		rows, err := Answers(ctx, m, sides, some)
		if err != nil {
			return err
		}
		for i, both := range rows {
			some[i].BaseAnswer, some[i].CandidateAnswer = answerText(both[base].Response), answerText(both[candidate].Response)
		}
	}
	return nil
}

// Answers reads the answers of both sides to some flipped prompts, the base's first, with the
// verdicts of all judges.
func Answers(ctx context.Context, m store.Reader, sides [2]*run.Run, flips []Flip) ([][2]score.AnswerRow, error) {
	both := make([][2]score.AnswerRow, len(flips))
	for side, s := range sides {
		rows, err := s.Rows(ctx, m, askedOf(s, side, flips))
		if err != nil {
			return nil, fmt.Errorf("read the answers of the run %s: %w", s.Name, err)
		}
		for i := range rows {
			both[i][side] = rows[i]
		}
	}
	return both, nil
}

// askedOf finds the answers of one side to prompts.
func askedOf(s *run.Run, side int, flips []Flip) []evaluate.Asked {
	asked := make([]evaluate.Asked, len(flips))
	for i, f := range flips {
		asked[i].Prompt, asked[i].Sample = f.Prompt, f.samples[side]
		asked[i].Dataset = max(0, slices.IndexFunc(s.Datasets, func(d *dataset.Dataset) bool { return d.Name == f.datasets[side] }))
	}
	return asked
}

// flipsAtOnce is how many flips are looked up together.
const flipsAtOnce = 256

// answerText returns an answer as a reader should see it. If it has no text,
// the result says why.
func answerText(r model.Response) string {
	switch {
	case r.Text != "":
		return r.Text
	case r.Finish == model.Blocked:
		return "[" + string(orbench.Blocked) + "]"
	}
	return "[" + string(orbench.Empty) + "]"
}
