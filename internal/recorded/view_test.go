package recorded

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/stats"
)

// recordedResult makes up what two judges made of ten answers, with every name
// the given one.
func recordedResult(name string, gold bool) Result {
	share := func(v float64) *float64 { return &v }
	figures := func(tp, fp, fn, tn int) Figures {
		f := Figures{
			N: tp + fp + fn + tn, Refused: tp + fp, Rate: stats.Rate{Share: share(0.5), CI95: &[2]float64{0.25, 0.75}},
			ByClass: map[orbench.Class]int{orbench.Refusal: tp + fp, orbench.FullAnswer: fn + tn},
		}
		if gold {
			f.Measures = &Measures{
				Accuracy: share(0.75), AccuracyCI95: &[2]float64{0.5, 0.875}, Precision: share(0.625), PrecisionCI95: &[2]float64{0.25, 0.875}, Recall: share(0.5), RecallCI95: &[2]float64{0.125, 0.75}, F1: share(0.125), F1CI95: &[2]float64{0.0625, 0.5},
				Confusion: stats.Confusion{TP: tp, FP: fp, FN: fn, TN: tn},
			}
		}
		return f
	}
	r := Result{
		Responses: name, SHA256: "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f809", Answers: 1200,
		Agreement:   []score.Agreement{{A: name, B: "second", N: 10, Counts: versus.Counts{Both: 4, OnlyA: 1, OnlyB: 2, Neither: 3}, Kappa: stats.Kappa{Value: share(0.4), KappaCI95: &[2]float64{-0.1, 0.8}}}},
		FleissKappa: share(0.3125), FleissKappaCI95: &[2]float64{-0.125, 0.625}, FleissN: 10, Simulated: true,
	}
	if gold {
		r.GoldValues, r.GoldRefusal = map[string]int{name: 6, "no": 4}, []string{name}
	}
	for _, judge := range []string{name, "second"} {
		r.Judges = append(r.Judges, Judge{Judge: judge, Figures: figures(3, 1, 2, 4), Simulated: judge == "second"})
	}
	none := figures(0, 0, 0, 0)
	none.Rate = stats.Rate{}
	if gold {
		none.Measures = &Measures{}
	}
	r.Judges = append(r.Judges, Judge{Judge: "none", Figures: none})
	return r
}

// TestText shows every figure, those that are undefined as dashes, in
// columns that line up.
func TestText(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		gold         bool
		want, absent []string
	}{
		"with people": {true, []string{
			table.SimulatedNotice, "1,200 answers in answers.csv@" + table.ShortHash("1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f809"),
			"answers.csv         10     75.0%     50.0–87.5      0.625  0.250–0.875   0.500  0.125–0.750  0.125  0.062–0.500      –    –   3   1   2   4",
			"A refusal is positive: people's answers.csv.",
			"none                 0         –             –          –            –       –            –      –            –      –    –   0   0   0   0",
			"Fleiss' kappa of all judges is 0.312 (95%: −0.125–0.625), on 10 answers that all of them judged.",
		}, nil},
		"without": {false, []string{
			"answers.csv         10         0        4  50.0%     25.0–75.0",
			"none                 0         0        0      –             –",
			"70.0%     39.7–89.2             4       1       2        3   0.40",
		}, []string{"accuracy", "people", "precision"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if err := table.AsText.Write(&b, table.Screen{}, recordedResult("answers.csv", tc.gold)); err != nil {
				t.Fatal(err)
			}
			for _, w := range tc.want {
				if !strings.Contains(b.String(), w) {
					t.Errorf("no %q in\n%s", w, b.String())
				}
			}
			for _, a := range tc.absent {
				if strings.Contains(b.String(), a) {
					t.Errorf("%q in\n%s", a, b.String())
				}
			}
			for _, block := range strings.Split(b.String(), "\n\n")[1:] {
				lines := strings.Split(strings.TrimSpace(block), "\n")
				for _, line := range lines[min(1, len(lines)):] {
					if !strings.HasSuffix(line, ".") && untrusted.Width(line) != untrusted.Width(lines[1]) {
						t.Errorf("a line of %d columns under a head of %d:\n%s\n%s", untrusted.Width(line), untrusted.Width(lines[1]), lines[1], line)
					}
				}
			}
		})
	}
	undefined := recordedResult("a", false)
	undefined.FleissKappa = nil
	var b bytes.Buffer
	if err := table.AsText.Write(&b, table.Screen{}, undefined); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "Fleiss' kappa of all judges is undefined") {
		t.Errorf("an undefined kappa is not said to be:\n%s", b.String())
	}
}

// TestRecordedFormatsAreHarmless has names that every format must disarm.
func TestRecordedFormatsAreHarmless(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := table.AsText.Write(&b, table.Screen{}, recordedResult("a\x1b[31m\u202e\r\nb\x00", true)); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(b.String(), func(r rune) bool { return r != '\n' && r < ' ' || r == '\u202e' }); i >= 0 {
		t.Errorf("a control character got through: %q", b.String()[i:min(i+40, b.Len())])
	}
	b.Reset()
	if err := table.AsMarkdown.Write(&b, table.Screen{}, recordedResult("x | <img src=x> [a](https://b.c) `d` *e*\n# f @g", true)); err != nil {
		t.Fatal(err)
	}
	bare := regexp.MustCompile(`\\.`).ReplaceAllString(b.String(), "")
	for _, raw := range []string{"<", ">", "[", "]", "(", "`", "@", "://", "\n# f"} {
		if strings.Contains(bare, raw) {
			t.Errorf("%q is live in the Markdown", raw)
		}
	}
	b.Reset()
	if err := table.AsCSV.Write(&b, table.Screen{}, recordedResult("=1+1", true)); err != nil {
		t.Fatal(err)
	}
	for _, row := range readCSV(t, &b) {
		for _, cell := range row {
			if strings.HasPrefix(cell, "=") {
				t.Errorf("a live formula in %v", row)
			}
		}
	}
}

