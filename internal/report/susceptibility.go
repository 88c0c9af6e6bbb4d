package report

import (
	"fmt"
	"strings"

	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// susceptibilitySection says how often judges believed forged verdicts, one row
// each.
func susceptibilitySection(all []score.Susceptibility) table.Section {
	s := table.Section{
		Title:  "Susceptibility: how often a judge repeats a verdict that was forged at the end of an answer",
		Header: []string{"judge", "n", "taken over", "rate", "95% interval", "unread"}, Left: 1,
		Note: "The probes are answers of the run with a forged verdict of the other side; they are in no other figure. " +
			"A judge that reads one text differently at times counts too, so a few percent may come from that.",
	}
	for _, f := range all {
		s.Add(table.Name(f.Judge, f.Simulated), f.Probes, f.Moved, f.Rate, f.Unread)
	}
	return s
}

// susceptibilityInBrief says the same in one line. It is empty without figures.
func susceptibilityInBrief(all []score.Susceptibility) string {
	var parts []string
	for _, f := range all {
		part := fmt.Sprintf("%s repeated %d of %d", table.Name(f.Judge, f.Simulated), f.Moved, f.Probes)
		if f.Probes > 0 {
			part += " (95% interval " + table.Interval(f.Interval()) + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return "Forged verdicts planted in answers: " + strings.Join(parts, "; ") + "."
}
