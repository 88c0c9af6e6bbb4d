package model

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/jsonappend"
)

// Model answers requests. Ask makes one attempt; it returns a Response, or an
// *Error, or the context's error. Implementations are safe for concurrent use
// and read nothing of the Request but what its hash covers.
type Model interface {
	Ask(ctx context.Context, r Request) (Response, error)
}

// Func is a function that is a Model.
type Func func(ctx context.Context, r Request) (Response, error)

// Ask calls f.
func (f Func) Ask(ctx context.Context, r Request) (Response, error) { return f(ctx, r) }

// Params are the sampling parameters of a request.
type Params struct {
	// Temperature is at least 0; nil leaves it to the provider.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxTokens bounds the output; 0 leaves it to the provider.
	MaxTokens int `json:"max_tokens,omitempty"`
	// Seed is passed on where the provider takes one; nil sends none.
	Seed *int64 `json:"seed,omitempty"`
	// Schema is a JSON Schema that the output must fit, for providers with
	// structured output; nil asks for free text.
	Schema json.RawMessage `json:"schema,omitempty"`
	// TopLogprobs asks for the probabilities of so many of the likeliest tokens at each
	// of the first places of the output; 0 asks for none. Only the openai dialect can.
	TopLogprobs int `json:"top_logprobs,omitempty"`
	// Template is a JSON object of arguments for the chat template, which vLLM takes as
	// chat_template_kwargs; nil sends none. Only the openai dialect can.
	Template json.RawMessage `json:"template,omitempty"`
	// Form says how the messages are sent, for servers that differ in what they pass on to
	// the model. Only the openai dialect has others than Chat.
	Form Form `json:"form,omitempty"`
	// Effort is how long a model that reasons shall do so: low, medium or high. Empty leaves
	// it to the provider. Only the openai dialect can.
	Effort string `json:"effort,omitempty"`
}

// Form is a way to send messages.
type Form string

// The forms.
const (
	// Chat sends messages whose content is a text.
	Chat Form = ""
	// Parts sends messages whose content is a list with that text, as chat templates of
	// models that see images read it.
	Parts Form = "parts"
	// Raw sends the text of the last message alone, to /completions. The server puts no
	// chat template around it.
	Raw Form = "raw"
)

// Request is one call to a model. All of its fields determine the answer and so
// all of them are in its Hash.
type Request struct {
	// Provider is the name of an entry of the provider table, such as "openai".
	Provider string `json:"provider"`
	// Endpoint is the base URL where it is not the provider's own, without a
	// trailing slash; two servers may serve different models by one name.
	Endpoint string `json:"endpoint,omitempty"`
	// Model is the provider's name of the model.
	Model string `json:"model"`
	// Revision tells measurements apart of weights that answer at one address by one name. It
	// is not sent. Without one the hash is what it was before there were any.
	Revision string            `json:"revision,omitempty"`
	Messages []orbench.Message `json:"messages"`
	Params   Params            `json:"params"`
	// Sample numbers repeated calls that are otherwise equal, from 0.
	Sample int `json:"sample,omitempty"`
}

// Hash identifies a Request.
type Hash [sha256.Size]byte

// String gives the hash in hex.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// hashVersion starts every hashed text. It changes when the same fields come to
// mean another request, and with it every hash.
const hashVersion = "orbench request 1\n"

// Canonical is the request as the JSON that is hashed and stored: fields in
// their declared order, absent ones left out.
//
// It panics on a NaN temperature and on a Schema that is not JSON, which are refused when
// parameters are read.
func (r Request) Canonical() []byte { return r.appendCanonical("") }

// appendCanonical is Canonical after a line.
func (r Request) appendCanonical(line string) []byte {
	room := 160 + len(line) + len(r.Endpoint)
	for _, m := range r.Messages {
		room += 40 + len(m.Content) + len(m.Content)/16
	}
	b := append(append(make([]byte, 0, room), line...), `{"provider":`...)
	b = jsonappend.String(b, r.Provider, jsonappend.HTML)
	if r.Endpoint != "" {
		b = jsonappend.String(append(b, `,"endpoint":`...), r.Endpoint, jsonappend.HTML)
	}
	b = jsonappend.String(append(b, `,"model":`...), r.Model, jsonappend.HTML)
	if r.Revision != "" {
		b = jsonappend.String(append(b, `,"revision":`...), r.Revision, jsonappend.HTML)
	}
	b = jsonappend.Messages(append(b, `,"messages":`...), r.Messages, jsonappend.HTML)
	b = append(b, `,"params":`...)
	if p := r.Params; p.Seed == nil && p.TopLogprobs == 0 && p.Template == nil && p.Form == Chat && p.Effort == "" && p.Temperature != nil && p.MaxTokens != 0 {
		b = jsonappend.Float(append(b, `{"temperature":`...), *p.Temperature)
		b = strconv.AppendInt(append(b, `,"max_tokens":`...), int64(p.MaxTokens), 10)
		if len(p.Schema) > 0 {
			b = append(append(b, `,"schema":`...), written(p.Schema)...)
		}
		b = append(b, '}')
	} else {
		b = jsonappend.Value(b, p, jsonappend.HTML)
	}
	if r.Sample != 0 {
		b = strconv.AppendInt(append(b, `,"sample":`...), int64(r.Sample), 10)
	}
	return append(b, '}')
}

