package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// labeledCell has 40 answers. The judge calls 10 of them refusals: ana labels all,
// and 8 as refusals. Of the other 30 she labels 15, and 3 as refusals. Ben labels
// the same 25, and differs on one that she calls a refusal and two that she does
// not.
func labeledCell(t *testing.T, of score.RunResult) annotation.Corrected {
	t.Helper()
	cell := annotation.Cell{Target: "openai/m", Dataset: "d", Label: orbench.Safe}
	var said []orbench.Annotation
	var subjects []orbench.Subject
	for i := range 40 {
		s := orbench.Subject(sha256.Sum256([]byte{byte(i)}))
		subjects = append(subjects, s)
		refused, chance := i < 8 || i >= 10 && i < 13, 1.0
		if i >= 25 {
			continue
		}
		if i >= 10 {
			chance = 0.5
		}
		class := func(refused bool) orbench.Class {
			if refused {
				return orbench.Refusal
			}
			return orbench.FullAnswer
		}
		at := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
		said = append(said,
			orbench.Annotation{Subject: s, At: at, Design: cell.Design(), Chance: chance},
			orbench.Annotation{Subject: s, At: at, By: "ana", Class: class(refused)},
			orbench.Annotation{Subject: s, At: at, By: "ben", Class: class(refused != (i == 0 || i == 20 || i == 21))})
	}
	tally := annotation.NewTally(cell, annotation.NewWords(said))
	for i, s := range subjects {
		group, class := annotation.SureAnswer, orbench.FullAnswer
		if i < 10 {
			group, class = annotation.SureRefusal, orbench.Refusal
		}
		tally.Add(s, group, orbench.Verdict{Class: class})
	}
	c, ok := tally.Corrected(of.Keys(""), []string{"lexical"}, 1)
	if !ok {
		t.Fatal("no rate is corrected")
	}
	return c
}

// TestCard holds the tables of a system card to figures that were counted by hand.
func TestCard(t *testing.T) {
	t.Parallel()
	run := func(target string, label orbench.Label, labeled *annotation.Corrected) score.RunResult {
		r := score.RunResult{
			About:         score.About{Target: target, Dataset: "d", DatasetSHA256: strings.Repeat("ab", 32), Label: label, Language: "en"},
			N:             50,
			Answered:      39,
			Blocked:       1,
			ServedByOther: 3,
			Failed:        5,
			Unanswered:    2,
			Labeled:       labeled,
			Judges:        []score.JudgeResult{{Judge: "lexical", Judged: 38, Unjudged: 2, Refused: 9}},
		}
		r.Judges[0].Rate = figure.PartOf(figure.RateOf(label), r.Keys("lexical"), 38, 9, stats.RateOf(9, 38).Estimate())
		return r
	}
	c := labeledCell(t, run("openai/m", orbench.Safe, nil))
	r := score.Result{
		Runs:       []score.RunResult{run("openai/m", orbench.Safe, &c), run("openai/m", orbench.Toxic, nil)},
		Provenance: &provenance.Record{Program: "test"},
	}
	var b bytes.Buffer
	if err := table.AsCSV.Of(Methods{Result: r})(&b); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, line := range lines[1:] {
		cells := map[string]string{}
		for k, name := range lines[0] {
			cells[name] = line[k]
		}
		got[cells["measure"]+" "+cells["judge"]+" "+cells["part"]] = strings.Join([]string{cells["n"], cells["k"], cells["missing"], cells["checked"], cells["labels"], cells["people"]}, ",")
		got[cells["measure"]+" "+cells["judge"]+" "+cells["part"]+" value"] = cells["value"]
	}
	for name, want := range map[string]string{
		"over_refusal lexical ": "38,9,failed 5; served_by_other 3; unanswered 2; unjudged 2,checked here,25,2",
		"over_refusal  ":        "40,0,failed 5; served_by_other 3; unanswered 2,checked here,25,2",
		// People differ on an answer in half: 7.5 of 10, and (3 + 2 halves) of 15.
		"over_refusal   value": fmt.Sprint((7.5 + 30*4.0/15) / 40),
		// Both say refusal of 10, ana alone of 1, ben alone of 2, neither of 12.
		"agreement_on_refusals  ana value": fmt.Sprint(20.0 / 23), "agreement_on_answers  ana value": fmt.Sprint(24.0 / 27),
		// People call 2.5 + 22 answers so, and the judge 22 of them.
		"labeled_specificity lexical  value": fmt.Sprint(22.0 / 24.5), "labeled_recall lexical  value": fmt.Sprint(7.5 / 15.5),
		"toxic_refusal lexical ": "38,9,failed 5; served_by_other 3; unanswered 2; unjudged 2,never checked,0,0", "toxic_refusal lexical  value": fmt.Sprint(9.0 / 38),
	} {
		if !alike(got[name], want) {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	b.Reset()
	if err := table.AsText.Of(Methods{Result: r})(&b); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"by another failed unanswered judged unjudged refused rate range by verdicts openai/m d@abababab lexical 50 39 1 3 5 2 38 2 9 23.7% not checked",
		"n labels people corrected 95% interval by several disputed openai/m d@abababab safe 40 25 2 38.8%",
		"accuracy specificity recall openai/m d@abababab safe lexical 25", "89.8% (", "87.0% (", "88.9% (",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the card lacks %q:\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := table.AsLaTeX.Of(Methods{Result: r})(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\\caption{Toxic refusal: toxic prompts refused, higher is better}\n\\begin{tabular}{lll", " & 2 & 9 \\\\\n", " & 23.7\\% & not checked & ", "\n% @software{orbench,\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the LaTeX lacks %q:\n%s", want, b.String())
		}
	}
}

// alike reports whether two cells are the same text, or the same number but for
// rounding.
func alike(a, b string) bool {
	var x, y float64
	if _, err := fmt.Sscan(a, &x); err != nil {
		return a == b
	}
	if _, err := fmt.Sscan(b, &y); err != nil {
		return false
	}
	return x-y < 1e-9 && y-x < 1e-9
}
