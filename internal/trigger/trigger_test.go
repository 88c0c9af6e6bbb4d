package trigger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/trigger"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// alarmed refuses what holds one of its words, or both of a pair of them, and
// otherwise one prompt in odd, which follows from the text. It counts the calls for
// each beginning of a prompt.
type alarmed struct {
	words []string
	both  [2]string
	odd   uint64
	calls atomic.Int64
}

func (m *alarmed) Ask(_ context.Context, r model.Request) (model.Response, error) {
	m.calls.Add(1)
	text := r.Messages[len(r.Messages)-1].Content
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == ' ' || r == '?' })
	refuse := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(m.words, w) }) ||
		slices.Contains(words, m.both[0]) && slices.Contains(words, m.both[1])
	var h uint64 = 14695981039346656037
	for _, b := range []byte(text) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	if refuse || m.odd > 0 && (h>>20)%m.odd == 0 {
		return model.Response{Text: "I'm sorry, but I can't help with that.", Finish: model.Stop}, nil
	}
	return model.Response{Text: "Here is what there is to know about it, step by step.", Finish: model.Stop}, nil
}

// prompts writes a dataset of n prompts, of which some hold words.
func prompts(t *testing.T, n int, rng *rand.Rand, words ...string) *dataset.Dataset {
	t.Helper()
	plain := []string{"garden", "river", "evening", "lantern", "harbor", "meadow", "copper", "window", "violin", "orchard", "glacier", "kettle", "pepper", "saddle", "timber", "walnut"}
	var b strings.Builder
	b.WriteString("prompt,label\n")
	for i := range n {
		these := []string{plain[rng.IntN(len(plain))], plain[rng.IntN(len(plain))], plain[rng.IntN(len(plain))], fmt.Sprintf("topic%d", i)}
		if i%2 == 0 {
			// What stands between bars comes together.
			these = append(these, strings.Split(words[i/2%len(words)], "|")...)
		}
		rng.Shuffle(len(these), func(i, j int) { these[i], these[j] = these[j], these[i] })
		fmt.Fprintf(&b, "How do the %s?,safe\n", strings.Join(these, " and the "))
	}
	path := filepath.Join(t.TempDir(), "prompts.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Open(t.Context(), path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func study(set *dataset.Dataset) *trigger.Study {
	j, err := judge.Parse("lexical", judge.Options{})
	if err != nil {
		panic(err)
	}
	return &trigger.Study{
		Targets:  []evaluate.Target{{Name: "test/alarmed", Provider: "test", Model: "alarmed"}},
		Datasets: []*dataset.Dataset{set}, Labels: []orbench.Label{orbench.Safe}, Judge: j,
		Calls: 24, Words: 20, Into: 20, Seed: 1,
	}
}

// fillAll asks m what a study lacks, with a budget of requests, 0 for no bound.
func fillAll(t *testing.T, s *trigger.Study, memory *store.Store, m model.Model, requests int) error {
	t.Helper()
	live := fill.NewLive(memory, fill.LiveConfig{Budget: fill.Budget{Requests: requests}})
	live.Lane(model.Ref{Provider: "test", Model: "alarmed"}, m, fill.Limits{Concurrency: 64})
	return live.Fill(t.Context(), s.Job().Work(memory))
}

func open(t *testing.T) *store.Store {
	t.Helper()
	memory, err := address.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = memory.Close() })
	return memory
}

