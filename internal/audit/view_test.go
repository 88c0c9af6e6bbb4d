package audit

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// auditFixture is an audit with every section, hostile names, and as many
// prompts as a large audit has.
func auditFixture(t *testing.T) Report {
	t.Helper()
	moderators := []string{"sim/gpt-\x1b[31m4", "together/meta-llama/Llama-3-70b-chat-hf", "google/gemini-1.5-pro-latest"}
	var sheet strings.Builder
	sheet.WriteString("id,rater:=cmd(1),rater:ben\n")
	build := &Build{Name: "built|x", SHA256: strings.Repeat("ab", 32)}
	label := func(toxic bool) orbench.Label {
		if toxic {
			return orbench.Toxic
		}
		return orbench.Safe
	}
	for i := range 900 {
		toxic := i%4 == 0
		fmt.Fprintf(&sheet, "p%d,%s,%s\n", i, label(toxic), label(toxic || i%50 == 1))
		build.Items = append(build.Items, Item{
			ID: orbench.PromptID(fmt.Sprint("p", i)), Category: orbench.Category([]string{"hate", "-violence\nx"}[i%2]),
			Votes: map[string]orbench.Label{
				moderators[0]: label(toxic), moderators[1]: label(toxic && i%12 != 0), moderators[2]: label(i%5 == 0),
			},
			Decision: label(toxic && i%24 != 0),
		})
	}
	s, err := ReadSheet("labels\u202e.csv", strings.NewReader(sheet.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Examine(Examination{Sheets: []*Sheet{s}, Build: build, Positive: orbench.Safe, Prevalence: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReportTextFitsATerminal(t *testing.T) {
	t.Parallel()
	r := auditFixture(t)
	// Without an ensemble every moderator is shown by category.
	single := r
	single.Raters = slices.DeleteFunc(slices.Clone(r.Raters), func(rater Rater) bool { return rater.Kind == Joint })
	var b bytes.Buffer
	for _, r := range []Report{single, r} {
		b.Reset()
		if err := table.AsText.Write(&b, table.Screen{}, r); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if untrusted.Width(line) > 104 {
				t.Errorf("%d columns: %s", untrusted.Width(line), line)
			}
		}
	}
	for _, want := range []string{
		table.SimulatedNotice, "Raters against the truth", "Residual toxicity", "prompts: ensemble", "Single moderators",
		"Ensembles by votes alone", "Agreement of raters",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table lacks %q", want)
		}
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e") {
		t.Error("a terminal would obey a name")
	}
	t.Log("\n" + b.String())
}

func TestReportMarkdownKeepsItsTables(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := table.AsMarkdown.Write(&b, table.Screen{}, auditFixture(t)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `built\|x`) || !strings.Contains(b.String(), "**"+table.SimulatedNotice+"**") {
		t.Error("a name is markup, or the notice is missing")
	}
	columns := 0
	for _, line := range strings.Split(b.String(), "\n") {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns > 0 && n != columns {
			t.Errorf("%d bars after %d: %s", n, columns, line)
		}
		columns = n
	}
}

func TestReportCSV(t *testing.T) {
	t.Parallel()
	r := auditFixture(t)
	var b bytes.Buffer
	if err := table.AsCSV.Write(&b, table.Screen{}, r); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	scopes := map[string]int{}
	for _, row := range rows[1:] {
		scopes[row[0]]++
		if strings.HasPrefix(row[1], "=") || strings.HasPrefix(row[3], "-") {
			t.Errorf("a spreadsheet would compute %q", row)
		}
		if row[slices.Index(rows[0], "simulated")] != "true" {
			t.Errorf("the row does not say that it is simulated: %q", row)
		}
	}
	if got := fmt.Sprint(scopes); got != "map[all:6 category:12 votes:1 votes_without:3]" {
		t.Errorf("the scopes are %s", got)
	}
}

func TestReportJSONHasNoNullLists(t *testing.T) {
	t.Parallel()
	sheet, err := ReadSheet("a.csv", strings.NewReader("id,label\np1,safe\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Examine(Examination{Sheets: []*Sheet{sheet}, Positive: orbench.Safe, Prevalence: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	for _, report := range []Report{r, auditFixture(t)} {
		var b bytes.Buffer
		if err := table.AsJSON.Write(&b, table.Screen{}, report); err != nil {
			t.Fatal(err)
		}
		var back map[string]any
		if err := json.Unmarshal(b.Bytes(), &back); err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{"files", "raters", "agreement", "fleiss", "against_ensemble", "leave_one_out", "notes"} {
			if _, ok := back[list].([]any); !ok {
				t.Errorf("%s is %v", list, back[list])
			}
		}
	}
	// The other forms show an audit of one label too.
	for _, f := range []table.Format{table.AsText, table.AsMarkdown, table.AsCSV} {
		if err := f.Write(io.Discard, table.Screen{}, r); err != nil {
			t.Error(err)
		}
	}
}

func TestPlanTextShowsTheWantedWidth(t *testing.T) {
	t.Parallel()
	config := PlanConfig{HalfWidth: 0.04, Expect: 0.05, ExpectFPR: 0.16, Prevalence: 0.1, Confidence: 0.95}
	for _, tt := range []struct {
		halfWidth  float64
		population int
		want       []string
	}{
		{0.04, 0, []string{"±4 percentage points (Wilson):", "±3pp ", "±4pp ", "±5pp "}},
		{0.25, 0, []string{"±25pp "}},
		{0.02, 80359, []string{"drawn from 80,359 prompts"}},
		{0.02, 3, []string{"no number of prompts gives a false-positive rate", "–"}},
	} {
		config.HalfWidth, config.Population = tt.halfWidth, tt.population
		plan, err := NewPlan(config)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := table.AsText.Write(&b, table.Screen{}, plan); err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("±%v of %d: %q is missing in\n%s", tt.halfWidth, tt.population, want, b.String())
			}
		}
	}
}
