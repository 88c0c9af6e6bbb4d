package model_test

import (
	"strings"
	"testing"

	"github.com/orbench/orbench/model"
)

func TestServedBy(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		want                      model.Served
		provider, asked, answered string
	}{
		// The very name, or none.
		{model.AsAsked, "openai", "gpt-4o", "gpt-4o"},
		{model.AsAsked, "vllm", "my-lora", "my-lora"},
		{model.AsAsked, "openai", "gpt-4o", ""},
		{model.AsAsked, "openai", "balanced", "sim/balanced (simulated)"},
		{model.AsAsked, "sim", "strict", "anything (simulated)"},
		{model.AsAsked, "replay", "answers.csv#claude-3-opus", "gpt-4o"},

		// Dates.
		{model.AsVersion, "openai", "gpt-4o", "gpt-4o-2024-08-06"},
		{model.AsVersion, "openai", "gpt-4o-mini", "gpt-4o-mini-2024-07-18"},
		{model.AsVersion, "openai", "gpt-4", "gpt-4-0613"},
		{model.AsVersion, "openai", "gpt-3.5-turbo", "gpt-3.5-turbo-0125"},
		{model.AsVersion, "openai", "o1-preview", "o1-preview-2024-09-12"},
		{model.AsVersion, "openai", "gpt-5", "gpt-5-2025-08-07"},
		{model.AsVersion, "openai", "omni-moderation-latest", "omni-moderation-2024-09-26"},
		{model.AsVersion, "anthropic", "claude-opus-4-8", "claude-opus-4-8-20260514"},
		{model.AsVersion, "anthropic", "claude-sonnet-4-0", "claude-sonnet-4-20250514"},
		{model.AsVersion, "anthropic", "claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"},
		{model.AsVersion, "anthropic", "claude-3-opus-latest", "claude-3-opus-20240229"},
		{model.AsVersion, "google", "gemini-1.5-pro", "gemini-1.5-pro-002"},
		{model.AsVersion, "google", "gemini-2.5-flash-preview", "gemini-2.5-flash-preview-09-2025"},
		{model.AsVersion, "google", "gemini-2.5-flash-preview", "gemini-2.5-flash-preview-05-20"},
		{model.AsVersion, "google", "gemini-flash-latest", "gemini-2.5-flash-preview-09-2025"},
		{model.AsVersion, "google", "gemini-2.0-flash", "models/gemini-2.0-flash"},
		{model.AsVersion, "google", "models/gemini-2.0-flash", "gemini-2.0-flash-001"},
		{model.AsVersion, "mistral", "mistral-large-latest", "mistral-large-2411"},
		{model.AsVersion, "xai", "grok-2-latest", "grok-2-1212"},
		{model.AsVersion, "xai", "grok-4", "grok-4-0709"},
		{model.AsVersion, "litellm", "gpt-4o-2024-08-06", "gpt-4o"},

		// Paths, and what hosts put around names.
		{model.AsVersion, "openrouter", "anthropic/claude-3.5-sonnet", "claude-3-5-sonnet-20241022"},
		{model.AsVersion, "openrouter", "meta-llama/llama-3.1-8b-instruct:free", "meta-llama/llama-3.1-8b-instruct"},
		{model.AsVersion, "openrouter", "deepseek/deepseek-chat", "deepseek/deepseek-chat-v3"},
		{model.AsVersion, "together", "meta-llama/Llama-3-70b-chat-hf", "llama-3-70b-chat-hf"},
		{model.AsVersion, "fireworks", "accounts/fireworks/models/qwen2p5-72b-instruct", "qwen2p5-72b-instruct"},
		{model.AsVersion, "openai", "qwen2.5-7b-instruct", "/data/models/Qwen2.5-7B-Instruct.Q4_K_M.gguf"},
		{model.AsVersion, "vllm", "llama-3.1-8b-instruct", "/models/llama-3.1-8b-instruct-fp8"},
		{model.AsVersion, "vllm", "wildguard", "allenai/wildguard"},
		{model.AsVersion, "ollama", "llama3.2", "llama3.2:latest"},
		{model.AsVersion, "openai", "mixtral-8x7b-instruct", "mistralai/Mixtral-8x7B-Instruct-v0.1"},
		{model.AsVersion, "litellm", "us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4-20250514"},
		{model.AsVersion, "litellm", "claude-3-5-sonnet@20240620", "claude-3-5-sonnet-20240620"},
		{model.AsVersion, "azure", "gpt-35-turbo", "gpt-3.5-turbo-0125"},
		{model.AsVersion, "azure", "our-chat", "gpt-4o-2024-08-06"},
		{model.AsVersion, "azure", "prod-gpt4o", "gpt-4o-2024-11-20"},

		// Another model.
		{model.ByOther, "anthropic", "claude-fable-5", "claude-opus-4-8"},
		{model.ByOther, "openai", "claude-fable-5", "claude-opus-4-8"},
		{model.ByOther, "litellm", "anthropic/claude-fable-5", "anthropic/claude-opus-4-8-20260514"},
		{model.ByOther, "anthropic", "claude-opus-4", "claude-opus-4-1-20250805"},
		{model.ByOther, "openai", "gpt-4o", "gpt-4o-mini-2024-07-18"},
		{model.ByOther, "openai", "gpt-4o-mini", "gpt-4o"},
		{model.ByOther, "openai", "gpt-4", "gpt-4o"},
		{model.ByOther, "openai", "gpt-4", "gpt-4-32k"},
		{model.ByOther, "openai", "gpt-4", "gpt-4.1"},
		{model.ByOther, "openai", "o1", "o1-mini-2024-09-12"},
		{model.ByOther, "openai", "gpt-4o-2024-08-06", "gpt-4o-2024-11-20"},
		{model.ByOther, "google", "gemini-2.5-flash", "gemini-2.5-flash-lite"},
		{model.ByOther, "google", "gemini-flash-latest", "gemini-2.5-flash-lite"},
		{model.ByOther, "google", "gemini-2.5-pro", "gemini-2.5-flash"},
		{model.ByOther, "openrouter", "openai/gpt-4o", "anthropic/claude-3.5-sonnet"},
		{model.ByOther, "together", "meta-llama/Llama-3-70b-chat-hf", "meta-llama/Llama-3-8b-chat-hf"},
		{model.ByOther, "openrouter", "mistralai/mistral-7b-instruct-v0.3", "mistralai/mistral-7b-instruct-v0.1"},
		{model.ByOther, "groq", "llama-3.1-8b-instant", "qwen-qwq-32b"},

		// The names do not tell.
		{model.Unclear, "openrouter", "openrouter/auto", "anthropic/claude-3.5-sonnet"},
		{model.Unclear, "litellm", "gpt-router", "gpt-4o"},
		{model.Unclear, "litellm", "our-model", "gpt-4o-2024-08-06"},
		{model.Unclear, "litellm", "claude", "claude-sonnet-4-5-20250929"},
		{model.Unclear, "litellm", "gpt-4o", "prod-chat"},
		{model.Unclear, "azure", "gpt-4o", "gpt-4o-mini-2024-07-18"},
		{model.Unclear, "azure", "gpt-4o-mini-prod", "gpt-4o-2024-08-06"},
		{model.Unclear, "vllm", "my-lora", "meta-llama/Llama-3-8B"},
		{model.Unclear, "llamacpp", "gpt-4", "/models/qwen2.5-7b-instruct.gguf"},
		{model.Unclear, "openai", "llama3", "meta-llama/Llama-3-8b-chat-hf"},
		{model.Unclear, "openai", "ft:gpt-4o-mini-2024-07-18:acme::abc123", "gpt-4o-mini-2024-07-18"},
		{model.Unclear, "deepseek", "deepseek-chat", "deepseek-v3"},
		{model.Unclear, "openai", "模型", "gpt-4o"},
		{model.Unclear, "openai", "gpt-4o", "///"},
		{model.Unclear, "openai", "kimi-k2", "glm-4.5"},
	} {
		asked := model.Ref{Provider: row.provider, Model: row.asked}
		if got := model.ServedBy(asked, row.answered, nil); got != row.want {
			t.Errorf("%s answered as %q is %q, want %q", asked, row.answered, got, row.want)
		}
		want := row.want
		if want == model.ByOther || want == model.Unclear {
			want = model.AsVersion
		}
		if got := model.ServedBy(asked, row.answered, []string{"x", row.answered}); got != want {
			t.Errorf("%s answered as %q, which is accepted, is %q, want %q", asked, row.answered, got, want)
		}
	}
}

