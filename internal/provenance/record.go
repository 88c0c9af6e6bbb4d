package provenance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// LastToShow names the last program that shows kinds of studies and settings that are gone.
const LastToShow = "the orbench of commit d68194c2"

// Record says how figures were made, for readers without the store. Its times
// are those of the commands that asked, not of the command that shows the
// figures, so the same run gives the same bytes.
type Record struct {
	// Program is the version of orbench that computed the figures.
	Program string `json:"program"`
	Runs    []Made `json:"runs"`
	// Damage is what the store has lost; nil for an intact store.
	Damage *Damage `json:"damage,omitempty"`
}

// Damage is what a damaged store has lost. No figure includes it.
type Damage struct {
	// Lost counts what is known to be lost, by kind, such as calls.
	Lost []Lost `json:"lost"`
	// Faults lists what is wrong with the structure of the file.
	Faults []string `json:"faults"`
}

// Lost is how many things of a kind are lost.
type Lost struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// String describes the damage in one line.
func (d *Damage) String() string {
	parts := table.RowsOf(d.Lost, func(l Lost) string { return table.Count(l.Count) + " " + l.Kind })
	if len(parts) == 0 {
		parts = []string{"nothing that is known of"}
	}
	return "Damaged store, of which are lost: " + strings.Join(parts, ", ") + ". They are left out: answers and verdicts that need them count as unanswered or unjudged."
}

// Made says how a run was made.
type Made struct {
	Run string `json:"run"`
	// Date is when the run's last call was paid for, in UTC. If the run paid
	// for none, or an older program made it, Date is when the run was started.
	Date time.Time `json:"date"`
	// Commands asked for the run, in their order. Older programs did not keep
	// theirs.
	Commands []Command `json:"commands"`
	Settings []Setting `json:"settings"`
	Datasets []Dataset `json:"datasets"`
	Judges   []Judge   `json:"judges"`
	// Served lists the names under which replies came, if they differ from the
	// requested ones.
	Served []Served `json:"served_by,omitempty"`
	// Checks asked models some of their stored calls again.
	Checks []Check `json:"weights_checks,omitempty"`
	Cost   Cost    `json:"cost"`
	// Answers says when the targets made their answers, in UTC, nil where that is known of none.
	Answers *price.Span `json:"answers_made,omitempty"`
}

// Served counts a target's answers, or a judge's replies, that came under one
// name.
type Served struct {
	Of    string `json:"of"`
	Model string `json:"model"`
	N     int    `json:"n"`
	// As has the values used in the figures: version, other or unclear.
	As string `json:"as"`
}

// Command is a command that asked for a run.
type Command struct {
	// Line is what was typed, quoted for a shell and without secrets; see CleanCommand.
	Line string `json:"command"`
	// Version is that of the program.
	Version string `json:"version"`
	// Date is when it was first started.
	Date time.Time `json:"date"`
	// Local is true if it could connect to its own machine and to servers that it names alone.
	Local bool `json:"local,omitempty"`
}

// Dataset is a dataset with the whole hash of its prompts.
type Dataset struct {
	Dataset string `json:"dataset"`
	SHA256  string `json:"sha256"`
	// LostPrompts is how many of the asked prompts were lost to damage of the
	// store.
	LostPrompts int `json:"lost_prompts,omitempty"`
}

// Judge is a judge with its version; see judge.Version.
type Judge struct {
	Judge   string `json:"judge"`
	Version string `json:"version,omitempty"`
	// Was is the version that judged when the run was made, if it was another
	// one.
	Was string `json:"was,omitempty"`
}

// Cost is what the replies of a whole run cost, whichever command paid for
// them. Apart from that it says what failed attempts may have cost.
type Cost struct {
	Replies      int `json:"replies"`
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	// EstimatedReplies counts the replies of which the provider told no tokens: theirs are
	// estimated by their texts.
	EstimatedReplies int `json:"estimated_replies,omitempty"`
	// USD is the price in US dollars; nil if the price of any model that
	// replied is unknown.
	USD *float64 `json:"usd"`
	// Batches counts those of the replies that came by batch, by provider and
	// discount; absent if there are none.
	Batches []Batch `json:"batches,omitempty"`
	// FailedAttempts counts the attempts of the run's commands that gave no reply
	// and may have been charged. CutOff is how many of them did not fail: they may
	// have been under way when a command was killed. FailedUSD is the most that all
	// can have cost, in US dollars; nil if there are none or a price was unknown.
	FailedAttempts int      `json:"failed_attempts,omitempty"`
	CutOff         int      `json:"cut_off,omitempty"`
	FailedUSD      *float64 `json:"failed_usd,omitempty"`
	// Unpriced lists the models without a known price.
	Unpriced []string `json:"unpriced,omitempty"`
}