func readCSV(t *testing.T, b *bytes.Buffer) [][]string {
	t.Helper()
	rows, err := csv.NewReader(b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestCSV reads the cells back by their names.
func TestCSV(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		gold bool
		want map[string]string
	}{
		"with people": {true, map[string]string{
			"responses": "a.csv", "sha256": "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f809", "judge": "a.csv", "n": "10", "unjudged": "0", "refused": "4",
			"rate": "0.5", "ci95_lo": "0.25", "ci95_hi": "0.75", "accuracy": "0.75", "accuracy_ci95_lo": "0.5", "accuracy_ci95_hi": "0.875",
			"precision": "0.625", "recall": "0.5", "f1": "0.125", "kappa": "", "tp": "3", "fp": "1", "fn": "2", "tn": "4",
			"class_refusal": "4", "class_full_answer": "6", "class_blocked": "0", "simulated": "false",
			"precision_ci95_lo": "0.25", "precision_ci95_hi": "0.875", "recall_ci95_hi": "0.75", "f1_ci95_lo": "0.0625", "kappa_ci95_lo": "",
		}},
		"without": {false, map[string]string{"n": "10", "accuracy": "", "accuracy_ci95_hi": "", "f1": "", "tp": "", "tn": "", "class_refusal": "4", "simulated": "false"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if err := table.AsCSV.Write(&b, table.Screen{}, recordedResult("a.csv", tc.gold)); err != nil {
				t.Fatal(err)
			}
			rows := readCSV(t, &b)
			if len(rows) != 4 {
				t.Fatalf("%d rows, want a header and one for each judge", len(rows))
			}
			for column, want := range tc.want {
				at := slices.Index(rows[0], column)
				if at < 0 || rows[1][at] != want {
					t.Errorf("%s = %q, want %q", column, rows[1][max(at, 0)], want)
				}
			}
			if empty := rows[3]; empty[2] != "none" || empty[6] != "" {
				t.Errorf("the judge without a verdict: %v", empty)
			}
		})
	}
}

// TestJSONReadsBack says the same as the result.
func TestJSONReadsBack(t *testing.T) {
	t.Parallel()
	want := recordedResult("<a> & b.csv", true)
	var b bytes.Buffer
	if err := table.AsJSON.Write(&b, table.Screen{}, want); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"responses": "<a> & b.csv"`) {
		t.Error("the name is escaped as for HTML")
	}
	var got Result
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	one, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	two, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one, two) {
		t.Errorf("got\n%s\nwant\n%s", two, one)
	}
}

func TestDisagreements(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	verdict := func(c orbench.Class, start, end int, why string) score.JudgeVerdict {
		return score.JudgeVerdict{Verdict: orbench.Verdict{Class: c, Span: orbench.Span{Start: start, End: end}, Rationale: why}}
	}
	row := func(number int, gold *bool, verdicts ...score.JudgeVerdict) JudgedAnswer {
		return JudgedAnswer{
			Answer: dataset.Answer{
				Line: number, Number: number, Prompt: "=prompt", Response: "<think>Hm.</think>Sorry, no.", Gold: "@gold",
			},
			Read: model.Response{Text: "Sorry, no."}, Refusal: gold, Verdicts: verdicts,
		}
	}
	refused, answered, unjudged := verdict(orbench.Refusal, 0, 5, "x"), verdict(orbench.FullAnswer, 0, 0, "-it helps"), verdict(orbench.Unjudged, 0, 0, "no reply")
	outside := verdict(orbench.Partial, 90, 99, "")
	var b bytes.Buffer
	d, err := NewDisagreements(&b, []string{"lexical", "=other"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []JudgedAnswer{
		row(2, &yes, refused, refused),
		row(3, &yes, refused, answered),
		row(4, &no, unjudged, unjudged),
		row(5, &no, unjudged, outside),
		row(6, nil, answered, refused),
		row(7, nil, answered, unjudged),
	} {
		if err := d.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"line", "gold", "gold_refusal", "prompt", "response", "lexical", "lexical why", "'=other", "'=other why"},
		{"3", "'@gold", "true", "'=prompt", "<think>Hm.</think>Sorry, no.", "refusal", "Sorry", "full_answer", "'-it helps"},
		{"5", "'@gold", "false", "'=prompt", "<think>Hm.</think>Sorry, no.", "unjudged", "no reply", "partial", ""},
		{"6", "'@gold", "", "'=prompt", "<think>Hm.</think>Sorry, no.", "full_answer", "'-it helps", "refusal", "Sorry"},
	}
	got := readCSV(t, &b)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !slices.Equal(got[i], want[i]) {
			t.Errorf("row %s: got %q, want %q", strconv.Itoa(i), got[min(i, len(got)-1)], want[min(i, len(want)-1)])
		}
	}
}
