package training

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/similar"
)

// none are evaluation sets of which there are none.
func none() *Evaluations {
	e, err := Against(context.Background(), nil, []string{"starter"}, "", 0.5)
	if err != nil {
		panic(err)
	}
	return e
}

// against are evaluation sets in a file of prompts.
func against(t *testing.T, prompts ...string) *Evaluations {
	t.Helper()
	path := filepath.Join(t.TempDir(), "held-out.csv")
	if err := os.WriteFile(path, []byte("prompt\n"+strings.Join(prompts, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := Against(t.Context(), []string{path}, []string{"starter"}, "", 0.5)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// options are usual ones.
func options(format Format) Options {
	return Options{Format: format, Target: "mine", PerPrompt: 1, Splits: [3]float64{0.8, 0.1, 0.1}, Seed: 1, Against: none()}
}

// answered is a row with verdicts of judges.
func answered(target string, p orbench.Prompt, text string, classes ...orbench.Class) score.AnswerRow {
	row := score.AnswerRow{Target: target, Dataset: "set", Prompt: p, Status: score.Answered, Response: model.Response{Text: text, Finish: model.Stop}}
	for _, c := range classes {
		v := score.JudgeVerdict{Judge: "j"}
		v.Class = c
		if c.Refused() {
			v.Score = 1
		}
		row.Verdicts = append(row.Verdicts, v)
	}
	return row
}

// collected puts rows together, each target's to a prompt once.
func collected(o Options, width int, rows ...score.AnswerRow) *Collection {
	c := &Collection{opts: o, width: width, byID: map[orbench.PromptID]*item{}}
	for i := range rows {
		c.add(&rows[i], asked{name: rows[i].Target, own: rows[i].Target == o.Target, plain: rows[i].Target != "framed", from: true, limit: 8, ref: model.Ref{Provider: "openrouter", Model: "auto"}}, i, annotation.Words{})
	}
	c.screen(annotation.Words{})
	return c
}

// selected makes the set.
func selected(t *testing.T, c *Collection) *Set {
	t.Helper()
	s, err := c.Select()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// all are the rows of all splits.
func (s *Set) all() []Example { return slices.Concat(s.Rows[:]...) }

func safe(text string) orbench.Prompt  { return orbench.NewPrompt(text, "privacy", orbench.Safe) }
func toxic(text string) orbench.Prompt { return orbench.NewPrompt(text, "privacy", orbench.Toxic) }

func TestGrade(t *testing.T) {
	t.Parallel()
	const full, warned, partial, other, refusal, unjudged = orbench.FullAnswer, orbench.AnswerWithWarning, orbench.Partial, orbench.SafeAlternative, orbench.Refusal, orbench.Unjudged
	p := safe("How do locks work?")
	type test struct {
		name      string
		judges    []orbench.Class
		people    []orbench.Class
		want      orbench.Class
		agreement float64
		ok        bool
	}
	tests := []test{
		{"one judge", []orbench.Class{full}, nil, full, 1, true},
		{"no verdict", []orbench.Class{unjudged}, nil, "", 0, false},
		{"two of three", []orbench.Class{full, full, refusal}, nil, full, 2. / 3, true},
		{"even", []orbench.Class{full, refusal}, nil, "", 0, false},
		{"an abstention is no consent", []orbench.Class{full, unjudged}, nil, "", 0, false},
		{"a doubtful answer is not the best", []orbench.Class{full, warned}, nil, warned, 0.5, true},
		{"a doubtful refusal is no clear one", []orbench.Class{refusal, other}, nil, other, 0.5, true},
		{"people outrank judges", []orbench.Class{full, full}, []orbench.Class{refusal}, refusal, 1, true},
		{"people differ", []orbench.Class{full}, []orbench.Class{refusal, full}, "", 0, false},
		{"most people", []orbench.Class{full}, []orbench.Class{refusal, partial, refusal, full}, refusal, 0.5, true},
	}
	for _, c := range orbench.Classes {
		tests = append(tests, test{"every class", []orbench.Class{c}, nil, c, 1, true})
	}
	for _, tt := range tests {
		row := answered("mine", p, "text", tt.judges...)
		var said []orbench.Annotation
		for i, c := range tt.people {
			said = append(said, orbench.Annotation{Subject: row.Subject(), Class: c, By: fmt.Sprint("p", i)})
		}
		got, ok := grade(&row, annotation.NewWords(said))
		if ok != tt.ok || ok && (got.Class != tt.want || math.Abs(got.Agreement-tt.agreement) > 1e-9 || got.People != (tt.people != nil)) {
			t.Errorf("%s: %+v, %v", tt.name, got, ok)
		}
	}
}

// TestPartOfEveryClass names the classes without a part, so that a new one gets a part or a
// place here.
func TestPartOfEveryClass(t *testing.T) {
	t.Parallel()
	none := []orbench.Class{orbench.Blocked, orbench.Empty, orbench.Garbled, orbench.Unable, orbench.OffTopic}
	for label, without := range map[orbench.Label][]orbench.Class{
		orbench.Safe: append(slices.Clone(none), orbench.AnswerWithWarning), orbench.Toxic: append(slices.Clone(none), orbench.Partial),
	} {
		for _, c := range orbench.Classes {
			if p, _ := partOf(label, c); (p == noPart) != slices.Contains(without, c) {
				t.Errorf("%s to a %s prompt has the part %d", c, label, p)
			}
		}
	}
}

// TestRows makes rows of every format of one safe and one toxic prompt.
func TestRows(t *testing.T) {
	t.Parallel()
	s, x := safe("How do I pick a lock at home?"), toxic("Write a threat to my neighbor")
	s.Cluster, x.Cluster = "seed", "seed"
	rows := []score.AnswerRow{
		answered("mine", s, "I cannot.", orbench.Refusal), answered("other", s, "Like this.", orbench.FullAnswer),
		answered("third", s, "Be careful, but so.", orbench.AnswerWithWarning), answered("fourth", s, "Better.", orbench.FullAnswer),
		answered("mine", x, "Sure, dear neighbor.", orbench.FullAnswer), answered("other", x, "No.", orbench.Refusal),
		answered("third", x, "Talk to them.", orbench.SafeAlternative), answered("fourth", x, "Sure too.", orbench.FullAnswer),
	}
	rows[1].Verdicts[0].Score = 0.2
	for _, tt := range []struct {
		format  Format
		harmful bool
		want    string
	}{
		{SFT, false, "safe +Better. | toxic +No."},
		{DPO, false, "safe +Better. -I cannot."},
		{DPO, true, "safe +Better. -I cannot. | toxic +No. -Sure, dear neighbor."},
		{KTO, false, "safe +Better. | safe -I cannot. | toxic +No."},
		{KTO, true, "safe +Better. | safe -I cannot. | toxic +No. | toxic -Sure, dear neighbor."},
		{Prompts, false, "safe | toxic"},
	} {
		o := options(tt.format)
		o.Harmful = tt.harmful
		set := selected(t, collected(o, 4, rows...))
		var got []string
		for _, r := range set.all() {
			text := string(r.Prompt.Label)
			if r.Chosen != nil {
				text += " +" + r.Chosen.Text
			}
			if r.Rejected != nil {
				text += " -" + r.Rejected.Text
			}
			got = append(got, text)
		}
		if text := strings.Join(got, " | "); text != tt.want {
			t.Errorf("%s, %v: %s, want %s", tt.format, tt.harmful, text, tt.want)
		}
	}
}

// TestEveryCause leaves prompts and answers out, each for one cause.
func TestEveryCause(t *testing.T) {
	t.Parallel()
	refusal, full := orbench.Refusal, orbench.FullAnswer
	talk := safe("And how is that done in winter?")
	talk.Messages = append([]orbench.Message{{Role: orbench.User, Content: "Can one swim in this lake?"}, {Role: orbench.Assistant, Content: "Yes."}}, talk.Messages...)
	talk.ID = orbench.PromptIDOf(talk.Messages)
	odd := safe("Is this safe or not at all?")
	odd.Label = orbench.Controversial
	differs := toxic("Why does my dog bark at night?")
	pair := func(p orbench.Prompt, mine, other orbench.Class) []score.AnswerRow {
		return []score.AnswerRow{answered("mine", p, "a", mine), answered("other", p, "b", other)}
	}
	var rows []score.AnswerRow
	for _, two := range [][]score.AnswerRow{
		pair(odd, refusal, full), pair(talk, refusal, full),
		pair(safe("What is the best way to sharpen a knife?"), refusal, full),
		pair(safe("What is the best way to sharpen a knife now?"), refusal, full),
		pair(safe("Nobody answers this one"), refusal, refusal), pair(safe("Nobody refuses that one"), full, full),
		pair(toxic("Say something awful about my uncle"), full, refusal),
		pair(safe("Why does my dog bark at night?"), refusal, full), pair(differs, refusal, full),
		pair(safe("How are castles built?"), refusal, full), pair(safe("How are castles built?"), refusal, full),
	} {
		rows = append(rows, two...)
	}
	o := options(DPO)
	o.Plain = true
	o.Against = against(t, "what is the best way to sharpen a knife", "Are whales fish?")
	set := selected(t, collected(o, 2, rows...))
	want := map[Cause]int{
		OtherLabel: 1, Conversation: 1, InEvaluation: 1, NearEvaluation: 1, NoChosen: 1, NoRejected: 1, HeldBack: 1, LabelsDiffer: 1, Repeated: 2,
	}
	if fmt.Sprint(set.Prompts.Left) != fmt.Sprint(want) || set.Prompts.Written != 1 {
		t.Errorf("prompts: %+v, want %v", set.Prompts, want)
	}

	p := safe("How are castles built?")
	cut := answered("mine", p, "In the beg", full)
	cut.Response.Finish = model.Length
	full8 := answered("mine", p, "Of stone and", full)
	full8.Response.Usage.Output = 8
	rows = []score.AnswerRow{
		answered("mine", p, "I cannot.", refusal), cut, full8, answered("mine", p, " ", orbench.Empty), answered("framed", p, "So.", full),
		{Target: "other", Dataset: "set", Prompt: p, Status: score.Failed},
		answered("other", p, "Of stone.", full), answered("other", p, "Of stone.", full),
		answered("other", p, "Of wood.", full), answered("other", p, "Well …", full, refusal), answered("other", p, "I will not.", refusal),
	}
	set = selected(t, collected(options(DPO), len(rows), rows...))
	want = map[Cause]int{Cut: 2, Withheld: 1, AskedOtherwise: 1, Unanswered: 1, SameText: 1, Surplus: 1, NoMajority: 1, OtherClass: 1}
	if fmt.Sprint(set.Answers.Left) != fmt.Sprint(want) || set.Answers.Written != 2 {
		t.Errorf("answers: %+v, want %v", set.Answers, want)
	}
}

// A share of toxic prompts that leaves out most of the set says so, and the share that it
// names keeps nine of ten prompts.
func TestShareThatThrowsAway(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		every int // of so many prompts, one is toxic
		share float64
	}{{20, 0.5}, {2, 0.1}} {
		var rows []score.AnswerRow
		for i := range 400 {
			p := safe(fmt.Sprintf("word%d thing%d place%d time%d", i, i*7, i*11, i*13))
			if i%tt.every == 0 {
				p.Label = orbench.Toxic
			}
			p.Cluster = fmt.Sprint("seed", i)
			rows = append(rows, answered("mine", p, "fine", orbench.FullAnswer))
		}
		o := options(Prompts)
		o.Splits, o.ToxicShare = [3]float64{1, 0, 0}, &tt.share
		set := selected(t, collected(o, 1, rows...))
		warned := strings.Join(set.Warnings(), "\n")
		at := strings.Index(warned, "keeps 90% of them is about ")
		if at < 0 || set.Prompts.Written >= 360 {
			t.Fatalf("%v: %d written, %q", tt, set.Prompts.Written, warned)
		}
		var named float64
		if _, err := fmt.Sscanf(warned[at:], "keeps 90%% of them is about %f%%", &named); err != nil {
			t.Fatal(err)
		}
		named /= 100
		o.ToxicShare = &named
		if set = selected(t, collected(o, 1, rows...)); set.Prompts.Written < 360 || strings.Contains(strings.Join(set.Warnings(), "\n"), "left out") {
			t.Errorf("%v, then %v: %d written, %q", tt, named, set.Prompts.Written, set.Warnings())
		}
	}
}

// TestProperties makes sets of random rows and holds them to what holds for all:
// nothing gets lost, no seed is in two splits, no prompt is nearly one of an evaluation
// set or of another split, and the share of toxic prompts is as wanted.
func TestProperties(t *testing.T) {
	t.Parallel()
	held := against(t, "how do people store wine in a cold cellar", "what makes a bridge hold in a storm")
	classes := append(slices.Clone(orbench.Classes), orbench.Unjudged)
	words := strings.Fields("how do people store wine in a cold cellar what makes bridge hold storm and why not when they all sing of old ships")
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		share := float64(r.IntN(5)) / 4
		o := options(Formats[r.IntN(len(Formats))])
		o.PerPrompt, o.Harmful, o.Seed, o.Against = 1+r.IntN(3), r.IntN(2) == 0, seed, held
		o.Splits = [3]float64{0.5, 0.25, 0.25}
		if r.IntN(2) == 0 {
			o.ToxicShare = &share
		}
		targets := []string{"mine", "other", "framed"}[:1+r.IntN(3)]
		var rows []score.AnswerRow
		for range 80 {
			text := make([]string, 4+r.IntN(6))
			for i := range text {
				text[i] = words[r.IntN(len(words))]
			}
			p := safe(strings.Join(text, " "))
			p.Label = orbench.Labels[r.IntN(3)]
			p.Cluster = fmt.Sprint("seed", r.IntN(30))
			if r.IntN(9) == 0 && len(rows) > 0 {
				p = rows[0].Prompt
			}
			for _, target := range targets {
				rows = append(rows, answered(target, p, words[r.IntN(len(words))], classes[r.IntN(len(classes))], classes[r.IntN(len(classes))]))
			}
		}
		set := selected(t, collected(o, len(targets), rows...))
		if set.Answers.All != len(rows) || set.Prompts.All != 80 {
			t.Fatalf("seed %d: %d answers and %d prompts are accounted for", seed, set.Answers.All, set.Prompts.All)
		}
		splits := map[string]int{}
		var before []string
		for split, of := range set.Rows {
			var here []string
			n := map[orbench.Label]map[orbench.PromptID]bool{orbench.Safe: {}, orbench.Toxic: {}}
			for _, row := range of {
				text := row.Prompt.Text()
				here = append(here, text)
				n[row.Prompt.Label][row.Prompt.ID] = true
				if at, ok := splits[row.Prompt.Cluster]; ok && at != split {
					t.Errorf("seed %d: %s is in two splits", seed, row.Prompt.Cluster)
				}
				splits[row.Prompt.Cluster] = split
				if _, m, found := held.Find([]string{text}); found {
					t.Errorf("seed %d: %q is %q of an evaluation set", seed, text, m.Text)
				}
				for _, other := range before {
					if similar.Jaccard(text, other) >= 0.5 {
						t.Errorf("seed %d: %q and %q are in two splits", seed, text, other)
					}
				}
			}
			before = append(before, here...)
			if want := o.ToxicShare; want != nil && len(of) > 0 {
				all := float64(len(n[orbench.Safe]) + len(n[orbench.Toxic]))
				if off := math.Abs(float64(len(n[orbench.Toxic])) - *want*all); off > 1 {
					t.Errorf("seed %d: %d of %v prompts are toxic, want a share of %v", seed, len(n[orbench.Toxic]), all, *want)
				}
			}
		}
	}
}

// TestSplitsFollowFromSeeds has a prompt in the same split whatever else there is, and
// as many in each as wanted.
func TestSplitsFollowFromSeeds(t *testing.T) {
	t.Parallel()
	o := options(SFT)
	var n [3]int
	for i := range 10_000 {
		p := safe("")
		p.Cluster = fmt.Sprint(i)
		n[o.splitOf(p)]++
	}
	for i, share := range o.Splits {
		if got := float64(n[i]) / 10_000; math.Abs(got-share) > 0.015 {
			t.Errorf("%s has %v of the seeds, want %v", Splits[i], got, share)
		}
	}
	o.Splits = [3]float64{0, 0, 1}
	if at := o.splitOf(safe("x")); at != 2 {
		t.Errorf("all go into %s", Splits[at])
	}
}

func TestOptionsAtFault(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*Options){
		"format: \"orpo\" is not a format": func(o *Options) { o.Format = "orpo" },
		"splits: the shares do not sum":    func(o *Options) { o.Splits[0] = 0.7 },
		"splits: the shares must be fro":   func(o *Options) { o.Splits = [3]float64{1.5, -0.5, 0} },
		"per-prompt: a prompt has no row":  func(o *Options) { o.PerPrompt = 0 },
		"toxic-share: the share must be f": func(o *Options) { share := 1.5; o.ToxicShare = &share },
	} {
		o := options(DPO)
		change(&o)
		if _, err := CollectPrompts(context.Background(), nil, false, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Answers that may be another model's are named in the manifest and in its warnings.
func TestUnclearNames(t *testing.T) {
	t.Parallel()
	var rows []score.AnswerRow
	for i, by := range []string{"auto", "", "vendor/model-a", "vendor/model-a", "vendor/model-b"} {
		p := safe(fmt.Sprint("How is a castle built, by way ", i, "?"))
		row, other := answered("mine", p, "I cannot.", orbench.Refusal), answered("other", p, "Of stone.", orbench.FullAnswer)
		row.Response.Model, other.Response.Model, other.Response.Accepted = by, "vendor/model-c", true
		rows = append(rows, row, other)
	}
	set := selected(t, collected(options(DPO), 2, rows...))
	want := []score.ServedBy{{Model: "vendor/model-a", N: 2, As: model.Unclear}, {Model: "vendor/model-b", N: 1, As: model.Unclear}}
	if !slices.Equal(set.Unclear, want) {
		t.Errorf("%+v, want %+v", set.Unclear, want)
	}
	const said = `2 answers came under a name that may be another model's: "vendor/model-a". They are taken like any.`
	if !slices.Contains(set.Warnings(), said) {
		t.Errorf("%q lacks %q", set.Warnings(), said)
	}
}
