package annotation

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/orbench/orbench"
)

// Queue is the answers, or prompts, that one person looks at, one after the
// other.
type Queue struct {
	person  string
	entries []Entry
	words   Words
	// at is the index of the entry shown; all of them at the end.
	at int
	// said holds the entries with a label, in the order in which they got it.
	// Those of earlier sittings come first.
	said []int
	// back is how many of said the person has gone back.
	back int
	// skipped holds the entries to leave for another sitting.
	skipped map[int]bool
	// how is Settled if the person settles disputes, else Blind.
	how orbench.How
}

// NewQueue makes the queue of a person. The order of the entries does not
// reveal who answered. Entries that the person has already labeled are not
// shown, except to whoever goes back to them. how is orbench.Settled for a queue
// of Words.Disputes, and else orbench.Blind.
func NewQueue(entries []Entry, words Words, person string, how orbench.How) *Queue {
	q := &Queue{how: how, person: person, entries: slices.Clone(entries), words: words, skipped: map[int]bool{}}
	slices.SortFunc(q.entries, func(a, b Entry) int { return bytes.Compare(a.Subject[:], b.Subject[:]) })
	q.entries = slices.CompactFunc(q.entries, func(a, b Entry) bool { return a.Subject == b.Subject })
	at := map[int]time.Time{}
	for i := range q.entries {
		a, ok := words.Of(q.entries[i].Subject, person)
		if how == orbench.Settled {
			a = words.settled[q.entries[i].Subject]
			ok = Word(a) != ""
		}
		if ok {
			q.entries[i].Word, q.entries[i].Note = Word(a), a.Note
			q.said, at[i] = append(q.said, i), a.At
		}
	}
	slices.SortStableFunc(q.said, func(a, b int) int { return at[a].Compare(at[b]) })
	q.next()
	return q
}

// next moves to the first entry that has no label and was not skipped.
func (q *Queue) next() {
	q.at, q.back = 0, 0
	for q.at < len(q.entries) && (q.entries[q.at].Word != "" || q.skipped[q.at]) {
		q.at++
	}
}

// Current returns the entry to look at; false at the end. An entry to which the
// person went back has a Word.
func (q *Queue) Current() (Entry, bool) {
	if q.at >= len(q.entries) {
		return Entry{}, false
	}
	return q.entries[q.at], true
}

// Progress says how far a person is with a queue.
type Progress struct {
	// Labeled counts the entries with a label, of All. Undecided counts those of
	// Labeled on which the person cannot decide.
	Labeled, Undecided, All int
}

// Progress returns how far the person is.
func (q *Queue) Progress() Progress {
	p := Progress{Labeled: len(q.said), All: len(q.entries)}
	for _, i := range q.said {
		if q.entries[i].Word == undecided {
			p.Undecided++
		}
	}
	return p
}

// Words returns what people said, with the labels of this sitting.
func (q *Queue) Words() Words { return q.words }

// Say returns the annotation of the current entry with a word, for the caller to
// store, and moves on. Do not call it at the end.
func (q *Queue) Say(word, note string, at time.Time) orbench.Annotation {
	e := &q.entries[q.at]
	e.Word, e.Note = word, cmp.Or(note, e.Note)
	q.forget(q.at)
	q.said = append(q.said, q.at)
	a := orbench.Annotation{Subject: e.Subject, By: q.person, How: q.how, Note: e.Note, At: at.UTC()}
	switch {
	case e.OfPrompt:
		a.Label = orbench.Label(word)
	case word == undecided:
		a.Undecided = true
	default:
		a.Class = orbench.Class(word)
	}
	q.words.add(a)
	q.next()
	return a
}

// forget takes an entry out of said.
func (q *Queue) forget(entry int) {
	q.said = slices.DeleteFunc(q.said, func(i int) bool { return i == entry })
}

// Skip leaves the current entry for another sitting. An entry with a label keeps
// it.
func (q *Queue) Skip() {
	if q.at < len(q.entries) {
		q.skipped[q.at] = true
		q.next()
	}
}

// Back goes to the entry that got its label before the one shown, also in an
// earlier sitting; false if there is none. The label stays until another is
// given.
func (q *Queue) Back() bool { return q.Goto(len(q.said) - q.back) }

// Goto goes to the entry that got the n-th label, from 1; false if there is
// none.
func (q *Queue) Goto(n int) bool {
	if n < 1 || n > len(q.said) {
		return false
	}
	q.at, q.back = q.said[n-1], len(q.said)-n+1
	return true
}

// Undo returns to the last entry that was labeled, also in an earlier sitting,
// and returns the annotation that takes the label back; false if there is none.
func (q *Queue) Undo(at time.Time) (orbench.Annotation, bool) {
	if len(q.said) == 0 {
		return orbench.Annotation{}, false
	}
	q.at, q.back = q.said[len(q.said)-1], 0
	q.forget(q.at)
	delete(q.skipped, q.at)
	e := &q.entries[q.at]
	e.Word, e.Note = "", ""
	a := orbench.Annotation{Subject: e.Subject, By: q.person, How: q.how, At: at.UTC()}
	q.words.add(a)
	return a, true
}