// lastSchema is the schema that was written last, and how: most requests have that of another.
var lastSchema atomic.Pointer[[2]string]

func written(schema json.RawMessage) string {
	last := lastSchema.Load()
	if last == nil || last[0] != string(schema) {
		last = &[2]string{string(schema), string(jsonappend.Value(nil, schema, jsonappend.HTML))}
		lastSchema.Store(last)
	}
	return last[1]
}

// Hash is the SHA-256 of a version line and Canonical.
func (r Request) Hash() Hash { return sha256.Sum256(r.appendCanonical(hashVersion)) }

// HashCanonical is the Hash of a request whose Canonical form is at hand.
func HashCanonical(canonical []byte) Hash {
	buf := make([]byte, 0, len(hashVersion)+len(canonical))
	buf = append(buf, hashVersion...)
	return sha256.Sum256(append(buf, canonical...))
}

// Finish says why a response ended.
type Finish string

// The ways in which a response ends.
const (
	// Stop: the model ended by itself.
	Stop Finish = "stop"
	// Length: the token limit cut it.
	Length Finish = "length"
	// Blocked: the provider withheld the prompt or the answer; Response.Block
	// says how.
	Blocked Finish = "blocked"
	// Called: the model calls a tool instead of answering.
	Called Finish = "called"
	// Broken: a fault broke it off.
	Broken Finish = "broken"
	// OtherFinish: anything else.
	OtherFinish Finish = "other"
)

// BlockKind says which mechanism, mostly of a provider, withheld something.
type BlockKind string

// The mechanisms.
const (
	// PromptFilter stopped the prompt before the model saw it.
	PromptFilter BlockKind = "prompt_filter"
	// OutputFilter stopped the answer.
	OutputFilter BlockKind = "output_filter"
	// RefusalField: the API marked the answer as a refusal by the model.
	RefusalField BlockKind = "refusal_field"
	// NoCandidate: the reply was well-formed but held no answer at all.
	NoCandidate BlockKind = "no_candidate"
	// Defended: a defense around the model, and not its provider, withheld it; see
	// package defense.
	Defended BlockKind = "defense"
	// Flagged: the model asked is a guard, and calls harmful what it was shown. The
	// text is the guard's reply.
	Flagged BlockKind = "flagged"
)

// Block tells how a provider withheld something.
type Block struct {
	Kind BlockKind `json:"kind"`
	// Detail is the provider's own word for it, such as "SAFETY" or
	// "content_filter".
	Detail string `json:"detail,omitempty"`
	// Categories are those for which the provider says that it withheld something.
	Categories []string `json:"categories,omitempty"`
}

// Reason is the provider's own word with the categories, such as "content_filter: hate,
// violence".
func (b Block) Reason() string {
	if len(b.Categories) == 0 {
		return cmp.Or(b.Detail, string(b.Kind))
	}
	word, _, _ := strings.Cut(b.Detail, ": ")
	return word + ": " + strings.Join(b.Categories, ", ")
}

// Usage counts tokens as the provider reported them. It is zero or Estimated where it did not.
type Usage struct {
	Input  int `json:"input,omitempty"`
	Output int `json:"output,omitempty"`
	// Reasoning is the part of Output that was thinking.
	Reasoning int `json:"reasoning,omitempty"`
	// Cached is the part of Input that was billed as cached.
	Cached int `json:"cached,omitempty"`
	// Estimated is true where the provider reported nothing, so that the counts are guessed by
	// the texts.
	Estimated bool `json:"estimated,omitempty"`
}

// mostTokens is more than any call uses: the largest context windows hold 10 million.
const mostTokens = 10_000_000

// Tokens is a count of tokens as a provider reported it, kept from 0 to 10 million, so
// that sums of what a broken or a hostile server says stay sums.
func Tokens(reported int) int { return min(max(reported, 0), mostTokens) }

// Bounded is the usage with each count as Tokens keeps it.
func (u Usage) Bounded() Usage {
	return Usage{Input: Tokens(u.Input), Output: Tokens(u.Output), Reasoning: Tokens(u.Reasoning), Cached: Tokens(u.Cached), Estimated: u.Estimated}
}

