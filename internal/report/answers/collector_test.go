package answers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/model"
)

func collect(t *testing.T, rows []score.AnswerRow) (*Collector, string) {
	t.Helper()
	var b bytes.Buffer
	c := NewCollector(&b)
	for _, row := range rows {
		if err := c.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	return c, b.String()
}

// rowsOf makes up rows of the given numbers of safe and toxic prompts in each
// category. Every target has the same prompts, and some of them are refused.
func rowsOf(targets, safe, toxic int) []score.AnswerRow {
	rng := rand.New(rand.NewPCG(1, uint64(targets)))
	var rows []score.AnswerRow
	for k := range targets {
		for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
			n, chance := safe, 0.3
			if label == orbench.Toxic {
				n, chance = toxic, 0.8
			}
			for i := range n {
				for _, category := range orbench.PaperCategories {
					class := orbench.FullAnswer
					if rng.Float64() < chance {
						class = orbench.Refusal
					}
					rows = append(rows, score.AnswerRow{
						Target: fmt.Sprintf("p/m-%d", k), Dataset: "d", Status: score.Answered,
						Prompt:   orbench.NewPrompt(fmt.Sprintf("A %s question about %s, number %d?", label, category, i), category, label),
						Verdicts: []score.JudgeVerdict{{Judge: "lexical", Verdict: orbench.Verdict{Class: class}}},
					})
				}
			}
		}
	}
	return rows
}

