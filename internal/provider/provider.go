package provider

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dialect/classify"
	"github.com/orbench/orbench/internal/settings"
)

// Dialect names the package that speaks to a provider.
type Dialect string

// The dialects.
const (
	OpenAI    Dialect = "openai"
	Anthropic Dialect = "anthropic"
	Google    Dialect = "google"
	// The classifiers of text-embeddings-inference and of vLLM; see package
	// model/classify.
	TEI          Dialect = "tei"
	VLLMClassify Dialect = "vllm-classify"
	// OpenAI's moderation endpoint, and any classifier that an entry describes.
	Moderation Dialect = "openai-moderation"
	HTTP       Dialect = "http"
)

// dialects lists them.
var dialects = []Dialect{OpenAI, Anthropic, Google, TEI, VLLMClassify, Moderation, HTTP}

// batchServices are the protocols of batch services, with the dialect of their calls.
var batchServices = map[string]Dialect{"openai": OpenAI, "together": OpenAI, "mistral": OpenAI, "anthropic": Anthropic, "google": Google}

// Classifies reports whether servers of the dialect put labels on texts, instead of
// answering them.
func (d Dialect) Classifies() bool {
	return d == TEI || d == VLLMClassify || d == Moderation || d == HTTP
}

// Provider is an entry of the table.
type Provider struct {
	// Name is what stands before the slash of a target: lower-case letters,
	// digits, "-" and "_".
	Name string `json:"name"`
	// KnownAs are other names that people try; they only lead to a hint.
	KnownAs []string `json:"known_as,omitempty"`
	Dialect Dialect  `json:"dialect"`
	// Weights is true for a program that runs weights, which may be exchanged behind the same
	// address and name.
	Weights bool `json:"weights,omitempty"`
	// BaseURL is the API's root with its version, where the provider has one
	// address for all.
	BaseURL string `json:"base_url,omitempty"`
	// BaseURLEnv is an environment variable whose address goes before BaseURL.
	// It may leave out the scheme and the port, and then has those of BaseURL. Its
	// name ends in _URL, _HOST, _ENDPOINT or _API_BASE.
	BaseURLEnv string `json:"base_url_env,omitempty"`
	// BaseURLPath is added to the address from BaseURLEnv, unless it ends so.
	BaseURLPath string `json:"base_url_path,omitempty"`
	// KeyEnv are the environment variables that may hold the key, the usual one
	// first. Their names end in _API_KEY, but for a few.
	KeyEnv []string `json:"key_env,omitempty"`
	// KeyOptional is true for servers that may run without a key.
	KeyOptional bool `json:"key_optional,omitempty"`
	// AuthHeader is the header that carries the key alone; empty stands for the
	// dialect's own.
	AuthHeader string `json:"auth_header,omitempty"`
	// MaxTokensField and SeedField name fields of the openai dialect; empty
	// stands for "max_tokens" and "seed".
	MaxTokensField string `json:"max_tokens_field,omitempty"`
	SeedField      string `json:"seed_field,omitempty"`
	// OtherServerMaxTokensField takes the place of MaxTokensField when the user
	// names a server of another domain than BaseURL's.
	OtherServerMaxTokensField string `json:"other_server_max_tokens_field,omitempty"`
	// Concurrency is how many calls to make at once when the user does not say,
	// at least 1.
	Concurrency int `json:"concurrency"`
	// Structured is true when the provider can make output fit a JSON schema,
	// whatever the model.
	Structured bool `json:"structured,omitempty"`
	// TemplateArguments is true for a server of the openai dialect that hands
	// chat_template_kwargs on to the model's own chat template, and answers texts without
	// one at /completions. Guards are asked by both.
	TemplateArguments bool `json:"template_arguments,omitempty"`
	// Batch is the protocol of the provider's batch service, as in batchServices;
	// empty for none.
	Batch string `json:"batch,omitempty"`
	// Classifier describes a classifier of the dialect http; nil for any other.
	Classifier *classify.Description `json:"classifier,omitempty"`
	// SafetyIdentifier is sent with each call of the openai dialect, so that the provider
	// knows whose calls they are; empty sends none. It is no part of a request.
	SafetyIdentifier string `json:"safety_identifier,omitempty"`
	// Doc is the page that documents the API.
	Doc string `json:"doc,omitempty"`
	// LimitsDoc is the page that says why the provider limits an account; empty if there is
	// only Doc.
	LimitsDoc string `json:"limits_doc,omitempty"`
}

// Table is a list of providers, in the order in which they are shown. It is
// never changed once made.
type Table []Provider

//go:embed providers.json
var builtIn []byte

// Default is the built-in table.
func Default() Table { return readBuiltIn() }

var readBuiltIn = settings.BuiltIn[Table]("providers.json", builtIn)

