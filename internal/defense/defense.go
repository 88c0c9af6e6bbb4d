package defense

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// BlockKind is the kind of Block of a response that a defense withheld. The Block's
// detail is the name of the step, a colon, a space and the reason.
const BlockKind = model.Defended

// withheldText is what the user sees instead. It is fixed, so that it reveals nothing
// about the prompt or the answer.
const withheldText = "I'm sorry, but I can't help with that request."

// Target makes the request for a prompt without a defense.
type Target struct {
	Ref model.Ref
	// Revision is as in model.Request.
	Revision string
	// System is the system prompt, empty for none.
	System string
	Params model.Params
	// Sample is the number of the answer among repeated ones, from 0.
	Sample int
}

// Request is the request to an undefended target for a prompt.
func (t Target) Request(p orbench.Prompt) model.Request {
	return t.request(t.messages(p.Messages), t.Sample)
}

// messages puts the system prompt before a conversation.
func (t Target) messages(conversation []orbench.Message) []orbench.Message {
	if t.System == "" {
		return conversation
	}
	return append([]orbench.Message{{Role: orbench.System, Content: t.System}}, conversation...)
}

func (t Target) request(messages []orbench.Message, sample int) model.Request {
	return model.Request{
		Provider: t.Ref.Provider, Endpoint: t.Ref.Endpoint, Model: t.Ref.Model, Revision: t.Revision,
		Messages: messages, Params: t.Params, Sample: sample,
	}
}

// Defense is a ladder of steps; Parse makes it. The zero value is no defense at
// all. It is read-only and safe for concurrent use.
type Defense struct {
	name     string
	before   []inspection
	rewrites []func([]orbench.Message) []orbench.Message
	// smooth is nil if the target is asked once.
	smooth *smoothing
	after  []inspection
}

// Name is what the user typed, such as "icl+response-check". For no defense it is "none".
func (d *Defense) Name() string { return cmp.Or(d.name, none) }

// Models lists the models other than the target that the defense may ask, each
// once. A response-check without a model of its own asks the target.
func (d *Defense) Models() (refs []model.Ref) {
	for _, i := range slices.Concat(d.before, d.after) {
		if i.asks != nil && !slices.Contains(refs, *i.asks) {
			refs = append(refs, *i.asks)
		}
	}
	return refs
}

// Decision is the decision of a step.
type Decision string

// The decisions.
const (
	// Passed: the step found nothing to withhold.
	Passed Decision = "passed"
	// Stopped: the step withheld the prompt or the answer.
	Stopped Decision = "stopped"
	// Failed: the step could not decide and let pass. Finding.Why gives the reason.
	Failed Decision = "failed"
	// Voted: the step chose among several answers.
	Voted Decision = "voted"
)

// Finding is the result of one step for one prompt.
type Finding struct {
	// Step is the step as written in the ladder.
	Step     string   `json:"step"`
	Decision Decision `json:"decision"`
	// Why is the step's reason, in one or more clauses. It may contain a model's words
	// and is as untrusted as they are.
	Why string `json:"why"`
}

// Role is the purpose for which a model is asked on behalf of a target.
type Role string

// The roles.
const (
	// Guard inspects a prompt or an answer.
	Guard Role = "guard"
	// TargetModel answers. It is the target itself.
	TargetModel Role = "target"
)

// Outcome is the result for a prompt under a defense.
type Outcome struct {
	// Awaits is the role with missing replies, empty if there is none.
	Awaits Role
	// Response is what the user of the defended model sees. If a step stopped the prompt,
	// no model was asked and Response.Model is empty.
	Response model.Response
	// Findings has one entry for each step that decided, in their order.
	// Steps that only reword the prompt have none. A step after one that stopped,
	// or after an answer without text, is not reached.
	Findings []Finding
	// Calls is the number of replies it took, including those of guards.
	Calls int
	// Simulated reports whether any of those replies came from a simulated model.
	Simulated bool
}