// Batch is a number of replies that came by batch, and their price.
type Batch struct {
	Provider string `json:"provider"`
	Replies  int    `json:"replies"`
	// Factor is the batch price as a share of the list price; nil if it is
	// unknown. AsOf is the day on which it was correct, and Source the page
	// that lists it.
	Factor *float64 `json:"factor"`
	AsOf   string   `json:"as_of,omitempty"`
	Source string   `json:"source,omitempty"`
}

// String describes the batch in a few words.
func (b Batch) String() string {
	s := table.Count(b.Replies) + " by batch of " + untrusted.Terminal(b.Provider)
	if b.Factor == nil {
		return s + ", whose price is unknown"
	}
	if *b.Factor == 1 {
		return s + " at the list price"
	}
	return fmt.Sprintf("%s at %g of the list price as of %s (%s)", s, *b.Factor, b.AsOf, untrusted.Terminal(b.Source))
}

// String describes the cost in one line.
func (c Cost) String() string {
	s := table.Counted(c.Replies, "reply", "replies") + ", " + table.Count(c.InputTokens) + " input and " + table.Count(c.OutputTokens) + " output tokens, "
	if c.EstimatedReplies > 0 {
		s += "estimated for " + table.Counted(c.EstimatedReplies, "reply", "replies") + " without a count, "
	}
	s += table.Price(c.USD, c.Unpriced)
	for _, b := range c.Batches {
		s += ", of it " + b.String()
	}
	return s + table.FailedCost(c.FailedAttempts-c.CutOff, c.CutOff, c.FailedUSD)
}

// Line returns the record as one line, for the metadata of a picture.
func (r *Record) Line() string {
	if r == nil {
		return ""
	}
	line := "orbench " + r.Program
	for _, m := range r.Runs {
		line += "; run " + m.Run + " of " + day(m.Date)
		for _, c := range m.Commands {
			line += "; " + c.Line
		}
		for _, d := range m.Datasets {
			line += "; dataset " + d.Dataset + " sha256 " + d.SHA256
		}
		for _, j := range m.Judges {
			line += "; judge " + strings.TrimSpace(j.Judge+" "+j.Version)
		}
		for _, s := range summary(m.Settings) {
			line += "; " + string(s.Name) + ": " + s.Value
		}
		line += "; " + m.Cost.String()
	}
	return untrusted.Terminal(line)
}

// runs returns the runs of the record; none without one.
func (r *Record) runs() []Made {
	if r == nil {
		return nil
	}
	return r.Runs
}

// summary lists each setting once, with the names of those that have it unless
// all share it. It leaves out what a record shows elsewhere and settings
// without a value.
func summary(settings []Setting) (all []Setting) {
	seen := map[Name]map[string]string{DatasetHash: nil, JudgeVersion: nil, Datasets: nil, Judges: nil}
	for _, s := range settings {
		if _, known := seen[s.Name]; known {
			continue
		}
		values := map[string]string{}
		for _, o := range settings {
			if o.Name == s.Name {
				values[o.Of] = o.Value
			}
		}
		seen[s.Name] = values
		if value := together(settings, s.Name, values); value != None {
			all = append(all, Setting{Name: s.Name, Value: value})
		}
	}
	return all
}

func day(at time.Time) string { return at.UTC().Format(time.DateTime) + " UTC" }

// Spent says in one line what the replies of all runs cost. It is empty without
// a record.
func (r *Record) Spent() string {
	var parts []string
	for _, m := range r.runs() {
		what := "The whole run: "
		if len(r.Runs) > 1 {
			what = "The whole run " + untrusted.Terminal(m.Run) + ": "
		}
		parts = append(parts, what+m.Cost.String()+".")
	}
	return strings.Join(parts, " ")
}

// answered says when the answers were made, in the time of a place.
func (m Made) answered(in *time.Location) string {
	if m.Answers == nil {
		return "of unknown age"
	}
	return m.Answers.In(in)
}

// Ages says in one line when the answers of the runs were made, in the time of a place, behind
// what they are called; empty where none is known.
func (r *Record) Ages(called string, in *time.Location) string {
	var parts table.Names // both sides of a comparison may be of one run
	for _, m := range r.runs() {
		if m.Cost.Replies == 0 {
			continue
		}
		when := m.answered(in)
		if len(r.Runs) > 1 {
			when = untrusted.Terminal(m.Run) + " " + when
		}
		parts.Add(when)
	}
	if len(parts) == 0 {
		return ""
	}
	if len(r.Runs) > 1 {
		called += ":"
	}
	return called + " " + strings.Join(parts, ", ")
}

