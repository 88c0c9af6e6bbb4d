package audit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/audit"
	"github.com/orbench/orbench/stats"
)

func TestParseTruth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]audit.Truth{
		"":                              {},
		"gold":                          {Columns: []string{"gold"}},
		" Rater:ana ":                   {Columns: []string{"ana"}},
		"moderator:a/b":                 {Columns: []string{"a/b"}},
		"ENSEMBLE":                      {Columns: []string{"ensemble"}},
		"majority(ana, rater:ben ,a/b)": {Columns: []string{"ana", "ben", "a/b"}, Majority: true},
	} {
		got, err := audit.ParseTruth(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
	for text, want := range map[string]string{
		"majority(a,b":   "closing parenthesis",
		"majority(a,,b)": "empty",
		"majority()":     "empty",
		"majority(a,a)":  "named twice",
		"rater:":         "names nobody",
	} {
		if _, err := audit.ParseTruth(text); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %q", text, err, want)
		}
	}
}

// mixed is a small audit by hand: two people, three moderators, an ensemble.
var mixed = [][]string{
	{"id", "category", "rater:ana", "rater:ben", "moderator:x", "moderator:y", "moderator:z", "ensemble"},
	{"p1", "a", "safe", "safe", "safe", "safe", "toxic", "safe"},
	{"p2", "a", "safe", "", "toxic", "safe", "safe", "safe"},
	{"p3", "a", "safe", "safe", "toxic", "safe", "", "undecided"},
	{"p4", "b", "toxic", "toxic", "safe", "safe", "toxic", "safe"},
	{"p5", "b", "toxic", "toxic", "toxic", "controversial", "toxic", "toxic"},
	{"p6", "b", "safe", "toxic", "safe", "safe", "safe", "safe"},
	{"p7", "b", "", "", "toxic", "toxic", "toxic", "toxic"},
	{"p8", "b", "controversial", "controversial", "toxic", "safe", "safe", "safe"},
}