// Answer gives the outcome of a prompt. If look does not find a reply that it needs, it
// returns the missing requests, all of one role, and an Outcome with only that role. The
// caller fills them and asks again, until none is missing.
func (d *Defense) Answer(t Target, p orbench.Prompt, look model.Lookup) (Outcome, []model.Request) {
	var o Outcome
	counting := func(r model.Request) (model.Response, bool) {
		response, ok := look(r)
		if ok {
			o.Calls++
			o.Simulated = o.Simulated || response.Simulated()
		}
		return response, ok
	}
	for _, step := range d.before {
		finding, missing := step.inspect(t, p, nil, counting)
		if len(missing) > 0 {
			return Outcome{Awaits: Guard}, missing
		}
		o.Findings = append(o.Findings, finding)
		if finding.Decision == Stopped {
			o.Response = withhold(model.Response{}, finding)
			return o, nil
		}
	}
	if missing := d.ask(&o, t, p, counting); len(missing) > 0 {
		return Outcome{Awaits: TargetModel}, missing
	}
	for _, step := range d.after {
		// An answer that is blocked, has no text or came from another model has nothing
		// to inspect.
		answer := read(o.Response)
		if _, settled := judge.Settled(answer); settled || answer.ByOther(t.Ref) {
			break
		}
		finding, missing := step.inspect(t, p, &answer.Text, counting)
		if len(missing) > 0 {
			return Outcome{Awaits: Guard}, missing
		}
		o.Findings = append(o.Findings, finding)
		if finding.Decision == Stopped {
			o.Response = withhold(o.Response, finding)
		}
	}
	return o, nil
}

// read reads what a target said as an evaluation does, by the date that the response has.
func read(r model.Response) model.Response { return reply.Reading{Date: r.Reading}.Answer(r) }

// Expect lists the requests that Answer will make for a prompt beyond those that look
// finds, by role, as far as can be known. It assumes that every answer of the target is
// like the given one, and that no guard stops anything.
func (d *Defense) Expect(t Target, p orbench.Prompt, answer model.Response, look model.Lookup) map[Role][]model.Request {
	all := map[Role][]model.Request{}
	var awaits Role
	step := func(look model.Lookup) []model.Request {
		o, missing := d.Answer(t, p, look)
		awaits = o.Awaits
		return missing
	}
	expected := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		if reply, ok := look(r); ok {
			return reply, nil
		}
		// A guard cannot read the expected reply. Its first question is assumed to be
		// enough, and it lets pass.
		if awaits != Guard || r.Sample == 0 {
			all[awaits] = append(all[awaits], r)
		}
		h := r.Hash()
		// Different requests have different answers, and guards are asked a different
		// question about each.
		reply := answer
		reply.Text += h.String()
		return reply, nil
	})
	if err := model.Resolve(context.Background(), expected, step); err != nil {
		// Nothing is asked here, so only a faulty defense gets here.
		panic(err)
	}
	return all
}

// ask asks the target, once or with perturbed copies.
func (d *Defense) ask(o *Outcome, t Target, p orbench.Prompt, look model.Lookup) (missing []model.Request) {
	if d.smooth != nil {
		var finding Finding
		o.Response, finding, missing = d.smooth.answer(d, t, p, look)
		o.Findings = append(o.Findings, finding)
		return missing
	}
	request := d.request(t, p.Messages, t.Sample)
	response, ok := look(request)
	if !ok {
		return []model.Request{request}
	}
	o.Response = response
	return nil
}

// request is the target's request for a conversation, after the steps that reword it.
func (d *Defense) request(t Target, conversation []orbench.Message, sample int) model.Request {
	messages := t.messages(conversation)
	for _, rewrite := range d.rewrites {
		messages = rewrite(messages)
	}
	return t.request(messages, sample)
}

// inspect has the inspector decide and adds the step's name.
func (i inspection) inspect(t Target, p orbench.Prompt, answer *string, look model.Lookup) (Finding, []model.Request) {
	stop, why, missing, err := i.inspector(t, p, answer, look)
	f := Finding{Step: i.name, Decision: Passed, Why: why}
	switch {
	case err != nil:
		f.Decision, f.Why = Failed, err.Error()
	case stop:
		f.Decision = Stopped
	}
	return f, missing
}

// withhold replaces an answer by the refusal. The answer's tokens, model and number stay,
// since it was made and paid for.
func withhold(r model.Response, f Finding) model.Response {
	r.Text, r.Thinking, r.Finish = withheldText, "", model.Blocked
	r.Block = &model.Block{Kind: BlockKind, Detail: f.Step + ": " + strings.TrimSpace(f.Why)}
	return r
}
