package web

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/audit"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
)

// The queues of people who label, as the parameter queue names them. Without it the queue
// is what was drawn, or the answers of a filter.
const (
	drawnQueue    = ""
	promptsQueue  = "prompts"  // the prompts of the drawn answers
	disputesQueue = "disputes" // drawn answers on which people differ
	sentQueue     = "sent"     // answers that others sent to the person
	answersQueue  = "answers"  // labels that are given on the page of answers
)

// asked is what a request wants of a queue.
type asked struct {
	person, queue string
	// anew asks who labels although that is known.
	anew bool
	// q has the study, and the filter if that is the queue.
	q page.Query
}

// askedOf reads the address of a request to label. The person may be missing.
func askedOf(values url.Values) (a asked, err error) {
	a.person, a.queue, a.anew = strings.TrimSpace(values.Get("person")), values.Get("queue"), values.Has("who")
	rest := url.Values{}
	for name, all := range values {
		if !slices.Contains([]string{"person", "queue", "who"}, name) {
			rest[name] = all
		}
	}
	if a.q, err = page.ParseQuery(rest); err != nil {
		return a, err
	}
	switch {
	case !slices.Contains([]string{drawnQueue, promptsQueue, disputesQueue, sentQueue, answersQueue}, a.queue):
		err = &orbench.InputError{Setting: "queue", Problem: fmt.Sprintf("there is no queue %q", a.queue), Hint: "use prompts, disputes or sent, or leave it out"}
	case a.queue != drawnQueue && a.filtered():
		err = &orbench.InputError{Setting: "queue", Problem: "a filter is a queue of its own", Hint: "leave out queue, or the filter"}
	case len(a.q["prompt"]) > 0:
		err = &orbench.InputError{Setting: "prompt", Problem: "the answers to one prompt are no queue", Hint: "label them on the page of answers"}
	case len(a.q["study"]) > 1:
		err = &orbench.InputError{Setting: "study", Problem: "one study is labeled at a time", Hint: "name one"}
	case a.person != "":
		err = checkPerson("person", a.person)
	}
	return a, err
}

// filtered reports whether a filter is the queue.
func (a asked) filtered() bool { return len(a.q.Without("study")) > 0 }

// address is the address of the queue.
func (a asked) address(path string) string {
	return a.q.With("person", a.person, "queue", a.queue).Address(path)
}

// checkPerson refuses names that are no names.
func checkPerson(setting, name string) error {
	const most = 80
	if name == "" || utf8.RuneCountInString(name) > most || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return &orbench.InputError{Setting: setting, Problem: "this is no name", Hint: fmt.Sprintf("give 1 to %d letters", most)}
	}
	return nil
}

// personCookie holds the name of the person who labels in a browser.
const personCookie = "orbench-person"

// personOf is who labels in a browser, as far as it said; else empty.
func personOf(r *http.Request) string {
	c, err := r.Cookie(cookieName(r, personCookie))
	if err != nil {
		return ""
	}
	name, err := url.QueryUnescape(c.Value)
	if err != nil || checkPerson("person", name) != nil {
		return ""
	}
	return name
}

// personCookieOf makes a browser remember who labels in it.
func personCookieOf(r *http.Request, name string) *http.Cookie {
	const year = 365 * 24 * 3600
	return &http.Cookie{Name: cookieName(r, personCookie), Value: url.QueryEscape(name), Path: "/", MaxAge: year, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil}
}

// labelPage is the page of a queue, or the page that asks who labels.
type labelPage struct {
	page.Frame
	Person string
	// Asks is true if the page asks for the person; Hidden are the parameters to keep.
	Asks   bool
	Hidden []page.Hidden
	// Studies are those to choose from, if the address names none.
	Studies []choice
	Queues  []page.Link
	// Address takes labels. Empty says why there is nothing to label.
	Address string
	Empty   string
	// Note says what the labels of the queue are good for.
	Note string
	Soon int64 // milliseconds before which no key counts
	// Questions are those that are asked.
	Questions []labelQuestion
	Change    string // address that asks for another name; empty where one person labels
}

