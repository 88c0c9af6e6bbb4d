package trigger

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// View is the report of the study.
func (s *Study) View(ctx context.Context, m store.Reader) (table.View, error) {
	return s.Derive(ctx, m, nil)
}

// Document is the report for people. A brief screen shows the confirmed words.
func (r Result) Document() table.Document {
	d := table.Document{Title: "Trigger words", Simulated: r.Simulated}
	sections := r.sections()
	d.Sections(sections[0])
	d.AddTo(table.OnBrief, r.confirmed())
	d.Details(sections[1:]...)
	d.Add(table.Note{Text: fmt.Sprintf("Judged by %s, at most %d calls for wordings of a prompt, split with seed %d.", r.Judge, r.Calls, r.Seed)})
	if slices.ContainsFunc(r.Groups, func(g Group) bool { return len(g.Triggers) > 0 }) {
		for _, note := range reading {
			d.AddTo(table.OnFull|table.InMarkdown, table.Note{Text: note})
		}
	}
	for _, note := range r.lacks() {
		d.Add(table.Note{Text: note})
	}
	return d
}

// Data is the result in its documented form.
func (r Result) Data() any { return r }

// row is a line of CSV.
type row struct {
	Target, Dataset      string
	SHA256               string `csv:"dataset_sha256"`
	Label                orbench.Label
	Judge, Words         string
	ConfirmedByDeletion  bool
	ConfirmedByInsertion bool
	Found, Held          int
	StandIns             string

	Deleted, Beside, Exchanged, Inserted, InsertedBeside Flips

	Difference, InsertedDifference     *stats.Estimate
	P, PHolm, InsertedP, InsertedPHolm *float64
	Simulated                          bool
}

// Rows has a row for each trigger of each group. Shares are from 0 to 1.
func (r Result) Rows() any {
	var rows []row
	for _, g := range r.Groups {
		for _, t := range g.Triggers {
			rows = append(rows, row{
				Target: g.Target, Dataset: g.Dataset, SHA256: g.SHA256, Label: g.Label, Judge: r.Judge, Words: keyOf(t.Words),
				ConfirmedByDeletion: t.Deletion, ConfirmedByInsertion: t.Insertion, Found: t.Found, Held: t.Held, StandIns: keyOf(t.StandIns),
				Deleted: t.Deleted, Beside: t.Beside, Exchanged: t.Exchanged, Inserted: t.Inserted, InsertedBeside: t.InsertedBeside,
				Difference: t.Difference, InsertedDifference: t.InsertedDifference,
				P: t.P, PHolm: t.PHolm, InsertedP: t.InsertedP, InsertedPHolm: t.InsertedPHolm, Simulated: r.Simulated,
			})
		}
	}
	return rows
}

// searchedRow is a line of CSV about a searched prompt.
type searchedRow struct {
	Target, Dataset        string
	PromptID               orbench.PromptID
	Label                  orbench.Label
	Outcome                Outcome
	Words, Prompt, Without string
}

// SearchedWriter gives the function that writes searched prompts as CSV: a line for each
// set found, and one for a prompt without any.
func SearchedWriter(w io.Writer) (add func(Searched) error, flush func() error) {
	out := table.NewRowWriter[searchedRow](w)
	add = func(s Searched) error {
		row := searchedRow{Target: s.Target, Dataset: s.Dataset, PromptID: s.Prompt.ID, Label: s.Prompt.Label, Outcome: s.Outcome, Prompt: s.Prompt.Text()}
		if len(s.Sets) == 0 {
			return out.Add(row)
		}
		for _, set := range s.Sets {
			row.Words, row.Without = keyOf(set), without(row.Prompt, set)
			if err := out.Add(row); err != nil {
				return err
			}
		}
		return nil
	}
	return add, out.Flush
}

// flips shows a rate of flips with its counts.
func flips(f Flips) string {
	if f.N == 0 {
		return table.None
	}
	return fmt.Sprintf("%s (%d/%d)", table.Rate(f.Rate), f.Flipped, f.N)
}

func interval(r stats.Rate) string { return table.Interval(r.Interval()) }

// sections are the counts and the triggers of each group.
func (r Result) sections() []table.Section {
	counts := table.Section{
		Title: "Refused prompts", Left: 3,
		Header: []string{"target", "dataset", "label", "prompts", "refused", "unjudged", "lacking", "searched", "flipped", "spread", "kept", "bounded", "unfinished", "tried"},
		Note:   "Flipped: answered without a few words. Spread: only without more than " + strconv.Itoa(maxSet) + ". Kept: refused whatever is deleted.",
		Spare:  []string{"tried", "unfinished", "bounded", "unjudged", "lacking"}, WrapNames: true,
	}
	for _, g := range r.Groups {
		counts.Add(g.Target, g.Dataset+"@"+table.ShortHash(g.SHA256)+g.Note(), g.Label, g.Prompts, g.Refused, g.Unjudged, g.Unanswered, g.Searched,
			g.Outcomes[Flipped], g.Outcomes[Spread], g.Outcomes[Kept], g.Outcomes[Bounded], g.Outcomes[Unfinished], g.Tried)
	}
	all := []table.Section{counts}
	for _, g := range r.Groups {
		if len(g.Triggers) == 0 {
			continue
		}
		for _, s := range []table.Section{g.deletions(), g.insertions()} {
			if len(s.Rows) > 0 {
				all = append(all, s)
			}
		}
	}
	return all
}

