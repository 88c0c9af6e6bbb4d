package web

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/audit"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/table"
)

// queues is what the people who label share in the server's memory. The zero value is empty.
type queues struct {
	mu sync.Mutex
	// bundles are the entries of queues, read once for all people.
	bundles map[bundleKey]*task[bundle]
	// holds say in which window an entry is open.
	holds map[string]hold
	// seen has who looked at the rate of which study.
	seen map[[2]string]bool
	// drawing lets one window draw at a time.
	drawing sync.Mutex
}

// bundleKey names a bundle: by the rows of a study, how many answers were drawn or sent,
// and what chose them, empty for the draw.
type bundleKey struct {
	rows   *index.Study
	draws  int
	filter string
}

// bundle is the entries of a queue. outlook is nil where nothing was drawn, and chosen
// counts all answers that a filter chose.
type bundle struct {
	entries []annotation.Entry
	outlook *annotation.Outlook
	chosen  int
}

// hold says which window shows an entry, and until when nobody else gets it.
type hold struct {
	window string
	until  time.Time
}

const (
	// holding is how long an entry is kept for a window that does nothing.
	holding = 2 * time.Minute
	// prefetched is how many entries a window gets, the one that it shows among them.
	prefetched = 4
	// mostBundles bounds the memory of queues.
	mostBundles = 16
)

// bundle gives a bundle, which read reads the first time.
func (d *queues) bundle(ctx context.Context, s *Server, key bundleKey, read func(ctx context.Context, walked func(int)) (bundle, error)) (bundle, error) {
	d.mu.Lock()
	if d.bundles[key] == nil && len(d.bundles) >= mostBundles {
		// Drawn answers take longest to read again.
		maps.DeleteFunc(d.bundles, func(k bundleKey, _ *task[bundle]) bool { return k.filter != "" || k.rows != key.rows })
	}
	t := table.At(d.bundles, key)
	d.mu.Unlock()
	return get(ctx, s, t, "reading the answers to label", key.rows.Answers(), read)
}

// holdKey names what a window holds: an entry for one person, as others label it too, or a
// dispute for all, which one of them settles.
func holdKey(q *queue, s orbench.Subject) string {
	if q.how == orbench.Settled {
		return s.String()
	}
	return s.String() + q.person
}

// free lists the next entries of a queue that no other window holds.
func (d *queues) free(q *queue, window string, now time.Time) []annotation.Entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	return q.Upcoming(prefetched, func(s orbench.Subject) bool {
		h, held := d.holds[holdKey(q, s)]
		return !held || h.window == window || now.After(h.until)
	})
}

// take is free, and holds the entries for the window.
func (d *queues) take(q *queue, window string, now time.Time) []annotation.Entry {
	entries := d.free(q, window, now)
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.holds, func(_ string, h hold) bool { return now.After(h.until) })
	for _, e := range entries {
		d.holds[holdKey(q, e.Subject)] = hold{window, now.Add(holding)}
	}
	return entries
}

// leave gives up what a window holds.
func (d *queues) leave(window string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.holds, func(_ string, h hold) bool { return h.window == window })
}

// rateSeen reports whether a person has looked at the rate of a study, now or before.
func (d *queues) rateSeen(study, person string, now bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := [2]string{study, person}
	d.seen[key] = d.seen[key] || now
	return d.seen[key]
}

