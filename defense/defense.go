package defense

import (
	"context"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// BlockKind is the kind of block of a response that a defense withheld. The
// block's detail is the name of the step, a colon, a space and why.
const BlockKind = model.Defended

// withheldText is what the user sees instead. It is fixed, so that it says
// nothing about the prompt or the answer.
const withheldText = "I'm sorry, but I can't help with that request."

// Target makes the undefended request of a prompt.
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

// Request is what an undefended target is asked for a prompt.
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
	name string
	// translation is nil where the prompt is asked as it is.
	translation *translation
	before      []inspection
	rewrites    []func([]orbench.Message) []orbench.Message
	// smooth is nil where the target is asked once.
	smooth *smoothing
	after  []inspection
}

// Name is what the user typed, such as "icl+response-check"; it is "none" for no
// defense.
func (d *Defense) Name() string {
	if d.name == "" {
		return none
	}
	return d.name
}

// Models lists the models other than the target that the defense may ask, each
// once. A response-check without a model of its own asks the target.
func (d *Defense) Models() []model.Ref {
	var refs []model.Ref
	roles := d.Roles()
	for _, ref := range slices.Concat(roles[Translator], roles[Guard]) {
		if !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	return refs
}

// Language is what the ladder has the prompt translated into, empty for none.
func (d *Defense) Language() string {
	if d.translation == nil {
		return ""
	}
	return d.translation.language
}

// Roles lists the models other than the target by what they are asked for, each
// once in a role.
func (d *Defense) Roles() map[Role][]model.Ref {
	roles := map[Role][]model.Ref{}
	if d.translation != nil {
		roles[Translator] = []model.Ref{d.translation.model.Ref}
	}
	for _, i := range slices.Concat(d.before, d.after) {
		if i.asks != nil && !slices.Contains(roles[Guard], *i.asks) {
			roles[Guard] = append(roles[Guard], *i.asks)
		}
	}
	return roles
}

// Decision is what a step did.
type Decision string

// The decisions.
const (
	// Passed: the step saw nothing to withhold.
	Passed Decision = "passed"
	// Stopped: the step withheld the prompt or the answer.
	Stopped Decision = "stopped"
	// Failed: the step could not decide, and let pass, or could not reword, and the
	// prompt was not asked. Finding.Why says what was wrong.
	Failed Decision = "failed"
	// Voted: the step chose among several answers.
	Voted Decision = "voted"
	// Reworded: the step put the prompt into other words, which Finding.Why has.
	Reworded Decision = "reworded"
)

// Finding is what one step did with one prompt.
type Finding struct {
	// Step is the step as it stands in the ladder.
	Step     string   `json:"step"`
	Decision Decision `json:"decision"`
	// Why is the step's reason in a clause or more. It may hold a model's words
	// and is as untrusted as they are.
	Why string `json:"why"`
}

// Role says what a model is asked for on behalf of a target.
type Role string

// The roles.
const (
	// Translator: to put the prompt into another language.
	Translator Role = "translator"
	// Guard: to inspect a prompt or an answer.
	Guard Role = "guard"
	// TargetModel: to answer. It is the target itself.
	TargetModel Role = "target"
)

// Outcome is what comes of a prompt under a defense.
type Outcome struct {
	// Awaits is the role for which replies are missing; empty when none is.
	Awaits Role
	// Unasked means that the prompt could not be put to the model, for the cause
	// that the last finding has: there is no Response, and nobody refused anything.
	Unasked bool
	// Response is what the user of the defended model sees. Where a step stopped
	// the prompt no model was asked, and Response.Model is empty.
	Response model.Response
	// Findings has one entry for each step that decided or translated, in their
	// order. Other steps that only reword the prompt have none, and a step behind one that
	// stopped, or behind an answer without text, is not reached.
	Findings []Finding
	// Calls is how many replies it took, those of guards included.
	Calls int
	// Simulated reports whether any of those replies came from a simulated model.
	Simulated bool
}

// Failed reports whether a step could not decide.
func (o Outcome) Failed() bool {
	return slices.ContainsFunc(o.Findings, func(f Finding) bool { return f.Decision == Failed })
}

// Answer gives the outcome of a prompt. Where it needs replies that look does not
// find, it returns their requests, all of one role, and an Outcome that has that
// role only; the caller fills them and asks again, until none is missing.
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
	if d.translation != nil {
		reworded, finding, missing := d.translation.apply(p, counting)
		if len(missing) > 0 {
			return Outcome{Awaits: Translator}, missing
		}
		o.Findings = append(o.Findings, finding)
		if finding.Decision == Failed {
			o.Unasked = true
			return o, nil
		}
		p = reworded
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
		// An answer that is blocked, without text or another model's holds nothing to inspect.
		if _, settled := judge.Settled(o.Response); settled || o.Response.ByOther(t.Ref) {
			break
		}
		finding, missing := step.inspect(t, p, &o.Response.Text, counting)
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

// Expect lists what Answer will ask for a prompt beyond what look finds, by role,
// as far as that can be known: when every answer of the target is like the given
// one, translations are as long as their originals, and no guard stops anything.
func (d *Defense) Expect(t Target, p orbench.Prompt, answer model.Response, look model.Lookup) map[Role][]model.Request {
	translations := map[model.Hash]model.Response{}
	if d.translation != nil {
		for _, m := range p.Messages {
			request, reply := d.translation.echo(m.Content)
			translations[request.Hash()] = reply
		}
	}
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
		// A guard cannot read what it is asked for in such a reply. Its first
		// question is expected to do, and it lets pass.
		if awaits != Guard || r.Sample == 0 {
			all[awaits] = append(all[awaits], r)
		}
		h := r.Hash()
		if reply, ok := translations[h]; ok {
			return reply, nil
		}
		// Different requests have different answers, about which guards are asked
		// different questions.
		reply := answer
		reply.Text += h.String()
		return reply, nil
	})
	if err := model.Resolve(context.Background(), expected, step); err != nil {
		// Nobody is asked, so only a defense with a fault gets here.
		panic(err)
	}
	return all
}

// ask has the target answer, once or with perturbed copies.
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

// request is what the target is asked for a conversation, reworded by the steps
// that do so.
func (d *Defense) request(t Target, conversation []orbench.Message, sample int) model.Request {
	messages := t.messages(conversation)
	for _, rewrite := range d.rewrites {
		messages = rewrite(messages)
	}
	return t.request(messages, sample)
}

// inspect has the inspector decide and puts the step's name to it.
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

// withhold puts the refusal in the place of an answer. The answer's tokens, model
// and number stay: it was made, and paid for.
func withhold(r model.Response, f Finding) model.Response {
	r.Text, r.Thinking, r.Finish = withheldText, "", model.Blocked
	r.Block = &model.Block{Kind: BlockKind, Detail: f.Step + ": " + strings.TrimSpace(f.Why)}
	return r
}
