package model_test

import (
	"testing"

	"github.com/orbench/orbench/model"
)

func TestFamilyOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"openai/gpt-4o":                          "gpt",
		"openai/o3-mini":                         "gpt",
		"openai/chatgpt-4o-latest":               "gpt",
		"together/meta-llama/Meta-Llama-3-70B":   "llama",
		"ollama/llama3:8b":                       "llama",
		"google/gemini-1.5-pro-latest":           "gemini",
		"google/gemma-2-9b-it":                   "gemini",
		"anthropic/claude-3-opus":                "claude",
		"mistral/open-mixtral-8x7b":              "mistral",
		"together/qwen1.5-72b":                   "qwen",
		"together/deepseek-r1-distill-llama-70b": "deepseek",
		"cohere/command-r":                       "command",
		"sim/moderator-a":                        "moderator",
		"vllm/Some.Thing":                        "some",
		"—":                                      "—",
		"":                                       "",
		"vllm/mygpt-alike, which is a name of its own": "mygpt",
	} {
		if got := model.FamilyOf(name); got != want {
			t.Errorf("%s is of %s, want %s", name, got, want)
		}
	}
}

func TestBareName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"together/meta-llama/Llama-3-70b-chat-hf": "llama-3-70b-chat-hf",
		"gpt-4o": "gpt-4o", "openai/": "", "": "",
	} {
		if got := model.BareName(name); got != want {
			t.Errorf("%s is %s without its provider, want %s", name, got, want)
		}
	}
}
