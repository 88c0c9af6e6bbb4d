package recorded

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/stats"
)

// Result is what the judges made of a file of answers. Its JSON form is
// documented in docs/schemas/judged-file.json.
type Result struct {
	// Responses is the file as the user named it. SHA256 is the hash of its
	// prompts and answers.
	Responses string `json:"responses"`
	SHA256    string `json:"sha256"`
	// Answers is the number of answers in the file.
	Answers int `json:"answers"`
	// Forgotten counts the answers that were taken out of the store; see orbench store
	// forget. No figure has them.
	Forgotten int `json:"forgotten,omitempty"`
	// Read and Reread are as in score.RunResult.
	Read   map[string]int `json:"read,omitempty"`
	Reread map[string]int `json:"reread,omitempty"`
	// Repeated counts the rows with people's labels whose prompt and answer an
	// earlier row has, such as those of a second person. Each row counts, so
	// intervals are too narrow if there are many.
	Repeated int `json:"repeated_answers,omitempty"`
	// Language is that of nearly all answers, as its code of ISO 639-1; empty
	// if they are mixed or their language is not known.
	Language string `json:"language,omitempty"`
	// GoldValues counts people's labels, and GoldRefusal lists those that mean
	// a refusal. Both are absent if nobody labeled.
	GoldValues  map[string]int `json:"gold_values,omitempty"`
	GoldRefusal []string       `json:"gold_refusal,omitempty"`
	Judges      []Judge        `json:"judges"`
	// Agreement has one entry for each pair of judges, in the judges' order.
	Agreement []score.Agreement `json:"agreement,omitempty"`
	// FleissKappa is the agreement of all judges beyond chance, in two classes,
	// on the FleissN answers that all of them judged; nil if it is undefined.
	FleissKappa *float64 `json:"fleiss_kappa"`
	FleissN     int      `json:"fleiss_n"`
	// FleissKappaCI95 is its 95% interval.
	FleissKappaCI95 *[2]float64 `json:"fleiss_kappa_ci95,omitempty"`
	// Simulated is true if a judge asks a simulated model.
	Simulated bool `json:"simulated"`

	// people compares each judge with people, if they labeled. differing counts
	// the answers for which JudgedAnswer.Disagrees is true.
	people    []score.Agreement
	differing int
	// models has the figures of the answers of each model, by its name.
	models map[string]*ofModel
}

// ofModel are the figures of the answers of one model.
type ofModel struct {
	answers, blocked int
	read, reread     map[string]int
	judges           []Figures
	simulated        bool
}

// people is used as the name of a judge for the people who labeled the answers.
const people = "people"

// Judge is what one judge made of a file of answers.
type Judge struct {
	Judge string `json:"judge"`
	Figures
	// Simulated is true if the judge asks a simulated model.
	Simulated bool `json:"simulated,omitempty"`
}

// Figures are what one judge made of some answers.
type Figures struct {
	// N counts the judged answers, Unjudged the others. An unjudged answer is
	// neither a refusal nor an answer, and neither right nor wrong. No other
	// count includes it.
	N        int `json:"n"`
	Unjudged int `json:"unjudged"`
	// UnjudgedFor is why the first of Unjudged is.
	UnjudgedFor string `json:"unjudged_for,omitempty"`
	Refused     int    `json:"refused"`
	// Rate is Refused / N; if Drawn is true, each answer weighs one over the
	// chance with which it was drawn.
	stats.Rate
	// Drawn is true if the file gives these chances. Accuracy, precision, recall
	// and F1 are then those of all answers that were drawn from, and Specificity
	// is set; counts stay those of the file. Kappa has no interval.
	Drawn   bool                  `json:"drawn,omitempty"`
	ByClass map[orbench.Class]int `json:"by_class"`
	// Measures is nil if nobody labeled. Its fields are then absent from JSON.
	*Measures
}

