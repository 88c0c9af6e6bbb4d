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

// Find explains the calls of a study by what a store remembers. prompts are those whose
// calls are listed one by one, by their ID or its beginning; the error is an
// *orbench.InputError where the run has none of that. m may be nil for an empty store.
func Find(ctx context.Context, j *job.Job, m store.Reader, prompts []string) (Result, error) {
	result, err := find(ctx, j.Name, j.All(ctx, m), m, prompts)
	if !j.Further {
		result.Unanswered = 0
	}
	return result, err
}

// find is Find for calls, which may be walked twice.
func find(ctx context.Context, name string, calls iter.Seq2[job.Call, error], m store.Reader, prompts []string) (Result, error) {
	f := newFinder()
	for call, err := range calls {
		if err != nil {
			return Result{}, err
		}
		f.want(&call)
	}
	if m != nil {
		if err := f.failed(ctx, m); err != nil {
			return Result{}, err
		}
		if err := f.look(m.AllRecords(ctx)); err != nil {
			return Result{}, err
		}
	}
	result, causes, detail := f.grouped(prompts)
	result.Run = name
	for i, prompt := range prompts {
		if !slices.ContainsFunc(detail, func(w *wanted) bool { return f.listed(w, prompts) == i }) {
			return result, &orbench.InputError{
				Problem: fmt.Sprintf("run %s asks no prompt %q", name, prompt), Hint: "the IDs of its prompts are in the answers.jsonl of its report, which `out` writes",
			}
		}
	}
	said, err := f.read(ctx, m, calls, causes, detail)
	if err != nil {
		return result, err
	}
	for i := range causes {
		c := &result.Causes[i]
		c.Example = f.explained(causes[i], said)
		for k, d := range c.Example.Differs {
			if d.long {
				c.Differs[k] = d
			}
		}
	}
	for _, w := range detail {
		result.Detail = append(result.Detail, f.explained(w, said))
	}
	slices.SortStableFunc(result.Causes, func(a, b Cause) int {
		switch {
		case a.Remembered == b.Remembered:
			return b.Calls - a.Calls
		case b.Remembered:
			return -1
		}
		return 1
	})
	return result, nil
}

// cause is the key of a cause: calls with the same key have the same cause.
type cause struct {
	group      uint32
	remembered bool
	failed     bool
	differs    set
}

// grouped counts the calls by group and by cause. The first call of each cause is its
// example. detail are the calls of the prompts that were asked about.
func (f *finder) grouped(prompts []string) (result Result, examples, detail []*wanted) {
	result.Groups, result.Causes = f.groups, []Cause{}
	causes := map[cause]int{}
	unanswered := map[[2]uint32]bool{}
	for _, w := range f.all() {
		g := &f.groups[w.group]
		result.add(w.remembered)
		g.add(w.remembered)
		if !w.remembered && g.Judge == "" {
			unanswered[[2]uint32{w.group, w.prompt}] = true
		}
		key := cause{w.group, w.remembered, f.failures[w.hash] != "", f.differs(w)}
		i, ok := causes[key]
		if !ok {
			i = len(examples)
			causes[key] = i
			examples = append(examples, w)
			result.Causes = append(result.Causes, Cause{Target: g.Target, Judge: g.Judge, Remembered: w.remembered, Failed: key.failed, Differs: key.differs.list()})
		}
		c := &result.Causes[i]
		c.Calls++
		for k := range c.Differs {
			if d := &c.Differs[k]; !d.long {
				d.join(f.text(f.near[w.near-1].parts, d.at), f.text(w.parts, d.at))
			}
		}
		if f.listed(w, prompts) >= 0 {
			detail = append(detail, w)
		}
	}
	result.Unanswered = len(unanswered)
	return result, examples, detail
}

// listed is the index in prompts of the beginning of a call's prompt ID, -1 if none
// matches.
func (f *finder) listed(w *wanted, prompts []string) int {
	return slices.IndexFunc(prompts, func(prompt string) bool { return strings.HasPrefix(string(f.prompts.all[w.prompt].id), prompt) })
}
