package score

import (
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// Confidence is the level of every interval that reports show.
const Confidence = 0.95

// Tally counts the rows of a design into its figures; see NewTally. Its memory grows with
// targets × datasets × labels × categories, and by a byte with each answer and judge.
type Tally struct {
	design Design
	// counts and rows are indexed by target, then dataset.
	counts [][]map[orbench.Label]*counted
	rows   [][]recount
	// saying has what each judge says of each answer.
	saying *saying
	// scores holds the scores that guards give.
	scores detecting
	// labeled holds the counts of labels, one for all samples of a target.
	labeled map[annotation.Cell]*annotation.Tally
}

// counted is a result that is being counted.
type counted struct {
	RunResult
	languages Languages
	// cell identifies the answers for labels; all samples of a target share it.
	// labeled counts its labels; nil if nobody labeled anything.
	cell    annotation.Cell
	labeled *annotation.Tally
	// times is how many answers each prompt has.
	times int
}

// NewTally starts counting for a design.
func NewTally(r Design) *Tally {
	t := &Tally{design: r, labeled: map[annotation.Cell]*annotation.Tally{}, saying: newSaying(&r)}
	for range r.Targets {
		rows, counts := make([]recount, len(r.Datasets)), make([]map[orbench.Label]*counted, len(r.Datasets))
		for i := range rows {
			counts[i], rows[i] = map[orbench.Label]*counted{}, recount{fates: map[Status]int{}}
		}
		t.rows, t.counts = append(t.rows, rows), append(t.counts, counts)
	}
	return t
}

// of returns the counts that a row belongs to. It makes them if needed.
func (t *Tally) of(index, dataset int, label orbench.Label) *counted {
	if r, ok := t.counts[index][dataset][label]; ok {
		return r
	}
	target, set := &t.design.Targets[index], t.design.Datasets[dataset]
	r := &counted{times: target.times(), cell: answersOf(target, set, t.design.Limit, label), RunResult: RunResult{
		About:     About{Target: target.Name, Dataset: set.Name, DatasetSHA256: set.SHA256, Label: label, Limit: t.design.Limit, Reading: set.Reading, Base: target.Base, Helped: set.Makers.RolesOf(target.Model), Asked: target.Asked},
		Simulated: target.simulated(),
	}}
	if r.times > 1 {
		r.Samples, r.Asked.Sample = r.times, 0
	}
	if !t.design.Words.Empty() {
		if t.labeled[r.cell] == nil {
			t.labeled[r.cell] = annotation.NewTally(r.cell, t.design.Words)
		}
		r.labeled = t.labeled[r.cell]
	}
	for i, j := range t.design.Judges {
		r.Judges = append(r.Judges, JudgeResult{
			Judge: j.Name(), Simulated: SimulatedJudge(j), SelfJudging: selfJudging(target.Model, j),
			ByClass: map[orbench.Class]int{}, BySource: map[Source]int{}, ByCategory: map[orbench.Category]Count{},
		})
		for _, other := range t.design.Judges[i+1:] {
			r.Agreement = append(r.Agreement, Agreement{A: j.Name(), B: other.Name()})
		}
	}
	t.counts[index][dataset][label] = r
	return r
}

// Add counts the rows of a chunk.
func (t *Tally) Add(p Chunk) {
	t.saying.add(p)
	for i := range p.Prompts {
		for target, samples := range p.Rows {
			for _, rows := range samples {
				t.add(target, p.Dataset, &rows[i])
			}
		}
	}
}

// add counts a row of a target on a dataset.
func (t *Tally) add(at, dataset int, row *AnswerRow) {
	t.rows[at][dataset].add(row)
	r := t.of(at, dataset, row.Prompt.Label)
	r.Add(row)
	target := &t.design.Targets[at]
	if a := row.Assessment; a != nil && a.Score != nil {
		t.scores.add(target.Name, r.Dataset, row.Prompt, *a.Score)
	}
	if by, other := servedBy(model.Ref{Provider: target.Provider, Model: target.Model}, row.Response); other {
		r.ServedBy = addServed(r.ServedBy, by)
	}
	if row.Status == Answered {
		r.languages.Add(row.Response.Text)
		if read := row.Response.Read; !row.Simulated && (read == nil || read.Missing == "") {
			r.describe(row.Response)
		}
	}
	if row.Status == Answered && target.Guard == "" {
		row.Ending = EndingOf(target.Provider, target.MaxTokens, row.Response)
		r.Truncation.Add(row.Ending)
	}
	if len(row.Verdicts) > 0 && row.Prompt.Label == orbench.Safe && row.Verdicts[0].Class.Refused() && strings.TrimSpace(row.Response.Text) != "" {
		if e := exampleOf(row.Prompt, row.Response.Text, row.Verdicts[0].Score); e.Better(r.Judges[0].Example) {
			r.Judges[0].Example = e
		}
	}
	if t.design.Words.OnPrompts() {
		disputed := t.design.Words.Disputed(row.Prompt)
		for i, v := range row.Verdicts {
			r.Judges[i].addUndisputed(v.Class, disputed)
		}
	}
	row.Cell = r.cell
	if r.labeled != nil && (row.Status == Answered || row.Status == Blocked) {
		row.Drawn = r.AddLabels(r.labeled, t.design.Words, row.Subject(), row.Group(), row.verdicts())
	}
}

// Add counts a row: what became of its prompt, what its defense did, and the
// judges' verdicts. Judges and pairs of judges are in the order of the row's
// verdicts.
func (r *RunResult) Add(row *AnswerRow) {
	r.N++
	r.Simulated = r.Simulated || row.Simulated
	r.Dialogs = r.Dialogs || len(row.Prompt.Messages) > 1
	r.Answers = r.Answers || row.Prompt.Messages[len(row.Prompt.Messages)-1].Role == orbench.Assistant
	for _, f := range fates {
		if f.status == row.Status {
			*f.count(r)++
		}
	}
	if b := row.Response.Block; row.Status == Blocked && b != nil && Source(b.Kind).withheld() {
		r.blockedFor(b.Reason())
	}
	if row.AccountLimited {
		r.AccountLimited++
	}
	if read := row.Response.Read; read != nil {
		addRead(&r.Read, read.Done)
		addRead(&r.Reread, read.Would)
	}
	for _, f := range row.Findings {
		if r.Findings == nil {
			r.Findings = map[string]map[defense.Decision]int{}
		}
		if r.Findings[f.Step] == nil {
			r.Findings[f.Step] = map[defense.Decision]int{}
		}
		r.Findings[f.Step][f.Decision]++
	}
	pair := 0
	for i, v := range row.Verdicts {
		r.Judges[i].add(row, v)
		for _, other := range row.Verdicts[i+1:] {
			r.Agreement[pair].Add(v.Class, other.Class, row.Prompt, row.Response.Text)
			pair++
		}
	}
}

// Finish computes the rates by all judges, and their agreement, from the
// counts. There is no rate if the share of answers that are unjudged, or have
// no text, is above MostUnjudged.
func (r *RunResult) Finish() {
	for i := range r.Judges {
		if float64(r.Failed) > MostUnjudged*float64(r.N-r.Unanswered) {
			r.Judges[i].Failed = r.Failed
		}
		r.Judges[i].finish(r.Keys(r.Judges[i].Judge))
	}
	for i := range r.Agreement {
		r.Agreement[i].Kappa = r.Agreement[i].Counts.Kappa()
	}
}

// add counts one verdict, and who replied in place of the judge.
func (j *JudgeResult) add(row *AnswerRow, v JudgeVerdict) {
	response, other := row.Response, false
	for _, by := range v.ServedBy {
		j.ServedBy = addServed(j.ServedBy, by)
		other = other || by.As == model.ByOther
	}
	j.Simulated = j.Simulated || v.Simulated
	if v.Class == orbench.Unjudged {
		if j.Unjudged++; j.UnjudgedFor == "" {
			j.UnjudgedFor = untrusted.Excerpt(v.Rationale, mostWhy)
		}
		if other {
			j.ServedByOther++
		}
		if response.Finish == model.Length && strings.TrimSpace(response.Text) == "" {
			j.Cut++
		}
		if response.Read != nil && response.Read.Missing != "" {
			j.NoAnswer++
		}
		return
	}
	j.Judged++
	j.ByClass[v.Class]++
	if v.Class.Refused() {
		j.Refused++
		j.BySource[sourceOf(v.Class, response)]++
	}
	j.ByCategory[row.Prompt.Category] = j.ByCategory[row.Prompt.Category].and(v.Class)
}

// addUndisputed counts one verdict if people do not dispute the prompt's label.
func (j *JudgeResult) addUndisputed(class orbench.Class, disputed bool) {
	if j.Undisputed == nil {
		j.Undisputed = &Count{}
	}
	if !disputed && class != orbench.Unjudged {
		*j.Undisputed = j.Undisputed.and(class)
	}
}

// without counts the answers except the refusals whose source left selects.
func (j *JudgeResult) without(left func(Source) bool) Count {
	n := Count{N: j.Judged, Refused: j.Refused}
	for source, some := range j.BySource {
		if left(source) {
			n.N, n.Refused = n.N-some, n.Refused-some
		}
	}
	return n
}

// finish computes the rate of given keys and those by category, with their intervals, from the
// counts.
func (j *JudgeResult) finish(of figure.Keys) {
	j.Withheld = j.Failed > 0 || float64(max(j.Unjudged, j.NoText())) > MostUnjudged*float64(j.Judged+j.Unjudged)
	rate := func(n Count, withheld bool) figure.Figure {
		e := n.estimate()
		if withheld {
			e = nil
		}
		return figure.PartOf(figure.RateOf(of.Label), of, n.N, float64(n.Refused), e)
	}
	j.Rate, j.Figures = rate(Count{j.Judged, j.Refused}, j.Withheld), nil
	for _, c := range slices.Sorted(maps.Keys(j.ByCategory)) {
		if of.Category = orbench.Category(table.Category(c)); c != "" || len(j.ByCategory) > 1 {
			j.Figures = append(j.Figures, rate(j.ByCategory[c], j.Textless() || j.Failed > 0))
		}
	}
}

// Add counts the verdicts of two judges on one answer.
func (a *Agreement) Add(x, y orbench.Class, prompt orbench.Prompt, answer string) {
	if x == orbench.Unjudged || y == orbench.Unjudged {
		return
	}
	if x.Refused() != y.Refused() && (a.Example == nil || !a.Example.Whole) && answer != "" {
		if e := exampleOf(prompt, answer, 0); e.Better(a.Example) {
			a.Example, a.ExampleA, a.ExampleB = e, x, y
		}
	}
	a.N++
	a.Say(x.Refused(), y.Refused())
}

// Result returns the figures: targets, then datasets, in the run's order, then labels in
// theirs. It leaves out Cost, which does not follow from the rows, and the figures of Finish.
// It returns an error if the counts do not add up.
func (t *Tally) Result() (Result, error) {
	result := Result{Runs: []RunResult{}, Figures: t.scores.result(), Said: t.saying.datasets}
	for at := range t.design.Targets {
		target := &t.design.Targets[at]
		for set, opened := range t.design.Datasets {
			first := len(result.Runs)
			for _, label := range orbench.Labels {
				r, ok := t.counts[at][set][label]
				if !ok {
					continue
				}
				result.Figures = append(result.Figures, t.finish(r, at, set)...)
				if err := r.Conserved(); err != nil {
					return Result{}, err
				}
				for _, j := range r.Judges {
					result.Simulated = result.Simulated || j.Simulated
				}
				result.Simulated = result.Simulated || r.Simulated
				result.Runs = append(result.Runs, r.RunResult)
				if r.labeled != nil {
					result.Label(&result.Runs[len(result.Runs)-1], r.labeled)
				}
			}
			columns := t.saying.datasets[set].Columns[at*len(t.design.Judges):][:len(t.design.Judges)]
			err := t.rows[at][set].check(result.Runs[first:], columns, target.times()*opened.Size(t.design.Limit))
			if err := unconserved(target.Name, opened.Name, err); err != nil {
				return Result{}, err
			}
		}
	}
	result.Figures = append(result.Figures, t.saying.pairs(result.Runs)...)
	return result, nil
}

// finish computes the rates of what was counted of a target on a dataset, and gives the figures
// of prompts that were asked several times.
func (t *Tally) finish(r *counted, target, set int) (all []figure.Figure) {
	said, judges := &t.saying.datasets[set], len(t.design.Judges)
	r.Language = r.languages.Most()
	r.Finish()
	if said.ClusteredBy != "" && judges > 0 {
		if n := said.clustersOf(&said.Columns[target*judges], r.Label); n < r.N/r.times {
			r.ClusteredBy, r.Clusters = said.ClusteredBy, n
		}
	}
	if r.times > 1 && r.Clusters == 0 {
		r.ClusteredBy, r.Clusters = "prompt", r.N/r.times
	}
	for i := range r.Judges {
		j, effect := &r.Judges[i], 0.0
		if r.times > 1 || said.ClusteredBy != "" {
			of, by := said.outcomes(&said.Columns[target*judges+i], r.Label, t.saying.categories[set])
			j.finishClustered(of, by, r.ClusteredBy, r.times)
			if effect = j.effect(of, r.times); r.times > 1 {
				all = append(all, of.figures(&r.RunResult, j)...)
			}
		}
		j.know(&r.RunResult)
		j.findOutliers(max(1, effect))
	}
	return all
}
