package annotation

import (
	"fmt"
	"testing"
	"time"

	"github.com/orbench/orbench"
)

func TestQueue(t *testing.T) {
	t.Parallel()
	var entries []Entry
	for i := range 4 {
		entries = append(entries, Entry{Subject: orbench.Subject{byte(3 - i)}, Prompt: fmt.Sprint(3 - i)})
	}
	at := time.Unix(1, 0).UTC()
	words := NewWords([]orbench.Annotation{{Subject: orbench.Subject{1}, Class: orbench.Refusal, By: "ana", At: at}})
	q := NewQueue(append(entries, entries[0]), words, "ana", orbench.Blind)
	show := func(want, word string) {
		t.Helper()
		if e, _ := q.Current(); e.Prompt != want || e.Word != word {
			t.Errorf("shows %q with the label %q, want %q with %q", e.Prompt, e.Word, want, word)
		}
	}
	show("0", "")
	if a := q.Say("partial", "half", at); a.Subject != (orbench.Subject{0}) || a.Class != orbench.Partial || a.By != "ana" || a.Note != "half" {
		t.Errorf("said %+v", a)
	}
	show("2", "") // 1 had a label before
	q.Skip()
	show("3", "")
	if a := q.Say("undecided", "", at); !a.Undecided || a.Class != orbench.Unjudged {
		t.Errorf("said %+v", a)
	}
	if _, ok := q.Current(); ok {
		t.Error("the queue does not end")
	}
	if p := q.Progress(); p != (Progress{Labeled: 3, Undecided: 1, All: 4}) {
		t.Errorf("%+v, want 3 of 4, one of them undecided", p)
	}
	// Back over the labels of this sitting to that of an earlier one, and no
	// further. A new label takes the place of the old one.
	for _, want := range []struct{ prompt, word string }{{"3", "undecided"}, {"0", "partial"}, {"1", "refusal"}} {
		if !q.Back() {
			t.Fatalf("no way back to %s", want.prompt)
		}
		show(want.prompt, want.word)
	}
	if q.Back() {
		t.Error("went back before the first label")
	}
	q.Say("full_answer", "", at)
	if p := q.Progress(); p.Labeled != 3 {
		t.Errorf("a label that replaces another counts again: %+v", p)
	}
	if !q.Goto(1) || q.Goto(4) {
		t.Error("there are labels 1 to 3")
	}
	show("0", "partial")
	// Labels are taken back, the last one first, also those of earlier sittings.
	for _, want := range []byte{1, 3, 0} {
		if a, ok := q.Undo(at); !ok || a.Subject != (orbench.Subject{want}) || a.Class != orbench.Unjudged || a.Undecided {
			t.Errorf("undo: %+v, %t, want subject %d", a, ok, want)
		}
		show(fmt.Sprint(want), "")
	}
	if _, ok := q.Undo(at); ok {
		t.Error("took back what nobody said")
	}
}

