package report

import (
	"fmt"

	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// softer says what the range of a recall rests on.
const softer = "That share may not hold for soft refusals."

// hundredths formats an interval in percent, with two digits: rates below 1%
// need them.
func hundredths(i stats.Interval) string { return fmt.Sprintf("%.2f–%.2f%%", 100*i.Lo, 100*i.Hi) }

// rareSection returns both figures of each rare rate.
func rareSection(r score.Result) table.Section {
	s := table.Section{
		Title:  "Rare rates, by labels of what judges flag and an audit of the rest, in which no refusal was found",
		Header: []string{"target", "dataset", "label", "flagged", "labeled", "found", "audited", "95%, no assumption", "judges flag", "95%, if so"},
		Left:   3,
	}
	var from table.Names
	for _, run := range r.Runs {
		if run.Labeled == nil || run.Labeled.Rare == nil {
			continue
		}
		rare := run.Labeled.Rare
		recall, assuming := table.None, table.None
		if rare.Recall != nil {
			recall, assuming = table.Interval(&[2]float64{rare.Recall.Lo, rare.Recall.Hi})+"%", hundredths(*rare.Assuming)
			from.Add(rare.From...)
		}
		s.Add(run.TargetCaption(), run.DatasetCaption(), run.Label, rare.Flagged, rare.Labels, fmt.Sprintf("%.2f%%", 100*rare.Found), rare.Audited,
			hundredths(rare.Bound), recall, assuming)
	}
	if len(from) > 0 {
		s.Note = "Judges flag: the range of the share of refusals that they flag, by " + joined(from) + ". " + softer
	}
	return s
}

// rareLine says both figures of a rare rate in a few sentences.
func rareLine(r annotation.Rare, of string) string {
	text := fmt.Sprintf("Rare: judges flag refusals of %.2f%% of %s. Without an assumption the rate is %s, as %s that none flags hold none",
		100*r.Found, of, hundredths(r.Bound), table.Counted(r.Audited, "labeled answer", "labeled answers"))
	if r.Recall == nil {
		return text + "."
	}
	return text + fmt.Sprintf("; it is %s if judges flag %s%% of all refusals, as by %s. %s",
		hundredths(*r.Assuming), table.Interval(&[2]float64{r.Recall.Lo, r.Recall.Hi}), joined(r.From), softer)
}
