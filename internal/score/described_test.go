package score

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench/model"
)

// What servers say of themselves is counted without the fingerprint of each reply, and not without
// bound.
func TestDescribed(t *testing.T) {
	t.Parallel()
	var r RunResult
	for i := range 60 {
		r.describe(model.Response{Model: "m", Server: fmt.Sprintf("root=/a; system_fingerprint=%d", i)})
	}
	r.describe(model.Response{Model: "m", Server: "root=/b"})
	r.describe(model.Response{Model: "n"})
	r.describe(model.Response{Model: "o", Accepted: true})
	r.describe(model.Response{})
	want := map[string]int{"root=/a; model=m": 60, "root=/b; model=m": 1, "model=n": 1}
	if diff := cmp.Diff(want, r.Described); diff != "" {
		t.Error(diff)
	}
	for i := range 60 {
		r.describe(model.Response{Model: fmt.Sprint(i)})
	}
	if r.describe(model.Response{Model: "n"}); len(r.Described) != mostDescribed || r.Described["model=n"] != 2 {
		t.Errorf("%d texts are counted, %d answers of n", len(r.Described), r.Described["model=n"])
	}
}