// Measures compare a judge with people on the answers that it judged. Refusal
// is the positive class. Undefined measures are nil, such as the precision of a
// judge that found no refusal. Precision, F1 and kappa are also nil if people
// gave all answers the same class. The formulas are those of package stats.
type Measures struct {
	Accuracy *float64 `json:"accuracy"`
	// AccuracyCI95 is the Wilson 95% interval of Accuracy.
	AccuracyCI95 *[2]float64 `json:"accuracy_ci95"`
	// Precision and Recall have Wilson's intervals; F1 has that of
	// stats.F1Interval.
	Precision     *float64        `json:"precision"`
	PrecisionCI95 *[2]float64     `json:"precision_ci95"`
	Recall        *float64        `json:"recall"`
	RecallCI95    *[2]float64     `json:"recall_ci95"`
	Specificity   *stats.Estimate `json:"specificity,omitempty"`
	F1            *float64        `json:"f1"`
	F1CI95        *[2]float64     `json:"f1_ci95"`
	stats.Kappa
	// Confusion counts every judged answer once: its sum is N.
	Confusion stats.Confusion `json:"confusion"`

	// chances counts the judged answers by the chance with which each was drawn.
	chances map[float64]stats.Confusion
}

// mostWhy is the longest reason for an unjudged answer, in bytes.
const mostWhy = 200

// newFigures makes empty figures, with measures if people labeled.
func newFigures(gold bool) Figures {
	f := Figures{ByClass: map[orbench.Class]int{}}
	if gold {
		f.Measures = &Measures{chances: map[float64]stats.Confusion{}}
	}
	return f
}

// add counts one verdict. refusal is what people say; nil if nobody labeled.
// chance is that with which the answer was drawn, or 0.
func (f *Figures) add(class orbench.Class, why string, refusal *bool, chance float64) {
	if class == orbench.Unjudged {
		f.Unjudged++
		f.UnjudgedFor = cmp.Or(f.UnjudgedFor, untrusted.Excerpt(why, mostWhy))
		return
	}
	f.N++
	f.ByClass[class]++
	if class.Refused() {
		f.Refused++
	}
	if refusal != nil {
		f.Confusion.Add(*refusal, class.Refused())
		if chance > 0 {
			c := f.chances[chance]
			c.Add(*refusal, class.Refused())
			f.chances[chance] = c
		}
	}
}

// finish computes the rates and measures from the counts.
func (f *Figures) finish() {
	f.Rate = stats.RateOf(f.Refused, f.N)
	if f.Measures == nil {
		return
	}
	c := f.Confusion
	accuracy := stats.RateOf(c.TP+c.TN, c.N())
	f.Accuracy, f.AccuracyCI95 = accuracy.Share, accuracy.CI95
	recall := stats.RateOf(c.TP, c.TP+c.FN)
	f.Recall, f.RecallCI95 = recall.Share, recall.CI95
	// If all answers have one class, precision and what is made from it would
	// describe that choice of answers, not the judge.
	if c.TP+c.FN == 0 || c.FP+c.TN == 0 {
		return
	}
	precision := stats.RateOf(c.TP, c.TP+c.FP)
	f.Precision, f.PrecisionCI95 = precision.Share, precision.CI95
	if e, ok := c.F1Interval(score.Confidence); ok {
		f.F1, f.F1CI95 = &e.Value, e.Ends()
	}
	f.Kappa = c.Kappa()
	if len(f.chances) > 0 {
		f.weigh()
	}
}

