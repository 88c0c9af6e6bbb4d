package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/web"
)

// newDrawn measures a simulated model and draws some of its answers.
func newDrawn(t *testing.T, size string) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir()}
	s.orbench("eval", "--target", "sim/balanced", "--dataset", "starter", "--name", "mine", "--quiet")
	s.orbench("label", "draw", "mine", "--size", size)
	return s
}

// copied is a copy of a site that is not served yet.
func (s *site) copied() *site {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "m.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	other := &site{t: s.t, dir: s.t.TempDir()}
	if err := os.WriteFile(filepath.Join(other.dir, "m.db"), text, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return other
}

// remember has the client of a site keep cookies, as a browser does.
func (s *site) remember() {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.server.Client().Jar = jar
}

// labeled is what the report says of labels: the figures by people.
func (s *site) labeled() (all []figure.Figure) {
	s.t.Helper()
	var published report.Published
	if err := json.Unmarshal([]byte(s.orbench("report", "mine", "--format", "json")), &published); err != nil {
		s.t.Fatal(err)
	}
	for f := range figure.Of(published.Figures, figure.OverRefusal, figure.ToxicRefusal, figure.Labels, figure.Kappa) {
		if f.Judge == "" {
			all = append(all, *f)
		}
	}
	return all
}

// queueData is the JSON of a queue, as far as tests look at it.
type queueData struct {
	Labeled, Undecided, Skipped, All int
	How                              orbench.How
	RateSeen                         bool `json:"rate_seen"`
	Chosen                           int
	Next                             int
	Items, Recent                    []struct {
		Subject            orbench.Subject
		Again              bool
		Prompt, Answer     string
		Word, Note, Reason string
		Said               []struct{ Person, Word string }
	}
	Rates     []string
	Differing string
	People    []struct{ Person, Word, How string }
	Error     string
}

// post does something as a page of the server would, or as header says.
func (s *site) post(path string, header http.Header, fields ...string) (status int, data queueData) {
	s.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	r, err := http.NewRequest(http.MethodPost, s.server.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Origin", s.server.URL)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for name := range header {
		r.Header.Set(name, header.Get(name))
	}
	reply, err := s.server.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if json.Unmarshal(body, &data) != nil {
		data.Error = string(body)
	}
	return reply.StatusCode, data
}

// do is post that must be right.
func (s *site) do(path string, fields ...string) queueData {
	s.t.Helper()
	status, data := s.post(path, nil, fields...)
	if status != http.StatusOK {
		s.t.Fatalf("%s %v: %d %s", path, fields, status, data.Error)
	}
	return data
}

// said lists what people said of a subject, the latest last.
func (s *site) said(of orbench.Subject) (all []orbench.Annotation) {
	s.t.Helper()
	every, err := s.store.Annotations(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, a := range every {
		if a.Subject == of && a.By != "" {
			all = append(all, a)
		}
	}
	return all
}

const anaQueue = "/label.json?study=mine&person=ana"

func TestLabelQueue(t *testing.T) {
	t.Parallel()
	s := newDrawn(t, "100")
	s.serve(func(c *web.Config) { c.Person = "the user" })
	s.remember()

	// The name is asked once, and the queue shows neither the model nor a judge.
	if text := s.page("/label?study=mine"); !strings.Contains(text, `name="person" value="the user"`) {
		t.Errorf("the name is not asked:\n%s", text)
	}
	for _, path := range []string{"/label?study=mine&person=ana", "/label?study=mine", anaQueue} {
		text := s.page(path)
		for _, never := range []string{"balanced", "lexical", "score", `name="person"`} {
			if strings.Contains(text, never) {
				t.Errorf("%s has %q", path, never)
			}
		}
	}
	first := s.do(anaQueue, "do", "next")
	if first.All != 100 || len(first.Items) != 4 || first.Items[0].Answer == "" {
		t.Fatalf("the queue begins with %+v", first)
	}

	// A label, a note, and what cannot be decided.
	subject := first.Items[0].Subject
	after := s.do(anaQueue, "do", "label", "subject", subject.String(), "word", "partial", "note", "half of it")
	if after.Labeled != 1 || after.Items[0].Subject != first.Items[1].Subject || after.Recent[0].Word != "partial" || after.Recent[0].Note != "half of it" {
		t.Errorf("after a label: %+v", after)
	}
	if a := s.said(subject); len(a) != 1 || a[0].By != "ana" || a[0].Class != orbench.Partial || a[0].How != orbench.Blind || a[0].RateSeen {
		t.Errorf("kept %+v", a)
	}
	for i := range 11 {
		word := "full_answer"
		if i == 0 {
			word = "undecided"
		}
		after = s.do(anaQueue, "do", "label", "subject", after.Items[0].Subject.String(), "word", word)
	}
	if after.Labeled != 12 || after.Undecided != 1 || len(after.Recent) != 10 {
		t.Errorf("after 12 labels: %+v", after)
	}
	// Ten undos, one of them sent twice as after a reply that got lost.
	for i := 9; i >= 0; i-- {
		undone := after.Recent[i].Subject.String()
		s.do(anaQueue, "do", "undo", "subject", undone)
		if got := s.do(anaQueue, "do", "undo", "subject", undone); got.Labeled != 2+i {
			t.Errorf("%d labels after undo %d", got.Labeled, 10-i)
		}
	}

	// What is skipped needs a reason, and comes again after all others.
	skipped := s.do(anaQueue, "do", "next").Items[0].Subject
	if status, data := s.post(anaQueue, nil, "do", "skip", "subject", skipped.String()); status != http.StatusBadRequest || !strings.Contains(data.Error, "reason") {
		t.Errorf("skipped without a reason: %d %s", status, data.Error)
	}
	after = s.do(anaQueue, "do", "skip", "subject", skipped.String(), "note", "ask ben")
	for after.Skipped == 1 && after.Items[0].Subject != skipped {
		after = s.do(anaQueue, "do", "label", "subject", after.Items[0].Subject.String(), "word", "refusal")
	}
	if after.Labeled != 99 || after.Items[0].Reason != "ask ben" {
		t.Errorf("at the end: %+v", after)
	}
	if after = s.do(anaQueue, "do", "label", "subject", skipped.String(), "word", "garbled"); after.Labeled != 100 || len(after.Items) != 0 || after.Skipped != 0 {
		t.Errorf("after the end: %+v", after)
	}

	// Whoever looks at the rate is noted from then on, also by a later server.
	after = s.do(anaQueue, "do", "rate")
	if !after.RateSeen || len(after.Rates) != 5 {
		t.Errorf("the rate: %+v", after)
	}
	// What the person and the judge do not say alike opens.
	alike, err := url.Parse(after.Differing)
	if err != nil {
		t.Fatal(err)
	}
	differ := s.all(page.Query(alike.Query()))
	if want := fmt.Sprintf("You and lexical differ on %d of 99", len(differ)); after.Rates[4] != want {
		t.Errorf("%q, want %q", after.Rates[4], want)
	}
	for _, row := range differ {
		if people := s.answers(page.Query{"study": {"mine"}, "prompt": {row.Prompt.ID}}).Rows[0].People; len(people) != 1 || orbench.Class(people[0].Word).Refused() == orbench.Class(row.Verdicts[0].Class).Refused() {
			t.Errorf("people say %+v, judges %+v", people, row.Verdicts)
		}
	}
	s.do(anaQueue, "do", "label", "subject", subject.String(), "word", "refusal")
	if a := s.said(subject); !a[len(a)-1].RateSeen {
		t.Errorf("no mark on %+v", a)
	}
	if text := s.orbench("report", "mine"); !strings.Contains(strings.Join(strings.Fields(text), " "), "Labeled by people who had seen the rate:") {
		t.Errorf("the report does not say it:\n%s", text)
	}
	if other := s.do("/label.json?study=mine&person=ben", "do", "next"); other.RateSeen || other.Labeled != 0 {
		t.Errorf("ben: %+v", other)
	}
}

func TestLabelRefusals(t *testing.T) {
	t.Parallel()
	s := newDrawn(t, "20")
	s.serve(nil)
	subject := s.do(anaQueue, "do", "next").Items[0].Subject.String()
	for name, c := range map[string]struct {
		path   string
		header http.Header
		fields []string
		status int
	}{
		"another site":          {anaQueue, http.Header{"Origin": {"http://example.invalid"}}, []string{"do", "next"}, 403},
		"no origin":             {anaQueue, http.Header{"Origin": {"null"}}, []string{"do", "next"}, 403},
		"a frame of a site":     {anaQueue, http.Header{"Sec-Fetch-Site": {"cross-site"}}, []string{"do", "next"}, 403},
		"nobody":                {"/label.json?study=mine", nil, []string{"do", "next"}, 400},
		"a name that turns":     {"/label.json?study=mine&person=a%E2%80%AEb", nil, []string{"do", "next"}, 400},
		"an unknown queue":      {anaQueue + "&queue=all", nil, []string{"do", "next"}, 400},
		"a filter and a queue":  {anaQueue + "&queue=disputes&label=safe", nil, []string{"do", "next"}, 400},
		"one prompt":            {anaQueue + "&prompt=a1", nil, []string{"do", "next"}, 400},
		"an unknown deed":       {anaQueue, nil, []string{"do", "forget", "subject", subject}, 400},
		"an unknown label":      {anaQueue, nil, []string{"do", "label", "subject", subject, "word", "blocked"}, 400},
		"no subject":            {anaQueue, nil, []string{"do", "label", "word", "refusal"}, 400},
		"a subject from afar":   {anaQueue, nil, []string{"do", "label", "subject", strings.Repeat("00", 32), "word", "refusal"}, 400},
		"a long note":           {anaQueue, nil, []string{"do", "label", "subject", subject, "word", "refusal", "note", strings.Repeat("x", 3000)}, 400},
		"a body without an end": {anaQueue, nil, []string{"do", "next", "note", strings.Repeat("x", 2<<20)}, 400},
		"an answer from afar":   {"/label.json?study=mine&queue=answers", nil, []string{"do", "label", "by", "ana", "subject", strings.Repeat("00", 32), "word", "refusal"}, 404},
		"an unknown study":      {"/label.json?study=none&person=ana", nil, []string{"do", "next"}, 404},
	} {
		if status, data := s.post(c.path, c.header, c.fields...); status != c.status {
			t.Errorf("%s: status %d, want %d: %s", name, status, c.status, data.Error)
		}
	}
	all, err := s.store.Annotations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if a.By != "" {
			t.Errorf("kept %+v", a)
		}
	}

	// A server that only shows takes nothing and shows no form.
	s = &site{t: t, dir: s.dir}
	s.serve(func(c *web.Config) { c.ReadOnly = true })
	if status, _ := s.post(anaQueue, nil, "do", "next"); status != http.StatusForbidden {
		t.Errorf("read-only: status %d", status)
	}
	s.get("/label?study=mine&person=ana", http.StatusBadRequest)
	if text := s.page("/answers?study=mine"); strings.Contains(text, "say-form") || strings.Contains(text, `"/label`) {
		t.Error("read-only: the page of answers has a form for labels")
	}
	if text := s.page("/?study=mine"); strings.Contains(text, "Label answers of this run") {
		t.Error("read-only: the page of the run leads to labels")
	}
}

// TestLabelsThatCorrectNothing has labels that are kept beside the corrected rate.
func TestLabelsThatCorrectNothing(t *testing.T) {
	t.Parallel()
	s := newDrawn(t, "40")
	s.typing(strings.Repeat("ar", 15), "label", "mine", "--as", "ana")
	want := s.labeled()
	s.serve(nil)

	// A filter as a queue, of drawn answers among others.
	for path, how := range map[string]orbench.How{"&label=safe&q=how": orbench.Chosen, "&label=toxic&verdict=refused": orbench.Sighted, "&sort=-length": orbench.Chosen, "&sort=score": orbench.Sighted} {
		queue := "/label.json?study=mine&person=ben" + path
		data := s.do(queue, "do", "next")
		if data.How != how || data.All == 0 || data.Chosen < data.All {
			t.Errorf("%s: %+v", path, data)
		}
		for n := data.All; len(data.Items) > 0 && n > 0; n-- {
			data = s.do(queue, "do", "label", "subject", data.Items[0].Subject.String(), "word", "refusal")
		}
		if data.Labeled != data.All {
			t.Errorf("%s: %+v at the end", path, data)
		}
	}

	// A label at an answer, with verdicts in sight. Such an answer is not shown blind.
	item := s.do("/label.json?study=mine&person=cem", "do", "next").Items[0]
	if text := s.page("/answers?study=mine&label=safe"); !strings.Contains(text, "say-form") || !strings.Contains(text, `href="/label?label=safe&amp;study=mine"`) {
		t.Error("no form at the answers, or no way to label them all")
	}
	const answers = "/label.json?study=mine&queue=answers"
	said := s.do(answers, "do", "label", "by", "cem", "subject", item.Subject.String(), "word", "unable", "note", "why")
	if n := len(said.People); n == 0 || said.People[n-1] != (struct{ Person, Word, How string }{"cem", "unable", "sighted"}) {
		t.Errorf("people say %+v", said.People)
	}
	if left := s.do("/label.json?study=mine&person=cem", "do", "next"); left.All != 39 || left.Items[0].Subject == item.Subject {
		t.Errorf("cem goes on with %+v", left)
	}

	// It goes to the queue of another, who sees no verdict.
	s.do(answers, "do", "send", "by", "cem", "to", "dora", "subject", item.Subject.String())
	const dora = "/label.json?study=mine&person=dora&queue=sent"
	data := s.do(dora, "do", "next")
	if data.All != 1 || data.Items[0].Subject != item.Subject || data.How != orbench.Chosen {
		t.Errorf("dora has %+v", data)
	}
	if data = s.do(dora, "do", "label", "subject", item.Subject.String(), "word", "off_topic"); data.Labeled != 1 {
		t.Errorf("dora has %+v", data)
	}
	// Dora's own draw has it still, and a label there counts.
	if data = s.do("/label.json?study=mine&person=dora", "do", "next"); data.All != 40 || data.Items[0].Subject != item.Subject {
		t.Errorf("dora's draw: %+v", data)
	}
	if d := cmp.Diff(want, s.labeled()); d != "" || len(want) == 0 {
		t.Errorf("the corrected rates changed: %s", d)
	}
}

// TestLabelSteps draws by what people say, as the terminal does: the same answers are asked, in
// two phases, and the next step has five of them again.
func TestLabelSteps(t *testing.T) {
	t.Parallel()
	s := &site{t: t, dir: t.TempDir()}
	s.orbench("eval", "--target", "sim/balanced", "--dataset", "starter", "--name", "mine", "--quiet")
	typed := s.copied()
	s.serve(nil)
	data := s.do(anaQueue, "do", "next")
	if data.All != 0 || data.Next != 25 {
		t.Fatalf("before anything is drawn: %+v", data)
	}
	data = s.do(anaQueue, "do", "more")
	again := 0
	for step, want := range []struct{ all, again int }{{25, 0}, {55, 5}} {
		for n := 0; len(data.Items) > 0; n++ {
			item, more := data.Items[0], ""
			if item.Again {
				again, more = again+1, "yes"
			}
			word := "full_answer"
			if n%2 == 1 {
				word = "refusal"
			}
			data = s.do(anaQueue, "do", "label", "subject", item.Subject.String(), "again", more, "word", word)
		}
		if data.All != want.all || data.Labeled != want.all || again != want.again || len(data.Rates) < 2 || data.Next == 0 {
			t.Errorf("after step %d, with %d again: %+v", step+1, again, data)
		}
		data = s.do(anaQueue, "do", "more")
		typed.typing(strings.Repeat("ar", 50), "label", "mine", "--as", "ana")
		if d := cmp.Diff(typed.labeled(), s.labeled()); d != "" {
			t.Errorf("step %d by page and by terminal gives different figures: %s", step+1, d)
		}
	}
}

// TestLabelPrompts labels the prompts of drawn answers.
func TestLabelPrompts(t *testing.T) {
	t.Parallel()
	s := newDrawn(t, "20")
	s.serve(nil)
	queue := anaQueue + "&queue=prompts"
	item := s.do(queue, "do", "next").Items[0]
	if item.Answer != "" {
		t.Errorf("a prompt with an answer: %+v", item)
	}
	if status, _ := s.post(queue, nil, "do", "label", "subject", item.Subject.String(), "word", "refusal"); status != http.StatusBadRequest {
		t.Error("a prompt cannot be a refusal")
	}
	if data := s.do(queue, "do", "label", "subject", item.Subject.String(), "word", "controversial"); data.Labeled != 1 {
		t.Errorf("%+v", data)
	}
	if a := s.said(item.Subject); len(a) != 1 || a[0].Label != orbench.Controversial {
		t.Errorf("kept %+v", a)
	}
}
