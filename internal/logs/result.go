package logs

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// Result says who refused in a log. Its JSON form is documented in docs/schemas/log.json.
type Result struct {
	Files []string `json:"files"`
	// RowsRead counts the rows, and LeftOut those that are no exchange of texts, by the reason.
	RowsRead int            `json:"rows"`
	LeftOut  map[string]int `json:"left_out,omitempty"`
	// Exchanges counts the messages with a reply that was judged, each as often as it came.
	// Unjudged counts those that could not be; they are in no other figure. Garbled counts
	// the exchanges whose reply is neither an answer nor a refusal.
	Exchanges int `json:"exchanges"`
	Unjudged  int `json:"unjudged"`
	Garbled   int `json:"garbled"`
	// Users counts the users or, without them, the sessions, by which the intervals are
	// clustered. Unnamed counts the exchanges of unknown ones.
	Users   int `json:"users"`
	Unnamed int `json:"unnamed"`
	// First and Last are the times of the first and the last exchange; Untimed counts those
	// whose time is not known. They are absent from a log without times.
	First   *time.Time `json:"first,omitempty"`
	Last    *time.Time `json:"last,omitempty"`
	Untimed int        `json:"untimed,omitempty"`
	// Refused says no. Cannot says that something is not there or not within reach, and
	// AsksBack asks for what is missing; these two are not refused. All are shares of
	// Exchanges.
	Refused  Figure `json:"refused"`
	Cannot   Figure `json:"cannot"`
	AsksBack Figure `json:"asks_back"`
	// Sources divides Refused by who said no.
	Sources []SourceFigure `json:"sources"`
	// FlaggedAnswered counts the exchanges that a guard flagged and that were answered.
	FlaggedAnswered int `json:"flagged_answered"`
	// Models divides the exchanges by model, and Periods by day or, if there are many, by
	// month, in UTC.
	Models  []Group `json:"models,omitempty"`
	Periods []Group `json:"periods,omitempty"`
	// Fixed are replies that came word for word, but for numbers, to unlike messages; those that
	// are refused first, then the most frequent.
	Fixed []FixedText `json:"fixed_texts,omitempty"`
	// Transcripts are the exchanges with calls of tools.
	Transcripts *Transcripts `json:"transcripts,omitempty"`
}

// Figure counts exchanges of some kind, with their share.
type Figure struct {
	N int `json:"n"`
	stats.Rate
}

// SourceFigure is the part of the refusals that one source gave. Its rate is its share of
// all exchanges.
type SourceFigure struct {
	Source Source `json:"source"`
	Figure
}

// Group is a part of the exchanges with its refusals.
type Group struct {
	Name      string `json:"name"`
	Exchanges int    `json:"exchanges"`
	Figure    `json:"refused"`
}

// FixedText is a reply that came word for word, but for numbers, to unlike messages. Text is
// the first of them.
type FixedText struct {
	Text string `json:"text"`
	// N counts its exchanges, and Refused those of them that count as refused.
	N       int `json:"n"`
	Refused int `json:"refused"`
}

// Document returns what people read.
func (r Result) Document() table.Document {
	d := table.Document{Title: "Who refuses"}
	s := table.Section{
		Title: "Who refused in " + table.Counted(r.Exchanges, "exchange", "exchanges") + " of " + strings.Join(r.Files, ", "), Left: 1,
		Header: []string{"", "exchanges", "share", "95% interval"},
	}
	add := func(name string, f Figure) { s.Add(name, f.N, f.Rate) }
	add("refused (will not)", r.Refused)
	for _, by := range r.Sources {
		add("  "+by.Source.String(), by.Figure)
	}
	add("cannot", r.Cannot)
	add("asks back", r.AsksBack)
	s.Note = "Judged by lexical. Refused counts replies that say no; people must say whether that was wrong. Cannot and asks back are not refused."
	if r.Users > 0 {
		s.Note += " Intervals count " + table.Counted(r.Users, "user or session", "users or sessions") + ", not exchanges."
	}
	d.AddTo(everyPlace, s)
	for _, warning := range r.warnings() {
		d.AddTo(everyPlace, table.Warning(warning))
	}
	if r.Transcripts != nil {
		d.AddTo(everyPlace, r.Transcripts.section())
	}
	if len(r.Fixed) > 0 {
		d.AddTo(everyPlace, r.fixed())
	}
	if len(r.Models) > 1 {
		d.Details(groups("Refused by model", "model", r.Models))
	}
	if len(r.Periods) > 1 {
		d.Details(groups("Refused over time (UTC)", "period", r.Periods))
	}
	return d
}

