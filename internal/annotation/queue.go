package annotation

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
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
	said []given
	// back is how many of said the person has gone back.
	back int
	// skipped holds the entries to leave for another sitting.
	skipped map[int]bool
	// how is how the person comes to labels.
	how orbench.How
	// RateSeen is true once the person has looked at the rate. Later labels say so.
	RateSeen bool
	// Most is how many entries there may be in the end, where labels decide which
	// others are added; else 0.
	Most int
}

// given is when an entry got its label.
type given struct {
	entry int
	at    time.Time
}

// NewQueue makes the queue of a person. The order of the entries does not
// reveal who answered. Entries that the person left for later come last. Those that
// the person has already labeled are not shown, except to whoever goes back to
// them. how is orbench.Settled for a queue of Words.Disputes, and orbench.Chosen or
// Sighted for answers that somebody chose; a blind queue has no answers that the
// person labeled with a verdict in sight.
func NewQueue(entries []Entry, words Words, person string, how orbench.How) *Queue {
	q := &Queue{how: how, person: person, entries: slices.Clone(entries), words: words, skipped: map[int]bool{}}
	if how == orbench.Blind {
		q.entries = slices.DeleteFunc(q.entries, func(e Entry) bool { return words.sawVerdict(e.Subject, person) })
	}
	slices.SortStableFunc(q.entries, func(a, b Entry) int {
		return cmp.Or(bytes.Compare(a.Subject[:], b.Subject[:]), cmp.Compare(a.How, b.How))
	})
	q.entries = slices.CompactFunc(q.entries, func(a, b Entry) bool { return a.Subject == b.Subject && a.How == b.How })
	left := map[orbench.Subject]time.Time{}
	for i := range q.entries {
		e := &q.entries[i]
		a := words.latest(e.Subject, person, q.howOf(*e))
		switch {
		case Word(a) != "":
			e.Word, e.Note, e.How = Word(a), a.Note, a.How
		case a.Skipped:
			e.Reason, left[e.Subject] = a.Note, a.At
		}
		q.RateSeen = q.RateSeen || a.By == person && a.RateSeen
	}
	slices.SortStableFunc(q.entries, func(a, b Entry) int { return left[a.Subject].Compare(left[b.Subject]) })
	for i, e := range q.entries {
		if e.Word != "" {
			q.said = append(q.said, given{i, words.latest(e.Subject, person, q.howOf(e)).At})
		}
	}
	slices.SortStableFunc(q.said, func(a, b given) int { return a.at.Compare(b.at) })
	q.next()
	return q
}

// howOf is how the person comes to the label of an entry.
func (q *Queue) howOf(e Entry) orbench.How {
	if e.How == orbench.Again {
		return e.How
	}
	return q.how
}

// Add adds the entries that the queue does not have and that have no label, in an
// order that does not reveal who answered. It reports whether there are any.
func (q *Queue) Add(entries []Entry) bool {
	before := len(q.entries)
	for _, e := range entries {
		if q.place(e.Subject, e.How) < 0 && Word(q.words.latest(e.Subject, q.person, q.howOf(e))) == "" {
			q.entries = append(q.entries, e)
		}
	}
	slices.SortFunc(q.entries[before:], func(a, b Entry) int { return bytes.Compare(a.Subject[:], b.Subject[:]) })
	return len(q.entries) > before
}

// latest returns the latest annotation of a subject by a person that a queue of some
// kind goes by.
func (w Words) latest(s orbench.Subject, person string, how orbench.How) orbench.Annotation {
	switch how {
	case orbench.Settled:
		return w.settled[s]
	case orbench.Again:
		return w.again[s][person]
	case orbench.Chosen, orbench.Sighted:
		if a, ok := w.apart[s][person]; Word(a) != "" || ok && Word(w.said[s][person]) == "" {
			return a
		}
	}
	return w.said[s][person]
}

// next moves to the first entry that has no label and was not skipped.
func (q *Queue) next() {
	q.at, q.back = 0, 0
	for q.at < len(q.entries) && !q.open(q.at) {
		q.at++
	}
}

// open reports whether an entry is still to be labeled in this sitting.
func (q *Queue) open(entry int) bool { return q.entries[entry].Word == "" && !q.skipped[entry] }

// Current returns the entry to look at; false at the end. An entry to which the
// person went back has a Word.
func (q *Queue) Current() (Entry, bool) {
	if q.at >= len(q.entries) {
		return Entry{}, false
	}
	return q.entries[q.at], true
}

// Upcoming returns the first entries that are still to be labeled, at most a number of
// them, of those that are free.
func (q *Queue) Upcoming(most int, free func(orbench.Subject) bool) (entries []Entry) {
	for i, e := range q.entries {
		if len(entries) < most && q.open(i) && free(e.Subject) {
			entries = append(entries, e)
		}
	}
	return entries
}

// Recent returns the entries that got the last labels, at most a number of them, the
// latest last.
func (q *Queue) Recent(most int) []Entry {
	return table.RowsOf(q.said[max(0, len(q.said)-most):], func(g given) Entry { return q.entries[g.entry] })
}

// place is the index of the entry of a subject, of that to label again if how says so; -1 if
// the queue has none.
func (q *Queue) place(s orbench.Subject, how orbench.How) int {
	return slices.IndexFunc(q.entries, func(e Entry) bool {
		return e.Subject == s && (e.How == orbench.Again) == (how == orbench.Again)
	})
}