// labeled does what a page of a queue, or the form at an answer, asks for. What is to be
// done stands in the field do:
//
//	next   nothing but to hold the next entries
//	leave  the window is closed, and holds nothing any more
//	label  the subject gets a word, and perhaps a note
//	undo   the subject's label is taken back
//	skip   the subject is left for later; note says why
//	more   a further step is drawn, where all that is drawn has the person's label
//	rate   the person looks at the rate
//	send   the subject goes to the queue of the person whom the field to names
//
// The field again says that the subject is asked a second time. window and seen name the window of the browser, and say that the person had
// looked at the rate before.
func (s *Server) labeled(r *http.Request) (response, error) {
	ctx, now := r.Context(), time.Now().UTC()
	if err := r.ParseForm(); err != nil {
		return response{}, &orbench.InputError{Setting: "body", Problem: err.Error(), Hint: "send a form"}
	}
	a, err := askedOf(r.URL.Query())
	if err != nil {
		return response{}, err
	}
	if s.Sheet != nil {
		a = asked{person: s.Sheet.Person}
	}
	if a.queue == answersQueue {
		return s.sighted(r, a, now)
	}
	if a.person == "" {
		return response{}, &orbench.InputError{Setting: "person", Problem: "nobody is named who labels", Hint: "add person=NAME"}
	}
	form, do := r.PostForm, r.PostForm.Get("do")
	if do == "leave" {
		s.queues.leave(form.Get("window"))
		return response{data: struct{}{}}, nil
	}
	q, err := s.queue(ctx, a)
	if err != nil {
		return response{}, err
	}
	q.RateSeen = q.RateSeen || s.queues.rateSeen(q.study, q.person, form.Get("seen") == "yes" || do == "rate")
	var said []orbench.Annotation
	switch do {
	case "next", "rate", "more":
	default:
		if said, err = done(q.Queue, form, now); err != nil {
			return response{}, err
		}
	}
	if s.Sheet != nil {
		err = s.Sheet.Annotate(ctx, said)
	} else {
		err = s.Store.Annotate(ctx, said)
	}
	if err != nil {
		return response{}, err
	}
	if q, err = s.step(ctx, q, do == "more"); err != nil {
		return response{}, err
	}
	data := labelDataOf(q, s.queues.take(q, form.Get("window"), now))
	if q.opened != nil && (do == "rate" || q.queue == drawnQueue && data.Labeled > 0 && data.Open() == 0) {
		result, err := s.Index.Figures(ctx, s.Store, q.opened.Run, evaluate.Sinks{})
		if err != nil {
			return response{}, err
		}
		data.Rates = report.Labeled(result)
		if err := s.differ(ctx, q, &data); err != nil {
			return response{}, err
		}
	}
	return response{data: data}, nil
}

// differ says on how many answers of a queue the person and the first judge do, once all have a
// label: until then no verdict is shown.
func (s *Server) differ(ctx context.Context, q *queue, data *labelData) error {
	rows, err := s.study(ctx, q.opened)
	if err != nil || len(rows.Judges) == 0 || data.Open() > 0 {
		return err
	}
	of, lines, err := rows.Differ(ctx, s.Store, q.person, rows.Judges[0])
	if data.Rates = append(data.Rates, lines...); !of.Empty() {
		data.Differing = page.Query{}.With("study", q.study, "differs", q.person).Address("/answers")
	}
	return err
}

// step draws what the labels of a queue call for: the second phase of a step, or with more
// a further step. It returns the queue with what is drawn.
func (s *Server) step(ctx context.Context, q *queue, more bool) (*queue, error) {
	if q.Progress().Open() > 0 || q.rest == 0 && !(more && q.next > 0) {
		return q, nil
	}
	s.queues.drawing.Lock()
	defer s.queues.drawing.Unlock()
	// Another window may have drawn meanwhile.
	q, err := s.queue(ctx, q.asked)
	if err != nil || q.Progress().Open() > 0 {
		return q, err
	}
	switch {
	case q.voted != nil:
		var drawn []orbench.Annotation
		if drawn, err = audit.Draw(q.voted, q.Words(), q.next, 1, time.Now().UTC()); err == nil {
			err = s.Store.Annotate(ctx, drawn)
		}
	case q.rest > 0:
		err = s.Index.Step(ctx, s.Store, q.opened.Run, 0, func(int) {})
	default:
		err = s.Index.Step(ctx, s.Store, q.opened.Run, annotation.StepLabels-annotation.Repeated, func(int) {})
	}
	if err != nil {
		return nil, err
	}
	return s.queue(ctx, q.asked)
}

