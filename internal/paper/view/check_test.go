package view

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// asPublished is a run that refuses exactly as the published row of a model says,
// on the version of the prompts that the row is of.
func asPublished(model string, judge string) score.Result {
	version := paper.Older
	for _, m := range paper.Models() {
		if m.Name == model {
			version = m.Version
		}
	}
	var r score.Result
	for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
		table := paper.HardRefusal()
		if label == orbench.Toxic {
			table = paper.ToxicAcceptance()
		}
		run := score.RunResult{Target: "openai/x", Dataset: "or-bench-" + string(label), Label: label}
		j := score.JudgeResult{Judge: judge, ByCategory: map[orbench.Category]score.Count{}}
		for _, row := range table.Rows {
			if row.Model != model {
				continue
			}
			for i, s := range paper.CategorySizes() {
				n := map[orbench.Label]map[paper.Version]int{
					orbench.Safe:  {paper.Older: s.HardOlder, paper.Released: s.HardReleased},
					orbench.Toxic: {paper.Older: s.ToxicOlder, paper.Released: s.ToxicReleased},
				}[label][version]
				refused := int(math.Round(row.Rates[i] * float64(n) / 100))
				if label == orbench.Toxic {
					refused = n - refused
				}
				j.ByCategory[s.Category] = score.Count{N: n, Refused: refused}
				j.Judged += n
				j.Refused += refused
			}
		}
		j.Rate = stats.RateOf(j.Refused, j.Judged)
		run.N, run.Answered, run.Judges = j.Judged, j.Judged, []score.JudgeResult{j}
		r.Runs = append(r.Runs, run)
	}
	return r
}

// A run that repeats a published row has it inside of every interval, on the
// version that the row is of.
func TestCheckOfTheRowItself(t *testing.T) {
	t.Parallel()
	for _, m := range paper.Models() {
		check, err := CheckRun(asPublished(m.Name, paper.Judge), m.Name)
		if err != nil {
			t.Fatal(err)
		}
		if len(check.Sides) != 2 {
			t.Fatalf("%s: %d sides", m.Name, len(check.Sides))
		}
		for _, s := range check.Sides {
			if s.Inside != 10 || s.Compared != 10 {
				t.Errorf("%s on %s prompts: %d of %d inside", m.Name, s.Label, s.Inside, s.Compared)
			}
			if last := s.Rows[10]; last.Category != "" || last.Inside == nil || !*last.Inside {
				t.Errorf("%s on %s prompts: overall %+v", m.Name, s.Label, last)
			}
			if s.Version != m.Version {
				t.Errorf("%s on %s prompts: version %q, want %s", m.Name, s.Label, s.Version, m.Version)
			}
			if notes := strings.Join(s.Notes, " "); strings.Contains(notes, "judge differs") {
				t.Errorf("%s: %s", m.Name, notes)
			}
		}
	}
}

func TestCheckSaysWhatDiffers(t *testing.T) {
	t.Parallel()
	r := asPublished("Llama-3-8b", "lexical")
	// The older prompts of the row, asked of a model that never refuses.
	safe := &r.Runs[0].Judges[0]
	for c, n := range safe.ByCategory {
		safe.ByCategory[c] = score.Count{N: n.N}
	}
	safe.ByCategory["violence"] = score.Count{}
	safe.Refused, safe.Unjudged = 0, 3
	r.Runs[0].N = paper.HardReleased
	check, err := CheckRun(r, "Llama-3-8b")
	if err != nil {
		t.Fatal(err)
	}
	s := check.Sides[0]
	if s.Inside != 0 || s.Compared != 9 {
		t.Errorf("%d of %d inside, want none of nine", s.Inside, s.Compared)
	}
	if row := s.Rows[9]; row.Share != nil || row.Inside != nil || row.Published != 0.81 {
		t.Errorf("the empty category is %+v", row)
	}
	notes := strings.Join(s.Notes, " ")
	for _, want := range []string{
		"The published row is of the older version, 1,534 prompts: 10 of its 10 rates",
		"1,319 prompts are the released version, which lacks 215",
		"The judge differs: lexical here, gpt-4-turbo-2024-04-09 there.",
		"3 answers are unjudged",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q: %s", want, notes)
		}
	}
	r.Runs[0].N = 200
	if check, _ = CheckRun(r, "Llama-3-8b"); !strings.Contains(strings.Join(check.Sides[0].Notes, " "), "neither version") {
		t.Errorf("the notes of 200 prompts are %v", check.Sides[0].Notes)
	}
	// The 80K set has its own table and judge, and no second version.
	r.Runs[0].N, r.Runs[0].Dataset = paper.Size80K, "or-bench-80k"
	check, err = CheckRun(r, "Llama-3-8b")
	if err != nil {
		t.Fatal(err)
	}
	if s := check.Sides[0]; s.Table != "80k-keyword-refusal" || len(s.Fits) != 0 || s.PublishedJudge != "opening words" {
		t.Errorf("the 80K set is compared with %s, judged by %s, fits %v", s.Table, s.PublishedJudge, s.Fits)
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	_, err := CheckRun(asPublished("GPT-4o", "x"), "gpt-4o")
	if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "GPT-4o,") {
		t.Errorf("an unknown model: %v, want an input error that names the known", err)
	}
	nothing := score.Result{Runs: []score.RunResult{{Label: orbench.Controversial}}}
	if _, err := CheckRun(nothing, "GPT-4o"); !errors.Is(err, orbench.ErrInput) {
		t.Errorf("nothing to compare: %v, want an input error", err)
	}
}

func TestCheckFormats(t *testing.T) {
	t.Parallel()
	check, err := CheckRun(asPublished("Gemma-2-9b", "lexical"), "Gemma-2-9b")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := table.AsJSON.Of(check)(&b); err != nil {
		t.Fatal(err)
	}
	var back Check
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back.Sides) != 2 || len(back.Sides[1].Rows) != 11 {
		t.Errorf("the JSON reads back as %+v (%v)", back, err)
	}
	b.Reset()
	if err := table.AsCSV.Of(check)(&b); err != nil {
		t.Fatal(err)
	}
	if rows, err := csv.NewReader(&b).ReadAll(); err != nil || len(rows) != 1+2*11 || rows[1][6] != "deception" || rows[11][6] != "all" || rows[1][13] != "true" {
		t.Errorf("the CSV is %v", rows)
	}
	for _, format := range []table.Format{table.AsText, table.AsMarkdown} {
		b.Reset()
		if err := format.Of(check)(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"all prompts", "10 of 10 published categories", "inside", "80.0%"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %q", format.Name, want)
			}
		}
	}
}
