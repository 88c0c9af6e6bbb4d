package openai

import (
	"strings"

	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/model"
)

// ClientConfig says where calls are sent. BaseURL is the API's root with its version, such as
// "https://api.openai.com/v1"; "/chat/completions" or, for raw texts, "/completions" is added
// to it. AuthHeader is "api-key" for Azure.
type ClientConfig = wire.ClientConfig

// Fields is how the fields of a request differ on a server.
type Fields struct {
	// MaxTokens is the name of the field that bounds the output: MaxTokens, the default,
	// or MaxCompletionTokens.
	MaxTokens string
	// Seed is the name of the field with the seed: Seed, the default, or RandomSeed.
	Seed string
	// SafetyIdentifier tells the provider whose call it is; empty sends none.
	SafetyIdentifier string
}

// The names that fields of a request go by on different servers.
const (
	MaxTokens           = "max_tokens"
	MaxCompletionTokens = "max_completion_tokens" // OpenAI's newer models take no other
	Seed                = "seed"
	RandomSeed          = "random_seed" // Mistral
)

// New makes a model.Model that asks one server. It opens no connection.
func New(cfg ClientConfig, own Fields) *wire.Caller {
	root := strings.TrimRight(cfg.BaseURL, "/")
	return wire.NewCaller(cfg, wire.Dialect{
		Address: func(r *model.Request) (string, error) {
			if r.Params.Form == model.Raw {
				return root + "/completions", nil
			}
			return root + "/chat/completions", nil
		},
		Encode: own.encode, Read: read,
	})
}