// weigh sets the rate and the measures to those of all answers from which these
// were drawn. Answers with the same chance are a stratum of as many answers as
// their number divided by the chance. Both classes are among the answers.
func (f *Figures) weigh() {
	f.Drawn = true
	estimate := func(part, whole func(stats.Confusion) int) *stats.Estimate {
		var strata []stats.RatioStratum
		for _, chance := range slices.Sorted(maps.Keys(f.chances)) {
			c := f.chances[chance]
			n := float64(c.N())
			strata = append(strata, stats.RatioStratum{
				Size: int(math.Round(n / chance)), Labels: n, Part: float64(part(c)) / n, Rest: float64(whole(c)-part(c)) / n,
			})
		}
		e, ok := stats.StratifiedRatio(strata, 1, score.Confidence)
		if !ok {
			return nil
		}
		return &e
	}
	set := func(share **float64, ci **[2]float64, e *stats.Estimate) {
		if *share, *ci = nil, nil; e != nil {
			*share, *ci = &e.Value, e.Ends()
		}
	}
	tp := func(c stats.Confusion) int { return c.TP }
	set(&f.Share, &f.CI95, estimate(func(c stats.Confusion) int { return c.TP + c.FP }, stats.Confusion.N))
	set(&f.Accuracy, &f.AccuracyCI95, estimate(func(c stats.Confusion) int { return c.TP + c.TN }, stats.Confusion.N))
	set(&f.Recall, &f.RecallCI95, estimate(tp, func(c stats.Confusion) int { return c.TP + c.FN }))
	set(&f.Precision, &f.PrecisionCI95, estimate(tp, func(c stats.Confusion) int { return c.TP + c.FP }))
	f.Specificity = estimate(func(c stats.Confusion) int { return c.TN }, func(c stats.Confusion) int { return c.TN + c.FP })
	// F1 grows with the share of true positives among all but the true negatives.
	f1 := estimate(tp, func(c stats.Confusion) int { return c.TP + c.FP + c.FN })
	if f1 != nil {
		of := func(t float64) float64 { return 2 * t / (1 + t) }
		f1 = &stats.Estimate{Value: of(f1.Value), Lo: of(f1.Lo), Hi: of(f1.Hi)}
	}
	set(&f.F1, &f.F1CI95, f1)
	var all [4]float64
	for chance, c := range f.chances {
		for i, n := range []int{c.TP, c.FN, c.FP, c.TN} {
			all[i] += float64(n) / chance
		}
	}
	count := func(i int) int { return int(math.Round(all[i])) }
	f.Kappa = stats.Kappa{Value: stats.KappaOf([][]int{{count(0), count(1)}, {count(2), count(3)}}).Value}
}

// JudgedAnswer is one answer with every judge's verdict.
type JudgedAnswer struct {
	Answer dataset.Answer
	// Read is the answer as it is judged.
	Read model.Response
	// Refusal is what people say; nil without gold labels.
	Refusal  *bool
	Verdicts []score.JudgeVerdict
}

// Text returns the text that was judged: the answer without its thinking. Spans
// of verdicts refer to it.
func (r JudgedAnswer) Text() string { return r.Read.Text }

// Disagrees reports whether a judge with a verdict differs from the gold label
// or, without a gold label, from another judge.
func (r JudgedAnswer) Disagrees() bool {
	want := r.Refusal
	for _, v := range r.Verdicts {
		if v.Class == orbench.Unjudged {
			continue
		}
		refused := v.Class.Refused()
		if want == nil {
			want = &refused
		}
		if refused != *want {
			return true
		}
	}
	return false
}

// tally counts rows into a Result. Its memory grows by 32 bytes with each answer
// that has a label.
type tally struct {
	out       Result
	languages score.Languages
	// refusedBy[k] counts the answers that every judge judged and exactly k
	// judges called refusals.
	refusedBy []int
	// labeled holds the subjects of answers with people's labels.
	labeled map[orbench.Subject]bool
}

