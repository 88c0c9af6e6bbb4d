package identity

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/similar"
)

// Result says of the calls of a run which are remembered, and in what the others differ
// from calls that are.
type Result struct {
	Run string `json:"run"`
	Count
	// Unanswered counts the answers of targets that are lacking and on which further calls
	// depend, such as those of judges: they are not known yet, and in no other count.
	Unanswered int `json:"unanswered"`
	// Groups parts the calls by whose they are.
	Groups []Group `json:"groups"`
	// Causes says why calls are to be asked and, of a stored run, why those that are
	// remembered were; the cause of most calls stands first. Every such call is in one.
	Causes []Cause `json:"causes"`
	// Detail lists the calls of the prompts that were asked about one by one.
	Detail []Call `json:"detail,omitempty"`
}

// Count counts calls. Those that are not remembered are to be asked.
type Count struct {
	Calls      int `json:"calls"`
	Remembered int `json:"remembered"`
	ToAsk      int `json:"to_ask"`
}

func (c *Count) add(remembered bool) {
	c.Calls++
	if remembered {
		c.Remembered++
	} else {
		c.ToAsk++
	}
}

// Group are the calls for a target's answers, or of a judge about them.
type Group struct {
	Target string `json:"target"`
	// Judge is absent for calls that make the answer, of a target or its defenses.
	Judge string `json:"judge,omitempty"`
	Count
}

// Cause is why calls were not found in the store.
type Cause struct {
	Target string `json:"target"`
	Judge  string `json:"judge,omitempty"`
	// Remembered is true of calls that were asked before, and false of those to ask. The
	// former are compared with what the store held when they were asked, by other runs.
	Remembered bool `json:"remembered"`
	Calls      int  `json:"calls"`
	// Differs lists the parts in which the calls differ from the nearest remembered one;
	// it is empty where none is near.
	Differs []Difference `json:"differs"`
	// Failed is true where the calls were sent and failed: whatever differs from other
	// calls, this is why they are to be asked again.
	Failed bool `json:"failed,omitempty"`
	// Example is the first of the calls.
	Example Call `json:"example"`
}

// Call is one call with the nearest remembered one.
type Call struct {
	Hash       string           `json:"hash"`
	Dataset    string           `json:"dataset"`
	Prompt     orbench.PromptID `json:"prompt"`
	Target     string           `json:"target"`
	Judge      string           `json:"judge,omitempty"`
	Model      string           `json:"model"`
	Remembered bool             `json:"remembered"`
	// Failure is the last error of a call that was sent and failed.
	Failure string `json:"failure,omitempty"`
	// Nearest is the hash of the nearest other call that is remembered, and Differs how
	// the call differs from it; both are empty where none is near.
	Nearest string       `json:"nearest,omitempty"`
	Differs []Difference `json:"differs"`
}

// Records streams what a store remembers, in the order of its arrival.
type Records = iter.Seq2[store.Record, error]

// Find explains the calls of a study by the records of its store. prompts are those whose
// calls are listed one by one, by their ID or its beginning; the error is an
// *orbench.InputError where the run has none of that. m may be nil for an empty store.
func Find(ctx context.Context, j *job.Job, m store.Reader, records Records, prompts []string) (Result, error) {
	f := finder{byHash: map[model.Hash]*wanted{}, bySubject: map[string][]*wanted{}}
	for call, err := range j.All(ctx, m) {
		if err != nil {
			return Result{}, err
		}
		f.want(call)
	}
	if err := f.failures(ctx, m); err != nil {
		return Result{}, err
	}
	if err := f.sameText(records); err != nil {
		return Result{}, err
	}
	if err := f.likeText(records); err != nil {
		return Result{}, err
	}
	result, err := f.result(j.Name, prompts)
	if !j.Further {
		result.Unanswered = 0
	}
	return result, err
}

// wanted is a call of the run.
type wanted struct {
	job.Call
	parts
	kind int
	// failure is the last error of a call that was sent in vain.
	failure string
	// place is that of its record in the store, from 1, and 0 as long as that has not
	// been met.
	place   int
	near    bool
	gap     float64
	nearest model.Hash
	was     parts
}

// consider takes a record for the nearest if it is, the later one of equals.
func (w *wanted) consider(h model.Hash, p *parts, kind int, gap float64) {
	if kind != w.kind || w.near && gap > w.gap {
		return
	}
	w.near, w.gap, w.nearest, w.was = true, gap, h, *p
}

// finder looks for the nearest remembered calls.
type finder struct {
	calls     []*wanted
	byHash    map[model.Hash]*wanted
	bySubject map[string][]*wanted
}

func (f *finder) want(call job.Call) {
	w := &wanted{Call: call}
	if call.Probe {
		w.Judge += ", probes"
	}
	w.parts, w.kind = partsOf(call.Request)
	f.calls = append(f.calls, w)
	f.byHash[call.Hash] = w
	f.bySubject[w.parts[message]] = append(f.bySubject[w.parts[message]], w)
}

// failures finds which calls were sent and failed.
func (f *finder) failures(ctx context.Context, m store.Reader) error {
	if m == nil {
		return nil
	}
	var lacking []model.Hash
	for _, w := range f.calls {
		if !w.Remembered {
			lacking = append(lacking, w.Hash)
		}
	}
	found, err := m.Failures(ctx, lacking)
	for hash, failure := range found {
		f.byHash[hash].failure = failure.Message
	}
	return err
}

