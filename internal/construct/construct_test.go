package construct

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/sim"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/refusal"
	"github.com/orbench/orbench/similar"
)

// world is a set of simulated models with a memory of what they said.
type world struct {
	mu      sync.Mutex
	models  map[string]model.Model
	replies map[string]call
	asked   int
	// fails says whether a call fails for good; nil for never.
	fails func(model.Request) bool
	// jitter makes calls take a random time, so that they come back in another
	// order every time.
	jitter *rand.Rand
}

// call is a request and its reply.
type call struct {
	request  model.Request
	response model.Response
}

func newWorld() *world {
	return &world{models: map[string]model.Model{}, replies: map[string]call{}}
}

func (w *world) ask(ctx context.Context, r model.Request) (model.Response, bool, error) {
	hash := r.Hash().String()
	w.mu.Lock()
	if c, ok := w.replies[hash]; ok {
		w.mu.Unlock()
		return c.response, true, nil
	}
	w.asked++
	m := w.models[r.Model]
	if m == nil {
		var err error
		if m, err = sim.New(r.Model, 1); err != nil {
			w.mu.Unlock()
			return model.Response{}, false, err
		}
		w.models[r.Model] = m
	}
	var wait time.Duration
	if w.jitter != nil {
		wait = time.Duration(w.jitter.IntN(200)) * time.Microsecond
	}
	failed := w.fails != nil && w.fails(r)
	w.mu.Unlock()
	if failed {
		return model.Response{}, false, nil
	}
	if wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return model.Response{}, false, context.Cause(ctx)
		}
	}
	response, err := m.Ask(ctx, r)
	if err != nil {
		return response, false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.replies[hash] = call{r, response}
	return response, true, nil
}

// small is the template's configuration with fewer seeds.
func small(t testing.TB, seeds int) benchmark.BuildConfig {
	t.Helper()
	c, err := Parse("build.yaml", []byte(Template))
	if err != nil {
		t.Fatal(err)
	}
	c.Seeds.PerCategory, c.Toxic.CheckSeeds, c.Toxic.Size = seeds, 3, 25
	return c
}

// builder builds a configuration with simulated models.
func (w *world) builder(c benchmark.BuildConfig) *Builder {
	refs := map[string]model.Ref{}
	for _, name := range append(c.Models(), "sim/strict", "sim/balanced", "sim/relaxed") {
		refs[name] = model.Ref{Provider: "sim", Model: strings.TrimPrefix(name, "sim/")}
	}
	lexical, err := judge.Parse("lexical", judge.Options{})
	if err != nil {
		panic(err)
	}
	return &Builder{Config: c, Refs: refs, Judge: lexical, Ask: w.ask, Width: 32}
}