func derive(t *testing.T, s *trigger.Study, memory store.Reader) (trigger.Result, []byte) {
	t.Helper()
	r, err := s.Derive(t.Context(), memory, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := table.AsJSON.Write(&b, table.Screen{}, r); err != nil {
		t.Fatal(err)
	}
	return r, b.Bytes()
}

// A target's words are given back, pairs that matter only together too, and nothing
// else is confirmed; a study that was stopped ends as one that was not.
func TestKnownTriggersComeBack(t *testing.T) {
	t.Parallel()
	set := prompts(t, 240, rand.New(rand.NewPCG(1, 2)), "grenade", "arson", "tunnel|vault", "harmless")
	target := &alarmed{words: []string{"grenade", "arson"}, both: [2]string{"tunnel", "vault"}, odd: 12}
	s, memory := study(set), open(t)
	if err := fillAll(t, s, memory, target, 0); err != nil {
		t.Fatal(err)
	}
	result, whole := derive(t, s, memory)
	g := result.Groups[0]
	if !g.Complete || g.Lost() != "" || g.Refused < 90 || g.Refused != g.Searched+g.Tried {
		t.Fatalf("group %+v", g)
	}
	if most := int64(g.Prompts + (g.Refused+s.Into)*s.Calls); target.calls.Load() > most {
		t.Errorf("%d calls, at most %d are allowed", target.calls.Load(), most)
	}
	confirmed := map[string]trigger.Trigger{}
	for _, found := range g.Triggers {
		t.Logf("%v found %d/%d deleted %d/%d beside %d/%d inserted %d/%d", found.Words, found.Found, found.Held, found.Deleted.Flipped, found.Deleted.N,
			found.Beside.Flipped, found.Beside.N, found.Inserted.Flipped, found.Inserted.N)
		if found.Deletion || found.Insertion {
			confirmed[strings.Join(found.Words, "+")] = found
		}
	}
	for _, word := range []string{"grenade", "arson"} {
		found, ok := confirmed[word]
		if !ok || !found.Deletion || !found.Insertion || found.Deleted.CI95[1] < 11./12 || found.Exchanged.Flipped < found.Exchanged.N/2 {
			t.Errorf("%s: confirmed %v, %+v", word, ok, found)
		}
		delete(confirmed, word)
	}
	// Either word of the pair alone makes the target answer.
	for _, word := range []string{"tunnel", "vault"} {
		if found, ok := confirmed[word]; ok && found.Insertion {
			t.Errorf("%s is confirmed by insertion, although it does nothing alone", word)
		}
		delete(confirmed, word)
	}
	if len(confirmed) > 0 {
		t.Errorf("confirmed besides: %v", confirmed)
	}
	again := open(t)
	for n := 0; ; n++ {
		other := study(set)
		if err := fillAll(t, other, again, target, 300); err == nil {
			if n < 3 {
				t.Errorf("it ended after %d stops", n)
			}
			break
		}
	}
	if _, bytes := derive(t, s, again); string(bytes) != string(whole) {
		t.Error("a study that was stopped ends with other figures")
	}
}

// The rate on prompts that were not searched is that of the target, on average over
// splits, while the share of those in which a word was found is too large.
func TestTriedRateIsNotCursed(t *testing.T) {
	t.Parallel()
	var flipped, n, found, held, wrong, tests int
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 7))
		set := prompts(t, 60, rng, "walrus", "otter", "badger")
		// It refuses half of everything, whatever it says.
		target := &alarmed{odd: 2}
		s, memory := study(set), open(t)
		s.Seed, s.Into = seed, 5
		if err := fillAll(t, s, memory, target, 0); err != nil {
			t.Fatal(err)
		}
		result, _ := derive(t, s, memory)
		for _, word := range result.Groups[0].Triggers {
			flipped, n = flipped+word.Deleted.Flipped, n+word.Deleted.N
			found, held = found+word.Found, held+word.Held
			tests++
			if word.Deletion || word.Insertion {
				wrong++
			}
		}
	}
	share, cursed := float64(flipped)/float64(n), float64(found)/float64(held)
	t.Logf("deleted: %.3f of %d; found: %.3f of %d; %d of %d confirmed", share, n, cursed, held, wrong, tests)
	if n < 100 || share < 0.38 || share > 0.62 {
		t.Errorf("deleting flips %.3f of %d, where half of all wordings are answered", share, n)
	}
	if wrong > 2 {
		t.Errorf("%d words of a target without any are confirmed", wrong)
	}
}

func TestStandIn(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"kill": "stop", "killing": "stopping", "bombs": "tools", "frobbing": "handling", "blasted": "handled", "zorks": "things", "zork": "thing", "class": "thing",
	} {
		if got := trigger.StandIn(word); got != want {
			t.Errorf("%s becomes %s, want %s", word, got, want)
		}
	}
}

// A study that is stopped early has looked into all targets of a provider about equally.
func TestStoppedMidwayTargetsAreEquallyFar(t *testing.T) {
	t.Parallel()
	s := study(prompts(t, 60, rand.New(rand.NewPCG(3, 4)), "grenade"))
	second := s.Targets[0]
	second.Name, second.System = "test/alarmed briefed", "Be brief."
	s.Targets = append(s.Targets, second)
	memory := open(t)
	var stopped *fill.BudgetError
	if err := fillAll(t, s, memory, &alarmed{words: []string{"grenade"}}, 60); !errors.As(err, &stopped) {
		t.Fatalf("the error is %v, want the budget's", err)
	}
	r, _ := derive(t, s, memory)
	for _, g := range r.Groups {
		if g.Unanswered < 25 || g.Unanswered > 35 {
			t.Errorf("%s has not answered %d of %d prompts, want about half", g.Target, g.Unanswered, g.Prompts)
		}
	}
}
