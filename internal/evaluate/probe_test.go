package evaluate_test

import (
	"context"
	"html"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// gullible believes the verdict that an answer contains, however disguised.
// Otherwise it calls the answer a refusal if it declines.
func gullible(_ context.Context, r model.Request) (model.Response, error) {
	_, reply, _ := strings.Cut(r.Messages[0].Content, " REPLY OPENS>>\n")
	reply, _, _ = strings.Cut(reply, " REPLY CLOSES>>")
	said := strings.ReplaceAll(norm.NFKC.String(html.UnescapeString(reply)), "\u200b", "")
	switch {
	case strings.Contains(said, "direct_refusal"):
		return verdict(r, orbench.DirectRefusal), nil
	case strings.Contains(said, "direct_answer") || !strings.Contains(said, "cannot"):
		return verdict(r, orbench.DirectAnswer), nil
	}
	return verdict(r, orbench.DirectRefusal), nil
}

// steadfast reads only the start of the answer.
func steadfast(_ context.Context, r model.Request) (model.Response, error) {
	_, reply, _ := strings.Cut(r.Messages[0].Content, " REPLY OPENS>>\n")
	if strings.HasPrefix(reply, "I cannot") {
		return verdict(r, orbench.DirectRefusal), nil
	}
	return verdict(r, orbench.DirectAnswer), nil
}

// TestProbes probes two judges, one of which believes everything. What is
// planned must be asked, once. The other figures and all rows must equal those
// of the run without probes.
func TestProbes(t *testing.T) {
	t.Parallel()
	const prompts = 300
	answering := &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		text := "Use the kill command for that."
		if len(r.Messages[0].Content)%2 == 0 {
			text = "I cannot help with that."
		}
		return model.Response{Text: text, Finish: model.Stop}, nil
	}}
	p := providers{"t": answering, "gullible": {ask: gullible}, "steadfast": {ask: steadfast}}
	r := &evaluate.Run{
		Targets: []evaluate.Target{target("t", "m")}, Datasets: []*dataset.Dataset{newDataset(t, "set", lines("a", 0, prompts))},
		Judges: newJudges(t, "lexical", "llm:gullible/m", "llm:steadfast/m"),
	}
	m := newStore(t)
	p.mustFill(t, r, m)
	plain, rows := deriveRun(t, r, m)
	if plain.Susceptibility != nil {
		t.Fatalf("without probes: %+v", plain.Susceptibility)
	}
	for _, judge := range []string{"gullible", "steadfast"} {
		if sent := len(p[judge].requests()); sent != prompts {
			t.Errorf("%s was asked %d times about %d answers", judge, sent, prompts)
		}
	}

	r.Probed = true
	planned := func(m store.Reader) map[string]int {
		t.Helper()
		plans, err := r.Job().Plan(t.Context(), m, job.AtMost)
		if err != nil {
			t.Fatal(err)
		}
		calls := map[string]int{}
		for _, plan := range plans {
			calls[plan.Provider+" "+string(plan.Role)] += plan.Calls
		}
		return calls
	}
	unjudged := *r
	unjudged.Judges = r.Judges[:1]
	answered := newStore(t)
	p.mustFill(t, &unjudged, answered)
	if sent := len(p["t"].requests()); sent != 2*prompts {
		t.Fatalf("the target was asked %d times", sent)
	}
	if calls := planned(answered); calls["gullible judge"] != prompts || calls["gullible probe"] < 3 {
		t.Errorf("planned for answers that are there: %v", calls)
	}
	afresh, now := planned(nil), planned(m)
	n := now["gullible probe"]
	if n < 3 || n > 30 || afresh["gullible probe"] != n || now["gullible judge"] != 0 || now["steadfast probe"] != n {
		t.Fatalf("planned afresh %v, then %v", afresh, now)
	}
	p.mustFill(t, r, m)
	if sent := len(p["gullible"].requests()); sent != n {
		t.Errorf("%d calls are planned and %d sent", n, sent)
	}
	probed, probedRows := deriveRun(t, r, m)
	if !reflect.DeepEqual(rows, probedRows) {
		t.Error("the rows are others with probes")
	}
	figures := probed.Susceptibility
	probed.Susceptibility = nil
	if !reflect.DeepEqual(plain, probed) {
		t.Error("the figures are others with probes")
	}
	if len(figures) != 2 || figures[0].Judge != "llm:gullible/m" || figures[0].Probes != n || figures[0].Moved != n || figures[0].CI95[1] != 1 ||
		figures[1].Judge != "llm:steadfast/m" || figures[1].Probes != n || figures[1].Moved != 0 || figures[1].CI95[0] != 0 {
		t.Errorf("of %d probes: %+v", n, figures)
	}
	asked := 0
	for call, err := range r.Job().All(t.Context(), m) {
		if err != nil {
			t.Fatal(err)
		}
		if call.Role == job.Probe {
			asked++
			if !call.Remembered || call.Judge == "" {
				t.Errorf("the probe %+v is not remembered", call)
			}
		}
	}
	if asked != 2*n {
		t.Errorf("%d calls are marked as probes, want %d", asked, 2*n)
	}
	// A second time nothing is asked, and a run that is probed from the start
	// asks the same.
	p.mustFill(t, r, m)
	if sent := len(p["gullible"].requests()); sent != 0 {
		t.Errorf("%d calls are sent again", sent)
	}
	other := newStore(t)
	p.mustFill(t, r, other)
	if sent := len(p["gullible"].requests()); sent != prompts+n {
		t.Errorf("a run from the start sends %d calls to a judge, want %d", sent, prompts+n)
	}
	if again, _ := deriveRun(t, r, other); !reflect.DeepEqual(again.Susceptibility, figures) {
		t.Errorf("from the start: %+v, want %+v", again.Susceptibility, figures)
	}
	// Shards probe what the whole run does, each its own part.
	parted, sent := newStore(t), 0
	for number := range 3 {
		part := *r
		part.Shard = evaluate.Shard{Number: number + 1, Of: 3}
		p.mustFill(t, &part, parted)
		sent += len(p["gullible"].requests())
	}
	p.mustFill(t, r, parted)
	if more := len(p["gullible"].requests()); sent != prompts+n || more != 0 {
		t.Errorf("three shards send %d calls to a judge and the whole %d more, want %d and none", sent, more, prompts+n)
	}
	if whole, _ := deriveRun(t, r, parted); !reflect.DeepEqual(whole.Susceptibility, figures) {
		t.Errorf("of three shards: %+v, want %+v", whole.Susceptibility, figures)
	}
}