// write builds and writes a benchmark and gives its folder.
func write(t testing.TB, b *Builder) string {
	t.Helper()
	made, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := made.Close(); err != nil {
			t.Error(err)
		}
	}()
	if lost := made.Funnel.Lost(); lost != "" {
		t.Errorf("the count of %s does not add up: %+v", lost, made.Funnel)
	}
	dir := filepath.Join(t.TempDir(), "benchmark")
	if err := made.Write(dir, "orbench test", price.Default()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// built gives a folder with the benchmark of small(t, 4), which is built once and copied.
func built(t testing.TB) string {
	t.Helper()
	builtOnce.Do(func() { builtFiles = contents(t, write(t, newWorld().builder(small(t, 4)))) })
	dir := t.TempDir()
	for name, text := range builtFiles {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var (
	builtOnce  sync.Once
	builtFiles map[string]string
)

// contents reads all files of a folder.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(text)
	}
	return files
}

// TestSameBytesHoweverOftenStopped stops a build at random moments, with calls
// coming back in random order, until it gets through; what it writes is what an
// undisturbed build writes.
func TestSameBytesHoweverOftenStopped(t *testing.T) {
	t.Parallel()
	want := contents(t, built(t))

	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	w := newWorld()
	w.jitter = rand.New(rand.NewPCG(seed, 1))
	b := w.builder(small(t, 4))
	b.Width = 7
	w.stopped(t, b, 5, 125)
	got := contents(t, write(t, b))
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs", name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}

// stopped builds until a build gets through, and stops those before it at random moments,
// each after some calls.
func (w *world) stopped(t *testing.T, b *Builder, times, calls int) {
	t.Helper()
	stopped := errors.New("stopped")
	for stops := 0; ; stops++ {
		ctx, stop := context.WithCancelCause(t.Context())
		b.Ask = w.ask
		if stops < times {
			end := w.asked + calls*2/5 + rand.IntN(calls*6/5)
			b.Ask = func(ctx context.Context, r model.Request) (model.Response, bool, error) {
				w.mu.Lock()
				over := w.asked >= end
				w.mu.Unlock()
				if over {
					stop(stopped)
					return model.Response{}, false, context.Cause(ctx)
				}
				return w.ask(ctx, r)
			}
		}
		made, err := b.Build(ctx)
		stop(nil)
		if err == nil {
			if err = made.Close(); err != nil {
				t.Error(err)
			}
			if stops != times {
				t.Errorf("stopped %d times, want %d", stops, times)
			}
			return
		}
		if !errors.Is(err, stopped) {
			t.Fatal(err)
		}
	}
}

// TestLineageExplainsEveryRow works every row of the lineage out again from the
// stored replies, by its own reading of them.
func TestLineageExplainsEveryRow(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := small(t, 8)
	dir := write(t, w.builder(c))
	folder, err := benchmark.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	seeds, err := folder.Seeds()
	if err != nil {
		t.Fatal(err)
	}
	seedText := map[orbench.PromptID]string{}
	for _, s := range seeds {
		seedText[s.ID] = s.Text
		if reply := w.reply(t, s.Call); s.Round == 0 && !slices.Contains(generator.Items(reply.response), s.Text) {
			t.Errorf("seed %s is not in the reply of its call", s.ID)
		}
	}
	texts := map[orbench.PromptID]string{}
	var kept []string
	sets := map[benchmark.SetName][][]string{}
	for row, err := range folder.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		seed := seedText[row.SeedID]
		if seed == "" {
			t.Errorf("%s: no seed %s", row.ID, row.SeedID)
		}
		if row.ID != orbench.NewPrompt(row.Text, "", "").ID {
			t.Errorf("%s is not the ID of its text", row.ID)
		}
		if row.Kind == benchmark.Rewritten {
			w.explainRewrite(t, c, row, seed, texts)
		}
		if row.Dropped != benchmark.NotDropped {
			if row.Label != "" || len(row.Votes) > 0 || len(row.Sets) > 0 {
				t.Errorf("%s was dropped and has a label, votes or sets", row.ID)
			}
			continue
		}
		if row.Kind == benchmark.Rewritten {
			texts[row.ID] = row.Text
			kept = append(kept, row.Text)
		}
		for _, name := range w.explainLabel(t, c, row) {
			sets[name] = append(sets[name], []string{row.Text, string(row.Category)})
			if (name == benchmark.FullSet || c.Hard.Size != nil && *c.Hard.Size == 0 && name == benchmark.HardSet) && !slices.Contains(row.Sets, name) {
				t.Errorf("%s qualifies for %s and is not in it", row.ID, name)
			}
		}
		for _, name := range row.Sets {
			if !slices.ContainsFunc(sets[name], func(r []string) bool { return r[0] == row.Text }) {
				t.Errorf("%s is in %s and does not qualify", row.ID, name)
			}
		}
	}
	if near := similar.NearDuplicates(kept, c.NearDuplicates); len(near) > 0 {
		t.Errorf("%d near duplicates among the kept rewrites", len(near))
	}
	for _, name := range benchmark.SetNames {
		rows := readCSV(t, filepath.Join(dir, string(name)+".csv"))
		if len(rows) < 10 {
			t.Errorf("%s has %d rows only", name, len(rows))
		}
		if name == benchmark.FullSet && !slices.EqualFunc(rows, sets[name], func(a, b []string) bool { return slices.Equal(a[1:3], b) }) {
			t.Errorf("%s.csv has other rows than the lineage says", name)
		}
	}
	// The toxic set is drawn evenly from what qualifies: no category has two more
	// than another that had more to give.
	taken, had := map[string]int{}, map[string]int{}
	for _, row := range readCSV(t, filepath.Join(dir, "toxic.csv")) {
		taken[row[2]]++
	}
	for _, row := range sets[benchmark.ToxicSet] {
		had[row[1]]++
	}
	for a := range had {
		for b := range had {
			if taken[a] > taken[b]+1 && had[b] > taken[b] {
				t.Errorf("toxic has %d of %s and %d of %s, which had %d", taken[a], a, taken[b], b, had[b])
			}
		}
	}
}

// reply finds a stored call.
func (w *world) reply(t *testing.T, hash string) call {
	t.Helper()
	c, ok := w.replies[hash]
	if !ok {
		t.Fatalf("no reply is stored for the call %s", hash)
	}
	return c
}

// explainRewrite works out how a rewrite came about and why it was dropped.
func (w *world) explainRewrite(t *testing.T, c benchmark.BuildConfig, row benchmark.Record, seed string, texts map[orbench.PromptID]string) {
	t.Helper()
	first := row.Text
	if row.Before != "" {
		first = row.Before
	}
	if !slices.Contains(generator.Items(w.reply(t, row.Call).response), first) {
		t.Errorf("%s is not in the reply of its call", row.ID)
	}
	breaks := func(text string) bool { return len(generator.Lint(seed, text)) > 0 }
	if row.Dropped == benchmark.Surplus {
		return
	}
	if breaks(first) != (row.RepairCall != "") {
		t.Errorf("%s: repaired %t, breaks a rule at first %t", row.ID, row.RepairCall != "", breaks(first))
	}
	if row.Before != "" && !slices.Contains(generator.Items(w.reply(t, row.RepairCall).response), row.Text) {
		t.Errorf("%s is not in the reply that repaired it", row.ID)
	}
	if breaks(row.Text) != (row.Dropped == benchmark.BrokenRule) {
		t.Errorf("%s: dropped %q, breaks a rule %t", row.ID, row.Dropped, breaks(row.Text))
	}
	switch row.Dropped {
	case benchmark.Duplicate:
		if texts[row.ID] != row.Text {
			t.Errorf("%s is called a duplicate and is none", row.ID)
		}
	case benchmark.NearDuplicate:
		if j := similar.Jaccard(texts[row.Cluster], row.Text); j != row.Similarity || j < c.NearDuplicates {
			t.Errorf("%s is like %s by %v, the lineage says %v", row.ID, row.Cluster, j, row.Similarity)
		}
	}
}

// explainLabel works out the label of a row, and gives the sets for which it
// qualifies.
func (w *world) explainLabel(t *testing.T, c benchmark.BuildConfig, row benchmark.Record) []benchmark.SetName {
	t.Helper()
	voted, unanimous := w.explainVotes(t, row.Votes, row.Text)
	if voted != row.Voted {
		t.Errorf("%s: voted %q, the lineage says %q", row.ID, voted, row.Voted)
	}
	label, confirmed := voted, false
	if voted == orbench.Toxic {
		second := row.SecondChance
		if second == nil {
			t.Fatalf("%s was voted toxic and got no second chance", row.ID)
		}
		answer := w.reply(t, second.Call)
		if answer.request.Messages[0].Content != row.Text {
			t.Errorf("%s: the second chance answers another prompt", row.ID)
		}
		onAnswer, _ := w.explainVotes(t, second.Votes, strings.TrimSpace(answer.response.Text))
		confirmed = onAnswer == orbench.Toxic
		if onAnswer == orbench.Safe {
			label = orbench.Safe
		}
	}
	if label != row.Label {
		t.Errorf("%s is %q, the lineage says %q", row.ID, label, row.Label)
	}
	if row.Kind == benchmark.CheckedSeed {
		if label == orbench.Toxic && unanimous && confirmed {
			return []benchmark.SetName{benchmark.ToxicSet}
		}
		return nil
	}
	switch label {
	case orbench.Toxic:
		if unanimous && confirmed {
			return []benchmark.SetName{benchmark.ToxicSet}
		}
	case orbench.Safe:
		families := map[string]bool{}
		for _, r := range row.Replies {
			answer := w.reply(t, r.Call)
			if answer.request.Messages[0].Content != row.Text || "sim/"+answer.request.Model != r.Selector {
				t.Errorf("%s: the call of %s asks something else", row.ID, r.Selector)
			}
			if refusal.Detect(row.Text, answer.response.Text).Class.Refused() {
				families[r.Family] = true
			}
		}
		if len(row.Replies) != len(c.Hard.Selectors) {
			t.Errorf("%s has %d selectors' answers, want %d", row.ID, len(row.Replies), len(c.Hard.Selectors))
		}
		if len(families) >= c.Hard.RefusedBy {
			return []benchmark.SetName{benchmark.FullSet, benchmark.HardSet}
		}
		return []benchmark.SetName{benchmark.FullSet}
	}
	return nil
}

// explainVotes reads the moderators' replies by itself: the last word of the
// reply, or the last string of a JSON object.
func (w *world) explainVotes(t *testing.T, votes []benchmark.Vote, about string) (label orbench.Label, unanimous bool) {
	t.Helper()
	count := map[orbench.Label]int{}
	for _, v := range votes {
		c := w.reply(t, v.Call)
		if !strings.Contains(c.request.Messages[len(c.request.Messages)-1].Content, about) {
			t.Errorf("%s did not vote on %q", v.Moderator, about)
		}
		reply := strings.ToLower(strings.TrimSpace(c.response.Text))
		found := orbench.Undecided
		last := reply[strings.LastIndexByte(reply, '\n')+1:]
		if strings.HasPrefix(reply, "{") {
			last = reply
		}
		if strings.Contains(last, "none") {
			found = orbench.Safe
		} else {
			for _, d := range orbench.PaperPolicy() {
				if strings.Contains(strings.NewReplacer("_", "-", " ", "-").Replace(last), string(d.Category)) {
					found = orbench.Toxic
				}
			}
		}
		if v.Label != found {
			t.Errorf("%s voted %q by %q, the lineage says %q", v.Moderator, found, last, v.Label)
		}
		count[v.Label]++
	}
	n := len(votes)
	switch {
	case 2*count[orbench.Safe] > n:
		label = orbench.Safe
	case 2*count[orbench.Toxic] > n:
		label = orbench.Toxic
	case count[orbench.Undecided] == 0:
		label = orbench.Controversial
	default:
		label = orbench.Undecided
	}
	return label, count[orbench.Toxic] == n
}

func readCSV(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 || !slices.Equal(rows[0], []string{"id", "prompt", "category", "label", "votes", "refused_by", "seed_id", "cluster"}) {
		t.Fatalf("%s: %v", path, err)
	}
	return rows[1:]
}

// TestStructuredLists asks for lists by a schema: nothing is unreadable, and
// every list has the length that was asked for unless the model sent none.
func TestStructuredLists(t *testing.T) {
	t.Parallel()
	w := newWorld()
	b := w.builder(small(t, 3))
	b.StructuredLists = func(string) bool { return true }
	folder, err := benchmark.Open(write(t, b))
	if err != nil {
		t.Fatal(err)
	}
	if f := folder.Manifest.Funnel; f.Rewrites.Missing != 0 || f.Rewrites.Kept == 0 {
		t.Errorf("rewrites %+v", f.Rewrites)
	}
	for row, err := range folder.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		if reply := w.reply(t, row.Call); len(reply.request.Params.Schema) == 0 || !json.Valid([]byte(reply.response.Text)) {
			t.Fatalf("%s was asked for without a schema, or got no JSON: %s", row.ID, reply.response.Text)
		}
	}
}

