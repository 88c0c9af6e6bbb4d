package client

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dialect/anthropic"
	"github.com/orbench/orbench/internal/dialect/classify"
	"github.com/orbench/orbench/internal/dialect/google"
	"github.com/orbench/orbench/internal/dialect/openai"
	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/sim"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// SimSeed is the seed of simulated models where a request has none.
const SimSeed = 1

// simConcurrency is how many calls to make at once to simulated models, when the user does not
// say. They answer at once, and answers that arrive together are written together.
const simConcurrency = 64

// Client is the way to one endpoint.
type Client struct {
	Model model.Model
	// Format is how requests to the endpoint are written and replies read, nil where these
	// cannot come in a batch.
	Format Format
	// Endpoint is where the endpoint is and with which key it is asked, the zero one of
	// what asks no server. Its key is empty where nothing is asked.
	Endpoint provider.Endpoint
	// Recipient is the server, the zero one of what asks none.
	Recipient provider.Recipient
	// Concurrency is how many calls to make at once when the user does not say.
	Concurrency int
	// Structured is true where replies can be held to a JSON Schema.
	Structured bool
}

// Format is the dialect of an endpoint without its calls, which a batch makes.
type Format interface {
	// Body is what a call sends for a request.
	Body(r model.Request) ([]byte, error)
	// Read gives what a call returns for a reply of that status.
	Read(r model.Request, status int, body []byte) (model.Response, error)
}

// Set holds the clients in use, each once. It is not safe for concurrent use; its
// clients are.
type Set struct {
	Options
	baseURLs map[string]string
	// tried are the providers whose address was tried; see address.
	tried map[string]bool
	// clients are by provider and endpoint; the names of models are empty.
	clients map[model.Ref]Client
}

// Options says whom the clients of a Set ask, and who may have keys.
type Options struct {
	Providers provider.Table
	// Given are addresses by provider that are the user's own word, and Named those
	// that a file or a store names, in whose place the former stand.
	Given, Named map[string]string
	// Allowed are the hosts that the user lets have keys, whoever names them, as
	// provider.Host gives them.
	Allowed []string
	// Getenv finds keys.
	Getenv func(string) string
	// Unasked is for plans: clients have no Model, so that nobody needs a key, but for
	// simulated models and recorded answers.
	Unasked bool
	// Connected is told of every server, once; nil for nobody.
	Connected func(provider.Recipient)
	// Versioned is told of an address that was given without the API's version, and of the
	// one that is used in its place; nil for nobody.
	Versioned func(given, used string)
}

// NewSet makes a set without clients. The error is about an address whose provider is
// unknown, since the calls that are meant for it would go to another.
func NewSet(c Options) (*Set, error) {
	baseURLs := map[string]string{}
	maps.Copy(baseURLs, c.Named)
	maps.Copy(baseURLs, c.Given)
	for _, name := range slices.Sorted(maps.Keys(baseURLs)) {
		if _, err := c.Providers.Lookup(name); err != nil {
			return nil, err
		}
	}
	return &Set{Options: c, baseURLs: baseURLs, tried: map[string]bool{}, clients: map[model.Ref]Client{}}, nil
}

// Client gives the client of an endpoint that was connected before, and the zero
// Client for any other.
func (s *Set) Client(provider, address string) Client {
	return s.clients[model.Ref{Provider: provider, Endpoint: address}]
}

// All gives every client with its provider and endpoint, in no order. The name of
// the model is empty.
func (s *Set) All() iter.Seq2[model.Ref, Client] {
	return maps.All(s.clients)
}

// Recipients lists the servers that the clients ask, by provider and address.
func (s *Set) Recipients() (all []provider.Recipient) {
	for _, c := range s.clients {
		if c.Recipient.Address != "" {
			all = append(all, c.Recipient)
		}
	}
	slices.SortFunc(all, func(a, b provider.Recipient) int {
		return cmp.Or(strings.Compare(a.Provider, b.Provider), strings.Compare(a.Address, b.Address))
	})
	return all
}

// Model connects the model that a text such as openai/gpt-4o names. baseURL is the
// address to ask, which a file or a store names, empty for the provider's. A model of
// an unknown provider, without its key, or a simulated one that does not exist is an
// *orbench.InputError, as is a key that would go to a host which nobody but a file names.
func (s *Set) Model(name, baseURL string) (model.Ref, error) {
	ref, err := target(name, baseURL)
	if err != nil {
		return model.Ref{}, err
	}
	if s.Classifies(ref.Provider) {
		return model.Ref{}, &orbench.InputError{
			Problem: name + " is a classifier, which answers no prompt",
			Hint:    "have it judge, classify:FORMAT@" + name + ", or measure it as a guard, guard:classifier@" + name,
		}
	}
	return s.named(ref)
}