// OfReplies reports whether the record is of one run that rests on exactly n
// replies.
func (r *Record) OfReplies(n int) bool {
	runs := r.runs()
	return len(runs) == 1 && runs[0].Cost.Replies == n
}

// Sections show for each run how it was made, and its settings.
func (r *Record) Sections() (all []table.Section) {
	for _, m := range r.runs() {
		s := table.Section{Title: "How run " + m.Run + " was made", Header: []string{"what", "of", ""}, Left: 3}
		s.Add("date", "", day(m.Date))
		s.Add("figures by", "", "orbench "+r.Program)
		for _, c := range m.Commands {
			s.Add("command", day(c.Date)+", orbench "+c.Version, c.Line)
		}
		for _, d := range m.Datasets {
			s.Add("prompts", d.Dataset, "sha256 "+d.SHA256)
		}
		for _, j := range m.Judges {
			version := j.Version
			if j.Was != "" {
				version += ", when the run was made " + j.Was
			}
			s.Add("judge", j.Judge, "version "+version)
		}
		for _, by := range m.Served {
			s.Add("replies under the name", by.Of, fmt.Sprintf("%s: %s (%s)", by.Model, table.Count(by.N), by.As))
		}
		if m.Cost.Replies > 0 {
			s.Add("answers", "", m.answered(time.UTC))
		}
		for _, c := range m.Checks {
			s.Add("asked again", c.Of, day(c.Date)+": "+c.String())
		}
		s.Add("cost of the whole run", "", m.Cost.String())
		for _, setting := range summary(m.Settings) {
			s.Add(setting.Name, "", setting.Value)
		}
		all = append(all, s)
	}
	return all
}

// JSON writes the record to a file of its own, for files that have no room for
// it.
func (r *Record) JSON(w io.Writer) error { return table.JSON(w, r) }

// Warnings names, a line each, the judges that have changed since a run was
// made.
func (r *Record) Warnings() (lines []string) {
	if r == nil {
		return nil
	}
	if r.Damage != nil {
		lines = append(lines, r.Damage.String())
	}
	for _, m := range r.Runs {
		for _, d := range m.Datasets {
			if d.LostPrompts > 0 {
				lines = append(lines, fmt.Sprintf("Lost with a damaged store: %s prompts that run %s asked of %s. They are in no figure; the same eval asks them again, from their file.",
					table.Count(d.LostPrompts), m.Run, d.Dataset))
			}
		}
		for _, j := range m.Judges {
			if j.Was != "" {
				lines = append(lines, fmt.Sprintf("Judged anew: %s was version %s when run %s was made and is %s now. Figures may differ from those that were shown then.", j.Judge, j.Was, m.Run, j.Version))
			}
		}
	}
	return lines
}

// History is what a store keeps about how a run was made.
type History struct {
	Commands []Command `json:"commands,omitempty"`
	// LastPaid is when any of the commands last paid for a call; the zero time
	// if none did.
	LastPaid time.Time `json:"last_paid,omitzero"`
	// Prices are the prices that the commands used, in the form of their
	// package.
	Prices json.RawMessage `json:"prices,omitempty"`
	// Failed is what failed attempts may have cost, for each command that had
	// any.
	Failed []Failed `json:"failed,omitempty"`
	// Checks asked models some of their stored calls again.
	Checks []Check `json:"checks,omitempty"`
	// Reused is what the store had of the study when its first command began, nil where that had
	// no budget. Budgets do not count it.
	Reused *Reused `json:"reused,omitempty"`
}

// Check is a comparison of a target's weights with those that made its stored answers, by
// prompts that were asked again; see package weights. Its calls are in no figure.
type Check struct {
	Date time.Time `json:"date"`
	// Of is the model.
	Of string `json:"of"`
	// Decision is same, other or unknown.
	Decision string `json:"decision"`
	// Prompts were compared. The stored reply and the two new ones are not of one class for
	// Parted of them; for Odd of these the new ones agree with each other.
	Prompts int `json:"prompts"`
	Parted  int `json:"parted"`
	Odd     int `json:"odd"`
	Calls   int `json:"calls"`
	Tokens  int `json:"tokens"`
	// USD is nil where the price is unknown.
	USD *float64 `json:"usd"`
}