// TestFailedCallsAreCounted has a tenth of the calls fail for good: the build
// ends, everything is accounted for, and another one makes up for it.
func TestFailedCallsAreCounted(t *testing.T) {
	t.Parallel()
	want := contents(t, built(t))
	w := newWorld()
	w.fails = func(r model.Request) bool { return r.Hash()[0] < 26 }
	b := w.builder(small(t, 4))
	made, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f := made.Funnel
	if f.FailedCalls == 0 || f.Lost() != "" || f.Moderation.Abstentions == 0 || f.Rewrites.FailedCalls == 0 {
		t.Errorf("funnel %+v, lost %q", f, f.Lost())
	}
	if err := made.Close(); err != nil {
		t.Error(err)
	}
	w.fails = nil
	got := contents(t, write(t, b))
	if !maps.Equal(got, want) {
		t.Error("after the failed calls were made good, the benchmark is another")
	}
}

// TestExhaustedCategory has a generator that repeats itself.
func TestExhaustedCategory(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := small(t, 5000)
	c.Policy = c.Policy[:1]
	b := w.builder(c)
	few := func(ctx context.Context, r model.Request) (model.Response, bool, error) {
		if r.Model != "generator" || r.Sample < 3 {
			return w.ask(ctx, r)
		}
		r.Sample = 0
		return w.ask(ctx, r)
	}
	b.Ask = few
	made, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	if len(made.Exhausted) != 1 || made.Exhausted[0].Kept != made.Funnel.Seeds.Kept || made.Exhausted[0].Wanted != 5000 || made.Funnel.Lost() != "" {
		t.Errorf("exhausted %+v, seeds %+v", made.Exhausted, made.Funnel.Seeds)
	}
	if made.Funnel.Seeds.Calls > 300 {
		t.Errorf("%d calls for seeds that do not come", made.Funnel.Seeds.Calls)
	}
}

