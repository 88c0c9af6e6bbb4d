package evaluate

import (
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/score"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Target is the model under measurement, with its parameters.
type Target struct {
	// Name is what the user typed, such as "openai/gpt-4o", with what makes it
	// a variant. Results use it.
	Name     string `json:"name"`
	Provider string `json:"provider"`
	// Endpoint is as in model.Request.
	Endpoint string `json:"endpoint,omitempty"`
	Model    string `json:"model"`
	// Revision is as in model.Request.
	Revision string `json:"revision,omitempty"`
	// System is the system prompt, empty for none.
	System string       `json:"system,omitempty"`
	Params model.Params `json:"params"`
	// Samples is how often each prompt is asked; 0 means once. Sample is the
	// number of the first answer, from 0.
	Samples int `json:"-"`
	Sample  int `json:"sample,omitempty"`
	// Base is the Name of the target that this one is a variant of; empty if it
	// is not a variant.
	Base string `json:"base,omitempty"`
	// Framing is what is put around every prompt; nil for nothing.
	Framing *defense.Framing `json:"framing,omitempty"`
	// Turns is the dialog at whose end every prompt is asked; nil for the
	// prompt alone.
	Turns *conversation.Script `json:"turns,omitempty"`
	// Defense stands between the prompts and the model; nil for none. Guarded
	// is its name, by which a stored run finds it again.
	Defense *defense.Defense `json:"-"`
	Guarded string           `json:"defense,omitempty"`
	// Guard is set if the target is a guard: it is shown the prompts and flags
	// them or not. Its Params are those of its format.
	Guard *guard.Guard `json:"guard,omitempty"`
	// LabelName is the name under which people's labels know the target's
	// answers. It is set if Name includes the label of the run; empty means
	// Name.
	LabelName string `json:"-"`
}

// InRun returns the target with the label of its run in its name, and in its
// Base. That distinguishes it from the same target of another run.
func (t Target) InRun(label string) Target {
	t.LabelName = t.Name
	label = " [" + label + "]"
	if t.Base == "" {
		t.Name += label
		return t
	}
	t.Name = t.Base + label + strings.TrimPrefix(t.Name, t.Base)
	t.Base += label
	return t
}

// Nth returns the target asked once, for its n-th sample, from 0, with the
// sample's name. The first sample has the target's own name. It is the base of
// the others unless the target is itself a variant.
func (t Target) Nth(n int) Target {
	one := t
	one.Samples, one.Sample, one.Name = 0, t.Sample+n, score.SampleName(t.Name, t.Base, n)
	if n > 0 && t.Base == "" {
		one.Base = t.Name
	}
	return one
}

// Times returns how often each prompt is asked.
func (t Target) Times() int { return max(1, t.Samples) }

// Each lists all samples of the target; see Nth.
func (t Target) Each() []Target {
	all := make([]Target, t.Times())
	for n := range all {
		all[n] = t.Nth(n)
	}
	return all
}

// Together merges consecutive samples into one target. It undoes Each.
func Together(each []Target) (all []Target) {
	for len(each) > 0 {
		t, n := each[0], 1
		for n < len(each) && reflect.DeepEqual(t.Nth(n), each[n]) {
			n++
		}
		if n > 1 {
			t.Samples = n
		}
		all, each = append(all, t), each[n:]
	}
	return all
}

// Ref is the model that the target asks.
func (t Target) Ref() model.Ref {
	return model.Ref{Provider: t.Provider, Endpoint: t.Endpoint, Model: t.Model}
}

// undefended returns the target as a defense sees it.
func (t Target) undefended() defense.Target {
	return defense.Target{
		Ref:      t.Ref(),
		Revision: t.Revision, System: t.System, Params: t.Params, Sample: t.Sample,
	}
}

// framed returns the prompt as the target's user sends it.
func (t Target) framed(p orbench.Prompt) orbench.Prompt {
	if t.Framing == nil {
		return p
	}
	return t.Framing.Apply(p)
}

// Request returns the one request that a prompt makes to the target. It is
// valid only if nothing depends on replies: the target has no defense and no
// turns of its own.
func (t Target) Request(p orbench.Prompt) model.Request {
	request, _ := t.request(p)
	return request
}

// request is Request, and also returns the dialog that the prompt ends.
func (t Target) request(p orbench.Prompt) (model.Request, []conversation.Said) {
	p = t.framed(p)
	dialog, _ := t.Turns.Hold(p, nil)
	return t.undefended().Request(conversation.Asked(p, dialog)), dialog
}

// SameCalls reports whether two targets make the same calls for every answer, or perhaps for
// some: a defense or a dialog with own answers may make none beside the first.
func (t Target) SameCalls(o Target) (always, perhaps bool) {
	first := func(t Target) model.Hash {
		return t.undefended().Request(t.framed(orbench.NewPrompt("?", "", orbench.Safe))).Hash()
	}
	if first(t) != first(o) || t.asked().Guard != o.asked().Guard {
		return false, false
	}
	always = t.Guarded == o.Guarded && reflect.DeepEqual(t.Turns, o.Turns)
	return always, !always && (t.needsReplies() || o.needsReplies())
}

// Plain reports whether the target answers the prompts unchanged.
func (t Target) Plain() bool {
	return t.Framing == nil && t.Turns == nil && t.Guarded == "" && t.Guard == nil
}

// needsReplies reports whether the target's requests depend on replies.
func (t Target) needsReplies() bool { return t.Defense != nil || t.Turns.Own() || t.Guard != nil }

// defended returns what stands before the target's model, which may be nothing.
func (t Target) defended() *defense.Defense {
	if t.Defense == nil {
		return &defense.Defense{}
	}
	return t.Defense
}

// Replayed reports whether the prompts carry the target's answers, so that it is not asked.
func (t Target) Replayed() bool { return t.Provider == model.Replay }

// Simulated reports whether the target is a simulated model.
func (t Target) Simulated() bool { return t.Provider == score.SimProvider }

// asked says how the target is asked.
func (t Target) asked() score.Asked {
	a := score.Asked{
		Provider: t.Provider, Endpoint: t.Endpoint, Model: t.Model, Revision: t.Revision, System: t.System,
		Temperature: t.Params.Temperature, MaxTokens: t.Params.MaxTokens, Seed: t.Params.Seed, Sample: t.Sample, Defense: t.Guarded,
	}
	if t.Guard != nil {
		a.Guard = t.Guard.String()
	}
	if t.Framing != nil {
		a.Framing = t.Framing.Name
	}
	if t.Turns != nil {
		a.Turns = t.Turns.Name
	}
	if t.Defense != nil {
		a.Defense = t.Defense.Name()
	}
	return a
}

// Run is a measurement: every target answers every prompt of every dataset, and
// every judge judges every answer.
type Run struct {
	Targets  []Target
	Datasets []*dataset.Dataset
	// Limit is the number of prompts taken from the start of each dataset; 0
	// takes all.
	Limit int
	// Shard is the part of the prompts that is asked here. It is not part of
	// the run's identity. Figures are those of all prompts, so a run with a
	// Shard is not derived.
	Shard  Shard
	Judges []judge.Judge
	// Until makes the run end by itself; nil for a run that asks all prompts.
	Until *Until
	// Accepted lists names in answers that the user accepts as names of the
	// requested models; see model.ServedBy.
	Accepted []string
	// Reading is how texts are read. The zero Reading is the present one.
	Reading reply.Reading
	// Recorded means that no target is asked: the run judges what the store
	// holds.
	Recorded bool

	// whole is the number of prompts of the run that this is a part of; 0 if it
	// is not a part.
	whole int
}

// Design returns the run as package score sees it.
func (r *Run) Design() score.Design {
	d := score.Design{Datasets: r.Datasets, Limit: r.Limit, Judges: r.Judges}
	for _, t := range r.Targets {
		d.Targets = append(d.Targets, score.Target{Name: t.Name, Base: t.Base, Times: t.Times(), LabelName: t.LabelName, Asked: t.asked()})
	}
	return d
}

// AnswersPerPrompt returns how many answers all targets together give to each
// prompt.
func (r *Run) AnswersPerPrompt() (n int) {
	for _, t := range r.Targets {
		n += t.Times()
	}
	return n
}

// Prompts returns the number of prompts in all datasets, after Limit and within
// the Shard.
func (r *Run) Prompts() int {
	n, own := 0, r.Shard.deal()
	for _, set := range r.Datasets {
		if r.Shard.Of <= 1 {
			n += set.Size(r.Limit)
			continue
		}
		for prompts, err := range job.Pieces(set.First(r.Limit), chunkSize) {
			if err != nil {
				break // asking the prompts reports it
			}
			n += len(own(prompts))
		}
	}
	return n
}

// KnownCalls returns how many calls of the run are known in advance, by model. ok is
// false if only a walk can tell, because several rounds may share calls or some
// cannot be made.
func (r *Run) KnownCalls() (calls map[model.Ref]int, ok bool) {
	if r.Until != nil || r.Shard.Of > 1 {
		return nil, false
	}
	if r.Recorded {
		return nil, true
	}
	n, prompts := 0, r.Prompts()
	calls, sent := map[model.Ref]int{}, map[model.Hash]bool{}
	for _, t := range r.Targets {
		if t.needsReplies() || t.Replayed() {
			continue
		}
		for _, one := range t.Each() {
			n++
			calls[t.Ref()] += prompts
			sent[one.Request(orbench.Prompt{Messages: []orbench.Message{{Role: orbench.User}}}).Hash()] = true
		}
	}
	return calls, n == len(sent)
}

// Targeted lists the models of the targets, each once, without their endpoints.
func (r *Run) Targeted() (refs []model.Ref) {
	for _, t := range r.Targets {
		if ref := (model.Ref{Provider: t.Provider, Model: t.Model}); !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	return refs
}

// Asking lists the judges that may lack replies.
func Asking(judges []judge.Judge) []judge.Judge {
	return slices.DeleteFunc(slices.Clone(judges), func(j judge.Judge) bool {
		_, ok := j.(judge.ModelJudge)
		return !ok
	})
}

const (
	// chunkSize is how many prompts are looked up and judged together.
	chunkSize = 256
	// chunkRows limits chunkSize when there are many targets. A chunk has a row
	// for each prompt and each of the targets' samples.
	chunkRows = 8192
)

// targetChunk is one sample of a target and a chunk of a dataset.
type targetChunk struct {
	target Target
	// index is the index of the whole target in the run. of names it if it is
	// asked several times.
	index int
	of    string
	// dataset is the index of the prompts' dataset, and set its name.
	dataset int
	set     string
	prompts []orbench.Prompt
}

// chunks walks the run: the datasets in their order, some prompts at a time, as
// one chunk for each target and sample. All targets advance together.
func (r *Run) chunks() iter.Seq2[[]targetChunk, error] {
	size := max(16, min(chunkSize, chunkRows/max(1, r.AnswersPerPrompt())))
	return func(yield func([]targetChunk, error) bool) {
		own := r.Shard.deal()
		for d, set := range r.Datasets {
			for prompts, err := range job.Pieces(set.First(r.Limit), size) {
				if err != nil {
					yield(nil, err)
					return
				}
				if prompts = own(prompts); len(prompts) == 0 {
					continue
				}
				chunk := r.samples()
				for i := range chunk {
					chunk[i].dataset, chunk[i].set, chunk[i].prompts = d, set.Name, prompts
				}
				if !yield(chunk, nil) {
					return
				}
			}
		}
	}
}
