package report

import (
	"fmt"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// unableLine sums up the answers that are unable or off topic, for the first judge of each run. It is empty
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
		labels, agree = labels+j.Unable.Labels, agree+j.Unable.Agree
	}
	if unable+off == 0 {
		return ""
	}
	line := "Not counted as refusals:"
	if unable > 0 {
		checked := "unchecked"
		if labels > 0 {
			checked = fmt.Sprintf("people agree on %d of %d drawn", agree, labels)
		}
		line += fmt.Sprintf(" %s of %s answers say that they cannot (%s).", table.Count(unable), table.Count(judged), checked)
	}
	if off > 0 {
		line += fmt.Sprintf(" %s of %s are off topic.", table.Count(off), table.Count(judged))
	}
	return line
}