// target parts the name of a model that is asked at an address.
func target(name, baseURL string) (model.Ref, error) {
	providerName, modelName, err := provider.ParseTarget(name)
	return model.Ref{Provider: providerName, Endpoint: baseURL, Model: modelName}, err
}

// named connects a model at an address, empty for the provider's own.
func (s *Set) named(ref model.Ref) (model.Ref, error) {
	at, err := s.connect(ref.Provider, cmp.Or(ref.Endpoint, s.address(ref.Provider)))
	if err != nil {
		return model.Ref{}, err
	}
	at.Model = ref.Model
	return at, checkSim(at)
}

// Guard connects the guard that a text such as llamaguard@vllm/NAME describes; see
// guard.Parse. The errors are those of Model; another is for a format of chats whose
// provider serves classifiers, or the reverse.
func (s *Set) Guard(spec, baseURL string) (model.Ref, *guard.Guard, error) {
	g, name, err := guard.Parse(spec)
	if err != nil {
		return model.Ref{}, nil, err
	}
	ref, err := target(name, baseURL)
	if err == nil {
		err = s.settle(&g, name, false)
	}
	if err != nil {
		return model.Ref{}, nil, err
	}
	ref, err = s.named(ref)
	return ref, &g, err
}

// Moderator connects a moderator, a model or with guard: a guard, which is nil otherwise.
// about is what a guard is asked.
func (s *Set) Moderator(name string, about guard.About) (ref model.Ref, g *guard.Guard, err error) {
	spec, guarding := strings.CutPrefix(name, "guard:")
	if !guarding {
		ref, err = s.Model(name, "")
		return ref, nil, err
	}
	if ref, g, err = s.Guard(spec, ""); err == nil && !g.Format.Tells(about) {
		err = &orbench.InputError{
			Problem: fmt.Sprintf("guards of the format %s cannot be asked about the harm of %s", g.Format, map[bool]string{true: "an answer", false: "a prompt"}[about == guard.AnswerHarm]),
			Hint:    "name one of " + strings.Join(guard.Telling(about), ", "),
		}
	}
	return ref, g, err
}

// settle gives a guard what the entry of its provider says of it, or says why it cannot be
// asked there. judging is true if it is asked about refusals.
func (s *Set) settle(g *guard.Guard, target string, judging bool) error {
	name, of, _ := strings.Cut(target, "/")
	p, err := s.Providers.Lookup(name)
	simulated := name == sim.Provider
	if err != nil && !simulated {
		return nil // connecting says what is wrong
	}
	server := guard.Server{
		Provider: name, Model: of, Classifies: p.Dialect.Classifies(),
		OpenAI: p.Dialect == provider.OpenAI || simulated, Arguments: p.TemplateArguments || simulated,
	}
	if err := g.Settle(server, judging); err != nil || p.Classifier == nil {
		return err
	}
	if len(g.Labels) > 0 && !p.Classifier.Labels() {
		return &orbench.InputError{Problem: name + " gives no labels to choose from", Hint: "leave label out, or say in the entry of " + name + " where its reply has them"}
	}
	g.Threshold = cmp.Or(g.Threshold, p.Classifier.Threshold)
	if len(g.Labels) == 0 {
		g.Labels = p.Classifier.Harmful
	}
	return nil
}

// Connect connects the endpoint that a request names. The errors are those of Model.
func (s *Set) Connect(at model.Ref) (Client, error) {
	e, err := s.connect(at.Provider, at.Endpoint)
	return s.clients[e], err
}

// Classifies reports whether a provider serves classifiers. It is false for a
// provider that is not known.
func (s *Set) Classifies(name string) bool {
	p, err := s.Providers.Lookup(name)
	return err == nil && p.Dialect.Classifies()
}

