package moderation

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/internal/policy"
	"github.com/orbench/orbench/internal/sheet"
	"github.com/orbench/orbench/internal/sim"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

func named(t *testing.T, names ...string) []policy.Policy {
	t.Helper()
	var all []policy.Policy
	for _, name := range names {
		p, err := policy.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func starter(t *testing.T, limit int, policies ...string) *Run {
	t.Helper()
	set, err := dataset.Open(t.Context(), "starter", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &Run{Dataset: set, Limit: limit, Policies: named(t, policies...), Rule: moderate.Majority}
	for _, name := range []string{"moderator-a", "moderator-b", "moderator-c"} {
		r.Moderators = append(r.Moderators, moderate.Moderator{Name: "sim/" + name, Ref: model.Ref{Provider: sim.Provider, Model: name}, MaxTokens: 1000})
	}
	return r
}

// live fills by simulated models with a budget of so many requests, 0 for no limit.
func live(t *testing.T, memory *store.Store, r *Run, most int) *fill.Live {
	t.Helper()
	l := fill.NewLive(memory, fill.LiveConfig{Attempts: 1, Budget: fill.Budget{Requests: most}})
	for _, ref := range r.Job().Refs() {
		m, err := sim.New(ref.Model, 1)
		if err != nil {
			t.Fatal(err)
		}
		l.Lane(ref, m, fill.Limits{Concurrency: 4})
	}
	return l
}

func figures(t *testing.T, r *Run, m store.Reader) (*Result, string) {
	t.Helper()
	var rows [][]string
	result, err := r.Derive(context.Background(), m, func(row PromptVotes) error {
		if row.Missing == 0 {
			rows = append(rows, row.Cells())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, f := range []table.Format{table.AsText, table.AsJSON, table.AsCSV, table.AsMarkdown} {
		if err := f.Write(&b, table.Screen{}, result); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(sheet.Write(&b, false, r.Columns(), rows), sheet.Write(&b, true, r.Columns(), rows)); err != nil {
		t.Fatal(err)
	}
	return result, b.String()
}

// TestResume stops a moderation by its budget and goes on: every vote is paid for
// once, and the figures are those of one that was never stopped.
// What a sample of the prompts lets expect is near what is planned for all of them.
func TestSampledPlan(t *testing.T) {
	t.Parallel()
	r := starter(t, 200, "paper")
	all, err := r.Job().Plan(t.Context(), nil, job.AtMost, nil)
	if err != nil {
		t.Fatal(err)
	}
	for most, off := range map[int]float64{50: 0.15, 500: 0} {
		plans, err := r.Job().SampledPlan(t.Context(), nil, most)
		if err != nil || len(plans) != len(all) {
			t.Fatalf("%d plans, %v", len(plans), err)
		}
		for i, p := range plans {
			if p.Calls != all[i].Calls || math.Abs(float64(p.InputTokens-all[i].InputTokens)) > off*float64(all[i].InputTokens) {
				t.Errorf("by %d prompts %+v, want about %+v", most, p, all[i])
			}
		}
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	open := func(name string) *store.Store {
		m, err := address.Open(ctx, filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		return m
	}
	r := starter(t, 40, "paper", "security")
	plans, err := r.Job().Plan(ctx, nil, job.AtMost, nil)
	if err != nil || len(plans) != 3 || plans[0].Calls != 80 || plans[0].FromMemo != 0 || r.Job().Calls != 240 {
		t.Fatalf("plan %+v, %v", plans, err)
	}
	at := open("stopped.db")
	var budget *fill.BudgetError
	if err := live(t, at, r, 100).Fill(ctx, r.Job().Work(at)); !errors.As(err, &budget) {
		t.Fatalf("got %v, want the end of the budget", err)
	}
	part, _ := figures(t, r, at)
	if part.LeftOut == 0 || part.Prompts+part.LeftOut != 40 {
		t.Errorf("stopped: %+v", part)
	}
	rest := live(t, at, r, 0)
	if err := rest.Fill(ctx, r.Job().Work(at)); err != nil {
		t.Fatal(err)
	}
	whole := open("whole.db")
	once := live(t, whole, r, 0)
	if err := once.Fill(ctx, r.Job().Work(whole)); err != nil {
		t.Fatal(err)
	}
	if paid := rest.Stats().Requests + 100; paid != once.Stats().Requests {
		t.Errorf("paid for %d votes in two goes and for %d in one", paid, once.Stats().Requests)
	}
	result, shown := figures(t, r, at)
	if _, want := figures(t, r, whole); shown != want {
		t.Error("the figures are not those of a moderation that was never stopped")
	}
	conserved(t, result)
	if result.LeftOut != 0 || result.Prompts != 40 || result.Changes[0].Changed == 0 {
		t.Errorf("%+v", result)
	}
	if plans, err = r.Job().Plan(ctx, at, job.AtMost, nil); err != nil || plans[0].Calls != 0 || plans[0].FromMemo != 80 {
		t.Errorf("plan %+v, %v", plans, err)
	}
}

// conserved holds counts to adding up.
func conserved(t *testing.T, r *Result) {
	t.Helper()
	labels := map[string][]int{}
	sum := func(name string, counts []Count) {
		all := 0
		for _, c := range counts {
			all += c.N
			labels[name] = append(labels[name], c.N)
		}
		if all != r.Prompts {
			t.Errorf("%s: %d of %d prompts have a label", name, all, r.Prompts)
		}
	}
	sum(Own, r.Own)
	for _, p := range r.Policies {
		sum(p.Policy, p.Labels)
		toxic := 0
		for _, c := range p.Categories {
			toxic += c.N
		}
		if toxic != p.Labels[1].N || p.Votes != r.Prompts*len(r.Moderators) {
			t.Errorf("%s: %d prompts in categories, %d toxic, %d votes", p.Policy, toxic, p.Labels[1].N, p.Votes)
		}
	}
	for _, c := range r.Changes {
		same := 0
		for i, line := range c.Table {
			from := 0
			for j, n := range line {
				from += n
				if i == j {
					same += n
				}
			}
			if from != labels[c.From][i] {
				t.Errorf("from %s: %d prompts of label %d, and %d in the table", c.From, labels[c.From][i], i, from)
			}
		}
		if same+c.Changed != r.Prompts {
			t.Errorf("%d the same, %d changed, of %d", same, c.Changed, r.Prompts)
		}
	}
}

// TestChange counts ten prompts by hand: four safe under both, three toxic under both,
// one that becomes toxic and two that become safe. Cohen's kappa is (0.7 - 0.5) / (1 -
// 0.5), Wilson's interval of 3 of 10 is 0.108 to 0.603.
func TestChange(t *testing.T) {
	t.Parallel()
	r := starter(t, 10, "paper", "legal")
	tally := newTally(r)
	i := 0
	add := func(n int, from, to orbench.Label) {
		for range n {
			i++
			row := PromptVotes{Prompt: orbench.NewPrompt(fmt.Sprintf("Prompt %d", i), "", orbench.Safe), Votes: make([][]moderate.Vote, 2)}
			for _, label := range []orbench.Label{from, to} {
				d := moderate.Decision{Label: label}
				if label == orbench.Toxic {
					d.Category = "illegal"
				}
				row.Decisions = append(row.Decisions, d)
			}
			if got := row.changes(); got != (from != to) {
				t.Errorf("%s to %s changes: %v", from, to, got)
			}
			tally.add(row)
		}
	}
	add(4, orbench.Safe, orbench.Safe)
	add(3, orbench.Toxic, orbench.Toxic)
	add(1, orbench.Safe, orbench.Toxic)
	add(2, orbench.Toxic, orbench.Safe)
	c := tally.result().Changes[0]
	near := func(a, b float64) bool { return math.Abs(a-b) < 0.001 }
	if c.Changed != 3 || c.ToToxic != 1 || c.ToSafe != 2 || c.Table[0][1] != 1 || c.Table[1][0] != 2 ||
		!near(*c.Value, 0.4) || !near(c.CI95[0], 0.1078) || !near(c.CI95[1], 0.6032) || c.CI95Clustered != nil || c.KappaCI95 == nil {
		t.Errorf("%+v, kappa %v", c, *c.Value)
	}
}

// TestClusters: prompts that change together are worth less than as many that change
// by themselves.
func TestClusters(t *testing.T) {
	t.Parallel()
	tally := newTally(starter(t, 40, "paper", "legal"))
	for i := range 40 {
		p := orbench.NewPrompt(fmt.Sprintf("Prompt %d", i), "", orbench.Safe)
		p.Cluster = fmt.Sprint(i / 4)
		to := orbench.Safe
		if i/4%2 == 0 {
			to = orbench.Toxic
		}
		tally.add(PromptVotes{Prompt: p, Votes: make([][]moderate.Vote, 2), Decisions: []moderate.Decision{{Label: orbench.Safe}, {Label: to}}})
	}
	r := tally.result()
	c := r.Changes[0]
	if r.Clusters != 10 || c.Changed != 20 || c.CI95Clustered == nil || c.CI95Clustered[1]-c.CI95Clustered[0] < 1.5*(c.CI95[1]-c.CI95[0]) {
		t.Errorf("%d clusters, %+v, clustered %v", r.Clusters, c.CI95, c.CI95Clustered)
	}
	// No prompt is toxic at first, so that kappa is 0 and has no width but that.
	if c.KappaCI95Clustered == nil || c.KappaCI95Clustered[1]-c.KappaCI95Clustered[0] < 1.5*(c.KappaCI95[1]-c.KappaCI95[0]) {
		t.Errorf("kappa %v, clustered %v", c.KappaCI95, c.KappaCI95Clustered)
	}
}

// TestOnePolicy holds a single policy against the dataset's own labels.
func TestOnePolicy(t *testing.T) {
	t.Parallel()
	result, shown := figures(t, starter(t, 30, "medical"), nil)
	conserved(t, result)
	if len(result.Changes) != 1 || result.Changes[0].From != Own || result.LeftOut != 30 || !strings.Contains(shown, "30 more are in no figure") {
		t.Errorf("%+v", result.Changes)
	}
}

// TestCSV gives every line the cells of the header.
func TestCSV(t *testing.T) {
	t.Parallel()
	result, _ := figures(t, starter(t, 20, "paper", "medical", "legal"), nil)
	var b bytes.Buffer
	if err := table.CSV(&b, result.Rows()); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	scopes := map[string]int{}
	for _, line := range lines[1:] {
		scopes[line[0]]++
	}
	if scopes["label"] != 16 || scopes["changed"] != 2 || scopes["transition"] != 32 || scopes["category"] != 24 {
		t.Errorf("%v", scopes)
	}
}
