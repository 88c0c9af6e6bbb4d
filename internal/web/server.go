package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/compare"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/logs"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/store"
)

// Config is what a Server needs.
type Config struct {
	// Store is read, and gets people's labels unless ReadOnly. It may be nil where a Sheet is
	// labeled.
	Store *store.Store
	// Sheet is labeled in place of a store; nil for none. Of the others only Hosts, Token and
	// Say then count.
	Sheet    *logs.Sheet
	ReadOnly bool
	// Index holds what is derived from the store. It must not be nil.
	Index *index.Index
	// CacheDir holds pulled datasets.
	CacheDir string
	// Hosts are the names and addresses, with ports, under which browsers reach the
	// server. A request for another host is refused.
	Hosts []string
	// Token must be given once by who opens a page; empty needs none.
	Token string
	// Person is who labels where the address names nobody.
	Person string
	// Program is the version of the program, for what says how figures were made.
	Program string
	// Say tells of a request that failed on this side.
	Say func(format string, args ...any)
}

// Server is an http.Handler that serves the pages of a store. Close it after the last
// request.
type Server struct {
	Config
	http.Handler
	pages map[string]*template.Template
	// ctx ends with Close, and with it what goes on between requests.
	ctx   context.Context
	close context.CancelFunc
	busy  sync.WaitGroup

	mu sync.Mutex
	// runs are the runs that were looked at, by name.
	runs   map[string]*opened
	queues queues
	// compared are the comparisons that were looked at.
	compared map[comparedKey]*task[compare.Result]
	// builds are the builds that were looked at, by name.
	builds map[string]*built

	// summing is held while the figures of a run are derived for the list.
	summing sync.Mutex
}

// assets serves what pages load. Browsers keep it until the program is another.
func assets() http.Handler {
	files := http.StripPrefix(static, http.FileServerFS(page.Assets()))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		files.ServeHTTP(w, r)
	})
}

// New makes a server of a store, or of a sheet.
func New(c Config) (*Server, error) {
	s := &Server{Config: c, runs: map[string]*opened{}, compared: map[comparedKey]*task[compare.Result]{}, builds: map[string]*built{}}
	s.queues.bundles, s.queues.holds, s.queues.seen = map[bundleKey]*task[bundle]{}, map[string]hold{}, map[[2]string]bool{}
	var err error
	if s.pages, err = parse(); err != nil {
		return nil, err
	}
	s.ctx, s.close = context.WithCancel(context.Background())
	mux := http.NewServeMux()
	mux.Handle("GET "+static, assets())
	paths := map[string]func(*http.Request) (response, error){"/label": s.label}
	if c.Sheet == nil {
		paths = map[string]func(*http.Request) (response, error){
			"/{$}": s.home, "/index": s.home, "/answers": s.answers, "/raw": s.raw, "/label": s.label, "/compare": s.compare, "/figures": s.figures,
		}
	} else {
		mux.Handle("GET /{$}", http.RedirectHandler("/label", http.StatusSeeOther))
	}
	for path, serve := range paths {
		mux.HandleFunc("GET "+path, s.serve(serve, false))
		if path != "/{$}" {
			mux.HandleFunc("GET "+path+".json", s.serve(serve, true))
		}
	}
	mux.HandleFunc("POST /label.json", s.serve(s.labeled, true))
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, http.StatusNotFound, "There is no page at this address.")
	})
	s.Handler = s.guarded(mux)
	return s, nil
}

// parse parses the templates of all pages, by name.
func parse() (map[string]*template.Template, error) {
	files, err := pages.ReadDir("templates")
	if err != nil {
		return nil, err
	}
	parsed := map[string]*template.Template{}
	for _, f := range files {
		text, err := pages.ReadFile("templates/" + f.Name())
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(f.Name(), ".html")
		if parsed[name], err = page.Parse(name, string(text), template.FuncMap{"indented": indented}); err != nil {
			return nil, fmt.Errorf("template %s: %w", name, err)
		}
	}
	return parsed, nil
}

// static is the address of the files that pages load.
const static = "/static/"

// Close ends what goes on between requests, and waits for it.
func (s *Server) Close() {
	s.close()
	s.busy.Wait()
}

// response is what a page shows: data for JSON, and the template that shows it, with its
// own data where that differs.
type response struct {
	template string
	page     any
	data     any
	// written is a page that was written whole, in place of template and page.
	written string
	// redirect is another address to go to, empty for none.
	redirect string
	// cookie is one to set, nil for none.
	cookie *http.Cookie
}

// waiting says that a page must wait for something: what, and how far that is.
type waiting struct{ what, progress string }

func (w waiting) Error() string { return w.what }

// serve makes a handler of what responds to a request, as a page or as JSON.
func (s *Server) serve(respond func(*http.Request) (response, error), asJSON bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if asJSON {
			r = r.WithContext(context.WithValue(r.Context(), patient{}, true))
		}
		shown, err := respond(r)
		if shown.cookie != nil {
			http.SetCookie(w, shown.cookie)
		}
		var wait waiting
		switch {
		case errors.As(err, &wait):
			w.Header().Set("Retry-After", "1")
			s.show(w, http.StatusAccepted, "waiting", struct {
				page.Frame
				What, Progress, Address string
			}{s.frame(r, "Reading"), strings.ToUpper(wait.what[:1]) + wait.what[1:], wait.progress, r.URL.RequestURI()})
		case err != nil:
			s.fail(w, r, err, asJSON)
		case shown.redirect != "":
			http.Redirect(w, r, shown.redirect, http.StatusSeeOther)
		case asJSON:
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			e := json.NewEncoder(w)
			e.SetIndent("", " ")
			if err := e.Encode(shown.data); err != nil {
				s.Say("%s: %v", r.URL.Path, err)
			}
		case shown.written != "":
			s.write(w, http.StatusOK, shown.written)
		default:
			s.show(w, http.StatusOK, shown.template, shown.page)
		}
	}
}