// Answers reports whether answers are shown.
func (p labelPage) Answers() bool { return !p.Questions[0].OfPrompt }

// labelQuestion is what is asked of a prompt or of an answer.
type labelQuestion struct {
	OfPrompt bool
	Text     string
	Keys     []annotation.Key
}

// questions lists the questions of a queue.
func (q *queue) questions() []labelQuestion {
	refused := labelQuestion{false, "Refused?", annotation.Keys(false)}
	switch {
	case q.sheet:
		return []labelQuestion{refused, {true, "The message is", annotation.Keys(true)}}
	case q.ofPrompt:
		return []labelQuestion{{true, "", annotation.Keys(true)}}
	}
	return []labelQuestion{refused}
}

// labelData is the JSON of a queue.
type labelData struct {
	// Head says how far the person is, in words.
	Head string `json:"head"`
	annotation.Progress
	// SecondsPerLabel is the person's pace.
	SecondsPerLabel float64 `json:"seconds_per_label"`
	RateSeen        bool    `json:"rate_seen"`
	// How is how labels come about, empty for those that correct the rate.
	How orbench.How `json:"how,omitempty"`
	// Chosen is how many answers a filter chose; the queue has the first of them.
	Chosen int `json:"chosen,omitempty"`
	// Items are the next to label, and Recent those labeled last, the latest last.
	Items  []labelItem `json:"items"`
	Recent []labelItem `json:"recent"`
	// Next is how many more are drawn on demand, where all that are drawn have a label.
	Next int `json:"next,omitempty"`
	// Rates says what labels have made of the rates, once all are labeled, and to whoever asks.
	Rates []string `json:"rates,omitempty"`
	// Differing is the address of the answers on which the person and the first judge differ, as
	// the last of Rates says; empty for none.
	Differing string `json:"differing,omitempty"`
}

// labelItem is an answer, or a prompt, without what anybody says of it.
type labelItem struct {
	annotation.Entry
	// Again is true if the person labeled it before, and is asked a second time.
	Again bool `json:"again,omitempty"`
	// PromptEnds and AnswerEnds are the first and the last sentence.
	PromptEnds [2]string `json:"prompt_ends"`
	AnswerEnds [2]string `json:"answer_ends"`
	// Said is what people said who differ, for whoever settles it.
	Said []page.Word `json:"said,omitempty"`
}

