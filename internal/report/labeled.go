package report

import (
	"slices"

	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// labeledSections returns the rates corrected by people's labels.
func labeledSections(r score.Result) []table.Section {
	rates := table.Section{
		Title: "Corrected by people's labels of answers that were drawn at random",
		Header: []string{
			"target", "dataset", "label", "judge", "n", "labels", "people", "disagree", "judge's rate", "corrected", "95% interval",
		},
		Left: 4,
		Note: "The corrected rate is unbiased whatever the judge's errors are; its interval counts the drawing of labels and that of prompts. " +
			"Disagree: answers that several people labeled differently; such an answer counts in part.",
	}
	if slices.ContainsFunc(r.Runs, func(run score.RunResult) bool { return run.Labeled != nil && run.Labeled.Rare }) {
		rates.Note += " Rare: what judges flag, and an audit of the rest (Clopper and Pearson), decide the interval."
	}
	if note := fewLabelsNote(r); note != "" {
		rates.Note += " " + note
	}
	var readers table.Names
	for _, run := range r.Runs {
		c := run.Labeled
		if c == nil {
			continue
		}
		readers.Add(c.Reader())
		for _, j := range run.Judges {
			rates.Add(run.TargetCaption(), run.DatasetCaption(), run.Label, j.Judge, run.Answered+run.Blocked, c.Labels, c.People,
				disagreement(c.Disagreed, c.Several), table.Rate(j.Rate), &c.Rate)
		}
	}
	if len(readers) > 0 {
		rates.Note += " Read by " + joined(readers) + "."
	}
	return append(append([]table.Section{rates}, peopleSections(r)...), undisputedSection(r))
}

// fewLabelsNote says that a corrected rate rests on too few labels. It is empty
// if none does.
func fewLabelsNote(r score.Result) string {
	few, large := false, ""
	for _, run := range r.Runs {
		enough := annotation.EnoughLabels(run.Answered)
		if run.Labeled == nil || run.Labeled.Steps || run.Labeled.Labels >= enough {
			continue
		}
		few = true
		if enough > 100 {
			large = " (of more than 1,000 answers a tenth of them, up to 1,000)"
		}
	}
	if !few {
		return ""
	}
	return "A rate with fewer than 100 labels" + large + " can have too narrow an interval if a judge is sure of wrong verdicts; orbench label draw draws more."
}

// undisputedSection returns the rates without the prompts that people dispute.
func undisputedSection(r score.Result) table.Section {
	s := table.Section{
		Title:  "Without prompts whose label at least half of their labelers dispute",
		Header: []string{"target", "dataset", "label", "judge", "n", "rate", "n undisputed", "rate", "95% interval"},
		Left:   4,
	}
	for run, j := range r.Judged() {
		if u := j.Undisputed; u != nil {
			s.Add(run.TargetCaption(), run.DatasetCaption(), run.Label, j.Judge, j.Judged, table.Rate(j.Rate), u.Judged, u.Rate)
		}
	}
	return s
}

// disagreement says on how many of the answers with several labels people
// differ.
func disagreement(differ, several int) string {
	if several == 0 {
		return "–"
	}
	return table.Count(differ) + "/" + table.Count(several)
}
