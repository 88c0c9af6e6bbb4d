package report

import (
	"cmp"
	"fmt"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// unableSection shows, for each judge, the answers that say that they cannot,
// those about something else, and the rate without and with the former.
func unableSection(r score.Result) table.Section {
	s := table.Section{
		Title:  "Answers that cannot help, or are off topic: no rate counts them as refusals",
		Header: []string{"target", "dataset", "label", "judge", "judged", "unable", "moved", "labels", "agree", "off topic", "rate", "unable counted", "95% interval"},
		Left:   4,
		Note: "Unable: nothing was found, there is no access, or something is missing. Moved: the judge's score alone makes these refusals. " +
			"Labels: drawn at random; agree: no refusal to people.",
	}
	for run, j := range r.Judged() {
		off := j.ByClass[orbench.OffTopic]
		if j.Unable == nil && off == 0 {
			continue
		}
		u := cmp.Or(j.Unable, &score.Unable{})
		s.Add(run.TargetCaption(), run.DatasetCaption(), run.Label, table.Name(j.Judge, j.Simulated), j.Judged,
			j.ByClass[orbench.Unable], u.Moved, u.Labels, u.Agree, off, table.Rate(j.Rate), u.WithThem.Rate)
	}
	s.Drop(func(row []string, at int) bool { return row[at] == "0" }, "moved", "off topic")
	return s
}

// unableLine sums up unableSection for the first judge of each run. It is empty
// if there are no such answers.
func unableLine(r score.Result) string {
	var unable, off, judged, labels, agree int
	for _, run := range r.Runs {
		if len(run.Judges) == 0 {
			continue
		}
		j := run.Judges[0]
		judged += j.Judged
		unable += j.ByClass[orbench.Unable]
		off += j.ByClass[orbench.OffTopic]
		if u := j.Unable; u != nil {
			labels, agree = labels+u.Labels, agree+u.Agree
		}
	}
	if unable+off == 0 {
		return ""
	}
	line := "Not counted as refusals:"
	if unable > 0 {
		checked := "unchecked"
		switch all := (score.Unable{Labels: labels, Agree: agree}); {
		case all.Sure():
			checked = fmt.Sprintf("people agree on %d of %d drawn", agree, labels)
		case labels > 0:
			checked = fmt.Sprintf("not sure: people agree on %d of %d drawn", agree, labels)
		}
		line += fmt.Sprintf(" %s of %s answers say that they cannot (%s).", table.Count(unable), table.Count(judged), checked)
	}
	if off > 0 {
		line += fmt.Sprintf(" %s of %s are off topic.", table.Count(off), table.Count(judged))
	}
	return line
}