// newTally starts counting what judges make of a recording. goldRefusal lists
// the gold values that mean a refusal; nil if there is no gold column.
func newTally(recording *dataset.Recording, judges []judge.Judge, goldRefusal []string) *tally {
	gold := goldRefusal != nil
	t := &tally{
		out: Result{
			Responses: recording.Path, SHA256: recording.SHA256, Forgotten: recording.Forgotten,
			Judges: []Judge{},
		},
		refusedBy: make([]int, len(judges)+1), labeled: map[orbench.Subject]bool{},
	}
	t.out.models = map[string]*ofModel{}
	if gold {
		t.out.GoldValues, t.out.GoldRefusal = recording.GoldValues, goldRefusal
	}
	for i, a := range judges {
		j := Judge{Judge: a.Name(), Figures: newFigures(gold), Simulated: score.SimulatedJudge(a)}
		t.out.Judges = append(t.out.Judges, j)
		if gold {
			t.out.people = append(t.out.people, score.Agreement{A: a.Name(), B: people})
		}
		for _, b := range judges[i+1:] {
			t.out.Agreement = append(t.out.Agreement, score.Agreement{A: a.Name(), B: b.Name()})
		}
	}
	return t
}

func (t *tally) add(row JudgedAnswer) {
	t.out.Answers++
	t.languages.Add(row.Text())
	t.out.Read, t.out.Reread = score.AddRead(t.out.Read, t.out.Reread, row.Read.Read)
	judged, refused, pair := 0, 0, 0
	asked := row.Answer.Asked()
	if row.Refusal != nil {
		subject := orbench.AnswerSubject(asked.Messages, row.Read.Stored())
		if t.labeled[subject] {
			t.out.Repeated++
		}
		t.labeled[subject] = true
	}
	if row.Disagrees() {
		t.out.differing++
	}
	of := t.out.models[row.Answer.Model]
	if of == nil {
		of = &ofModel{}
		for range row.Verdicts {
			of.judges = append(of.judges, newFigures(false))
		}
		t.out.models[row.Answer.Model] = of
	}
	of.answers++
	of.read, of.reread = score.AddRead(of.read, of.reread, row.Read.Read)
	of.simulated = of.simulated || row.Answer.Simulated
	if row.Read.Finish == model.Blocked {
		of.blocked++
	}
	for i, v := range row.Verdicts {
		of.judges[i].add(v.Class, v.Rationale, nil, 0)
		j := &t.out.Judges[i]
		j.Simulated = j.Simulated || v.Simulated
		j.add(v.Class, v.Rationale, row.Refusal, row.Answer.Chance)
		if row.Refusal != nil {
			class := orbench.FullAnswer
			if *row.Refusal {
				class = orbench.Refusal
			}
			t.out.people[i].Add(v.Class, class, asked, row.Text())
		}
		if v.Class != orbench.Unjudged {
			judged++
		}
		if v.Class.Refused() {
			refused++
		}
		for _, other := range row.Verdicts[i+1:] {
			t.out.Agreement[pair].Add(v.Class, other.Class, asked, row.Text())
			pair++
		}
	}
	if judged == len(t.out.Judges) {
		t.refusedBy[refused]++
	}
}

// result returns the figures.
func (t *tally) result() Result {
	out := t.out
	out.Language = t.languages.Most()
	for i := range out.Judges {
		j := &out.Judges[i]
		j.finish()
		out.Simulated = out.Simulated || j.Simulated
	}
	for _, of := range out.models {
		for i := range of.judges {
			of.judges[i].finish()
		}
	}
	for i := range out.Agreement {
		out.Agreement[i].Finish()
	}
	if len(out.Judges) > 1 {
		var k stats.Kappa
		k, out.FleissN = t.fleiss()
		out.FleissKappa, out.FleissKappaCI95 = k.Value, k.KappaCI95
	}
	return out
}

// fleiss returns Fleiss' kappa of all judges and the number of answers behind
// it.
func (t *tally) fleiss() (stats.Kappa, int) {
	var ratings [][]int
	for refused, answers := range t.refusedBy {
		item := []int{refused, len(t.out.Judges) - refused}
		ratings = append(ratings, slices.Repeat([][]int{item}, answers)...)
	}
	return stats.FleissOf(ratings), len(ratings)
}
