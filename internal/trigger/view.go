package trigger

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// JSON writes the result in its documented form.
func (r Result) JSON(w io.Writer) error { return table.JSON(w, r) }

// Text writes the result for a terminal: on a brief screen the words that are confirmed.
func (r Result) Text(b *table.Printer) error {
	if r.Simulated {
		b.Line(table.SimulatedNotice)
		b.WriteString("\n")
	}
	sections := r.sections()
	b.Section(sections[0])
	if b.Brief {
		b.Section(r.confirmed())
	}
	b.Details(sections[1:]...)
	b.Paragraph("", r.basis())
	if !b.Brief {
		for _, note := range r.reading() {
			b.Paragraph("", note)
		}
	}
	for _, note := range r.lacks() {
		b.Paragraph("", note)
	}
	return b.Flush()
}

// Markdown writes the same as Markdown.
func (r Result) Markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString("# Trigger words\n\n")
	if r.Simulated {
		b.WriteString("**" + table.SimulatedNotice + "**\n\n")
	}
	for _, s := range r.sections() {
		s.Markdown(b)
	}
	for _, note := range slices.Concat([]string{r.basis()}, r.reading(), r.lacks()) {
		b.WriteString("- " + untrusted.Markdown(note) + "\n")
	}
	return b.Flush()
}

// CSV writes a line for each trigger of each group. Shares are from 0 to 1; what is
// undefined is empty. Texts are as untrusted.Cell makes them.
func (r Result) CSV(w io.Writer) error {
	header := []string{"target", "dataset", "dataset_sha256", "label", "judge", "words", "confirmed_by_deletion", "confirmed_by_insertion", "found", "held", "stand_ins"}
	for _, name := range []string{"deleted", "beside", "exchanged", "inserted", "inserted_beside"} {
		header = append(header, name+"_flipped", name+"_n", name+"_rate", name+"_ci95_lo", name+"_ci95_hi")
	}
	for _, name := range []string{"difference", "inserted_difference"} {
		header = append(header, name, name+"_ci95_lo", name+"_ci95_hi")
	}
	rows := [][]string{append(header, "p", "p_holm", "inserted_p", "inserted_p_holm", "simulated")}
	for _, g := range r.Groups {
		for _, t := range g.Triggers {
			row := []string{
				untrusted.Cell(g.Target), untrusted.Cell(g.Dataset), g.SHA256, string(g.Label), untrusted.Cell(r.Judge), untrusted.Cell(keyOf(t.Words)),
				strconv.FormatBool(t.Deletion), strconv.FormatBool(t.Insertion), strconv.Itoa(t.Found), strconv.Itoa(t.Held), untrusted.Cell(keyOf(t.StandIns)),
			}
			for _, f := range []Flips{t.Deleted, t.Beside, t.Exchanged, t.Inserted, t.InsertedBeside} {
				row = append(append(row, strconv.Itoa(f.Flipped), strconv.Itoa(f.N)), table.RateCells(f.Rate)...)
			}
			row = slices.Concat(row, table.EstimateCells(t.Difference), table.EstimateCells(t.InsertedDifference))
			rows = append(rows, append(row, table.NumberCell(t.P), table.NumberCell(t.PHolm), table.NumberCell(t.InsertedP), table.NumberCell(t.InsertedPHolm), strconv.FormatBool(r.Simulated)))
		}
	}
	return table.CSVCells(w, rows)
}

// SearchedWriter gives the function that writes searched prompts as CSV, a line for
// each set that was found and one for a prompt without any. Texts are as
// untrusted.Cell makes them.
func SearchedWriter(w io.Writer) (add func(Searched) error, flush func() error) {
	out := csv.NewWriter(w)
	err := out.Write([]string{"target", "dataset", "prompt_id", "label", "outcome", "words", "prompt", "without"})
	add = func(s Searched) error {
		sets := s.Sets
		if len(sets) == 0 {
			sets = [][]string{nil}
		}
		for _, set := range sets {
			flipped := ""
			if len(set) > 0 {
				flipped = without(s.Prompt.Text(), set)
			}
			if err == nil {
				err = out.Write([]string{
					untrusted.Cell(s.Target), untrusted.Cell(s.Dataset), string(s.Prompt.ID), string(s.Prompt.Label), string(s.Outcome),
					untrusted.Cell(keyOf(set)), untrusted.Cell(s.Prompt.Text()), untrusted.Cell(flipped),
				})
			}
		}
		return err
	}
	return add, func() error {
		out.Flush()
		return out.Error()
	}
}