const everyPlace = table.OnScreen | table.InMarkdown

// warnings say what the figures could wrongly be read as.
func (r Result) warnings() (all []string) {
	switch {
	case r.Users == 0:
		all = append(all, "The log names no users or sessions, so the intervals take every exchange for a person's only one. They are too narrow. If a column has them, name it.")
	case r.Unnamed > 0:
		all = append(all, table.Counted(r.Unnamed, "exchange names", "exchanges name")+" no user; each counts as one of its own.")
	case r.Users == 1:
		all = append(all, "The log has a single user or session. Its figures say nothing of others.")
	}
	for _, reason := range slices.Sorted(maps.Keys(r.LeftOut)) {
		all = append(all, table.Counted(r.LeftOut[reason], "row is", "rows are")+" left out: "+reason+".")
		if reason == rows.LacksReply && r.LeftOut[rows.LacksAnswer] == 0 {
			all[len(all)-1] += " If these are errors, name their column with the setting error_column of orbench logs; if the reply is in another column, name that."
		}
	}
	if r.Unjudged > 0 {
		all = append(all, table.Counted(r.Unjudged, "reply is", "replies are")+" unjudged, in a language that lexical does not read well; they are in no figure.")
	}
	if r.Garbled > 0 {
		all = append(all, table.Counted(r.Garbled, "reply is", "replies are")+" garbled: neither an answer nor a refusal.")
	}
	if r.FlaggedAnswered > 0 {
		all = append(all, table.Counted(r.FlaggedAnswered, "exchange was", "exchanges were")+" flagged by a guard and answered all the same. If the product refused in its own words, give the first of them to the option refuses of orbench logs.")
	}
	if r.Untimed > 0 {
		all = append(all, table.Counted(r.Untimed, "exchange has", "exchanges have")+" no time that can be read, and are in no period.")
	}
	return all
}

// fixed names the texts that repeat.
func (r Result) fixed() table.Section {
	s := table.Section{Title: "Replies that came word for word to different messages", Left: 1, Header: []string{"text", "exchanges", "refused"}, WrapNames: true}
	for _, f := range r.Fixed {
		s.Add(untrusted.Excerpt(f.Text, mostShown), f.N, f.Refused)
	}
	s.Note = "A product's own texts repeat, and so do some models."
	if slices.ContainsFunc(r.Fixed, func(f FixedText) bool { return f.Refused == 0 }) {
		s.Note += " If one with 0 refused is a refusal, the option refuses of orbench logs takes its first words."
	}
	return s
}

// mostShown is how many bytes of a fixed text are shown.
const mostShown = 70

func groups(title, what string, all []Group) table.Section {
	s := table.Section{Title: title, Left: 1, Header: []string{what, "exchanges", "refused", "share", "95% interval"}}
	for _, g := range all {
		s.Add(g.Name, g.Exchanges, g.N, g.Rate)
	}
	return s
}

// Data returns the result in its documented form.
func (r Result) Data() any { return r }

// line is a line of CSV.
type line struct {
	Scope, Group  string
	Exchanges, N  int
	Rate          stats.Rate `csv:",ci95"`
	CI95Clustered *[2]float64
}

// Rows returns a row for each figure: scope "all" for refused, cannot and asks_back, then
// "source", "model" and "period".
func (r Result) Rows() any {
	var all []line
	add := func(scope, group string, exchanges int, f Figure) {
		all = append(all, line{scope, group, exchanges, f.N, f.Rate, f.CI95Clustered})
	}
	add("all", "refused", r.Exchanges, r.Refused)
	add("all", string(Cannot), r.Exchanges, r.Cannot)
	add("all", string(AsksBack), r.Exchanges, r.AsksBack)
	for _, s := range r.Sources {
		add("source", string(s.Source), r.Exchanges, s.Figure)
	}
	for _, g := range r.Models {
		add("model", g.Name, g.Exchanges, g.Figure)
	}
	for _, g := range r.Periods {
		add("period", g.Name, g.Exchanges, g.Figure)
	}
	return all
}