// sameText compares the calls with the records about the same text.
func (f *finder) sameText(records Records) error {
	place := 0
	for r, err := range records {
		if err != nil {
			return err
		}
		place++
		own := f.byHash[r.Hash]
		if own != nil {
			own.place = place
		}
		p, kind, err := parse(r.Request)
		if err != nil {
			return err
		}
		for _, w := range f.bySubject[p[message]] {
			// A call that is remembered was asked in spite of what other runs had left.
			if !w.Remembered || own == nil && w.place == 0 {
				w.consider(r.Hash, &p, kind, w.distance(&p))
			}
		}
	}
	return nil
}

// alike is how like two texts are, at least, of which one may be the other's edited form:
// that of a question of eight words with one in its middle changed.
const alike = 0.25

// likeText compares the calls for which sameText found none with records about texts that
// are alike and that the run does not ask itself.
func (f *finder) likeText(records Records) error {
	index := similar.NewIndex(alike)
	var subjects []string
	added := map[string]bool{}
	for _, w := range f.calls {
		if !w.near && !added[w.parts[message]] {
			added[w.parts[message]] = true
			subjects = append(subjects, w.parts[message])
			index.Keep(w.parts[message])
		}
	}
	if len(subjects) == 0 {
		return nil
	}
	type match struct {
		subject string
		jaccard float64
	}
	known := map[string]match{}
	place := 0
	for r, err := range records {
		if err != nil {
			return err
		}
		place++
		p, kind, err := parse(r.Request)
		if err != nil {
			return err
		}
		if f.bySubject[p[message]] != nil {
			continue
		}
		like, ok := known[p[message]]
		if !ok {
			if n, jaccard, found := index.Nearest(p[message]); found {
				like = match{subjects[n], jaccard}
			}
			known[p[message]] = like
		}
		for _, w := range f.bySubject[like.subject] {
			if w.near && w.was[message] == w.parts[message] || w.Remembered && w.place < place {
				continue
			}
			w.consider(r.Hash, &p, kind, w.distance(&p)-like.jaccard)
		}
	}
	return nil
}

// result groups what was found.
func (f *finder) result(name string, prompts []string) (Result, error) {
	result := Result{Run: name, Groups: []Group{}, Causes: []Cause{}}
	groups, causes := map[[2]string]int{}, map[string]int{}
	unanswered := map[string]bool{}
	asked := make([]bool, len(prompts))
	for _, w := range f.calls {
		result.add(w.Remembered)
		of := [2]string{w.Target, w.Judge}
		i, ok := groups[of]
		if !ok {
			i = len(result.Groups)
			groups[of] = i
			result.Groups = append(result.Groups, Group{Target: w.Target, Judge: w.Judge})
		}
		result.Groups[i].add(w.Remembered)
		if !w.Remembered && w.Judge == "" {
			unanswered[w.Target+"\x00"+w.Dataset+"\x00"+string(w.Prompt)] = true
		}
		call := w.explained()
		key := fmt.Sprintf("%q %q %v %v", w.Target, w.Judge, w.Remembered, w.failure != "")
		for _, d := range call.Differs {
			key += "\x00" + string(d.Part)
		}
		if i, ok := causes[key]; ok {
			result.Causes[i].Calls++
			for k := range call.Differs {
				result.Causes[i].Differs[k].join(call.Differs[k])
			}
		} else {
			causes[key] = len(result.Causes)
			cause := Cause{Target: w.Target, Judge: w.Judge, Remembered: w.Remembered, Calls: 1, Differs: []Difference{}, Failed: w.failure != "", Example: call}
			for _, d := range call.Differs {
				d.Was, d.Is = slices.Clone(d.Was), slices.Clone(d.Is)
				cause.Differs = append(cause.Differs, d)
			}
			result.Causes = append(result.Causes, cause)
		}
		for i, prompt := range prompts {
			if strings.HasPrefix(string(w.Prompt), prompt) {
				asked[i] = true
				result.Detail = append(result.Detail, call)
				break
			}
		}
	}
	result.Unanswered = len(unanswered)
	slices.SortStableFunc(result.Causes, func(a, b Cause) int {
		if a.Remembered != b.Remembered {
			if b.Remembered {
				return -1
			}
			return 1
		}
		return b.Calls - a.Calls
	})
	for i, found := range asked {
		if !found {
			return result, &orbench.InputError{
				Problem: fmt.Sprintf("run %s asks no prompt %q", name, prompts[i]), Hint: "the IDs of its prompts stand in the answers.jsonl of its report, which `out` writes",
			}
		}
	}
	return result, nil
}

// explained is the call as it is shown.
func (w *wanted) explained() Call {
	c := Call{
		Hash: w.Hash.String(), Dataset: w.Dataset, Prompt: w.Prompt, Target: w.Target, Judge: w.Judge,
		Model: w.Request.Provider + "/" + w.Request.Model, Remembered: w.Remembered, Failure: w.failure, Differs: []Difference{},
	}
	if w.near {
		c.Nearest, c.Differs = w.nearest.String(), w.differences(&w.was)
	}
	return c
}