// FuzzServedBy looks for names at which the decision fails or contradicts itself.
func FuzzServedBy(f *testing.F) {
	for _, name := range []string{"gpt-4o", "claude-3-5-sonnet@20240620", "models/gemini-1.5-pro-002", "us.meta.llama3-v1:0", "v1", "2024-08-06", "-", "ft:", "q4_k_m", "0", "gpt-35"} {
		f.Add("openai", name, "gpt-4o-2024-08-06", name)
		f.Add("azure", "gpt-4o", name, "x")
	}
	f.Fuzz(func(t *testing.T, provider, asked, answered, accepted string) {
		ref := model.Ref{Provider: provider, Model: asked}
		got := model.ServedBy(ref, answered, nil)
		if again := model.ServedBy(ref, answered, nil); again != got {
			t.Errorf("%s answered as %q is %q and %q", ref, answered, got, again)
		}
		if same := model.ServedBy(ref, asked, nil); same != model.AsAsked {
			t.Errorf("%s answered as itself is %q", ref, same)
		}
		switch with := model.ServedBy(ref, answered, []string{accepted}); {
		case accepted != answered && with != got:
			t.Errorf("%s answered as %q is %q, and %q where %q is accepted", ref, answered, got, with, accepted)
		case accepted == answered && with != model.AsAsked && with != model.AsVersion:
			t.Errorf("%s answered as %q, which is accepted, is %q", ref, answered, with)
		}
		// Who made a model, and upper case, make no other of it.
		if provider != model.Replay && asked != "" && !strings.HasSuffix(asked, model.SimulatedMark) && !strings.Contains(asked, "tunedModels/") && !strings.HasPrefix(asked, "ft:") {
			if by := model.ServedBy(ref, "maker/"+asked, nil); by == model.ByOther {
				t.Errorf("%s answered by path is another model", ref)
			}
		}
	})
}
