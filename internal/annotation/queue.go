package annotation

import (
	"bytes"
	"slices"
	"time"

	"github.com/orbench/orbench"
)

// Queue is the answers that one person looks at, one after the other.
type Queue struct {
	person  string
	entries []Entry
	words   Words
	// at is the index of the entry shown. said holds the entries labeled in
	// this session, for Undo.
	at   int
	said []int
	done int
}

// NewQueue makes the queue of a person. The order of the entries does not
// reveal who answered. Entries that the person has already labeled are skipped.
func NewQueue(entries []Entry, words Words, person string) *Queue {
	q := &Queue{person: person, entries: slices.Clone(entries), words: words}
	slices.SortFunc(q.entries, func(a, b Entry) int { return bytes.Compare(a.Subject[:], b.Subject[:]) })
	q.entries = slices.CompactFunc(q.entries, func(a, b Entry) bool { return a.Subject == b.Subject })
	for i := range q.entries {
		if a, ok := words.Of(q.entries[i].Subject, person); ok {
			q.entries[i].Word, q.entries[i].Note = string(a.Class), a.Note
			q.done++
		}
	}
	q.next()
	return q
}

// next moves to the next entry without a label.
func (q *Queue) next() {
	for q.at < len(q.entries) && q.entries[q.at].Word != "" {
		q.at++
	}
}

// Current returns the entry to look at; false at the end.
func (q *Queue) Current() (Entry, bool) {
	if q.at >= len(q.entries) {
		return Entry{}, false
	}
	return q.entries[q.at], true
}

// Progress returns how many entries are labeled, and how many there are.
func (q *Queue) Progress() (done, all int) { return q.done, len(q.entries) }

// Say returns the annotation of the current entry with a class, for the caller
// to store, and moves on. Do not call it at the end.
func (q *Queue) Say(class orbench.Class, note string, at time.Time) orbench.Annotation {
	e := &q.entries[q.at]
	e.Word, e.Note = string(class), note
	q.said = append(q.said, q.at)
	q.done++
	a := orbench.Annotation{Subject: e.Subject, Class: class, By: q.person, Note: note, At: at.UTC()}
	q.next()
	return a
}

// Skip leaves the current entry for another session.
func (q *Queue) Skip() {
	if q.at < len(q.entries) {
		q.at++
		q.next()
	}
}

// Undo returns to the last entry that was labeled in this session, and returns
// the annotation that takes the label back; false if there is none.
func (q *Queue) Undo(at time.Time) (orbench.Annotation, bool) {
	if len(q.said) == 0 {
		return orbench.Annotation{}, false
	}
	q.at = q.said[len(q.said)-1]
	q.said = q.said[:len(q.said)-1]
	e := &q.entries[q.at]
	e.Word, e.Note = "", ""
	q.done--
	return orbench.Annotation{Subject: e.Subject, By: q.person, At: at.UTC()}, true
}