// connect makes the client of a provider, unless it is there. baseURL is empty for
// the provider's own address.
func (s *Set) connect(name, baseURL string) (model.Ref, error) {
	if name == sim.Provider {
		at := model.Ref{Provider: name}
		if _, ok := s.clients[at]; !ok {
			s.clients[at] = Client{Model: model.Func(simulated), Concurrency: simConcurrency, Structured: true}
		}
		return at, nil
	}
	p, err := s.Providers.Lookup(name)
	if err != nil {
		return model.Ref{}, err
	}
	resolve := p.Resolve
	if s.Unasked {
		resolve = p.Locate
	}
	e, err := resolve(baseURL, s.Getenv)
	if err != nil {
		return model.Ref{}, err
	}
	at := model.Ref{Provider: name, Endpoint: e.Identity}
	if _, ok := s.clients[at]; ok {
		return at, nil
	}
	to := s.recipient(e)
	if err := wire.MayConnect(e.BaseURL); err != nil {
		return model.Ref{}, &orbench.InputError{
			Problem: fmt.Sprintf("%s: %v", name, err), Hint: "name a server of your own with `base-url`; set `local` to false if others may be asked", Err: err,
		}
	}
	if to.Withheld && !s.Unasked {
		return model.Ref{}, Withheld(to)
	}
	c := Client{Recipient: to, Concurrency: p.Concurrency, Structured: p.Structured, Endpoint: e}
	m, err := dial(e)
	if err != nil {
		return model.Ref{}, err
	}
	if !p.Dialect.Classifies() {
		c.Format = m
	}
	if !s.Unasked {
		c.Model = m
		if e.Own() && p.Dialect == provider.OpenAI {
			c.Model = &describing{Model: m, at: e, said: map[string]func() Said{}, first: map[measured]Description{}}
		}
	}
	s.clients[at] = c
	if s.Connected != nil {
		s.Connected(to)
	}
	return at, nil
}

// StayLocal keeps the connections of the process to this machine and to the hosts of the
// addresses that the user gave, by provider. It returns these hosts; see wire.StayLocal.
func StayLocal(given map[string]string) (hosts []string) {
	for _, address := range given {
		if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
			hosts = append(hosts, u.Hostname())
		}
	}
	slices.Sort(hosts)
	wire.StayLocal(hosts)
	return hosts
}

// recipient says who is asked at an endpoint, and whether its key may go there.
func (s *Set) recipient(e provider.Endpoint) provider.Recipient {
	r := provider.Recipient{Provider: e.Provider.Name, Address: e.BaseURL, KeyEnv: e.KeyEnv}
	if names := e.Provider.KeyEnv; e.KeyEnv == "" && len(names) > 0 {
		r.KeyEnv, r.Unset = names[0], true
	}
	given := provider.Host(s.Given[r.Provider])
	r.Withheld = r.Host() != given && !slices.Contains(s.Allowed, r.Host()) && !e.KeyBelongs(s.Getenv)
	return r
}

// Withheld is the *orbench.InputError for a key that may not go where a file says.
func Withheld(to provider.Recipient) error {
	return &orbench.InputError{
		Problem: fmt.Sprintf("the key in %s would go to %s, a host that only a file names", to.KeyEnv, to.Host()),
		Hint:    fmt.Sprintf("if that host may have the key, say so once for all: orbench config allow-host %s", untrusted.Shell(to.Host())),
	}
}

// dial makes the client of an endpoint in its dialect.
func dial(e provider.Endpoint) (*wire.Caller, error) {
	p := e.Provider
	at := wire.ClientConfig{Provider: p.Name, BaseURL: e.BaseURL, Key: e.Key}
	var kind classify.Kind
	switch p.Dialect {
	case provider.OpenAI:
		at.AuthHeader = p.AuthHeader
		return openai.New(at, openai.Fields{MaxTokens: e.MaxTokensField, Seed: p.SeedField, SafetyIdentifier: p.SafetyIdentifier}), nil
	case provider.Anthropic:
		return anthropic.New(at), nil
	case provider.Google:
		return google.New(at), nil
	case provider.TEI:
		kind.Route = classify.Predict
	case provider.Moderation:
		kind.Route = classify.Moderations
	case provider.VLLMClassify:
		kind.Route = classify.Classify
	case provider.HTTP:
		at.AuthHeader, kind.Description = p.AuthHeader, p.Classifier
	default:
		return nil, fmt.Errorf("provider %s speaks the dialect %q, which this orbench does not", p.Name, p.Dialect)
	}
	return classify.New(at, kind), nil
}

// simulated asks all simulated models, in the process.
func simulated(ctx context.Context, r model.Request) (model.Response, error) {
	seed := int64(SimSeed)
	if r.Params.Seed != nil {
		seed = *r.Params.Seed
	}
	m, err := sim.New(r.Model, seed)
	if err != nil {
		return model.Response{}, &model.Error{Kind: model.NotFound, Provider: r.Provider, Model: r.Model, Err: err}
	}
	return m.Ask(ctx, r)
}

// checkSim refuses simulated models that do not exist.
func checkSim(refs ...model.Ref) error {
	for _, ref := range refs {
		if ref.Provider != sim.Provider {
			continue
		}
		if _, err := sim.New(ref.Model, SimSeed); err != nil {
			return err
		}
	}
	return nil
}
