package evaluate

import (
	"testing"

	"github.com/orbench/orbench/internal/job"

	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// TestRole distinguishes the targets' requests from the judges', also for a
// model that is both.
func TestRole(t *testing.T) {
	t.Parallel()
	j, err := judge.Parse("llm:p/both", judge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	own := model.Params{MaxTokens: 100}
	r := &Run{Targets: []Target{{Provider: "p", Model: "one"}, {Provider: "p", Model: "both", Params: own}}, Judges: []judge.Judge{j}}
	for _, tt := range []struct {
		model  string
		params model.Params
		want   job.Role
	}{
		{"one", model.Params{MaxTokens: 7}, "target"},
		{"both", own, "target"},
		{"both", model.Params{MaxTokens: 7}, "judge"},
		{"other", own, ""},
	} {
		if got := r.Job().Role(model.Request{Provider: "p", Model: tt.model, Params: tt.params}); got != tt.want {
			t.Errorf("%s with %d tokens is asked as %q, want %q", tt.model, tt.params.MaxTokens, got, tt.want)
		}
	}
}