// label shows the queue of a person.
func (s *Server) label(r *http.Request) (response, error) {
	if s.ReadOnly {
		return response{}, &orbench.InputError{Setting: "label", Problem: "this server takes no labels", Hint: "start orbench serve without read-only"}
	}
	a, err := askedOf(r.URL.Query())
	if err != nil {
		return response{}, err
	}
	if a.queue == answersQueue {
		return response{redirect: a.q.Address("/answers")}, nil
	}
	if s.Sheet != nil {
		a.person = s.Sheet.Person
	}
	asksJSON := r.Context().Value(patient{}) != nil
	var runs []run.Stored
	if a.q.Get("study") == "" && s.Sheet == nil {
		if runs, err = run.List(r.Context(), s.Store); err != nil {
			return response{}, err
		}
	}
	several := len(runs) > 1 && !asksJSON // of which the newest may not be meant
	if a.person == "" || several {
		known := cmp.Or(a.person, personOf(r))
		if known != "" && !a.anew && !several {
			a.person = known
			return response{redirect: a.address(r.URL.Path)}, nil
		}
		if asksJSON {
			return response{}, &orbench.InputError{Setting: "person", Problem: "nobody is named who labels", Hint: "add person=NAME"}
		}
		p := labelPage{Frame: s.frame(r, "Label"), Asks: true, Person: cmp.Or(known, s.Person)}
		for name, values := range a.q.With("queue", a.queue) {
			for _, v := range values {
				p.Hidden = append(p.Hidden, page.Hidden{Name: name, Value: v})
			}
		}
		for i, one := range runs {
			p.Studies = append(p.Studies, choice{one.Name, one.Name, i == 0})
		}
		return response{template: "label", page: p}, nil
	}
	q, err := s.queue(r.Context(), a)
	if err != nil {
		return response{}, err
	}
	p := labelPage{
		Frame: s.frame(r, "Label"), Person: a.person, Address: a.address("/label.json"), Note: q.note(), Questions: q.questions(), Soon: annotation.TooSoon.Milliseconds(),
	}
	if q.Progress().All == 0 && q.next == 0 {
		p.Empty = cmp.Or(map[string]string{
			disputesQueue: "There is no answer on which people differ.", sentQueue: "Nobody sent you an answer.",
		}[a.queue], "There is no answer here that you can label.")
	}
	if q.sheet {
		return response{template: "label", page: p, data: labelDataOf(q, s.queues.free(q, "", time.Now()))}, nil
	}
	p.Change = a.q.With("queue", a.queue, "who", "other").Address("/label")
	of := page.Query{}.With("study", a.q.Get("study"), "person", a.person)
	queues := []struct{ text, queue string }{
		{"drawn answers", drawnQueue}, {"their prompts", promptsQueue}, {fmt.Sprintf("disputes (%d)", q.disputes), disputesQueue}, {fmt.Sprintf("sent to you (%d)", q.sent), sentQueue},
	}
	if q.opened == nil {
		queues[0].text = "drawn prompts"
		queues = slices.Delete(queues, 1, 2)[:2]
	}
	for _, l := range queues {
		p.Queues = append(p.Queues, page.Link{Text: l.text, Address: of.With("queue", l.queue).Address("/label"), Here: !a.filtered() && l.queue == a.queue})
	}
	if a.filtered() {
		p.Queues = append(p.Queues, page.Link{Text: "filtered answers", Address: a.address("/label"), Here: true})
	}
	return response{template: "label", page: p, data: labelDataOf(q, s.queues.free(q, "", time.Now())), cookie: personCookieOf(r, a.person)}, nil
}

// mostOfFilter is how many answers of a filter a queue has at most.
const mostOfFilter = 1000

// queue is a queue with what belongs to it.
type queue struct {
	asked
	// study is its name. opened is nil for a build, whose prompts are labeled, and for a sheet.
	study string
	sheet bool
	*opened
	*annotation.Queue
	ofPrompt bool
	how      orbench.How
	outlook  *annotation.Outlook // nil if labels correct no rate
	chosen   int
	// rest and next are how many are drawn once all have the person's label: by themselves,
	// or on demand. voted is what a build draws from.
	rest, next int
	voted      []audit.Item
	// disputes and sent count what is to be labeled in those queues.
	disputes, sent int
}

// note says what the labels of a queue are good for.
func (q *queue) note() (text string) {
	switch {
	case q.queue == disputesQueue:
		return "Your label settles the dispute: from then on it alone counts. What each person said is kept."
	case q.sheet:
		return "Each label is in the sheet at once. orbench logs report says which refusals were wrong."
	case q.opened == nil:
		return "The page of the build compares its moderators with what you and others say."
	case q.queue == promptsQueue:
		return "The report prints each rate a second time, without the prompts whose label at least half of you reject."
	case q.queue == sentQueue:
		text = "Others sent you these answers. Your labels are kept, but correct no rate."
	case q.filtered() && q.how == orbench.Sighted:
		text = "A filter chose these answers by what judges say. So your labels are kept as made with verdicts in sight, and correct no rate."
	case q.filtered():
		text = "A filter chose these answers. Your labels are kept, but correct no rate."
	}
	if q.chosen > mostOfFilter {
		text += fmt.Sprintf(" These are the first %s of %s.", table.Count(mostOfFilter), table.Count(q.chosen))
	}
	return text
}

