package run_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/model"
)

// TestMark has runs go on, grow, be reused and be asked again, and holds whose answers each
// target counts. Of the targets sim/balanced stands for a server that runs weights, and
// sim/strict for a gateway.
func TestMark(t *testing.T) {
	t.Parallel()
	m := openStore(t, filepath.Join(t.TempDir(), "orbench.db"))
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	reached, unnamed := true, ""
	runs := func(of model.Ref) (bool, bool) { return of.Model == "balanced", reached }
	mark := func(text string, by run.Marking) ([]string, error) {
		t.Helper()
		r, err := run.New(t.Context(), parse(t, text), newClients(t), "")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, "name: ") {
			unnamed = r.Name
		}
		if by.Reuse == "unnamed" {
			by.Reuse = unnamed
		}
		by.Now, by.Runs = at, runs
		if err := r.Mark(t.Context(), m, by); err != nil {
			return nil, err
		}
		var revisions []string
		for _, target := range r.Targets {
			revisions = append(revisions, target.Revision)
		}
		return revisions, r.Save(t.Context(), m, at)
	}
	const both = "targets: [sim/balanced, sim/strict]\ndatasets: [starter]\n"
	for _, step := range []struct {
		what, text string
		by         run.Marking
		unreached  bool
		want       []string // nil for an error
	}{
		{"a name", "name: a\n" + both, run.Marking{}, false, []string{"a", ""}},
		{"another name", "name: b\n" + both, run.Marking{}, false, []string{"b", ""}},
		{"none", both, run.Marking{}, false, []string{"", ""}},
		{"it goes on", "name: a\n" + both, run.Marking{}, true, []string{"a", ""}},
		{"it grows by a variant", "name: a\nvariants: {framings: [authority]}\n" + both, run.Marking{}, true, []string{"a", "a", "", ""}},
		{"under another name", "name: c\n" + both, run.Marking{Reuse: "a"}, false, []string{"a", ""}},
		{"of one without", "name: d\n" + both, run.Marking{Reuse: "unnamed"}, false, []string{"", ""}},
		{"not its own", "name: b\n" + both, run.Marking{Reuse: "a"}, false, nil},
		{"but if it gives them up", "name: b\n" + both, run.Marking{Reuse: "a", Replace: true}, false, []string{"a", ""}},
		{"of none", "name: e\n" + both, run.Marking{Reuse: "nobody"}, false, nil},
		{"asked again", "name: a\n" + both, run.Marking{Fresh: true}, false, []string{"a 2026-11-28T12:00:00Z", "a 2026-11-28T12:00:00Z"}},
		{"which goes on", "name: a\n" + both, run.Marking{}, false, []string{"a 2026-11-28T12:00:00Z", "a 2026-11-28T12:00:00Z"}},
		{"a third", "name: h\n" + both, run.Marking{}, false, []string{"h", ""}},
		{"not reached, but known", "name: f\n" + both, run.Marking{}, true, []string{"f", ""}},
		{"not reached, nor known", "name: g\ntargets: [sim/prudish]\ndatasets: [starter]", run.Marking{}, true, []string{"g"}},
	} {
		reached = !step.unreached
		got, err := mark(step.text, step.by)
		if step.want == nil && err == nil || step.want != nil && (err != nil || !slices.Equal(got, step.want)) {
			t.Errorf("%s: %q, %v; want %q", step.what, got, err, step.want)
		}
	}
}
