package openai

import (
	"net/http"
	"strings"

	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/model"
)

// ClientConfig says where calls are sent and how the server there differs
// from OpenAI's own.
type ClientConfig struct {
	// Provider names the provider in errors.
	Provider string
	// BaseURL is the API's root with its version, such as
	// "https://api.openai.com/v1"; "/chat/completions" or, for raw texts, "/completions" is
	// added to it.
	BaseURL string
	// Key is the secret of the account; empty sends none.
	Key string
	// AuthHeader is the header that carries the key alone, such as "api-key"
	// for Azure; empty stands for "Authorization: Bearer KEY".
	AuthHeader string
	// MaxTokensField is the name of the field that bounds the output:
	// MaxTokens, the default, or MaxCompletionTokens.
	MaxTokensField string
	// SeedField is the name of the field with the seed: Seed, the default, or
	// RandomSeed.
	SeedField string
	// SafetyIdentifier tells the provider whose call it is; empty sends none.
	SafetyIdentifier string
	// HTTPClient makes the calls; nil stands for one tuned as wire.Client says.
	HTTPClient *http.Client
}

// The names that fields of a request go by on different servers.
const (
	MaxTokens           = "max_tokens"
	MaxCompletionTokens = "max_completion_tokens" // OpenAI's newer models take no other
	Seed                = "seed"
	RandomSeed          = "random_seed" // Mistral
)

// New makes a model.Model that asks one server. It opens no connection.
func New(cfg ClientConfig) *wire.Caller {
	root := strings.TrimRight(cfg.BaseURL, "/")
	return wire.NewCaller(wire.ClientConfig{Provider: cfg.Provider, Key: cfg.Key, AuthHeader: cfg.AuthHeader, HTTPClient: cfg.HTTPClient}, wire.Dialect{
		Address: func(r *model.Request) (string, error) {
			if r.Params.Form == model.Raw {
				return root + "/completions", nil
			}
			return root + "/chat/completions", nil
		},
		Encode: cfg.encode, Read: read,
	})
}