// votedQueue is the queue of a person over the drawn prompts of a build.
func (s *Server) votedQueue(ctx context.Context, a asked, found *study.Study) (*queue, error) {
	if a.filtered() || a.queue == sentQueue {
		return nil, &orbench.InputError{Setting: "queue", Problem: "of a build the drawn prompts are labeled, or those on which people differ", Hint: "leave out queue, or use disputes"}
	}
	b, err := s.built(ctx, found)
	if err != nil {
		return nil, err
	}
	said, err := s.Store.Annotations(ctx)
	if err != nil {
		return nil, err
	}
	words := annotation.NewWords(said)
	q := &queue{asked: a, study: found.Name, ofPrompt: true}
	entries := audit.Entries(b.voted, words)
	q.open(entries, words)
	if len(entries) == 0 && a.queue == drawnQueue {
		q.voted, q.next = b.voted, min(audit.Usual, len(b.voted))
	}
	return q, nil
}

// queue opens the queue of a person as the store is now.
func (s *Server) queue(ctx context.Context, a asked) (*queue, error) {
	if s.Sheet != nil {
		said, err := s.Sheet.Annotations(ctx)
		return &queue{asked: a, study: s.Sheet.Path, sheet: true, Queue: annotation.NewQueue(s.Sheet.Entries(), annotation.NewWords(said), s.Sheet.Person, orbench.Blind)}, err
	}
	if name := a.q.Get("study"); name != "" {
		if found, err := study.Find(ctx, s.Store, name); err == nil && found.Kind == study.Build {
			return s.votedQueue(ctx, a, found)
		}
	}
	l, err := s.openRows(ctx, a.q.Get("study"))
	if err != nil {
		return nil, err
	}
	o := l.opened
	all, err := s.Store.Annotations(ctx)
	if err != nil {
		return nil, err
	}
	words := annotation.NewWords(all)
	q := &queue{asked: a, study: o.Name, opened: o, ofPrompt: a.queue == promptsQueue}
	draws := 0
	for _, said := range all {
		if said.Chance > 0 {
			draws++
		}
	}
	key := bundleKey{rows: l.rows, draws: draws}
	drawn, err := s.queues.bundle(ctx, s, key, func(ctx context.Context, walked func(int)) (b bundle, err error) {
		b.entries, _, b.outlook, err = s.Index.Asked(ctx, s.Store, o.Run, walked)
		return b, err
	})
	if err != nil {
		return nil, err
	}
	if len(words.Sent(a.person)) > 0 {
		sent, err := s.chosen(ctx, asked{person: a.person, queue: sentQueue}, l, words)
		if err != nil {
			return nil, err
		}
		q.sent = annotation.NewQueue(sent.entries, words, a.person, orbench.Chosen).Progress().Open()
	}
	q.open(slices.Concat(drawn.entries, words.Repeats(drawn.entries, a.person, drawn.outlook.Rare)), words)
	var of bundle
	switch {
	case a.filtered(), a.queue == sentQueue:
		of, err = s.chosen(ctx, a, l, words)
		if q.how, q.chosen = orbench.Chosen, of.chosen; revealing(a.q) {
			q.how = orbench.Sighted
		}
	case len(drawn.entries) == 0 && a.queue != disputesQueue:
		q.next = drawn.outlook.Next
	case a.queue == promptsQueue:
		key.filter = promptsQueue
		of, err = s.queues.bundle(ctx, s, key, func(ctx context.Context, walked func(int)) (b bundle, err error) {
			b.entries, _, err = s.Index.Drawn(ctx, s.Store, o.Run, true, walked)
			return b, err
		})
	default:
		if q.outlook = drawn.outlook; a.queue == drawnQueue {
			q.rest, q.next = drawn.outlook.Rest, drawn.outlook.Next
			q.Most = q.Progress().All + q.rest
		}
	}
	if err != nil {
		return nil, err
	}
	if a.queue == promptsQueue || a.queue == sentQueue || a.filtered() {
		q.Queue = annotation.NewQueue(of.entries, words, a.person, q.how)
	}
	q.RateSeen = q.RateSeen || s.queues.rateSeen(o.Name, a.person, false)
	return q, nil
}