// deletions shows the effect of deleting the words, for words in prompts on which they
// were tried.
func (g Group) deletions() table.Section {
	s := table.Section{
		Title: fmt.Sprintf("Refused prompts answered without words: %s (%s, %s prompts)", g.Target, g.Dataset, g.Label), Left: 2,
		Header: []string{"words", "confirmed", "found", "deleted", "95% interval", "others deleted", "difference", "95% interval", "p (Holm)"},
	}
	for _, t := range g.Triggers {
		if t.Deleted.N == 0 {
			continue
		}
		s.Add(keyOf(t.Words), yes(t.Deletion), fmt.Sprintf("%d/%d", t.Found, t.Held), flips(t.Deleted), interval(t.Deleted.Rate), flips(t.Beside),
			table.Points(t.Difference, table.Hyphen), table.PValue(t.PHolm))
	}
	return s
}

// insertions shows the effect of replacing the words by stand-ins, and of inserting them.
func (g Group) insertions() table.Section {
	s := table.Section{
		Title: fmt.Sprintf("Refused prompts answered with stand-ins, and answered ones refused with words: %s (%s, %s prompts)", g.Target, g.Dataset, g.Label), Left: 3,
		Header: []string{"words", "stand-ins", "confirmed", "exchanged", "inserted", "95% interval", "stand-in there", "difference", "95% interval", "p (Holm)"},
	}
	for _, t := range g.Triggers {
		if t.Exchanged.N == 0 && t.Inserted.N == 0 {
			continue
		}
		s.Add(keyOf(t.Words), keyOf(t.StandIns), yes(t.Insertion), flips(t.Exchanged), flips(t.Inserted), interval(t.Inserted.Rate),
			flips(t.InsertedBeside), table.Points(t.InsertedDifference, table.Hyphen), table.PValue(t.InsertedPHolm))
	}
	return s
}

// mostConfirmed is the most confirmed words on a brief screen.
const mostConfirmed = 20

// confirmed has a line for each confirmed set of words and says which test confirms it.
func (r Result) confirmed() table.Section {
	s := table.Section{
		Title: "Confirmed trigger words, on prompts that were not searched", Left: 4,
		Header: []string{"target", "label", "words", "when", "flipped", "95%", "others", "p (Holm)", "difference", "95% interval"},
		Note: "Deleted: refused prompts that are answered without the words; others: without as many other words. " +
			"Inserted: answered prompts that are refused with the word; others: with its stand-in in that place.",
	}
	tried, several := 0, false
	for _, g := range r.Groups {
		several = several || g.Dataset != r.Groups[0].Dataset
		for _, t := range g.Triggers {
			if t.Deleted.N > 0 || t.Inserted.N > 0 {
				tried++
			}
		}
	}
	all := 0
	for _, g := range r.Groups {
		target := g.Target
		if several {
			target += " on " + g.Dataset
		}
		add := func(words []string, when string, flipped, others Flips, difference *stats.Estimate, p *float64) {
			if all++; all <= mostConfirmed {
				s.Add(target, g.Label, keyOf(words), when, flips(flipped), interval(flipped.Rate), flips(others), table.PValue(p),
					table.Points(difference, table.Hyphen))
			}
		}
		for _, t := range g.Triggers {
			if t.Deletion {
				add(t.Words, "deleted", t.Deleted, t.Beside, t.Difference, t.PHolm)
			}
			if t.Insertion {
				add(t.Words, "inserted", t.Inserted, t.InsertedBeside, t.InsertedDifference, t.InsertedPHolm)
			}
		}
	}
	switch {
	case all == 0:
		s.Note = fmt.Sprintf("None of the sets of words that were tried on other prompts (%d) flips more than other words do, at 5%% after Holm's adjustment.", tried)
	case all > mostConfirmed:
		s.Note = fmt.Sprintf("%d more are confirmed. ", all-mostConfirmed) + s.Note
	}
	return s
}

func yes(confirmed bool) string {
	if confirmed {
		return "yes"
	}
	return ""
}

// reading explains how to read the tables of words.
var reading = []string{
	"Found: in how many searched prompts the words were a smallest set whose deletion flips the verdict, of those that have them. They are listed for that, so the share is too large; all other figures are of prompts that were not searched, and those are the ones to quote.",
	"Others deleted: as many other content words of the same prompts. Exchanged: with harmless stand-ins from a list. Inserted: answered prompts with the word in place of another, beside the stand-in in that place. Confirmed: the words flip more than what is beside them, at 5% after Holm's adjustment for all tests of the target.",
}

// lacks lists what the tables do not contain.
func (r Result) lacks() []string {
	var notes []string
	var left, nowhere int
	var incomplete []string
	for _, g := range r.Groups {
		left += g.LeftOut
		for _, t := range g.Triggers {
			if t.Deleted.N+t.Exchanged.N+t.Inserted.N == 0 {
				nowhere++
			}
		}
		if !g.Complete {
			incomplete = append(incomplete, g.Target)
		}
	}
	if nowhere > 0 {
		notes = append(notes, fmt.Sprintf("%d sets were found and stand in no table, since no prompt could be used to try them.", nowhere))
	}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%d trials were left out for want of calls.", left))
	}
	if len(incomplete) > 0 {
		notes = append(notes, "Not complete, so without words: "+strings.Join(incomplete, ", ")+".")
	}
	return notes
}