// String is the check in one line.
func (c Check) String() string {
	return fmt.Sprintf("%s: %d of %d stored replies called otherwise by both new ones; %s, %s tokens", c.Decision, c.Odd, c.Prompts, table.Counted(c.Calls, "call", "calls"), table.Count(c.Tokens))
}

// Failed is what the failed attempts of a command may have cost.
type Failed struct {
	// Began is when the command began, to the nanosecond. No two commands of a
	// run share it.
	Began    time.Time `json:"began"`
	Attempts int       `json:"attempts"`
	// CutOff is how many of Attempts may have been under way when the command was
	// killed.
	CutOff int `json:"cut_off,omitempty"`
	// USD is the most that the attempts can have cost, in US dollars; nil if a
	// price was unknown. Tokens is the most that they can have used; 0 in what
	// an older program kept.
	USD    *float64 `json:"usd"`
	Tokens int      `json:"tokens,omitempty"`
	// Free counts the other failed attempts, which gave no answer and cost
	// nothing.
	Free int `json:"free,omitempty"`
	// Judging is true for a command that asked no target.
	Judging bool `json:"judging,omitempty"`
}

// Fail records what a command's failed attempts may have cost. It replaces the
// record made when they were fewer.
func (h *History) Fail(f Failed) {
	old := table.Entry(&h.Failed, f, func(o Failed) bool { return o.Began.Equal(f.Began) })
	if f.Attempts+f.Free > old.Attempts+old.Free {
		*old = f
	}
}

// FailedCost sums what attempts without a reply may have cost, and how many of them a
// kill cut off; usd is nil if there are none or a price was unknown.
func (h *History) FailedCost() (attempts, cutOff int, usd *float64) {
	sum, known := 0.0, true
	for _, f := range h.Failed {
		attempts += f.Attempts
		cutOff += f.CutOff
		switch {
		case f.USD != nil:
			sum += *f.USD
		case f.Attempts > 0:
			known = false
		}
	}
	if attempts == 0 || !known {
		return attempts, cutOff, nil
	}
	return attempts, cutOff, &sum
}

// mostCommands is how many commands a run's history keeps.
const mostCommands = 20

// Local reports whether one of the commands kept its connections to its own machine.
func (h History) Local() bool {
	return slices.ContainsFunc(h.Commands, func(c Command) bool { return c.Local })
}

// Start records a command. A repeated command, such as one that resumes, is
// recorded once, with the time of its first start.
func (h *History) Start(c Command) {
	table.Entry(&h.Commands, c, func(o Command) bool { return o.Line == c.Line && o.Version == c.Version })
	if n := len(h.Commands) - mostCommands; n > 0 {
		h.Commands = h.Commands[n:]
	}
}

// Reused are replies that a study found in the store when it began: others paid for them.
type Reused struct {
	Replies int     `json:"replies"`
	Tokens  int     `json:"tokens"`
	USD     float64 `json:"usd"`
}

// And merges the histories of a run that was asked for in two stores: the
// commands of both in the order of their times, each once; what failed in each;
// and the later prices.
func (h History) And(o History) History {
	both := History{LastPaid: h.LastPaid, Prices: h.Prices, Reused: cmp.Or(h.Reused, o.Reused)}
	if o.LastPaid.After(h.LastPaid) {
		both.LastPaid, both.Prices = o.LastPaid, o.Prices
	}
	all := slices.Concat(h.Commands, o.Commands)
	slices.SortStableFunc(all, func(a, b Command) int { return a.Date.Compare(b.Date) })
	for _, c := range all {
		both.Start(c)
	}
	failed := slices.Concat(h.Failed, o.Failed)
	slices.SortStableFunc(failed, func(a, b Failed) int { return a.Began.Compare(b.Began) })
	for _, f := range failed {
		both.Fail(f)
	}
	both.Checks = append(both.Checks, h.Checks...)
	for _, c := range o.Checks {
		if !slices.ContainsFunc(h.Checks, func(k Check) bool { return k.Date.Equal(c.Date) && k.Of == c.Of }) {
			both.Checks = append(both.Checks, c)
		}
	}
	slices.SortStableFunc(both.Checks, func(a, b Check) int { return a.Date.Compare(b.Date) })
	return both
}

// Date is when the last call was paid for, or when the first command was
// started if no call was paid for. It is the zero time for a run that an older
// program made.
func (h *History) Date() time.Time {
	if h.LastPaid.IsZero() && len(h.Commands) > 0 {
		return h.Commands[0].Date
	}
	return h.LastPaid
}
