package score

import (
	"testing"

	"github.com/orbench/orbench/judge"
)

func TestKinship(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		target, judge string
		want          SelfJudging
	}{
		{"gpt-4o", "lexical", ""},
		{"gpt-4o", "llm:openai/gpt-4o", SameModel},
		{"openai/GPT-4o", "llm:openai/gpt-4o", SameModel},
		{"gpt-4o-mini", "llm:openai/gpt-4o", SameFamily},
		{"gpt-4o", "llm:anthropic/claude-haiku-4-5", ""},
		{"meta-llama/Llama-3-70b-chat-hf", "llm:ollama/llama3.2:3b", SameFamily},
		{"gpt-4o", "panel:majority(lexical,llm:openai/o3-mini,llm:openai/gpt-4o)", SameModel},
		{"gpt-4o", "panel:majority(lexical,llm:openai/o3-mini,paper-keywords)", SameFamily},
	} {
		j, err := judge.Parse(test.judge, judge.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := selfJudging(test.target, j); got != test.want {
			t.Errorf("%s is judged by %s as %q, want %q", test.target, test.judge, got, test.want)
		}
	}
}