// TestOutlook has an interval that narrows with labels to the width that was
// foretold.
func TestOutlook(t *testing.T) {
	t.Parallel()
	cell := Cell{Target: "m", Dataset: "d", Label: orbench.Safe}
	var items []Item
	for i := range 400 {
		group := SureAnswer
		if i%5 == 0 {
			group = SureRefusal
		}
		items = append(items, Item{cell, orbench.Subject{byte(i), byte(i >> 8)}, group})
	}
	drawn, _, err := Draw(seq(items), NewWords(nil), 60, 1, time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	o, err := NewOutlook(seq(items), NewWords(drawn))
	if err != nil {
		t.Fatal(err)
	}
	words := NewWords(drawn)
	before, foretold := o.HalfWidths(words)
	last := before
	for i, a := range drawn {
		class := orbench.FullAnswer
		if (int(a.Subject[0])+256*int(a.Subject[1]))%5 == 0 {
			class = orbench.Refusal
		}
		words.add(orbench.Annotation{Subject: a.Subject, Class: class, By: "ana"})
		if i == len(drawn)/2 {
			last, _ = o.HalfWidths(words)
		}
	}
	now, end := o.HalfWidths(words)
	if !(before > last && last > now) || now != end || foretold > 2*end || foretold < end/2 {
		t.Errorf("±%.3f before, ±%.3f on the way, ±%.3f with all labels; ±%.3f was foretold, ±%.3f at the end", before, last, now, foretold, end)
	}
}

// TestQueueOfAPage has what the page of a server asks of a queue.
func TestQueueOfAPage(t *testing.T) {
	t.Parallel()
	subject := func(n int) orbench.Subject { return orbench.Subject{byte(n)} }
	at := func(seconds float64) time.Time {
		return time.Unix(1000, 0).Add(time.Duration(seconds * float64(time.Second))).UTC()
	}
	var entries []Entry
	for i := range 12 {
		entries = append(entries, Entry{Subject: subject(i)})
	}
	said := []orbench.Annotation{
		{Subject: subject(0), By: "ana", Skipped: true, Note: "long", At: at(0)},
		{Subject: subject(1), By: "ana", Class: orbench.Refusal, How: orbench.Sighted, At: at(1)},
		{Subject: subject(2), By: "ben", For: "ana", At: at(2)},
		{Subject: subject(3), By: "ana", Class: orbench.Partial, How: orbench.Chosen, At: at(3)},
		{Subject: subject(1), By: "ana", Class: orbench.Partial, At: at(4)}, // after the verdict was seen
	}
	q := NewQueue(entries, NewWords(said), "ana", orbench.Blind)
	shown := func(most int) (text string) {
		for _, e := range q.Upcoming(most, func(s orbench.Subject) bool { return s != subject(4) }) {
			text += fmt.Sprintf("%d%s ", e.Subject[0], e.Reason)
		}
		return text
	}
	// Not 1, whose verdict was seen; 4 is taken; 0 was left for later.
	if got := shown(3) + "| " + shown(20); got != "2 3 5 | 2 3 5 6 7 8 9 10 11 0long " {
		t.Errorf("upcoming: %s", got)
	}
	if !q.Find(subject(5), orbench.Blind) || q.Find(subject(1), orbench.Blind) {
		t.Error("5 is in the queue, and 1 is not")
	}
	if a, ok := q.Defer("rude", at(5)); !ok || !a.Skipped || a.Note != "rude" || a.Subject != subject(5) || Word(a) != "" {
		t.Errorf("left for later: %+v", a)
	}
	if p := q.Progress(); p != (Progress{Skipped: 2, All: 11}) {
		t.Errorf("%+v", p)
	}
	// Labels at 10, 20, 30 ... seconds, with a pause and a key that was held.
	const typical = 20 * time.Second
	for i, seconds := range []float64{10, 20, 30, 900, 900.1, 910, 920, 930} {
		if got := q.Pace(); i < 7 && got != typical {
			t.Errorf("after %d labels a label takes %v", i, got)
		}
		q.Say("refusal", "", at(seconds))
	}
	if got := q.Pace(); got != 10*time.Second {
		t.Errorf("a label takes %v", got)
	}
	if got := q.Recent(2); len(got) != 2 || got[1].Subject != subject(10) {
		t.Errorf("recent: %+v", got)
	}
	q.Find(subject(0), orbench.Blind)
	if _, ok := q.Defer("x", at(940)); !ok {
		t.Error("0 has no label")
	}
	q.RateSeen = true
	q.Find(subject(2), orbench.Blind)
	if a := q.Say("garbled", "", at(950)); !a.RateSeen {
		t.Errorf("not marked: %+v", a)
	}
	if _, ok := func() (orbench.Annotation, bool) { q.Find(subject(2), orbench.Blind); return q.Defer("y", at(960)) }(); ok {
		t.Error("an entry with a label loses it")
	}

	// Labels apart: the queue of a filter knows those of both kinds, and takes back each as
	// it was given.
	said = append(said, orbench.Annotation{Subject: subject(6), By: "ana", Class: orbench.Refusal, RateSeen: true, At: at(7)})
	q = NewQueue(entries, NewWords(said), "ana", orbench.Chosen)
	if p := q.Progress(); p.Labeled != 3 || !q.RateSeen {
		t.Errorf("of a filter: %+v, rate seen: %t", p, q.RateSeen)
	}
	for _, want := range []struct {
		subject int
		how     orbench.How
	}{{6, orbench.Blind}, {1, orbench.Sighted}, {3, orbench.Chosen}} {
		if a, _ := q.Undo(at(8)); a.Subject != subject(want.subject) || a.How != want.how {
			t.Errorf("took back %+v, want %d %q", a, want.subject, want.how)
		}
	}
}

// TestEnds has the sentences of a text that stay in view.
func TestEnds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"":                            {"", ""},
		"One sentence only.":          {"", ""},
		"One. Two.":                   {"One. ", "Two."},
		"One. Two. Three.\n":          {"One. ", "Three.\n"},
		"\n\nOne.\n\nTwo. Three.\n\n": {"\n\nOne.", "Three.\n\n"},
		"1\n2\n3":                     {"1", "3"},
		"好。不好。":                       {"好。", "不好。"},
	} {
		first, last := Ends(text)
		if [2]string{first, last} != want || len(first)+len(last) > len(text) {
			t.Errorf("%q begins with %q and ends with %q, want %q", text, first, last, want)
		}
	}
}