// Find goes to the entry of a subject, to that to label again if how says so; false if the
// queue has none.
func (q *Queue) Find(s orbench.Subject, how orbench.How) bool {
	i := q.place(s, how)
	if i < 0 {
		return false
	}
	q.at, q.back = i, 0
	return true
}

// Progress says how far a person is with a queue.
type Progress struct {
	// Labeled counts the entries with a label, of All. Undecided counts those of
	// Labeled on which the person cannot decide, Skipped those without a label that the
	// person left for later, with a reason.
	Labeled   int `json:"labeled"`
	Undecided int `json:"undecided"`
	Skipped   int `json:"skipped"`
	All       int `json:"all"`
}

// Open is how many entries have no label.
func (p Progress) Open() int { return p.All - p.Labeled }

// Progress returns how far the person is.
func (q *Queue) Progress() Progress {
	p := Progress{Labeled: len(q.said), All: len(q.entries)}
	for _, e := range q.entries {
		switch {
		case e.Word == undecided:
			p.Undecided++
		case e.Word == "" && e.Reason != "":
			p.Skipped++
		}
	}
	return p
}

// Pace returns the median time between the person's last labels, or what is usual if there
// are too few. Pauses do not count, and neither do labels that nobody can have typed.
func (q *Queue) Pace() time.Duration {
	const enough, most, pause = 5, 50, 3 * time.Minute
	var took []time.Duration
	for i := len(q.said) - 1; i > 0 && len(took) < most; i-- {
		if d := q.said[i].at.Sub(q.said[i-1].at); d >= TooSoon && d < pause {
			took = append(took, d)
		}
	}
	if len(took) < enough {
		return table.SecondsPerLabel * time.Second
	}
	return slices.Sorted(slices.Values(took))[len(took)/2]
}

// Head says in a line how far the person is, how wide the widest interval is, and how
// long it will take. outlook is nil if no rate is corrected. It says nothing of the rate, so that nobody stops where it
// pleases them.
func (q *Queue) Head(outlook *Outlook) string {
	p := q.Progress()
	// Of a label to which the person went back it is the number that leads there.
	number := slices.IndexFunc(q.said, func(g given) bool { return g.entry == q.at })
	if number < 0 {
		number = min(p.Labeled, p.All-1)
	}
	all := strconv.Itoa(p.All)
	if q.Most > p.All {
		all = fmt.Sprintf("at most %d", q.Most)
	}
	line := fmt.Sprintf("%s  %d of %s", untrusted.Terminal(q.person), number+1, all)
	if p.Undecided > 0 {
		line += fmt.Sprintf(", %d undecided", p.Undecided)
	}
	if p.Skipped > 0 {
		line += fmt.Sprintf(", %d left for later", p.Skipped)
	}
	if outlook != nil {
		now, end := outlook.HalfWidths(q.words)
		line += fmt.Sprintf("   interval ±%.0f, at the end ±%.0f", 100*now, 100*end)
	}
	return line + fmt.Sprintf("   about %.0f min left", math.Ceil((time.Duration(max(p.All, q.Most)-p.Labeled)*q.Pace()).Minutes()))
}

// Words returns what people said, with the labels of this sitting.
func (q *Queue) Words() Words { return q.words }

// Say returns the annotation of the current entry with a word, for the caller to
// store, and moves on. Do not call it at the end.
func (q *Queue) Say(word, note string, at time.Time) orbench.Annotation {
	e := &q.entries[q.at]
	e.Word, e.Note, e.How = word, cmp.Or(note, e.Note), q.howOf(*e)
	q.forget(q.at)
	q.said = append(q.said, given{q.at, at})
	a := orbench.Annotation{Subject: e.Subject, By: q.person, How: e.How, Note: e.Note, At: at.UTC(), RateSeen: q.RateSeen}
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
	q.said = slices.DeleteFunc(q.said, func(g given) bool { return g.entry == entry })
}

// Skip leaves the current entry for another sitting. An entry with a label keeps
// it.
func (q *Queue) Skip() {
	if q.at < len(q.entries) {
		q.skipped[q.at] = true
		q.next()
	}
}

// Defer leaves the current entry until all others have a label. It returns the
// annotation that says why, for the caller to store; false for an entry with a label,
// which keeps it. Do not call it at the end.
func (q *Queue) Defer(reason string, at time.Time) (orbench.Annotation, bool) {
	e := &q.entries[q.at]
	labeled := e.Word != ""
	if !labeled {
		e.Reason = reason
	}
	q.Skip()
	return orbench.Annotation{Subject: e.Subject, By: q.person, How: q.how, Skipped: true, Note: reason, At: at.UTC()}, !labeled
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
	q.at, q.back = q.said[n-1].entry, len(q.said)-n+1
	return true
}

// Undo returns to the last entry that was labeled, also in an earlier sitting,
// and returns the annotation that takes the label back; false if there is none.
func (q *Queue) Undo(at time.Time) (orbench.Annotation, bool) {
	if !q.Goto(len(q.said)) {
		return orbench.Annotation{}, false
	}
	return q.TakeBack(at), true
}

// TakeBack returns the annotation that takes back the label of the current entry, for
// the caller to store. Do not call it at the end.
func (q *Queue) TakeBack(at time.Time) orbench.Annotation {
	q.back = 0
	q.forget(q.at)
	delete(q.skipped, q.at)
	e := &q.entries[q.at]
	how := e.How
	if e.Word, e.Note = "", ""; how != orbench.Again {
		e.How = orbench.Blind
	}
	a := orbench.Annotation{Subject: e.Subject, By: q.person, How: how, At: at.UTC()}
	q.words.add(a)
	return a
}