// With returns the table with the entries read from r, a YAML or JSON list; an entry
// with the name of an old one replaces it. The name stands for the file in
// errors, which are *orbench.InputError with the line.
func (t Table) With(r io.Reader, name string) (Table, error) {
	return settings.Merge(t, r, name, func(p Provider) string { return p.Name }, Provider.validate)
}

// validate says what is wrong with an entry.
func (p Provider) validate() error {
	bad := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}
	switch {
	case p.Name == "":
		return errors.New("an entry has no name")
	case strings.ContainsFunc(p.Name, bad):
		return fmt.Errorf("the name %q may hold only lower-case letters, digits, - and _", p.Name)
	case p.Name == "sim" || p.Name == "replay":
		return fmt.Errorf("the name %s is taken by a part of orbench itself", p.Name)
	case !slices.Contains(dialects, p.Dialect):
		return fmt.Errorf("%s: the dialect is %q; it must be one of %s", p.Name, p.Dialect, strings.Join(settings.Names(dialects), ", "))
	case (p.Classifier != nil) != (p.Dialect == HTTP):
		return fmt.Errorf("%s: the dialect http has a classifier, which says how it is asked, and no other dialect has", p.Name)
	case p.BaseURL == "" && p.BaseURLEnv == "":
		return fmt.Errorf("%s: neither base_url nor base_url_env is set", p.Name)
	case len(p.KeyEnv) == 0 && !p.KeyOptional:
		return fmt.Errorf("%s: key_env is missing; a server without keys says key_optional", p.Name)
	case p.Concurrency < 1:
		return fmt.Errorf("%s: concurrency must be at least 1", p.Name)
	case !slices.Contains([]string{"", "max_tokens", "max_completion_tokens"}, p.MaxTokensField),
		!slices.Contains([]string{"", "max_tokens", "max_completion_tokens"}, p.OtherServerMaxTokensField):
		return fmt.Errorf("%s: a field for the token limit must be max_tokens or max_completion_tokens", p.Name)
	case !slices.Contains([]string{"", "seed", "random_seed"}, p.SeedField):
		return fmt.Errorf("%s: seed_field must be seed or random_seed", p.Name)
	case p.TemplateArguments && p.Dialect != OpenAI:
		return fmt.Errorf("%s: only the dialect openai has template_arguments", p.Name)
	case p.SafetyIdentifier != "" && p.Dialect != OpenAI:
		return fmt.Errorf("%s: only the dialect openai has a safety_identifier", p.Name)
	case p.Batch != "" && batchServices[p.Batch] != p.Dialect:
		return fmt.Errorf("%s: batch must be openai, together or mistral for the dialect openai, or anthropic or google for those", p.Name)
	}
	if p.Classifier != nil {
		if err := p.Classifier.Check(); err != nil {
			return fmt.Errorf("%s: classifier: %w", p.Name, err)
		}
	}
	if p.BaseURL != "" {
		if _, err := cleanURL(p.BaseURL); err != nil {
			return fmt.Errorf("%s: base_url: %w", p.Name, err)
		}
	}
	return p.checkVariables()
}

// Lookup finds the provider of that name. For an unknown one it returns an
// *orbench.InputError that suggests the nearest name.
func (t Table) Lookup(name string) (Provider, error) {
	var names, known []string
	of := map[string]string{}
	for _, p := range t {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
		for _, n := range append([]string{p.Name}, p.KnownAs...) {
			of[n], known = p.Name, append(known, n)
		}
	}
	e := &orbench.InputError{
		Problem: fmt.Sprintf("there is no provider %q", name),
		Hint:    "the providers are " + strings.Join(names, ", "),
	}
	if near := of[settings.Nearest(name, known)]; near != "" {
		e.Hint = fmt.Sprintf("did you mean %s? %s", near, e.Hint)
	}
	return Provider{}, e
}

// ParseTarget splits a target, "provider/model", at its first slash; the model's name may
// hold more. It does not check whether the provider exists.
func ParseTarget(s string) (name, model string, err error) {
	fault := func(problem string) (string, string, error) {
		return "", "", &orbench.InputError{
			Setting: "target", Problem: problem,
			Hint: "write it as provider/model, such as openai/gpt-4o or ollama/llama3.2",
		}
	}
	name, model, slash := strings.Cut(strings.TrimSpace(s), "/")
	switch {
	case strings.TrimSpace(s) == "":
		return fault("a target is empty")
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }):
		return fault(fmt.Sprintf("the target %q holds characters that no name has", s))
	case !slash:
		return fault(fmt.Sprintf("the target %q names no provider", s))
	case name == "":
		return fault(fmt.Sprintf("the target %q has nothing before the slash", s))
	case model == "":
		return fault(fmt.Sprintf("the target %q has nothing after the slash", s))
	}
	return name, model, nil
}