// patient marks the context of a request that waits as long as it takes.
type patient struct{}

// show writes a page. A page that fails half way is an error and no page.
func (s *Server) show(w http.ResponseWriter, status int, name string, data any) {
	var text strings.Builder
	if err := s.pages[name].Execute(&text, data); err != nil {
		s.Say("page %s: %v", name, err)
		http.Error(w, "The page could not be made; orbench serve says why.", http.StatusInternalServerError)
		return
	}
	s.write(w, status, text.String())
}

// write writes a page. A browser that went away is nobody's fault.
func (s *Server) write(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// fail answers a request that cannot be served.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error, asJSON bool) {
	status := http.StatusInternalServerError
	var input *orbench.InputError
	switch {
	case errors.Is(err, context.Canceled):
		return
	case errors.Is(err, errNotFound):
		status = http.StatusNotFound
	case errors.Is(err, index.ErrGone):
		status = http.StatusConflict
	case errors.As(err, &input):
		status = http.StatusBadRequest
	default:
		s.Say("%s: %v", r.URL.Path, err)
	}
	if asJSON {
		s.failJSON(w, r, status, err.Error())
		return
	}
	s.problem(w, status, s.frame(r, "Problem"), problemOf(err))
}

// problemOf is an error as a page says it. What its hint names are flags of commands.
func problemOf(err error) string {
	text := strings.TrimPrefix(err.Error(), errNotFound.Error()+": ")
	return settings.Rename(text, func(setting string) string { return "--" + setting })
}

// refuse answers a request that no page takes. The page has no menu.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, problem string) {
	if strings.HasSuffix(r.URL.Path, ".json") {
		s.failJSON(w, r, status, problem)
		return
	}
	s.problem(w, status, page.Frame{Title: "Problem – orbench", Static: static}, problem)
}

// problem writes the page that says why nothing is shown.
func (s *Server) problem(w http.ResponseWriter, status int, frame page.Frame, problem string) {
	s.show(w, status, "problem", struct {
		page.Frame
		Problem string
	}{frame, problem})
}

// failJSON says in JSON why there is no data.
func (s *Server) failJSON(w http.ResponseWriter, r *http.Request, status int, problem string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(map[string]string{"error": problem}); err != nil {
		s.Say("%s: %v", r.URL.Path, err)
	}
}

// errNotFound means that the store has nothing of that name.
var errNotFound = errors.New("not found")

// frame is the frame of a page.
func (s *Server) frame(r *http.Request, title string) page.Frame {
	f := page.Frame{Title: title + " – orbench", Static: static}
	if s.Sheet != nil {
		return f // it has one page
	}
	f.Menu = append(f.Menu, page.Link{Text: "Studies", Address: "/", Here: r.URL.Path == "/" && !r.URL.Query().Has("study")})
	q := page.Query{}
	for _, name := range r.URL.Query()["study"] {
		q = q.With("study", name)
	}
	for _, l := range []struct{ text, path string }{{"Report", "/"}, {"Answers", "/answers"}, {"Compare", "/compare"}, {"Label", "/label"}} {
		if l.path == "/label" && s.ReadOnly {
			continue
		}
		if l.path != "/" || len(q) > 0 {
			f.Menu = append(f.Menu, page.Link{Text: l.text, Address: q.Address(l.path), Here: r.URL.Path == l.path && (l.path != "/" || r.URL.Query().Has("study"))})
		}
	}
	return f
}

// Limits of a server.
const (
	readTimeout = 20 * time.Second
	// A reader that takes less than writeChunk within writeTimeout is cut off.
	writeTimeout = time.Minute
	writeChunk   = 64 << 10
	mostHeader   = 64 << 10
	mostBody     = 1 << 20
)

// steady writes to readers that take what they are given. The time runs for each chunk, so
// that neither a page that takes long to make nor a long one that moves is cut off.
type steady struct{ http.ResponseWriter }

// Unwrap is for http.ResponseController.
func (w steady) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader begins the response.
func (w steady) WriteHeader(status int) {
	_ = w.wait()
	w.ResponseWriter.WriteHeader(status)
}

// Write writes chunk by chunk.
func (w steady) Write(text []byte) (n int, err error) {
	for chunk := range slices.Chunk(text, writeChunk) {
		if err := w.wait(); err != nil {
			return n, err
		}
		took, err := w.ResponseWriter.Write(chunk)
		if n += took; err != nil {
			return n, err
		}
	}
	return n, nil
}

// wait gives the reader the time for a chunk.
func (w steady) wait() error {
	return http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(writeTimeout))
}

// HTTP returns an http.Server for the handler, with bounds on the size and the time of
// requests.
func (s *Server) HTTP() *http.Server {
	return &http.Server{Handler: s, ReadTimeout: readTimeout, ReadHeaderTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: mostHeader}
}
