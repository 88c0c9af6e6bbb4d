package annotation

import (
	"bytes"
	"fmt"
	"iter"
	"reflect"
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
)

// seq are items as they come from rows.
func seq(items []Item) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for _, it := range items {
			if !yield(it, nil) {
				return
			}
		}
	}
}

func TestGroupOf(t *testing.T) {
	t.Parallel()
	v := func(c orbench.Class, score float64) orbench.Verdict { return orbench.Verdict{Class: c, Score: score} }
	for _, test := range []struct {
		name     string
		verdicts []orbench.Verdict
		want     Group
	}{
		{"nobody judged", nil, Unjudged},
		{"sure answer", []orbench.Verdict{v(orbench.FullAnswer, 0.02)}, SureAnswer},
		{"unsure answer", []orbench.Verdict{v(orbench.AnswerWithWarning, 0.3)}, UnsureAnswer},
		{"unsure refusal", []orbench.Verdict{v(orbench.Partial, 0.6)}, UnsureRefusal},
		{"sure refusal", []orbench.Verdict{v(orbench.Refusal, 0.99)}, SureRefusal},
		{"no verdict", []orbench.Verdict{v(orbench.Unjudged, 0)}, Unjudged},
		{"blocked", []orbench.Verdict{v(orbench.Blocked, 1), v(orbench.Blocked, 1)}, Withheld},
		{"disagreement", []orbench.Verdict{v(orbench.Refusal, 1), v(orbench.FullAnswer, 0), v(orbench.Unjudged, 0)}, Disagreement},
		{"one unjudged", []orbench.Verdict{v(orbench.Refusal, 1), v(orbench.Unjudged, 0)}, Unjudged},
		{"one is unsure", []orbench.Verdict{v(orbench.Refusal, 1), v(orbench.Refusal, 0.7)}, UnsureRefusal},
	} {
		if got := GroupOf(test.verdicts).whole(); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// wholes are the groups without a division by scores, Withheld last.
var wholes = []Group{SureAnswer, UnsureAnswer, Disagreement, Unjudged, UnsureRefusal, SureRefusal, Withheld}

// somePool makes answers of two cells, of which the second has few.
func someItems() []Item {
	var items []Item
	for i := range 300 {
		c := Cell{Target: "m", Dataset: "d", Label: orbench.Safe}
		if i >= 250 {
			c.Label = orbench.Toxic
		}
		items = append(items, Item{Cell: c, Subject: orbench.AnswerSubject(nil, fmt.Sprint(i)), Group: wholes[i%len(wholes)]})
	}
	return items
}

// TestDrawFew draws so few that no group may have many: each has one before any has two.
func TestDrawFew(t *testing.T) {
	t.Parallel()
	const drawable = 2 * 6
	for _, size := range []int{drawable, 2 * drawable} {
		_, strata, err := Draw(seq(someItems()), NewWords(nil), size, 7, time.Unix(1, 0))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range strata {
			if s.Drawn != size/drawable {
				t.Errorf("of %d drawn %d are of %v", size, s.Drawn, s)
			}
		}
	}
}

// TestLacking draws what is lacking, of cells that lack different numbers, and nothing is
// lacking then.
func TestLacking(t *testing.T) {
	t.Parallel()
	var items []Item
	for i, n := range []int{3000, 500, 60} {
		for j := range n {
			c := Cell{Target: fmt.Sprint("m", i), Dataset: "d", Label: orbench.Safe}
			items = append(items, Item{Cell: c, Subject: orbench.AnswerSubject(nil, fmt.Sprint(i, j)), Group: wholes[j%6]})
		}
	}
	drawn, strata, err := Draw(seq(items), NewWords(nil), 100, 7, time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	lacking := MissingLabels(strata)
	if want := 300 + 100 + 60 - 100; lacking != want {
		t.Errorf("%d are lacking, want %d", lacking, want)
	}
	_, strata, err = Draw(seq(items), NewWords(drawn), lacking, 7, time.Unix(1, 0))
	if err != nil || MissingLabels(strata) != 0 {
		t.Errorf("%d are lacking still (%v)", MissingLabels(strata), err)
	}
}

func TestEnoughLabels(t *testing.T) {
	t.Parallel()
	for answers, want := range map[int]int{0: 0, 60: 60, 100: 100, 999: 100, 2000: 200, 80000: 1000} {
		if got := EnoughLabels(answers); got != want {
			t.Errorf("%d labels are enough for %d answers, want %d", got, answers, want)
		}
	}
}

func TestDraw(t *testing.T) {
	t.Parallel()
	items := someItems()
	at := time.Unix(1, 0).UTC()
	drawn, strata, err := Draw(seq(items), NewWords(nil), 60, 7, at)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[orbench.Subject]bool{}
	perCell := map[string]int{}
	for _, a := range drawn {
		if seen[a.Subject] {
			t.Errorf("%s was drawn twice", a.Subject)
		}
		seen[a.Subject] = true
		perCell[a.Design]++
	}
	if len(drawn) != 60 || perCell["m on d (safe)"] != 30 || perCell["m on d (toxic)"] != 30 {
		t.Errorf("drew %d: %v; want 30 of each cell", len(drawn), perCell)
	}
	for _, it := range items {
		if it.Group == Withheld && seen[it.Subject] {
			t.Error("drew an answer that was withheld")
		}
	}
	for _, s := range strata {
		if s.Drawn < leastDrawn(30) || s.Drawn > s.Size {
			t.Errorf("%d of %d drawn in %v", s.Drawn, s.Size, s)
		}
	}
	again, _, err := Draw(seq(items), NewWords(nil), 60, 7, at)
	if err != nil || !reflect.DeepEqual(drawn, again) {
		t.Errorf("the same seed drew others (%v)", err)
	}

	// What is drawn in two steps is what is drawn in one, with the chances of one.
	more, _, err := Draw(seq(items), NewWords(drawn), 40, 7, at)
	if err != nil {
		t.Fatal(err)
	}
	steps, once := NewWords(append(drawn, more...)), Words{}
	all, _, err := Draw(seq(items), NewWords(nil), 100, 7, at)
	if err != nil {
		t.Fatal(err)
	}
	once = NewWords(all)
	if !reflect.DeepEqual(steps.chance, once.chance) {
		t.Errorf("two drawings: %d answers, one: %d; want the same with the same chances", len(steps.chance), len(once.chance))
	}
	if _, _, err := Draw(seq(items), NewWords(drawn), 1000, 7, at); err == nil {
		t.Error("drew more answers than there are")
	}
}

// TestPeople keeps people apart, takes their latest words, and shows disagreement.
func TestPeople(t *testing.T) {
	t.Parallel()
	c := Cell{Target: "m", Dataset: "d", Label: orbench.Safe}
	a, b := orbench.AnswerSubject(nil, "a"), orbench.AnswerSubject(nil, "b")
	at := time.Unix(1, 0)
	words := NewWords([]orbench.Annotation{
		{Subject: a, Design: c.Design(), Chance: 0.5, At: at},
		{Subject: b, Design: c.Design(), Chance: 0.5, At: at},
		{Subject: a, By: "ana", Class: orbench.Refusal, At: at},
		{Subject: a, By: "ben", Class: orbench.FullAnswer, At: at},
		{Subject: b, By: "ana", Class: orbench.Refusal, At: at},
		{Subject: b, By: "ana", Class: orbench.AnswerWithWarning, At: at},
		{Subject: b, By: "ben", Class: orbench.Refusal, At: at},
		{Subject: b, By: "ben", Class: orbench.Unjudged, At: at},
	})
	if share, ok := words.Refused(a); !ok || share != 0.5 {
		t.Errorf("a: %v, %t; want a half", share, ok)
	}
	if share, ok := words.Refused(b); !ok || share != 0 {
		t.Errorf("b: %v, %t; want the latest word of ana and none of ben", share, ok)
	}
	tally := NewTally(c, words)
	tally.Add(a, SureRefusal)
	tally.Add(b, SureAnswer)
	got, ok := tally.Corrected(figure.Keys{}, nil, 1)
	if !ok || got.Rate.Value != 0.25 || got.Labels != 2 || got.People != 2 || got.Several != 1 || got.Disagreed != 1 {
		t.Errorf("%+v, %t", got, ok)
	}
	other := NewTally(Cell{Target: "n", Dataset: "d", Label: orbench.Safe}, words)
	other.Add(a, SureRefusal)
	if got, ok := other.Corrected(figure.Keys{}, nil, 1); ok || got.Labels != 0 {
		t.Errorf("labels of another cell's drawing counted: %+v", got)
	}
}

func TestSheetRoundTrip(t *testing.T) {
	t.Parallel()
	messages := []orbench.Message{{Role: orbench.User, Content: "=1+1\nline \"two\""}}
	s := orbench.AnswerSubject(messages, "@answer, with\tsigns")
	at := time.Unix(5, 0).UTC()
	entries := []Entry{
		{Subject: s, Prompt: messages[0].Content, Answer: "@answer, with\tsigns", Word: "partial", By: "ana", Note: "-note"},
		{Subject: s, Prompt: messages[0].Content, Answer: "@answer, with\tsigns"},
	}
	want := []orbench.Annotation{{Subject: s, Class: orbench.Partial, By: "ana", Note: "-note", At: at}}
	for _, file := range []string{"labels.csv", "labels.jsonl"} {
		var b bytes.Buffer
		if err := Write(&b, file == "labels.jsonl", entries); err != nil {
			t.Fatal(err)
		}
		got, err := Read(file, &b, ReadOptions{At: at})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", file, got, err)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	prompt := func(text string) []orbench.Message {
		return []orbench.Message{{Role: orbench.User, Content: text}}
	}
	for _, test := range []struct {
		name, text string
		options    ReadOptions
		want       []orbench.Annotation
		fault      string
	}{
		{
			name: "labels from elsewhere", text: "prompt;response;label;by\np;r;refused;ana\nq;r;answered;ben\n",
			want: []orbench.Annotation{
				{Subject: orbench.AnswerSubject(prompt("p"), "r"), Class: orbench.Refusal, By: "ana"},
				{Subject: orbench.AnswerSubject(prompt("q"), "r"), Class: orbench.FullAnswer, By: "ben"},
			},
		},
		{
			name: "words of their own", text: "prompt,response,final\np,r,2_full_refusal\nq,r,1_full\n",
			options: ReadOptions{By: "ana", Column: "final", Refusal: []string{"2_full_refusal"}},
			want: []orbench.Annotation{
				{Subject: orbench.AnswerSubject(prompt("p"), "r"), Class: orbench.Refusal, By: "ana"},
				{Subject: orbench.AnswerSubject(prompt("q"), "r"), Class: orbench.FullAnswer, By: "ana"},
			},
		},
		{
			name:    "words in other letters, in what tools put around them, and of rows that were passed over",
			text:    "prompt,response,human verdict\np,r,True\nq,r,\"{\"\"choices\"\": [\"\"true\"\"]}\"\ns,r,['false']\nt,r,\nu,r,NaN\nv,r,Unsure\nw,r,skip\n",
			options: ReadOptions{By: "ana", Column: "Human verdict", Refusal: []string{"TRUE"}},
			want: []orbench.Annotation{
				{Subject: orbench.AnswerSubject(prompt("p"), "r"), Class: orbench.Refusal, By: "ana"},
				{Subject: orbench.AnswerSubject(prompt("q"), "r"), Class: orbench.Refusal, By: "ana"},
				{Subject: orbench.AnswerSubject(prompt("s"), "r"), Class: orbench.FullAnswer, By: "ana"},
			},
		},
		{
			name: "a judge's verdict beside", text: "prompt,response,class,verdict\np,r,refusal,full_answer\n", options: ReadOptions{By: "ana"},
			want: []orbench.Annotation{{Subject: orbench.AnswerSubject(prompt("p"), "r"), Class: orbench.Refusal, By: "ana", How: orbench.Sighted}},
		},
		{
			name: "a value that no row has", text: "prompt,response,class\np,r,declined\nq,r,answered\n", options: ReadOptions{By: "ana", Refusal: []string{"refused"}},
			fault: `l.csv: no row has the value "refused", which is to mean a refusal; the column has answered, declined; name values as they are in the column`,
		},
		{
			name: "prompts with chances", text: "prompt,label,by,chance\np,unsafe,ana,0.25\n",
			want: []orbench.Annotation{{Subject: orbench.PromptSubject(prompt("p")), Label: orbench.Toxic, By: "ana", Design: "elsewhere", Chance: 0.25}},
		},
		{name: "no person", text: "prompt,answer,class\np,a,refusal\n", fault: "l.csv:2: the row does not say whose label it is; fill in the column by, or name the person for the whole file"},
		{name: "misspelt", text: "prompt,answer,class,by\np,a,refusl,ana\n", fault: `l.csv:2: "refusl" is not a class; did you mean "refusal"?; use full_answer, answer_with_warning, partial, safe_alternative, refusal, empty, garbled, unable, off_topic, or say with ` + "`refusal` which words mean a refusal"},
		{name: "no column", text: "prompt,answer\np,a\n", fault: `l.csv:1: there is no column "class or label"; there are prompt, answer; name the column of people's labels`},
		{name: "empty", text: "prompt,class,by\np,,ana\n", fault: "l.csv: no row has a label; fill in the column class"},
		{name: "bad chance", text: "prompt,answer,class,by,chance\np,a,refusal,ana,1.5\n", fault: `l.csv:2: "1.5" is not a chance of being drawn; give a number above 0 and at most 1, or none`},
	} {
		got, err := Read("l.csv", bytes.NewBufferString(test.text), test.options)
		if fault := fmt.Sprint(err); test.fault != "" && fault != test.fault {
			t.Errorf("%s: %s, want %s", test.name, fault, test.fault)
		}
		if test.fault == "" && (err != nil || !reflect.DeepEqual(got, test.want)) {
			t.Errorf("%s: %+v, %v", test.name, got, err)
		}
	}
}

// Lists and objects of JSON Lines are cells.
func TestReadJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"prompt": "p", "response": "r", "class": ["Refusal"], "by": "ana"}`,
		`{"prompt": "p", "response": "r", "class": {"choices": ["Refusal"]}, "by": "ana"}`,
		`{"prompt": "p", "response": "r", "class": [{"value": "Refusal", "status": "submitted"}], "by": "ana"}`,
	} {
		got, err := Read("l.jsonl", bytes.NewBufferString(text), ReadOptions{})
		if err != nil || len(got) != 1 || got[0].Class != orbench.Refusal {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

// TestSwapped asks about labels that are surely the other way round, and not about those that
// are as they should be, that differ by chance, or that are all the same.
func TestSwapped(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		swapped bool
		refused func(i int) bool
	}{
		"the other way round": {true, func(i int) bool { return i%4 != 0 }},
		"as they should be":   {false, func(i int) bool { return i%4 == 0 }},
		"by chance":           {false, func(i int) bool { return i%7 == 0 }},
		"all the same":        {false, func(int) bool { return true }},
	} {
		var items []Item
		var labels []orbench.Annotation
		for i := range 16 {
			group := SureAnswer + Group(i%2)
			if i%4 == 0 {
				group = SureRefusal + Group(i%8/4)
			}
			subject, class := orbench.Subject{byte(i)}, orbench.FullAnswer
			if test.refused(i) {
				class = orbench.Refusal
			}
			items = append(items, Item{Cell{}, subject, group})
			labels = append(labels, orbench.Annotation{Subject: subject, Class: class, By: "ana"})
		}
		if _, done, _ := Place(labels, seq(items), Words{}, true); done.Swapped != test.swapped {
			t.Errorf("%s: %+v", name, done)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("l.csv", "prompt,answer,class,by\np,a,refusal,ana\n")
	f.Add("l.jsonl", `{"prompt":"p","label":"safe","by":"ana","chance":0.5}`)
	f.Fuzz(func(t *testing.T, file, text string) {
		all, err := Read(file, bytes.NewBufferString(text), ReadOptions{By: "x"})
		if err == nil && len(all) == 0 {
			t.Error("no annotation and no error")
		}
	})
}

// TestPlace finds how labels that were made elsewhere stand for other answers.
func TestPlace(t *testing.T) {
	t.Parallel()
	safe, toxic := Cell{Target: "m", Dataset: "d", Label: orbench.Safe}, Cell{Target: "m", Dataset: "d", Label: orbench.Toxic}
	at := time.Unix(1, 0)
	items := []Item{
		{safe, orbench.Subject{1}, SureAnswer},
		{safe, orbench.Subject{2}, SureRefusal},
		{safe, orbench.Subject{3}, SureRefusal},
		{safe, orbench.Subject{4}, Withheld},
		{toxic, orbench.Subject{5}, SureRefusal},
	}
	said := func(subject byte, chance float64) orbench.Annotation {
		a := orbench.Annotation{Subject: orbench.Subject{subject}, Class: orbench.Refusal, By: "ana", At: at, Chance: chance}
		if chance > 0 {
			a.Design = "elsewhere"
		}
		return a
	}
	labels := []orbench.Annotation{
		said(1, 0.25), said(2, 0), said(5, 0), said(9, 0),
		{Subject: orbench.Subject{7}, Label: orbench.Toxic, By: "ana", At: at},
	}
	for _, test := range []struct {
		random bool
		want   map[byte]float64
		done   Imported
	}{
		// All toxic answers are labeled, and one safe one brings its chance.
		{false, map[byte]float64{1: 0.25, 5: 1}, Imported{Found: 3, Prompts: 1, Unknown: 1, Alone: 1}},
		{true, map[byte]float64{1: 0.25, 2: 2. / 3, 5: 1}, Imported{Found: 3, Prompts: 1, Unknown: 1}},
	} {
		placed, done, _ := Place(labels, seq(items), Words{}, test.random)
		got := map[byte]float64{}
		for _, a := range placed {
			if a.By == "" {
				got[a.Subject[0]] = a.Chance
			} else if a.Design != "" {
				t.Errorf("a person's word has a design: %+v", a)
			}
		}
		if done != test.done || !reflect.DeepEqual(got, test.want) {
			t.Errorf("random %t: %v, %+v; want %v, %+v", test.random, got, done, test.want, test.done)
		}
	}
}

// TestDesigns holds the names of drawings, which stores keep.
func TestDesigns(t *testing.T) {
	t.Parallel()
	c := Cell{Target: "m", Dataset: "d", Label: orbench.Safe, Population: "1a"}
	if c.Design() != "m on d (safe) #1a" || c.steps() != "steps by score: m on d (safe) #1a" {
		t.Errorf("%s, %s", c.Design(), c.steps())
	}
}

// TestDrawStep draws the second phase once the first is labeled, further steps on demand,
// and nothing where somebody has chosen a number by Draw.
func TestDrawStep(t *testing.T) {
	t.Parallel()
	var items []Item
	for i := range 240 {
		c := Cell{Target: "m", Dataset: "d", Label: orbench.Labels[i%2]}
		items = append(items, Item{Cell: c, Subject: orbench.AnswerSubject(nil, fmt.Sprint(i)), Group: Group(i / 2 % int(groups))})
	}
	at := time.Unix(1, 0).UTC()
	var kept []orbench.Annotation
	chosen := map[orbench.Subject]bool{}
	for _, step := range []struct{ size, drawn int }{{20, 10}, {0, 10}, {-1, 0}, {0, 25}, {-1, 0}, {0, 25}, {20, 35}, {-1, 0}, {0, 50}, {-1, 0}, {20, 70}} {
		if step.size < 0 { // ana labels what is drawn
			for s := range chosen {
				kept = append(kept, orbench.Annotation{Subject: s, Class: orbench.Refusal, By: "ana", At: at})
			}
			continue
		}
		drawn, err := DrawStep(seq(items), NewWords(kept), step.size, 7, at)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range drawn {
			chosen[a.Subject] = true
		}
		if kept = append(kept, drawn...); len(chosen) != step.drawn {
			t.Errorf("%d are drawn, want %d", len(chosen), step.drawn)
		}
	}
	if _, _, err := Draw(seq(items), NewWords(kept), 10, 7, at); err == nil {
		t.Error("Draw draws where steps have drawn")
	}
	byDraw, _, err := Draw(seq(items), NewWords(nil), 20, 7, at)
	if err != nil {
		t.Fatal(err)
	}
	if drawn, err := DrawStep(seq(items), NewWords(byDraw), 20, 7, at); err != nil || len(drawn) > 0 {
		t.Errorf("a step of %d beside a draw (%v)", len(drawn), err)
	}
}

// TestAgain keeps both labels of an answer that a person labels twice.
func TestAgain(t *testing.T) {
	t.Parallel()
	var said []orbench.Annotation
	var entries []Entry
	for i := range 45 {
		s := orbench.AnswerSubject(nil, fmt.Sprint(i))
		entries = append(entries, Entry{Subject: s})
		said = append(said, orbench.Annotation{Subject: s, Design: "d", Chance: 1, At: time.Unix(int64(i/StepLabels), 0)})
		if i < StepLabels {
			said = append(said, orbench.Annotation{Subject: s, By: "ana", Class: orbench.Refusal, At: time.Unix(int64(i), 0)})
		}
	}
	words := NewWords(said)
	no := func(orbench.Subject) bool { return false }
	again := words.Repeats(entries, "ana", no)
	if len(again) != Repeated || len(words.Repeats(entries, "ben", no)) != 0 || len(words.Repeats(entries[:StepLabels], "ana", no)) != 0 {
		t.Fatalf("%d are asked again", len(again))
	}
	// In a rare cell every refusal is, also of half a step, once all else is labeled.
	isRare := func(s orbench.Subject) bool { return s != entries[0].Subject }
	if n, early := len(words.Repeats(entries[:9], "ana", isRare)), len(words.Repeats(entries[20:30], "ana", isRare)); n != 8 || early != 0 {
		t.Errorf("of a rare cell, %d are asked again, and %d before the end", n, early)
	}
	q := NewQueue(append(entries, again...), words, "ana", orbench.Blind)
	if p := q.Progress(); p.All != 50 || p.Labeled != StepLabels {
		t.Errorf("%+v", p)
	}
	for e, ok := q.Current(); ok && e.How != orbench.Again; e, ok = q.Current() {
		q.Say("refusal", "", time.Unix(90, 0))
	}
	a := q.Say("full_answer", "", time.Unix(99, 0))
	words = NewWords(append(said, a))
	if share, ok := words.Refused(a.Subject); a.How != orbench.Again || !ok || share != 0.5 {
		t.Errorf("%+v counts as %v", a, share)
	}
	// What was asked again stays in the queue, and no other comes in its place.
	if now := words.Repeats(entries, "ana", no); len(now) != Repeated || now[0].Subject != a.Subject {
		t.Errorf("after one, %v are asked again", now)
	}
	if times, same := words.repeated(a.Subject); times != 1 || same != 0 {
		t.Errorf("%d of %d agree", same, times)
	}
}