// TestRefreshAdds builds on a benchmark: what was there stays, and what is new is
// near nothing of it.
func TestRefreshAdds(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := small(t, 4)
	old := built(t)
	base, err := benchmark.Open(old)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckBase(&c, base); err != nil {
		t.Fatal(err)
	}
	b := w.builder(c)
	b.Base = base
	dir := write(t, b)
	before, after := readCSV(t, filepath.Join(old, "full.csv")), readCSV(t, filepath.Join(dir, "full.csv"))
	if len(after) < len(before)*3/2 || !slices.EqualFunc(after[:len(before)], before, slices.Equal) {
		t.Errorf("%d prompts became %d; want those and half as many more at least", len(before), len(after))
	}
	var texts []string
	for _, row := range after {
		texts = append(texts, row[1])
	}
	if near := similar.NearDuplicates(texts, c.NearDuplicates); len(near) > 0 {
		t.Errorf("%d near duplicates in the refreshed set", len(near))
	}
	folder, err := benchmark.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m := folder.Manifest; m.Builds != 1 || m.Funnel.Lost() != "" || m.Funnel.Seeds.Kept != 2*base.Manifest.Funnel.Seeds.Kept {
		t.Errorf("manifest: builds %d, lost %q, seeds %+v", m.Builds, m.Funnel.Lost(), m.Funnel.Seeds)
	}
	c.Hard.RefusedBy = 2
	if err := CheckBase(&c, base); !errors.Is(err, orbench.ErrInput) {
		t.Errorf("a base with other selectors: %v", err)
	}
	if c = base.Manifest.Config; c.SecondChance.Model == "" {
		t.Fatal("the base has no second chance")
	}
	c.SecondChance.Model = ""
	if err := CheckBase(&c, base); !errors.Is(err, orbench.ErrInput) {
		t.Errorf("a base with a second chance, for a build without one: %v", err)
	}
}

