package overlap_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/overlap"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/similar"
)

// comparison has a name wherever a dataset can bring one.
func comparison(name string) overlap.Comparison {
	sampled := similar.Diversity{Texts: 2, Distinct1: 0.9, Distinct2: 1, SelfBLEU: 0.125, SelfBLEUTexts: 2, NearThreshold: 0.5, TopOpener: name}
	return overlap.Comparison{
		Threshold: 0.5, Seed: 9,
		A: overlap.Side{
			Name: name, Source: name, SHA256: "aaaaaaaaaaaa", Rows: 1300,
			Overlap:   overlap.Overlap{Prompts: 1200, Exact: 2, Near: 1, Share: 0.0025, ExactConflicts: 1, NearConflicts: 1},
			Diversity: similar.Diversity{Texts: 1200, Distinct1: 0.25, TopOpener: name, TopOpenerShare: 0.5, Words: similar.WordLengths{Mean: 9.25, P5: 4, Median: 8, P95: 17}},
			Sampled:   &sampled,
		},
		B: overlap.Side{
			Name: "b", SHA256: "bbbbbbbbbbbb", Rows: 2,
			Overlap:   overlap.Overlap{Prompts: 2, Exact: 2, Share: 1, ExactConflicts: 1},
			Diversity: similar.Diversity{Texts: 2, TopOpener: "how do i", TopOpenerShare: 1, EffectiveOpeners: 1},
		},
		Categories: []overlap.CategoryOverlap{
			{Category: "", A: overlap.Overlap{Prompts: 1199, Exact: 2, Near: 1, Share: 3.0 / 1199}},
			{Category: orbench.Category(name), A: overlap.Overlap{Prompts: 1}, B: overlap.Overlap{Prompts: 2, Exact: 2, Share: 1}},
		},
		Findings: []string{"Something follows."},
		Pairs: []overlap.PromptPair{
			{A: orbench.NewPrompt(name, orbench.Category(name), orbench.Safe), B: orbench.NewPrompt(name, "x", orbench.Toxic), Exact: true, Jaccard: 1},
			{A: orbench.NewPrompt("one", "y", orbench.Safe), B: orbench.NewPrompt("two", "x", orbench.Safe), Jaccard: 0.625},
		},
	}
}

func written(t *testing.T, f table.Format, name string) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b, table.Screen{}, comparison(name)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func pairs(t *testing.T, name string) string {
	t.Helper()
	var b bytes.Buffer
	if err := comparison(name).WritePairs(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestComparisonTable(t *testing.T) {
	t.Parallel()
	got := written(t, table.AsText, "mine")
	for _, want := range []string{
		"Something follows.\n",
		"A  mine@aaaaaaaa  1,300    1,200           2       1          0.2%            1                    1\n",
		"B  b@bbbbbbbb         2        2           2       0        100.0%            1                    0\n",
		"(none)    1,199           2       1          0.3%     –           –       –             –\n",
		"mine          1           0       0          0.0%     2           2       0        100.0%\n",
		"prompts                                1,200            2          2\n",
		"Self-BLEU, lower is more varied        0.000        0.125      0.000\n",
		"words, 5% / median / 95%          4 / 8 / 17    0 / 0 / 0  0 / 0 / 0\n",
		"The seed of all samples is 9.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestComparisonFormatsAreHarmless has names that every format must disarm.
func TestComparisonFormatsAreHarmless(t *testing.T) {
	t.Parallel()
	text := written(t, table.AsText, "a\x1b[31m\u202e\r\nb\x00")
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && r < ' ' || r == '\u202e' }); i >= 0 {
		t.Errorf("a control character got through: %q", text[i:min(i+40, len(text))])
	}
	markdown := written(t, table.AsMarkdown, "x | <img src=x> [a](https://b.c) `d` *e*\n# f @g")
	bare := regexp.MustCompile(`\\.`).ReplaceAllString(markdown, "")
	for _, raw := range []string{"<", ">", "[", "]", "(", "`", "@", "://", "\n# f"} {
		if strings.Contains(bare, raw) {
			t.Errorf("%q is live in the Markdown", raw)
		}
	}
	for _, text := range []string{written(t, table.AsCSV, "=1+1"), pairs(t, "=1+1")} {
		for _, row := range comparisonRows(t, text) {
			for _, cell := range row {
				if strings.HasPrefix(cell, "=") {
					t.Errorf("a live formula in %v", row)
				}
			}
		}
	}
}

func comparisonRows(t *testing.T, s string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(s)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestComparisonCSV reads cells back by the names of their columns.
func TestComparisonCSV(t *testing.T) {
	t.Parallel()
	rows := comparisonRows(t, written(t, table.AsCSV, "mine"))
	var got []string
	for _, row := range rows[1:] {
		var cells []string
		for _, column := range []string{
			"dataset", "other_sha256", "scope", "category", "rows", "prompts", "exact", "near", "share", "near_conflicts",
			"distinct_1", "self_bleu", "top_opener", "words_mean", "words_p95",
		} {
			cells = append(cells, row[slices.Index(rows[0], column)])
		}
		got = append(got, strings.Join(cells, " "))
	}
	want := []string{
		"mine bbbbbbbbbbbb all  1300 1200 2 1 0.0025 1 0.25 0 mine 9.25 17",
		"mine bbbbbbbbbbbb sample   2     0.9 0.125 mine 0 0",
		"mine bbbbbbbbbbbb category   1199 2 1 0.0025020850708924102 0     ",
		"mine bbbbbbbbbbbb category mine  1 0 0 0 0     ",
		"b aaaaaaaaaaaa all  2 2 2 0 1 0 0 0 how do i 0 0",
		"b aaaaaaaaaaaa category mine  2 2 0 1 0     ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestComparisonPairs(t *testing.T) {
	t.Parallel()
	rows := comparisonRows(t, pairs(t, "mine"))
	want := [][]string{
		{"match", "jaccard", "conflict", "a_id", "a_category", "a_label", "a_prompt", "b_id", "b_category", "b_label", "b_prompt"},
		{"exact", "1", "true", string(orbench.NewPrompt("mine", "", "").ID), "mine", "safe", "mine", string(orbench.NewPrompt("mine", "", "").ID), "x", "toxic", "mine"},
		{"near", "0.625", "false", string(orbench.NewPrompt("one", "", "").ID), "y", "safe", "one", string(orbench.NewPrompt("two", "", "").ID), "x", "safe", "two"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestComparisonJSON(t *testing.T) {
	t.Parallel()
	var got struct {
		Threshold float64
		A, B      struct {
			Name      string
			Prompts   int
			Exact     int
			Diversity struct {
				Distinct1 float64 `json:"distinct_1"`
			}
			Sampled *struct{ Texts int }
		}
		Categories []struct{ Category string }
		Findings   []string
	}
	if err := json.Unmarshal([]byte(written(t, table.AsJSON, "<mine>")), &got); err != nil {
		t.Fatal(err)
	}
	if got.Threshold != 0.5 || got.A.Name != "<mine>" || got.A.Prompts != 1200 || got.A.Exact != 2 || got.A.Diversity.Distinct1 != 0.25 ||
		got.A.Sampled == nil || got.A.Sampled.Texts != 2 || got.B.Sampled != nil || len(got.Categories) != 2 || len(got.Findings) != 1 {
		t.Errorf("read back: %+v", got)
	}
}
