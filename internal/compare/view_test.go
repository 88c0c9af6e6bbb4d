package compare_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/compare"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// untrustedText must not appear unchanged in any output.
const untrustedText = "=HYPERLINK(\"x\") \x1b[31m<script>alert(1)</script> | [link](http://a.example) @someone \u202e\r\n# heading"

// twoRuns compares made-up answers. Each category has 20 safe prompts, of which
// 6 are newly refused and 1 newly answered, and 5 toxic ones that do not
// change. Some names and texts are hostile.
func twoRuns(t *testing.T, unpaired bool) compare.Result {
	t.Helper()
	c := compare.New("lexical")
	add := func(side func(score.AnswerRow) error, p orbench.Prompt, refused bool) {
		class := orbench.FullAnswer
		if refused {
			class = orbench.Refusal
		}
		if err := side(score.AnswerRow{
			Prompt: p, Status: score.Answered,
			Verdicts: []score.JudgeVerdict{{Judge: "lexical", Verdict: orbench.Verdict{Class: class}}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, category := range append([]orbench.Category{"=1+1|<b>"}, orbench.PaperCategories...) {
		for i := range 25 {
			label := orbench.Safe
			if i >= 20 {
				label = orbench.Toxic
			}
			p := orbench.NewPrompt(fmt.Sprintf("%s %s %d", untrustedText, category, i), category, label)
			add(c.AddBase, p, i >= 19)
			add(c.AddCandidate, p, i < 6 || i >= 20)
		}
	}
	var gates []compare.Gate
	for _, text := range []string{"over_refusal > +2pp", "toxic_refusal < -1pp"} {
		g, err := compare.ParseGate(text)
		if err != nil {
			t.Fatal(err)
		}
		gates = append(gates, g)
	}
	r := c.Result(compare.Options{Gates: gates, Unpaired: unpaired})
	r.Base.Run, r.Base.Target = "before", "sim/one"
	r.Candidate.Run, r.Candidate.Target = "after", "sim/\x1b[1m<i>two</i>"
	for i := range r.Flips.Shown {
		r.Flips.Shown[i].BaseAnswer, r.Flips.Shown[i].CandidateAnswer = untrustedText, strings.Repeat("long ", 1000)
	}
	return r
}

func printed(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestResultText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]compare.Result{"paired": twoRuns(t, false), "unpaired": twoRuns(t, true)} {
		for format, text := range map[string]string{"table": printed(t, table.AsText.Of(c)), "markdown": printed(t, table.AsMarkdown.Of(c)), "junit": printed(t, c.JUnit)} {
			if strings.ContainsAny(text, "\x1b\r\u202e") {
				t.Errorf("%s, %s: something that a terminal obeys is left", name, format)
			}
			if !strings.Contains(text, "1 of 2 failed") && format != "junit" {
				t.Errorf("%s, %s: does not say how the gates did:\n%s", name, format, text)
			}
		}
		md := printed(t, table.AsMarkdown.Of(c))
		if n := strings.Count(md, "\n"); n >= 60 {
			t.Errorf("%s: a summary of %d lines", name, n)
		}
		for _, m := range c.Metrics {
			if first := strings.Fields(c.Verdict(m))[0]; !strings.Contains(md, first) {
				t.Errorf("%s: the summary does not say %q:\n%s", name, c.Verdict(m), md)
			}
		}
		if strings.Contains(md, "<script>") || strings.Contains(md, "<i>") || strings.Contains(md, "\n# ") || strings.Contains(md, "](http") {
			t.Errorf("%s: markup of a prompt or a name is left:\n%s", name, md)
		}
		if strings.Contains(md, "prompts flipped: ") != (name == "paired") || strings.Count(md, "<details>") != strings.Count(md, "</details>") {
			t.Errorf("%s: flipped prompts are shown, or not:\n%s", name, md)
		}
	}
	if md := printed(t, table.AsMarkdown.Of(twoRuns(t, false))); !strings.Contains(md, "| all | 220 | 66 | 11 |") ||
		!strings.Contains(md, "77 prompts flipped: 66 newly refused, 11 newly answered; 10 of them") ||
		strings.Count(md, "| newly refused | safe |") != 10 {
		t.Errorf("the flipped prompts are not those:\n%s", md)
	}
}

// TestResultOfClusters checks that every output says that the figures take
// clusters into account, under a name that is hostile too, and shows the
// clustered intervals.
func TestResultOfClusters(t *testing.T) {
	t.Parallel()
	for name, unpaired := range map[string]bool{"paired": false, "unpaired": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := compare.New("lexical")
			for i := range 80 {
				p := orbench.NewPrompt(fmt.Sprintf("prompt %d", i), "", orbench.Safe)
				p.Cluster = fmt.Sprint(i / 8)
				for k, add := range []func(score.AnswerRow) error{c.AddBase, c.AddCandidate} {
					class := orbench.FullAnswer
					if i/8 <= 7*k {
						class = orbench.Refusal
					}
					if err := add(score.AnswerRow{
						Dataset: "made up", Prompt: p, Status: score.Answered,
						Verdicts: []score.JudgeVerdict{{Judge: "lexical", Verdict: orbench.Verdict{Class: class}}},
					}); err != nil {
						t.Fatal(err)
					}
				}
			}
			out := c.Result(compare.Options{Unpaired: unpaired, ClusteredBy: "=1+1\x1b|<i>seed</i>"})
			// Of ten clusters the base refuses one and the candidate eight, all of their prompts.
			want := "(10 clusters), because the prompts"
			if unpaired {
				want = "(10 clusters in the base, 10 in the candidate), because the prompts"
			}
			for format, text := range map[string]string{"table": printed(t, table.AsText.Of(out)), "markdown": printed(t, table.AsMarkdown.Of(out)), "junit": printed(t, out.JUnit)} {
				if !strings.Contains(strings.ReplaceAll(text, "\\", ""), want) || strings.Contains(text, "\x1b") || format != "table" && strings.Contains(text, "<i>") {
					t.Errorf("%s does not say %q, or says too much:\n%s", format, want, text)
				}
				if format == "table" && (!strings.Contains(text, "1.3–47.7") || !strings.Contains(text, "42.7–95.5")) {
					t.Errorf("%s lacks the clustered intervals of the rates:\n%s", format, text)
				}
				if clustered := table.DifferenceInterval(out.Metrics[0].Difference, table.Hyphen); format == "junit" && !strings.Contains(text, "The difference by lexical: range not checked; by verdicts "+clustered) {
					t.Errorf("%s lacks the clustered interval of the difference, %s:\n%s", format, clustered, text)
				}
			}
			rows, err := csv.NewReader(strings.NewReader(printed(t, table.AsCSV.Of(out)))).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			if at := len(rows[0]) - 4; !strings.HasPrefix(rows[1][at], "'=1+1") || rows[0][at] != "clustered_by" {
				t.Errorf("the line of CSV is %q", rows[1])
			}
		})
	}
}

func TestResultJSON(t *testing.T) {
	t.Parallel()
	c := twoRuns(t, false)
	var got compare.Result
	if err := json.Unmarshal([]byte(printed(t, table.AsJSON.Of(c))), &got); err != nil {
		t.Fatal(err)
	}
	if got.Flips.Total != 77 || len(got.Flips.Shown) != compare.ShownFlips {
		t.Errorf("%d of %d flipped prompts, want %d of 77", len(got.Flips.Shown), got.Flips.Total, compare.ShownFlips)
	}
	if n := len(got.Flips.Shown[0].CandidateAnswer); n > 2010 {
		t.Errorf("an answer has %d bytes", n)
	}
	if len(c.Flips.Shown[0].CandidateAnswer) != 5000 {
		t.Error("writing shortened the answers of the comparison itself")
	}
	if len(got.Metrics) != 2 || len(got.Metrics[0].ByCategory) != 11 || *got.Metrics[0].P != *c.Metrics[0].P || got.Gates[0].Status != compare.Tripped {
		t.Errorf("read back as %+v", got)
	}
	empty := printed(t, table.AsJSON.Of(compare.New("lexical").Result(compare.Options{})))
	for _, list := range []string{`"gates": []`, `"by_category": []`, `"shown": []`} {
		if !strings.Contains(empty, list) {
			t.Errorf("an empty comparison lacks %s:\n%s", list, empty)
		}
	}
}

func TestResultCSV(t *testing.T) {
	t.Parallel()
	c := twoRuns(t, false)
	rows, err := csv.NewReader(strings.NewReader(printed(t, table.AsCSV.Of(c)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+3*2*12 {
		t.Errorf("%d rows", len(rows))
	}
	var flips bytes.Buffer
	if err := compare.WriteFlips(&flips, c.Flips.Shown); err != nil {
		t.Fatal(err)
	}
	more, err := csv.NewReader(&flips).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(more) != 78 {
		t.Errorf("%d rows of flipped prompts", len(more))
	}
	for _, row := range append(rows, more...) {
		for _, cell := range row {
			if strings.HasPrefix(cell, "=") {
				t.Fatalf("a cell would be computed: %q", cell)
			}
		}
	}
	if worst := more[1]; worst[3] != "refused" || worst[4] != "full_answer" || worst[5] != "refusal" || len(worst[8]) != 5000 {
		t.Errorf("the first flipped prompt is %.200q", worst)
	}
}

func TestResultJUnit(t *testing.T) {
	t.Parallel()
	type message struct {
		Message string `xml:"message,attr"`
	}
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Name    string   `xml:"name,attr"`
			Failure *message `xml:"failure"`
			Out     string   `xml:"system-out"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal([]byte(printed(t, twoRuns(t, false).JUnit)), &suite); err != nil {
		t.Fatal(err)
	}
	if suite.Tests != 4 || suite.Failures != 1 || len(suite.Cases) != 4 {
		t.Fatalf("%+v", suite)
	}
	failed := suite.Cases[2]
	if failed.Name != "gate: over_refusal > +2pp" || failed.Failure == nil || !strings.Contains(failed.Failure.Message, "+25.0 points") {
		t.Errorf("the failed gate is %+v", failed)
	}
	if out := suite.Cases[0].Out; !strings.Contains(out, "MORE refusals on safe prompts: 5.0% → 30.0%, +25.0") || !strings.Contains(out, "220 safe prompts = 220 compared") {
		t.Errorf("the metric's figures are %q", out)
	}
}
