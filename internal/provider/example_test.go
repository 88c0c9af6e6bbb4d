package provider_test

import (
	"fmt"

	"github.com/orbench/orbench/internal/provider"
)

func Example() {
	environment := map[string]string{"OPENROUTER_API_KEY": "secret"}

	name, model, err := provider.ParseTarget("openrouter/meta-llama/llama-3.3-70b-instruct")
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := provider.Default().Lookup(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := p.Resolve("", func(name string) string { return environment[name] })
	fmt.Println(model, e.BaseURL, e.Key != "", err)

	_, err = provider.Default().Lookup("gorq")
	fmt.Println(err)
	// Output:
	// meta-llama/llama-3.3-70b-instruct https://openrouter.ai/api/v1 true <nil>
	// there is no provider "gorq"; did you mean groq? the providers are openai, anthropic, google, azure, mistral, together, openrouter, litellm, groq, deepseek, fireworks, xai, ollama, vllm, lmstudio, llamacpp, openai-moderation, tei, vllm-classify
}