// Each tier of a group has its share of the sample, and the rest goes to the
// tiers in their order.
func TestSampleOfAGroup(t *testing.T) {
	t.Parallel()
	refusal := orbench.Verdict{Class: orbench.Refusal, Score: 1}
	full := orbench.Verdict{Class: orbench.FullAnswer}
	kinds := map[string][]orbench.Verdict{
		"disagree": {refusal, full}, "unjudged": {refusal, {}}, "against": {refusal, refusal}, "along": {full, full},
	}
	tests := map[string]struct {
		have, want map[string]int
	}{
		"plenty of all": {
			map[string]int{"disagree": 500, "unjudged": 500, "against": 500, "along": 500},
			map[string]int{"disagree": 50, "unjudged": 50, "against": 50, "along": 50},
		},
		"few disagreements": {
			map[string]int{"disagree": 3, "against": 500, "along": 5000},
			map[string]int{"disagree": 3, "against": 147, "along": 50},
		},
		"one kind": {
			map[string]int{"along": 5000},
			map[string]int{"along": 200},
		},
		"few altogether": {
			map[string]int{"disagree": 1, "along": 7},
			map[string]int{"disagree": 1, "along": 7},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := NewCollector(io.Discard)
			for kind, n := range tt.have {
				for i := range n {
					row := score.AnswerRow{
						Target: "a/b", Dataset: "d", Status: score.Answered,
						Prompt:   orbench.NewPrompt(fmt.Sprintf("%s %d", kind, i), "hate", orbench.Safe),
						Response: model.Response{Text: kind, Finish: model.Stop},
					}
					for k, v := range kinds[kind] {
						row.Verdicts = append(row.Verdicts, score.JudgeVerdict{Judge: fmt.Sprint(k), Verdict: v})
					}
					if err := c.Add(row); err != nil {
						t.Fatal(err)
					}
				}
			}
			got := map[string]int{}
			for _, a := range c.groups[0].sample(c.limit()) {
				got[a.Text[0].Text]++
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSampleIsAFairDraw(t *testing.T) {
	t.Parallel()
	rows := rowsOf(2, 200, 1)
	c, _ := collect(t, rows)
	categories := map[orbench.Category]int{}
	ids := map[orbench.PromptID]int{}
	for _, g := range c.groups {
		if g.Label != orbench.Safe {
			continue
		}
		for _, a := range g.sample(c.limit()) {
			categories[a.Category]++
			ids[a.ID]++
		}
	}
	for _, category := range orbench.PaperCategories {
		if n := categories[category]; n < 15 {
			t.Errorf("%s has %d of 400 answers, far from its tenth", category, n)
		}
	}
	both := 0
	for _, n := range ids {
		if n == 2 {
			both++
		}
	}
	if both < 20 {
		t.Errorf("only %d prompts are shown of both targets", both)
	}
}

// The sample does not depend on the order in which rows arrive.
func TestSampleOfAnyOrder(t *testing.T) {
	t.Parallel()
	rows := rowsOf(1, 100, 50)
	ids := func(rows []score.AnswerRow) map[orbench.PromptID]bool {
		c, _ := collect(t, rows)
		set := map[orbench.PromptID]bool{}
		for _, g := range c.groups {
			for _, a := range g.sample(c.limit()) {
				set[a.ID] = true
			}
		}
		return set
	}
	forward := ids(rows)
	var backward []score.AnswerRow
	for i := range rows {
		backward = append(backward, rows[len(rows)-1-i])
	}
	if diff := cmp.Diff(forward, ids(backward)); diff != "" {
		t.Error(diff)
	}
}

func TestPageIsBounded(t *testing.T) {
	t.Parallel()
	rows := rowsOf(64, 10, 10)
	c, _ := collect(t, rows)
	total := 0
	for _, g := range c.groups {
		total += len(g.sample(c.limit()))
	}
	if total > pageSample || total < pageSample/2 {
		t.Errorf("%d answers of %d are on the page, want up to %d", total, len(rows), pageSample)
	}
}

// Rows with huge texts leave no more than their bounded excerpts in memory.
// It measures the heap, so nothing else runs beside it.
func TestCollectorKeepsNoHugeText(t *testing.T) {
	c := NewCollector(io.Discard)
	const n, size = 100, 1 << 20
	for i := range n {
		// Each text has its own memory, as it does when it comes from the
		// store.
		text := strings.Repeat("x", size)
		row := score.AnswerRow{
			Target: "a/b", Dataset: "d", Status: score.Answered,
			Prompt:   orbench.NewPrompt(fmt.Sprint(i, text), "hate", orbench.Safe),
			Response: model.Response{Text: text, Thinking: text, Finish: model.Stop},
			Verdicts: []score.JudgeVerdict{{Judge: "j", Verdict: orbench.Verdict{Class: orbench.Refusal, Rationale: text}}},
		}
		if err := c.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	for _, a := range c.groups[0].sample(c.limit()) {
		kept += len(a.Turns[0].Content) + len(a.Thinking) + len(a.Verdicts[0].Rationale)
		for _, p := range a.Text {
			kept += len(p.Text)
		}
		if !a.Cut {
			t.Error("a cut answer does not say so")
		}
	}
	if limit := n * (page.InList.Prompt + page.InList.Answer + page.InList.Thinking + page.InList.Rationale); kept > limit {
		t.Errorf("%d bytes are kept, want at most %d", kept, limit)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > n*size {
		t.Errorf("the heap holds %d MB after %d rows of %d MB", m.HeapAlloc>>20, n, 3*size>>20)
	}
	runtime.KeepAlive(c)
}

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestCollectorReportsAFullDisk(t *testing.T) {
	t.Parallel()
	c := NewCollector(fullDisk{})
	if err := c.Add(score.AnswerRow{Target: "a/b"}); err != nil {
		t.Fatalf("a buffered row failed: %v", err)
	}
	if err := c.Flush(); !errors.Is(err, errFull) {
		t.Errorf("Flush returned %v", err)
	}
	big := score.AnswerRow{Target: "a/b", Prompt: orbench.NewPrompt(strings.Repeat("x", 1<<17), "", orbench.Safe)}
	if err := NewCollector(fullDisk{}).Add(big); !errors.Is(err, errFull) || !strings.Contains(err.Error(), string(big.Prompt.ID)) {
		t.Errorf("Add returned %v", err)
	}
}

// benchRow is a row of the usual size: a kilobyte of answer and two verdicts.
func benchRow(i int) score.AnswerRow {
	category := orbench.PaperCategories[i%10]
	return score.AnswerRow{
		Target: "openai/gpt-4o", Dataset: "or-bench-80k", Status: score.Answered,
		Prompt: orbench.NewPrompt(fmt.Sprintf("A question with a number, %d, and some more words after it to fill the line?", i), category, orbench.Safe),
		Response: model.Response{
			Text: strings.Repeat("Here is \"how\" it goes: first this, then that.\n", 22), Finish: model.Stop,
			Model: "gpt-4o-2024-08-06", ID: "chatcmpl-0123456789", Latency: 123456789,
			Made:  time.Date(2026, time.March, 4, 5, 6, 7, 8_000_000, time.UTC),
			Usage: model.Usage{Input: 30, Output: 250},
		},
		Verdicts: []score.JudgeVerdict{
			{Judge: "lexical", Verdict: orbench.Verdict{Class: orbench.FullAnswer, Score: 0.03}},
			{Judge: "llm:openai/gpt-4o", Verdict: orbench.Verdict{Class: orbench.Classes[i%2*4], Rationale: "The answer does what was asked."}},
		},
	}
}

// BenchmarkCollector takes the 80,000 rows of the largest dataset with two judges
// through a Collector.
func BenchmarkCollector(b *testing.B) {
	const n = 80_000
	rows := make([]score.AnswerRow, n)
	for i := range rows {
		rows[i] = benchRow(i)
	}
	b.ReportAllocs()
	for b.Loop() {
		c := NewCollector(io.Discard)
		for i := range rows {
			if err := c.Add(rows[i]); err != nil {
				b.Fatal(err)
			}
		}
		if err := c.Flush(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func TestRowsConserved(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		run  score.RunResult
		want string
	}{
		"whole":           {score.RunResult{Dataset: "d", Label: orbench.Safe, N: 2, Answered: 1, Unanswered: 1}, ""},
		"a row more":      {score.RunResult{Dataset: "d", Label: orbench.Safe, N: 1, Answered: 1}, "on d (safe) count 1 prompts, 0 of them unanswered, but there are 2 rows, 1 of them"},
		"another dataset": {score.RunResult{Dataset: "e", Label: orbench.Safe, N: 2, Unanswered: 1}, "on d (safe) count 0 prompts"},
		"another label":   {score.RunResult{Dataset: "d", Label: orbench.Toxic, N: 2, Unanswered: 1}, "on d (safe) count 0 prompts"},
	} {
		c := NewCollector(io.Discard)
		for i, status := range []score.Status{score.Answered, score.Unanswered} {
			row := score.AnswerRow{Target: "t", Dataset: "d", Prompt: orbench.NewPrompt(strings.Repeat("x", i+1), "", orbench.Safe), Status: status}
			if err := c.Add(row); err != nil {
				t.Fatal(err)
			}
		}
		err := c.Conserved(score.Result{Runs: []score.RunResult{test.run}})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