// done gives the annotations of what a form does to an entry of a queue.
func done(q *annotation.Queue, form url.Values, now time.Time) ([]orbench.Annotation, error) {
	subject, note, err := subjectOf(form)
	if err != nil {
		return nil, err
	}
	how := orbench.Blind
	if form.Get("again") == "yes" {
		how = orbench.Again
	}
	if !q.Find(subject, how) {
		return nil, &orbench.InputError{Setting: "subject", Problem: "the queue does not have it", Hint: "load the page again"}
	}
	e, _ := q.Current()
	switch do := form.Get("do"); do {
	case "label":
		word, err := wordOf(form, e.OfPrompt)
		if err != nil {
			return nil, err
		}
		return []orbench.Annotation{q.Say(word, note, now)}, nil
	case "undo":
		if e.Word == "" {
			return nil, nil // it was taken back before
		}
		return []orbench.Annotation{q.TakeBack(now)}, nil
	case "skip":
		if note == "" {
			return nil, &orbench.InputError{Setting: "note", Problem: "why it is skipped is missing", Hint: "give a reason"}
		}
		if said, ok := q.Defer(note, now); ok {
			return []orbench.Annotation{said}, nil
		}
		return nil, nil
	default:
		return nil, &orbench.InputError{Setting: "do", Problem: fmt.Sprintf("nothing is called %q", do), Hint: "use next, leave, label, undo, skip, more or rate"}
	}
}

// subjectOf reads what a form is about, and its note.
func subjectOf(form url.Values) (subject orbench.Subject, note string, err error) {
	const most = 2000
	if err := subject.UnmarshalText([]byte(form.Get("subject"))); err != nil {
		return subject, "", &orbench.InputError{Setting: "subject", Problem: err.Error(), Hint: "take it from the page"}
	}
	note = strings.TrimSpace(form.Get("note"))
	if len(note) > most || !utf8.ValidString(note) {
		return subject, "", &orbench.InputError{Setting: "note", Problem: "it is too long, or no text", Hint: fmt.Sprintf("write at most %d bytes", most)}
	}
	return subject, note, nil
}

// wordOf reads the label of a form.
func wordOf(form url.Values, ofPrompt bool) (string, error) {
	keys, word := annotation.Keys(ofPrompt), form.Get("word")
	if !slices.ContainsFunc(keys, func(k annotation.Key) bool { return k.Word == word }) {
		words := table.RowsOf(keys, func(k annotation.Key) string { return k.Word })
		return "", &orbench.InputError{Setting: "word", Problem: fmt.Sprintf("%q is no label", word), Hint: "use " + strings.Join(words, ", ")}
	}
	return word, nil
}

// sighted keeps a label that was given on the page of answers, with verdicts in sight, or
// sends an answer to another person.
func (s *Server) sighted(r *http.Request, a asked, now time.Time) (response, error) {
	ctx, form := r.Context(), r.PostForm
	subject, note, err := subjectOf(form)
	if err != nil {
		return response{}, err
	}
	said := orbench.Annotation{Subject: subject, By: strings.TrimSpace(form.Get("by")), How: orbench.Sighted, Note: note, At: now}
	if err := checkPerson("by", said.By); err != nil {
		return response{}, err
	}
	switch form.Get("do") {
	case "label":
		word, err := wordOf(form, false)
		if err != nil {
			return response{}, err
		}
		if said.Undecided = word == string(orbench.Undecided); !said.Undecided {
			said.Class = orbench.Class(word)
		}
	case "send":
		said.How, said.For = orbench.Blind, strings.TrimSpace(form.Get("to"))
		if err := checkPerson("to", said.For); err != nil {
			return response{}, err
		}
	default:
		return response{}, &orbench.InputError{Setting: "do", Problem: fmt.Sprintf("nothing is called %q here", form.Get("do")), Hint: "use label or send"}
	}
	l, err := s.openRows(ctx, a.q.Get("study"))
	if err != nil {
		return response{}, err
	}
	of, err := l.rows.OfSubjects(ctx, map[orbench.Subject]bool{subject: true})
	if err != nil {
		return response{}, err
	}
	if of.Empty() {
		return response{}, fmt.Errorf("%w: %s has no such answer", errNotFound, l.Name)
	}
	if err := s.Store.Annotate(ctx, []orbench.Annotation{said}); err != nil {
		return response{}, err
	}
	all, err := s.Store.Annotations(ctx)
	return response{data: map[string]any{"people": peopleOn(annotation.NewWords(all), subject)}, cookie: personCookieOf(r, said.By)}, err
}

// formAt is the form at an answer of a study; nil if the server takes no labels.
func (s *Server) formAt(study, subject, person string) *page.LabelForm {
	if s.ReadOnly || subject == "" {
		return nil
	}
	q := asked{queue: answersQueue}
	q.q = q.q.With("study", study)
	return &page.LabelForm{Address: q.address("/label.json"), Subject: subject, Person: person, Keys: annotation.Keys(false)}
}
