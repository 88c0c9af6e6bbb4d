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
	drawn, _, err := Draw(seq(items), nil, 60, 1, time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	o, err := NewOutlook(seq(items), drawn)
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