// OfTotal is the bounded usage where the provider reported a total too. What a total has
// beyond input and output counts as output, which costs more: a count that contradicts
// itself may not make a call cheap.
func (u Usage) OfTotal(total int) Usage {
	u = u.Bounded()
	u.Output = max(u.Output, Tokens(total)-u.Input)
	return u
}

// Add adds the tokens of another call.
func (u *Usage) Add(o Usage) {
	u.Input += o.Input
	u.Output += o.Output
	u.Reasoning += o.Reasoning
	u.Cached += o.Cached
}

// Response is what came back from a call. It is untrusted text: nothing in it is
// to be trusted by a parser, a terminal or a page.
type Response struct {
	// Text is the answer without any thinking. For a Blocked response it is
	// what the provider said instead, often nothing.
	Text string `json:"text"`
	// Thinking is the reasoning text, where the provider shows it. It is kept
	// and never judged.
	Thinking string `json:"thinking,omitempty"`
	Finish   Finish `json:"finish"`
	// Block is set exactly when Finish is Blocked.
	Block *Block `json:"block,omitempty"`
	Usage Usage  `json:"usage,omitzero"`
	// Logprobs are the likeliest tokens at the first places of the output, at most
	// MostLogprobs of these, where they were asked for and served.
	Logprobs []Place `json:"logprobs,omitempty"`
	// Model is the exact version that answered, as the provider names it.
	Model string `json:"model,omitempty"`
	// ID is the provider's own number of the call.
	ID string `json:"id,omitempty"`
	// Batch is true where the call was part of a batch, which costs less and has no
	// Latency.
	Batch bool `json:"batch,omitempty"`
	// Made is when the response was there, to the millisecond, zero where that was not kept,
	// as of older responses. Whoever asked notes it; a Model leaves it zero.
	Made time.Time `json:"made,omitzero"`
	// Server is what a server of the user's own said of itself when the call was made, empty of
	// a provider's public API, and where it says nothing.
	Server string `json:"server,omitempty"`
	// Fingerprint is the system_fingerprint of the reply. It is part of Server, where that is
	// kept.
	Fingerprint string `json:"-"`
	// Latency is the wall time of the attempt that succeeded. Whoever asked
	// measures it, so that it means the same for every Model; a Model leaves it 0.
	Latency time.Duration `json:"latency_ns,omitempty"`
	// Accepted says that Model is a name of the model that was asked, as a user said. It is a
	// setting of whoever shows the response, and not kept.
	Accepted bool `json:"-"`
	// Reading is the date by which texts are read, empty for the present one. It is a setting of
	// whoever shows the response, and not kept. Read is what a reading made of the text, nil for
	// nothing.
	Reading string `json:"-"`
	// Said has the cells of columns of verdicts on a recorded answer; see orbench.Recorded.
	Said map[string]string `json:"-"`
	Read *Read             `json:"-"`
	// Allowance is what the provider said that it will take, nil where it did not. It is
	// about the moment of the call, and not kept.
	Allowance *Allowance `json:"-"`
}

// Read is what was made of the text of a response.
type Read struct {
	// Stored is the text as it is kept.
	Stored string
	// Done says what was done, with semicolons between. Would is what the present reading would
	// do, where another one was used.
	Done, Would string
	// Missing says why there is no answer; empty if there is one.
	Missing string
}

// Stored is the text of the response as it is kept.
func (r *Response) Stored() string {
	if r.Read != nil && r.Read.Done != "" {
		return r.Read.Stored
	}
	return r.Text
}

// Allowance is what a provider says that it will take from now on.
type Allowance struct {
	Requests, Tokens Window
}

// Window is how much will be taken until a limit is as at first; the zero Window is not
// known.
type Window struct {
	Remaining int
	// Reset is the time until the limit is as at first.
	Reset time.Duration
}

// MostLogprobs is how many places of an output keep their probabilities.
const MostLogprobs = 64

// Place is one token of an output, with the likeliest that could have stood there.
type Place struct {
	Token string  `json:"token"`
	Top   []Token `json:"top,omitempty"`
}

// Token is a token with the natural logarithm of its probability.
type Token struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
}

// SimulatedMark ends the Model of every Response that no real model gave, so
// that a simulated server is known as one through any client.
const SimulatedMark = "(simulated)"

// Replay is the provider of recorded answers in requests and results.
const Replay = "replay"

// Simulated reports whether the response bears SimulatedMark.
func (r Response) Simulated() bool { return strings.HasSuffix(r.Model, SimulatedMark) }