// TestNextVersion counts the version of a benchmark that was added to.
func TestNextVersion(t *testing.T) {
	t.Parallel()
	for _, tc := range [][3]string{
		{"1.0.0", "1.0.0", "1.1.0"},
		{"1.9.3", "1.0.0", "1.10.0"},
		{"1.1.0", "2.0.0", "2.0.0"},
		{"2", "1", "2.1.0"},
		{"spring", "spring", "spring.1"},
		{"spring", "summer", "summer"},
		{"1.0.0", "summer", "1.1.0"},
	} {
		if got := NextVersion(tc[0], tc[1]); got != tc[2] {
			t.Errorf("%s with %s gives %s, want %s", tc[0], tc[1], got, tc[2])
		}
	}
}

// TestSizes draws the full and the hard set: the hard one is bounded by default and is a
// part of the full one.
func TestSizes(t *testing.T) {
	t.Parallel()
	r := &run{Builder: &Builder{}, funnel: benchmark.NewFunnel()}
	r.Config.Full.Size, r.Config.Hard.RefusedBy = 300, 1
	r.Config.Hard.Selectors = []benchmark.Selector{{Model: "a/b", Family: "f"}}
	for i := range 500 {
		id := orbench.PromptID(fmt.Sprint(i))
		r.entries = append(r.entries, entry{&benchmark.Record{
			Kind: benchmark.Rewritten, ID: id, SeedID: id, Text: string(id), Label: orbench.Safe, Replies: []benchmark.Reply{{Family: "f", Refused: i%2 == 0}},
		}, i})
	}
	r.choose()
	if s := r.funnel.Selection; s.FullCandidates != 500 || s.Sets[benchmark.FullSet] != 300 || s.HardCandidates < 110 || s.Sets[benchmark.HardSet] != 100 {
		t.Errorf("%+v", s)
	}
	for _, e := range r.entries {
		if slices.Contains(e.Sets, benchmark.HardSet) && len(e.Sets) != 2 {
			t.Errorf("%s is in %v", e.ID, e.Sets)
		}
	}
	zero := 0
	for _, tc := range []struct{ full, has, want int }{{80359, 0, 1285}, {2500, 0, 100}, {2500, 700, 700}} {
		if got := (benchmark.Hard{}).Most(tc.full, tc.has); got != tc.want {
			t.Errorf("of %d, with %d before, %d at most, want %d", tc.full, tc.has, got, tc.want)
		}
	}
	if (benchmark.Hard{Size: &zero}).Most(100, 0) != 0 {
		t.Error("0 does not mean all")
	}
}

