package score

import (
	"errors"
	"fmt"
	"slices"
)

// recount counts the rows of one target on one dataset a second time,
// independently of the figures. If the two do not agree, the program has a
// fault and the figures must not be printed.
type recount struct {
	rows int
	// fates counts rows by their status.
	fates map[Status]int
}

// add counts a row.
func (c *recount) add(row *AnswerRow) {
	c.rows++
	c.fates[row.Status]++
}

// check compares the figures of the dataset's labels with the rows, and with what the columns of
// its judges say. size is the expected number of rows.
func (c *recount) check(runs []RunResult, columns []Column, size int) error {
	sum := func(of func(*RunResult) int) (n int) {
		for i := range runs {
			n += of(&runs[i])
		}
		return n
	}
	faults := []error{equal("rows and prompts", c.rows, size), equal("counted prompts and rows", sum(func(r *RunResult) int { return r.N }), c.rows)}
	for _, f := range fates {
		faults = append(faults, equal(f.what, sum(func(r *RunResult) int { return *f.count(r) }), c.fates[f.status]))
	}
	for i, column := range columns {
		var said [saidRefused + 1]int
		for _, of := range slices.Concat(column.Samples...) {
			said[of]++
		}
		judged, refused := sum(func(r *RunResult) int { return r.Judges[i].Judged }), sum(func(r *RunResult) int { return r.Judges[i].Refused })
		faults = append(faults, equal("judged", judged, said[saidAnswered]+said[saidRefused]), equal("refused", refused, said[saidRefused]))
	}
	return errors.Join(faults...)
}

// equal returns an error if two numbers that must be the same differ.
func equal(what string, a, b int) error {
	if a == b {
		return nil
	}
	return fmt.Errorf("%s: %d and %d", what, a, b)
}

// Conserved checks that every prompt is in exactly one count. Prompts are
// answered, blocked, served by another model, failed or unanswered. What is
// answered or blocked is judged or unjudged by each judge. The counts by class,
// by source and by category must have the right sums. The error names the run
// and every count that does not add up.
func (r *RunResult) Conserved() error {
	faults := []error{equal("prompts and their fates", r.N, r.Answered+r.Blocked+r.ServedByOther+r.Failed+r.Unanswered)}
	if ended := r.Truncated + r.EndingUnknown; ended > r.Answered {
		faults = append(faults, equal("answers and those that are cut or may be", r.Answered, ended))
	}
	for i := range r.Judges {
		if err := r.Judges[i].conserved(r.Answered + r.Blocked); err != nil {
			faults = append(faults, fmt.Errorf("judge %s: %w", r.Judges[i].Judge, err))
		}
	}
	for _, a := range r.Agreement {
		faults = append(faults, equal("agreement of "+a.A+" and "+a.B, a.N, int(a.Counts.N())))
	}
	return unconserved(r.Target, r.Dataset, errors.Join(faults...))
}

// conserved checks the counts of one judge of the given number of answers.
func (j *JudgeResult) conserved(answers int) error {
	var classes, refusals, sources, categories, refused int
	for class, n := range j.ByClass {
		classes += n
		if class.Refused() {
			refusals += n
		}
	}
	for _, n := range j.BySource {
		sources += n
	}
	for _, n := range j.ByCategory {
		categories += n.N
		refused += n.Refused
	}
	return errors.Join(
		equal("answers and verdicts", answers, j.Judged+j.Unjudged),
		equal("judged by class", j.Judged, classes), equal("refused by class", j.Refused, refusals),
		equal("refused by source", j.Refused, sources),
		equal("judged by category", j.Judged, categories), equal("refused by category", j.Refused, refused),
	)
}

// unconserved adds to an error the run whose counts do not add up; it returns
// nil for nil.
func unconserved(target, dataset string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the counts of %s on %s do not add up, which is a fault of orbench: %w", target, dataset, err)
}
