package web

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/logs"
	"github.com/orbench/orbench/internal/page"
)

// Sheet is a sheet of exchanges drawn from a log.
type Sheet struct {
	// Looks are labeled in place.
	Looks []logs.Look
	// Keep stores them. It is called after each label.
	Keep func() error
}

// NewSheet makes a server of one page, which asks for the labels of a sheet and does not say
// who refused. Of the configuration only Hosts and Say count.
func NewSheet(c Config, sheet Sheet) (*Server, error) {
	s, err := newServer(c)
	if err != nil {
		return nil, err
	}
	q := &sheetQueue{Sheet: sheet, server: s}
	mux := http.NewServeMux()
	mux.Handle("GET "+static, assets())
	mux.HandleFunc("GET /{$}", s.serve(q.show, false))
	mux.HandleFunc("POST /{$}", s.serve(q.label, true))
	s.Handler = s.guarded(mux)
	return s, nil
}

// sheetQueue is a sheet that is being labeled.
type sheetQueue struct {
	Sheet
	server *Server
	mu     sync.Mutex
	// given are the looks that were labeled here, the latest last.
	given []int
}

// sheetChoice is an answer to a question.
type sheetChoice struct {
	Key  string
	Word logs.Word
}

var sheetChoices = []sheetChoice{{"y", logs.Yes}, {"n", logs.No}, {"c", logs.Unknown}}

// sheetPage is the data of the page.
type sheetPage struct {
	page.Frame
	Left, All int
	// Look is what is asked about, at a place in the sheet; nil if all are labeled.
	Look *logs.Look
	At   int
	// Back is the place of the one before; negative for none.
	Back int
	// Soon is for how many milliseconds no key counts.
	Soon      int64
	Questions []logs.Question
	Choices   []sheetChoice
}

// show shows the look at a place, or the first that is open.
func (q *sheetQueue) show(r *http.Request) (response, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := sheetPage{
		Frame: q.server.frame(r, "Label"), Left: logs.Left(q.Looks), All: len(q.Looks), Back: -1,
		Soon: annotation.TooSoon.Milliseconds(), Questions: logs.Questions, Choices: sheetChoices,
	}
	p.At = slices.IndexFunc(q.Looks, logs.Look.Open)
	if text := r.URL.Query().Get("at"); text != "" {
		at, err := q.place(text)
		if err != nil {
			return response{}, err
		}
		p.At = at
	}
	if p.At >= 0 {
		look := q.Looks[p.At]
		p.Look = &look
	}
	before := slices.Index(q.given, p.At)
	if before < 0 {
		before = len(q.given)
	}
	if before > 0 {
		p.Back = q.given[before-1]
	}
	return response{template: "sheet", page: p}, nil
}

// place reads the place of a look.
func (q *sheetQueue) place(text string) (int, error) {
	at, err := strconv.Atoi(text)
	if err != nil || at < 0 || at >= len(q.Looks) {
		return 0, &orbench.InputError{Problem: fmt.Sprintf("the sheet has no exchange %.20q", text), Hint: "open the first page again"}
	}
	return at, nil
}

// label takes the answers to both questions about a look.
func (q *sheetQueue) label(r *http.Request) (response, error) {
	at, err := q.place(r.PostFormValue("at"))
	if err != nil {
		return response{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	before, look := q.Looks[at], q.Looks[at]
	for _, question := range logs.Questions {
		word := logs.Word(r.PostFormValue(question.Name))
		if !slices.ContainsFunc(sheetChoices, func(c sheetChoice) bool { return c.Word == word }) {
			return response{}, &orbench.InputError{Problem: fmt.Sprintf("%.20q is no answer to: %s", word, question.Text), Hint: "choose yes, no or cannot tell"}
		}
		*question.Of(&look) = word
	}
	q.Looks[at] = look
	if err := q.Keep(); err != nil {
		q.Looks[at] = before
		return response{}, fmt.Errorf("the label is not kept: %w", err)
	}
	q.given = append(slices.DeleteFunc(q.given, func(i int) bool { return i == at }), at)
	return response{data: struct{}{}}, nil
}