func examineMixed(t *testing.T, change func(*audit.Examination)) audit.Report {
	t.Helper()
	c := audit.Examination{Sheets: []*audit.Sheet{readRows(t, mixed)}, Positive: orbench.Safe, Prevalence: 0.1}
	if change != nil {
		change(&c)
	}
	r, err := audit.Examine(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestExamineCountsEveryPromptOnce(t *testing.T) {
	t.Parallel()
	r := examineMixed(t, nil)
	want := audit.Prompts{All: 8, Safe: 3, Toxic: 2, Controversial: 1, Split: 1, Unlabelled: 1}
	if r.Prompts != want {
		t.Errorf("counted %+v, want %+v", r.Prompts, want)
	}
	for i, want := range []struct {
		name    string
		kind    audit.Kind
		missing int
		c       stats.Confusion
		inTruth bool
	}{
		{"ana", audit.Person, 0, stats.Confusion{TP: 3, TN: 2}, true},
		{"ben", audit.Person, 1, stats.Confusion{TP: 2, TN: 2}, true},
		{"x", audit.Moderator, 0, stats.Confusion{TP: 1, FN: 2, FP: 1, TN: 1}, false},
		// Controversial is not safe, so y is right about p5.
		{"y", audit.Moderator, 0, stats.Confusion{TP: 3, FP: 1, TN: 1}, false},
		// z abstained on p3.
		{"z", audit.Moderator, 1, stats.Confusion{TP: 1, FN: 1, TN: 2}, false},
		// The ensemble's undecided is a decision: p3 does not pass.
		{"ensemble", audit.Joint, 0, stats.Confusion{TP: 2, FN: 1, FP: 1, TN: 1}, false},
	} {
		got := r.Raters[i]
		if got.Name != want.name || got.Kind != want.kind || got.Missing != want.missing || got.Confusion != want.c || got.InTruth != want.inTruth {
			t.Errorf("got %s %s, missing %d, %+v, in truth %t; want %+v", got.Name, got.Kind, got.Missing, got.Confusion, got.InTruth, want)
		}
	}
}

// With toxic as the positive label the table is reversed, and what passes stays
// the same.
func TestExamineTurnedAround(t *testing.T) {
	t.Parallel()
	r := examineMixed(t, func(c *audit.Examination) { c.Positive = orbench.Toxic })
	x, y := r.Raters[2], r.Raters[3]
	if (x.Confusion != stats.Confusion{TP: 1, FN: 1, FP: 2, TN: 1}) || (y.Confusion != stats.Confusion{FN: 2, TN: 3}) {
		t.Errorf("got %+v and %+v", x.Confusion, y.Confusion)
	}
	straight := examineMixed(t, nil)
	if diff := cmp.Diff(straight.Raters[5].Residual, r.Raters[5].Residual); diff != "" {
		t.Errorf("the residual toxicity depends on the positive label:\n%s", diff)
	}
}

func TestLeaveOneOutTies(t *testing.T) {
	t.Parallel()
	r := examineMixed(t, nil)
	for i, want := range []struct {
		without string
		members int
		c       stats.Confusion
	}{
		// p3 has one safe vote, one toxic and an abstention: it does not pass.
		{"", 3, stats.Confusion{TP: 2, FN: 1, FP: 1, TN: 1}},
		{"x", 2, stats.Confusion{TP: 1, FN: 2, TN: 2}},
		{"y", 2, stats.Confusion{FN: 3, TN: 2}},
		{"z", 2, stats.Confusion{TP: 1, FN: 2, FP: 1, TN: 1}},
	} {
		got := r.LeaveOneOut[i]
		if got.Without != want.without || got.Members != want.members || got.Confusion != want.c {
			t.Errorf("without %q: %d members, %+v; want %+v", got.Without, got.Members, got.Confusion, want)
		}
	}
}

func TestAgreementOfMixed(t *testing.T) {
	t.Parallel()
	r := examineMixed(t, nil)
	if a := r.Agreement[0]; a.A != "ana" || a.B != "ben" || a.Agree.K != 5 || a.Agree.N != 6 || a.Kappa.Value == nil {
		t.Errorf("ana and ben agree %+v", a)
	}
	for i, want := range []string{"people 2: 5/6", "moderators 3: 2/7", "all 5: 0/5"} {
		f := r.Fleiss[i]
		if got := fmt.Sprintf("%s %d: %d/%d", f.Raters, f.Count, f.Unanimous.K, f.Unanimous.N); got != want || f.Kappa.Value == nil {
			t.Errorf("got %s, %v; want %s", got, f.Kappa, want)
		}
	}
	if a := r.AgainstEnsemble[0]; a.Moderator != "x" || a.N != 5 || a.Both != 2 || a.OnlyB != 1 || a.OnlyA != 0 || a.Neither != 2 {
		t.Errorf("x against the ensemble is %+v", a)
	}
}

func TestCategoriesWithEnoughLabels(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"id", "category", "truth", "moderator:x"}}
	for i := range 30 {
		category := "many"
		if i >= 21 {
			category = "few"
		}
		rows = append(rows, []string{fmt.Sprint("p", i), category, "toxic", "safe"})
	}
	sheet := readSheetWith(t, rows, "truth")
	r, err := audit.Examine(audit.Examination{Sheets: []*audit.Sheet{sheet}, Truth: audit.Truth{Columns: []string{"truth"}}, Positive: orbench.Safe, Prevalence: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Raters[0].Categories; len(c) != 1 || c[0].Category != "many" || c[0].Confusion.FP != 21 {
		t.Errorf("the categories are %+v", c)
	}
	// No safe prompt passes, so the share of toxic ones among those that pass
	// is unknown.
	if r.Raters[0].Residual != nil {
		t.Errorf("the residual toxicity is %+v", r.Raters[0].Residual)
	}
}

// built is a build of 100 prompts, all of which passed.
func built() *audit.Build {
	b := &audit.Build{Name: "built", SHA256: strings.Repeat("0", 64)}
	for i := range 100 {
		b.Items = append(b.Items, audit.Item{
			ID: orbench.PromptID(fmt.Sprint("p", i)), Category: "a", Decision: orbench.Safe, Votes: map[string]orbench.Label{"openai/gpt-4o": orbench.Safe},
		})
	}
	return b
}

func TestAllPassed(t *testing.T) {
	t.Parallel()
	r, err := audit.Examine(audit.Examination{
		Sheets: []*audit.Sheet{readRows(t, [][]string{{"id", "label"}, {"p0", "safe"}, {"p2", "toxic"}, {"p52", ""}})},
		Build:  built(), Positive: orbench.Safe, Prevalence: 0.1,
	})
	if err != nil || !noted(r, "Every prompt of the sample passed the ensemble") {
		t.Errorf("the notes are %q, %v", r.Notes, err)
	}
}

func noted(r audit.Report, text string) bool {
	return strings.Contains(strings.Join(r.Notes, "\n"), text)
}

func TestNotesSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	people := readRows(t, [][]string{{"id", "rater:a", "rater:b"}, {"p1", "safe", "safe"}})
	r, err := audit.Examine(audit.Examination{Sheets: []*audit.Sheet{people}, Positive: orbench.Safe, Prevalence: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Moderators are left out", "Categories are left out"} {
		if !noted(r, want) {
			t.Errorf("no note says %q: %q", want, r.Notes)
		}
	}
	if r = examineMixed(t, nil); noted(r, "oderators are left out") || noted(r, "Leave-one-out") {
		t.Errorf("the notes are %q", r.Notes)
	}
	r = examineMixed(t, func(c *audit.Examination) {
		c.Truth = audit.Truth{Columns: []string{"ana", "ben", "x"}, Majority: true}
	})
	if !r.Truth.Moderators || !noted(r, "The truth includes votes of moderators") {
		t.Errorf("the truth is %+v, the notes are %q", r.Truth, r.Notes)
	}
}

func TestSheetsOfSeveralPeople(t *testing.T) {
	t.Parallel()
	read := func(file, text string) *audit.Sheet {
		s, err := audit.ReadSheet(file, strings.NewReader(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	r, err := audit.Examine(audit.Examination{
		Sheets:   []*audit.Sheet{read("ana.csv", "id,label\np1,safe\np2,toxic\n"), read("x/ben.csv", "id,label\np2,toxic\np3,safe\n")},
		Positive: orbench.Safe, Prevalence: 0.1,
	})
	if err != nil || r.Prompts.All != 3 || r.Prompts.Safe != 2 || r.Prompts.Toxic != 1 || len(r.Files) != 2 || r.Agreement[0].Agree.N != 1 {
		t.Errorf("got %+v, %v", r.Prompts, err)
	}
}

func TestExamineRefuses(t *testing.T) {
	t.Parallel()
	read := func(file, text string) *audit.Sheet {
		s, err := audit.ReadSheet(file, strings.NewReader(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ana := read("ana.csv", "id,label\np1,safe\n")
	for want, c := range map[string]audit.Examination{
		"positive: ":                  {Sheets: []*audit.Sheet{ana}, Positive: orbench.Controversial, Prevalence: 0.1},
		"prevalence: ":                {Sheets: []*audit.Sheet{ana}, Positive: orbench.Safe, Prevalence: 1},
		"no labels":                   {Positive: orbench.Safe, Prevalence: 0.1},
		"truth: there is no column x": {Sheets: []*audit.Sheet{ana}, Truth: audit.Truth{Columns: []string{"x"}}, Positive: orbench.Safe, Prevalence: 0.1},
		"b/ana.csv:2: ana's label of p1 is toxic here and safe in another file": {
			Sheets: []*audit.Sheet{ana, read("b/ana.csv", "id,label\np1,toxic\n")}, Positive: orbench.Safe, Prevalence: 0.1,
		},
		"far.csv:3: the prompt p100 is not in built": {
			Sheets: []*audit.Sheet{read("far.csv", "id,label\np1,safe\np100,safe\n")}, Build: built(), Positive: orbench.Safe, Prevalence: 0.1,
		},
		"m.csv:1: the votes of openai/gpt-4o are in this file and in built": {
			Sheets: []*audit.Sheet{read("m.csv", "id,label,moderator:openai/gpt-4o\np1,safe,safe\n")}, Build: built(), Positive: orbench.Safe, Prevalence: 0.1,
		},
		"e.csv:1: the ensemble's decisions are in this file and in built": {
			Sheets: []*audit.Sheet{read("e.csv", "id,label,ensemble\np1,safe,safe\n")}, Build: built(), Positive: orbench.Safe, Prevalence: 0.1,
		},
		"n.csv: there are no labels of people": {
			Sheets: []*audit.Sheet{read("n.csv", "id,ensemble\np1,safe\n")}, Positive: orbench.Safe, Prevalence: 0.1,
		},
		"openai/gpt-4o is the name of a person and of a moderator": {
			Sheets: []*audit.Sheet{read("o.csv", "id,rater:openai/gpt-4o\np1,safe\n")}, Build: built(), Positive: orbench.Safe, Prevalence: 0.1,
		},
		"a rater cannot be called ensemble": {
			Sheets: []*audit.Sheet{read("ensemble.csv", "id,label\np1,safe\n")}, Positive: orbench.Safe, Prevalence: 0.1,
		},
	} {
		if _, err := audit.Examine(c); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

// readSheetWith reads rows as a sheet with further columns.
func readSheetWith(t *testing.T, rows [][]string, others ...string) *audit.Sheet {
	t.Helper()
	var lines []string
	for _, row := range rows {
		lines = append(lines, strings.Join(row, ","))
	}
	sheet, err := audit.ReadSheet("labels.csv", strings.NewReader(strings.Join(lines, "\n")), others)
	if err != nil {
		t.Fatal(err)
	}
	return sheet
}