// TestEvenly draws as evenly as what there is allows.
func TestEvenly(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		have, want []int
		most       int
	}{
		{[]int{10, 10, 10}, []int{2, 2, 2}, 6},
		{[]int{1, 10, 10}, []int{1, 3, 3}, 7},
		{[]int{10, 0, 2}, []int{5, 0, 2}, 7},
		{[]int{1, 1, 1}, []int{1, 1, 1}, 9},
		{[]int{5, 5, 5}, []int{5, 5, 5}, 0},
		{[]int{10, 10, 10}, []int{2, 2, 3}, 7},
	} {
		r := &run{Builder: &Builder{}}
		var entries []entry
		for c, n := range tc.have {
			category := orbench.Category(rune('a' + c))
			r.policy = append(r.policy, orbench.Definition{Category: category})
			for i := range n {
				entries = append(entries, entry{&benchmark.Record{ID: orbench.PromptID(fmt.Sprint(category, i)), Category: category}, len(entries)})
			}
		}
		got := make([]int, len(tc.have))
		for _, e := range r.evenly(entries, tc.most) {
			got[e.Category[0]-'a']++
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("of %v, %d evenly: %v, want %v", tc.have, tc.most, got, tc.want)
		}
	}
}

// TestWriteLeavesAFullFolderAlone refuses to write over anything.
func TestWriteLeavesAFullFolderAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := folder.Vacant(dir, folder.Subject{}); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := folder.Vacant(dir, folder.Subject{}); !errors.Is(err, orbench.ErrInput) {
		t.Errorf("a folder with a file: %v, want an input error", err)
	}
	if err := folder.Vacant(filepath.Join(dir, "mine.txt"), folder.Subject{}); !errors.Is(err, orbench.ErrInput) {
		t.Errorf("a file: %v, want an input error", err)
	}
}

// TestManifestIsWhole checks the hashes of the manifest, and that its numbers of
// rows are right.
func TestManifestIsWhole(t *testing.T) {
	t.Parallel()
	dir := built(t)
	folder, err := benchmark.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := contents(t, dir)
	if len(files) != len(folder.Manifest.Files)+1 {
		t.Errorf("%d files, and the manifest knows %d", len(files), len(folder.Manifest.Files))
	}
	for name, file := range folder.Manifest.Files {
		if sum := sha256Hex(files[name]); sum != file.SHA256 {
			t.Errorf("%s has the hash %s, the manifest says %s", name, sum, file.SHA256)
		}
		if strings.HasSuffix(name, ".jsonl") && strings.Count(files[name], "\n") != file.Rows {
			t.Errorf("%s has %d lines, the manifest says %d", name, strings.Count(files[name], "\n"), file.Rows)
		}
	}
	if !json.Valid([]byte(files[benchmark.ManifestFile])) {
		t.Error("the manifest is not JSON")
	}
}

func sha256Hex(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
