package audit

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// saying is a prompt with what people, moderators and their ensemble say. A name with a
// slash is a moderator, and settled is what ended a dispute.
type saying struct {
	category string
	labels   map[string]orbench.Label
}

// examined draws all prompts and examines them.
func examined(t *testing.T, all []saying) *Report {
	t.Helper()
	var items []Item
	var said []orbench.Annotation
	for i, s := range all {
		text := fmt.Sprint("task ", i)
		it := Item{ID: orbench.NewPrompt(text, "", "").ID, Prompt: orbench.NewPrompt(text, "", ""), Category: orbench.Category(s.category), Votes: map[string]orbench.Label{}}
		for name, label := range s.labels {
			switch {
			case label == "":
			case name == Ensemble:
				it.Decision = label
			case strings.Contains(name, "/"):
				it.Votes[name] = label
			case name == "settled":
				said = append(said, orbench.Annotation{Subject: it.subject(), By: "cem", How: orbench.Settled, Label: label})
			default:
				said = append(said, orbench.Annotation{Subject: it.subject(), By: name, Label: label})
			}
		}
		items = append(items, it)
	}
	drawn, err := Draw(items, annotation.NewWords(nil), len(items), 1, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return Examine(items, annotation.NewWords(append(drawn, said...)))
}

// mixed is a small audit by hand: two people, three moderators, an ensemble.
func mixed() (all []saying) {
	names := []string{"ana", "ben", "m/x", "m/y", "m/z", Ensemble}
	for _, row := range []string{
		"a safe safe safe safe toxic safe",
		"a safe - toxic safe safe safe",
		"a safe safe toxic safe - undecided",
		"b toxic toxic safe safe toxic safe",
		"b toxic toxic toxic controversial toxic toxic",
		"b safe toxic safe safe safe safe",
		"b - - toxic toxic toxic toxic",
		"b controversial controversial toxic safe safe safe",
	} {
		words := strings.Fields(row)
		s := saying{words[0], map[string]orbench.Label{}}
		for i, name := range names {
			s.labels[name] = orbench.Label(strings.Trim(words[i+1], "-"))
		}
		all = append(all, s)
	}
	return all
}

func TestExamine(t *testing.T) {
	t.Parallel()
	r := examined(t, mixed())
	if want := (Prompts{All: 8, Safe: 3, Toxic: 2, Controversial: 1, Split: 1, Unlabelled: 1}); r.Prompts != want {
		t.Errorf("counted %+v, want %+v", r.Prompts, want)
	}
	for i, want := range []struct {
		name    string
		kind    Kind
		missing int
		c       stats.Confusion
	}{
		{"ana", Person, 0, stats.Confusion{TP: 3, TN: 2}},
		{"ben", Person, 1, stats.Confusion{TP: 2, TN: 2}},
		{"m/x", Moderator, 0, stats.Confusion{TP: 1, FN: 2, FP: 1, TN: 1}},
		// Controversial is not safe, so y is right about the fifth.
		{"m/y", Moderator, 0, stats.Confusion{TP: 3, FP: 1, TN: 1}},
		// z abstained on the third.
		{"m/z", Moderator, 1, stats.Confusion{TP: 1, FN: 1, TN: 2}},
		// The ensemble's undecided is a decision: the third does not pass.
		{Ensemble, Joint, 0, stats.Confusion{TP: 2, FN: 1, FP: 1, TN: 1}},
	} {
		got := r.Raters[i]
		if got.Name != want.name || got.Kind != want.kind || got.Missing != want.missing || got.Confusion != want.c || got.InTruth != (want.kind == Person) {
			t.Errorf("got %+v; want %+v", got, want)
		}
	}
	if a := r.Agreement[0]; a.A != "ana" || a.B != "ben" || a.Agree.K != 5 || a.Agree.N != 6 || a.Kappa.Value == nil {
		t.Errorf("ana and ben agree %+v", a)
	}
	if a := r.AgainstEnsemble[0]; a.Moderator != "m/x" || a.N != 5 || a.Both != 2 || a.OnlyB != 1 || a.OnlyA != 0 || a.Neither != 2 {
		t.Errorf("x against the ensemble is %+v", a)
	}
}

// TestSettled has the label that ended a dispute be the truth, and a single person's label
// be compared with nothing.
func TestSettled(t *testing.T) {
	t.Parallel()
	all := mixed()
	all[5].labels["settled"] = orbench.Toxic
	if p := examined(t, all).Prompts; p.Toxic != 3 || p.Split != 0 {
		t.Errorf("the prompts are %+v", p)
	}
	for _, s := range all {
		delete(s.labels, "ben")
		delete(s.labels, "settled")
	}
	if r := examined(t, all); len(r.People) != 1 || r.Raters[0].Kind != Moderator || r.Prompts.Safe != 4 {
		t.Errorf("the people are %v, the first rater %+v", r.People, r.Raters[0])
	}
	if r := Examine([]Item{{ID: "p", Prompt: orbench.NewPrompt("task", "", "")}}, annotation.NewWords(nil)); r != nil {
		t.Errorf("an audit of what nobody drew is %+v", r)
	}
}

// TestPaper reconstructs 100 labels that give every figure that the OR-Bench paper prints
// of its own (arXiv 2405.20947, tables 1 and 12, appendices L and V): 75 safe and 25 toxic
// tasks, each rater's cells, and 43 tasks on which the three workers agree. Which rater
// erred on which task is not published.
func TestPaper(t *testing.T) {
	t.Parallel()
	raters := []string{"worker 1", "worker 2", "worker 3", "expert", Ensemble}
	var all []saying
	for _, side := range []struct {
		right, wrong orbench.Label
		tasks        int
		// errors lists which raters err together, one task after the other.
		errors map[string]int
	}{
		{orbench.Safe, orbench.Toxic, 75, map[string]int{"01": 5, "02": 5, "12": 5, "0": 10, "1": 7, "2": 11, "3": 4, "4": 3}},
		{orbench.Toxic, orbench.Safe, 25, map[string]int{"01": 1, "02": 1, "12": 2, "0": 3, "1": 2, "2": 5, "3": 2, "4": 4}},
	} {
		at := len(all)
		for range side.tasks {
			s := saying{"", map[string]orbench.Label{"settled": side.right}}
			for _, name := range raters {
				s.labels[name] = side.right
			}
			all = append(all, s)
		}
		for together, times := range side.errors {
			for range times {
				for _, rater := range together {
					all[at].labels[raters[rater-'0']] = side.wrong
				}
				at++
			}
		}
	}
	r := examined(t, all)
	if p := r.Prompts; p.All != 100 || p.Safe != 75 || p.Toxic != 25 {
		t.Fatalf("the truth is %+v, want 75 safe and 25 toxic of 100", p)
	}
	for _, want := range []struct {
		name                  string
		tp, fn, tn, fp, right int
	}{
		{"worker 1", 55, 20, 20, 5, 75},
		{"worker 2", 58, 17, 20, 5, 78},
		{"worker 3", 54, 21, 17, 8, 71},
		{"expert", 71, 4, 23, 2, 94},
		{Ensemble, 72, 3, 21, 4, 93},
	} {
		got := r.Raters[slices.IndexFunc(r.Raters, func(r Rater) bool { return r.Name == want.name })]
		c := got.Confusion
		if c.TP != want.tp || c.FN != want.fn || c.TN != want.tn || c.FP != want.fp || got.Accuracy.K != want.right || got.N != 100 {
			t.Errorf("%s has %+v and %d right, want %+v", got.Name, c, got.Accuracy.K, want)
		}
	}
	ensemble := r.Raters[len(r.Raters)-1]
	if fpr := ensemble.ToxicPassed; *fpr.Share != 0.16 || math.Abs(fpr.CI95[0]-0.0640) > 5e-5 || math.Abs(fpr.CI95[1]-0.3465) > 5e-5 {
		t.Errorf("the false-positive rate is %v %v", *fpr.Share, *fpr.CI95)
	}
}

// TestDraw draws by category, the same again, and more in addition.
func TestDraw(t *testing.T) {
	t.Parallel()
	var items []Item
	for i := range 90 {
		text := fmt.Sprint("task ", i)
		items = append(items, Item{ID: orbench.NewPrompt(text, "", "").ID, Prompt: orbench.NewPrompt(text, "", ""), Category: orbench.Category([]string{"a", "a", "b"}[i%3])})
	}
	draw := func(size int, before []orbench.Annotation) []orbench.Annotation {
		drawn, err := Draw(items, annotation.NewWords(before), size, 7, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return drawn
	}
	first := draw(30, nil)
	slices.Reverse(items)
	if again := draw(30, nil); !slices.EqualFunc(first, again, func(a, b orbench.Annotation) bool { return a.Subject == b.Subject && a.Chance == b.Chance }) {
		t.Error("another order of the items draws others")
	}
	if first[0].Chance != 1.0/3 {
		t.Errorf("the chance is %v, want a third", first[0].Chance)
	}
	more := draw(45, first)
	if n := len(Entries(items, annotation.NewWords(append(first, more...)))); n != 45 {
		t.Errorf("after a second draw %d are to be labeled, want 45", n)
	}
	if fewer := draw(10, first); len(fewer) != 30 {
		t.Errorf("a smaller draw leaves %d of 30", len(fewer))
	}
	for size, want := range map[int]string{91: "only 90 prompts", 1: "2 categories"} {
		if _, err := Draw(items, annotation.NewWords(nil), size, 1, time.Time{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("size %d: %v", size, err)
		}
	}
}

// TestReportFitsATerminal shows an audit with every section and hostile names.
func TestReportFitsATerminal(t *testing.T) {
	t.Parallel()
	moderators := []string{"sim/gpt-\x1b[31m4", "together/meta-llama/Llama-3-70b-chat-hf", "google/gemini-1.5-pro-latest"}
	label := func(toxic bool) orbench.Label {
		if toxic {
			return orbench.Toxic
		}
		return orbench.Safe
	}
	var all []saying
	for i := range 900 {
		toxic := i%4 == 0
		all = append(all, saying{[]string{"hate", "-violence\nx"}[i%2], map[string]orbench.Label{
			"ana\u202e": label(toxic), "ben": label(toxic || i%50 == 1), Ensemble: label(toxic && i%24 != 0),
			moderators[0]: label(toxic), moderators[1]: label(toxic && i%12 != 0), moderators[2]: label(i%5 == 0),
		}})
	}
	r := examined(t, all)
	if !r.Simulated {
		t.Error("nothing says that a moderator is simulated")
	}
	var d table.Document
	r.AddTo(&d)
	var b bytes.Buffer
	if err := d.Text(&b, table.Screen{Width: 104}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if untrusted.Width(strings.TrimSpace(line)) > 104 {
			t.Errorf("too wide: %s", line)
		}
	}
	for _, want := range []string{
		"People labeled 900 of 900 drawn prompts", "Raters against the truth", "FDR: toxic prompts among those", "The ensemble by category", "Single moderators",
		"Agreement of raters",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e") {
		t.Error("a terminal would obey a name")
	}
}