// flips shows a rate of flips with its counts.
func flips(f Flips) string {
	if f.N == 0 {
		return table.None
	}
	return fmt.Sprintf("%s (%d/%d)", table.Rate(f.Rate), f.Flipped, f.N)
}

func interval(r stats.Rate) string { return table.Interval(r.Interval()) }

// sections are the counts, the triggers of each group, and of several targets the
// words side by side.
func (r Result) sections() []table.Section {
	counts := table.Section{
		Title: "Refused prompts", Left: 3,
		Header: []string{"target", "dataset", "label", "prompts", "refused", "unjudged", "lacking", "searched", "flipped", "spread", "kept", "bounded", "unfinished", "tried"},
		Note:   "Flipped: answered without a few words. Spread: only without more than " + strconv.Itoa(maxSet) + ". Kept: refused whatever is deleted.",
		Spare:  []string{"tried", "unfinished", "bounded", "unjudged", "lacking"},
	}
	for _, g := range r.Groups {
		row := []string{g.Target, g.Dataset + "@" + table.ShortHash(g.SHA256) + g.Note(), string(g.Label)}
		for _, n := range []int{
			g.Prompts, g.Refused, g.Unjudged, g.Unanswered, g.Searched, g.Outcomes[Flipped], g.Outcomes[Spread], g.Outcomes[Kept],
			g.Outcomes[Bounded], g.Outcomes[Unfinished], g.Tried,
		} {
			row = append(row, table.Count(n))
		}
		counts.Rows = append(counts.Rows, row)
	}
	all := []table.Section{counts}
	if s := r.side(); s != nil {
		all = append(all, *s)
	}
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

// deletions shows what deleting the words does, of those that stand in prompts on
// which they were tried.
func (g Group) deletions() table.Section {
	s := table.Section{
		Title: fmt.Sprintf("Refused prompts answered without words: %s (%s, %s prompts)", g.Target, g.Dataset, g.Label), Left: 2,
		Header: []string{"words", "confirmed", "found", "deleted", "95% interval", "others deleted", "difference", "95% interval", "p (Holm)"},
	}
	for _, t := range g.Triggers {
		if t.Deleted.N == 0 {
			continue
		}
		s.Rows = append(s.Rows, []string{
			keyOf(t.Words), yes(t.Deletion), fmt.Sprintf("%d/%d", t.Found, t.Held), flips(t.Deleted), interval(t.Deleted.Rate), flips(t.Beside),
			table.Difference(t.Difference, table.Hyphen), table.DifferenceInterval(t.Difference, table.Hyphen), table.PValue(t.PHolm),
		})
	}
	return s
}

// insertions shows what stand-ins for the words do, and the words in other prompts.
func (g Group) insertions() table.Section {
	s := table.Section{
		Title: fmt.Sprintf("Refused prompts answered with stand-ins, and answered ones refused with words: %s (%s, %s prompts)", g.Target, g.Dataset, g.Label), Left: 3,
		Header: []string{"words", "stand-ins", "confirmed", "exchanged", "inserted", "95% interval", "stand-in there", "difference", "95% interval", "p (Holm)"},
	}
	for _, t := range g.Triggers {
		if t.Exchanged.N == 0 && t.Inserted.N == 0 {
			continue
		}
		s.Rows = append(s.Rows, []string{
			keyOf(t.Words), keyOf(t.StandIns), yes(t.Insertion), flips(t.Exchanged), flips(t.Inserted), interval(t.Inserted.Rate), flips(t.InsertedBeside),
			table.Difference(t.InsertedDifference, table.Hyphen), table.DifferenceInterval(t.InsertedDifference, table.Hyphen), table.PValue(t.InsertedPHolm),
		})
	}
	return s
}

// mostConfirmed is how many confirmed words a brief screen has.
const mostConfirmed = 20

// confirmed has a line for each set of words that is confirmed, by what confirms it.
func (r Result) confirmed() table.Section {
	s := table.Section{
		Title: "Confirmed trigger words, on prompts that were not searched", Left: 4,
		Header: []string{"target", "label", "words", "when", "flipped", "95%", "others", "p (Holm)", "difference", "95% interval"},
		Note: "Deleted: refused prompts that are answered without the words; others: without as many other words. " +
			"Inserted: answered prompts that are refused with the word; others: with its stand-in in that place.",
	}
	found, several := 0, false
	for _, g := range r.Groups {
		several = several || g.Dataset != r.Groups[0].Dataset
		found += len(g.Triggers)
	}
	all := 0
	for _, g := range r.Groups {
		target := g.Target
		if several {
			target += " on " + g.Dataset
		}
		add := func(words []string, when string, flipped, others Flips, difference *stats.Estimate, p *float64) {
			if all++; all <= mostConfirmed {
				s.Rows = append(s.Rows, []string{
					target, string(g.Label), keyOf(words), when, flips(flipped), interval(flipped.Rate), flips(others), table.PValue(p),
					table.Difference(difference, table.Hyphen), table.DifferenceInterval(difference, table.Hyphen),
				})
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
		s.Note = fmt.Sprintf("None of %d sets of words that were found flips more than other words do, at 5%% after Holm's adjustment.", found)
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

// side sets the confirmed words of several targets beside each other, nil where there
// is one target.
func (r Result) side() *table.Section {
	var targets, words []string
	cell := map[[2]string]string{}
	several := false
	for _, g := range r.Groups {
		if !slices.Contains(targets, g.Target) {
			targets = append(targets, g.Target)
		}
		several = several || g.Dataset != r.Groups[0].Dataset || g.Label != r.Groups[0].Label
		for _, t := range g.Triggers {
			key := keyOf(t.Words)
			if (t.Deletion || t.Insertion) && !slices.Contains(words, key) {
				words = append(words, key)
			}
			cell[[2]string{key, g.Target}] = flips(t.Deleted) + "  " + flips(t.Inserted)
		}
	}
	if len(targets) < 2 || several || len(words) == 0 {
		return nil
	}
	s := table.Section{
		Title: "Deleted and inserted, by target", Left: 1, Header: append([]string{"words"}, targets...),
		Note: "Words that are confirmed for any target; a dash where a target's search did not find them.",
	}
	for _, w := range words {
		row := []string{w}
		for _, t := range targets {
			if c := cell[[2]string{w, t}]; c != "" {
				row = append(row, c)
			} else {
				row = append(row, table.None)
			}
		}
		s.Rows = append(s.Rows, row)
	}
	return &s
}

// basis says what the figures rest on.
func (r Result) basis() string {
	return fmt.Sprintf("Judged by %s, at most %d calls for wordings of a prompt, split with seed %d.", r.Judge, r.Calls, r.Seed)
}

// reading says how the tables of words are to be read; nothing without them.
func (r Result) reading() []string {
	if !slices.ContainsFunc(r.Groups, func(g Group) bool { return len(g.Triggers) > 0 }) {
		return nil
	}
	return []string{
		"Found: in how many searched prompts the words were a smallest set whose deletion flips the verdict, of those that have them. They are listed for that, so the share is too large; all other figures are of prompts that were not searched, and those are the ones to quote.",
		"Others deleted: as many other content words of the same prompts. Exchanged: with harmless stand-ins from a list. Inserted: answered prompts with the word in place of another, beside the stand-in in that place. Confirmed: the words flip more than what is beside them, at 5% after Holm's adjustment for all tests of the target.",
	}
}

// lacks says what is in no table.
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
