package judge_test

import (
	"testing"

	"github.com/orbench/orbench/judge"
)

// TestVersion has versions that tell wordings and data apart, and neither models nor
// the limit of tokens.
func TestVersion(t *testing.T) {
	t.Parallel()
	version := func(spec string, maxTokens int) string {
		t.Helper()
		j, err := judge.Parse(spec, judge.Options{MaxTokens: maxTokens})
		if err != nil {
			t.Fatal(err)
		}
		return judge.Version(j)
	}
	seen := map[string]string{}
	for _, spec := range []string{
		"lexical", "paper-keywords", "llm:p/m", "llm:p/m@xstest", "guard:wildguard@p/m", "guard:qwen3guard@p/m",
		"panel:majority(lexical,paper-keywords)", "panel:majority(lexical,llm:p/m)",
	} {
		v := version(spec, 100)
		if len(v) != 8 || seen[v] != "" {
			t.Errorf("%s has the version %q, as has %q", spec, v, seen[v])
		}
		seen[v] = spec
	}
	if version("llm:p/m", 100) != version("llm:other/one", 900) {
		t.Error("the version of a wording depends on the model")
	}
	if v := version(judge.Flag, 0); v != "" {
		t.Errorf("the judge flag has the version %q", v)
	}
}