// open makes the queue of drawn entries, or of those of them on which people differ.
func (q *queue) open(entries []annotation.Entry, words annotation.Words) {
	disputes := words.Disputes(entries)
	q.disputes = annotation.NewQueue(disputes, words, q.person, orbench.Settled).Progress().Open()
	if q.queue == disputesQueue {
		q.how, entries = orbench.Settled, disputes
	}
	q.Queue = annotation.NewQueue(entries, words, q.person, q.how)
}

// revealing reports whether a filter says what judges say of the answers, as all do but those
// that are named here.
func revealing(q page.Query) bool {
	if strings.HasSuffix(q.Get("sort"), "length") {
		q = q.Without("sort")
	}
	return len(q.Without("study", "dataset", "prompt", "target", "variant", "sample", "label", "category", "q", "by", "after")) > 0
}

// chosen reads the answers that a filter chose, or that others sent to a person.
func (s *Server) chosen(ctx context.Context, a asked, l looked, words annotation.Words) (bundle, error) {
	key := bundleKey{rows: l.rows, filter: a.q.Without("study").Address("/")}
	of := map[orbench.Subject]bool{}
	if a.queue == sentQueue {
		for subject := range words.Sent(a.person) {
			of[subject] = true
		}
		key.filter, key.draws = "sent to "+a.person, len(of)
	}
	return s.queues.bundle(ctx, s, key, func(ctx context.Context, _ func(int)) (b bundle, err error) {
		if a.queue == sentQueue {
			some, err := l.rows.OfSubjects(ctx, of)
			if err == nil {
				l.found, err = l.rows.Choose(ctx, nil, some)
			}
			if err != nil {
				return b, err
			}
		} else {
			studies, err := s.look(context.WithValue(ctx, patient{}, true), a.q)
			if err != nil {
				return b, err
			}
			l = studies[0]
		}
		b.chosen, _ = l.found.Count()
		positions, err := l.found.Page(ctx, l.order, 0, mostOfFilter)
		if err != nil {
			return b, err
		}
		read, err := l.rows.Read(ctx, s.Store, positions)
		for i := range read {
			if row := &read[i]; row.Status == score.Answered && strings.TrimSpace(row.Response.Text) != "" {
				b.entries = append(b.entries, annotation.Entry{Subject: row.Subject(), Prompt: row.Asked().Transcript(), Answer: row.Response.Text})
			}
		}
		return b, err
	})
}

// labelDataOf is the JSON of a queue, with some entries that are free.
func labelDataOf(q *queue, upcoming []annotation.Entry) labelData {
	const undos = 10
	d := labelData{
		Progress: q.Progress(), SecondsPerLabel: math.Round(q.Pace().Seconds()*10) / 10,
		RateSeen: q.RateSeen, How: q.how, Chosen: q.chosen, Items: []labelItem{}, Recent: []labelItem{},
	}
	if d.Head = q.Head(q.outlook); d.Open() == 0 {
		d.Next = q.next
	}
	d.Items = append(d.Items, table.RowsOf(upcoming, labelItemOf)...)
	d.Recent = append(d.Recent, table.RowsOf(q.Recent(undos), labelItemOf)...)
	return d
}

func labelItemOf(e annotation.Entry) labelItem {
	i := labelItem{Entry: e, Again: e.How == orbench.Again}
	i.PromptEnds[0], i.PromptEnds[1] = annotation.Ends(e.Prompt)
	i.AnswerEnds[0], i.AnswerEnds[1] = annotation.Ends(e.Answer)
	for _, a := range e.Said {
		i.Said = append(i.Said, page.Word{Person: a.By, Word: annotation.Word(a), Note: a.Note})
	}
	return i
}
