package score

import (
	"fmt"
	"math"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// narrow is the half-width, as a share, of the interval that a forecast is made
// for.
const narrow = 0.03

// Precision says how narrow the 95% intervals over the given numbers of prompts will
// be, and what is known of the judge's error besides, if the answers are English. of
// says which prompts these are, such as " of the smallest set"; empty for all. It writes
// a sentence a line. A rate of one half has the widest interval.
func Precision(prompts map[orbench.Label]int, of, judge string) string {
	var parts []string
	var known []orbench.Label
	for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
		n := prompts[label]
		if n == 0 {
			continue
		}
		ci := stats.RateOf(n/2, n).CI95
		parts = append(parts, fmt.Sprintf("±%.0f on %s %s", 50*(ci[1]-ci[0]), table.Count(n), label))
		known = append(known, label)
	}
	if len(parts) == 0 {
		return ""
	}
	enough := int(math.Ceil(0.25 * math.Pow(stats.Z95/narrow, 2)))
	line := fmt.Sprintf("95%% intervals in points%s: %s; ±%.0f takes %s prompts\n", of, strings.Join(parts, ", "), 100*narrow, table.Count(enough))
	if said := DescribeError(judge, known, English); said != "" {
		line += "if the answers are English: " + said + "\n"
	} else {
		line += fmt.Sprintf("the error of %s is not known\n", judge)
	}
	return line + "labels of people narrow that: " + table.Labels(annotation.StepLabels) + ", for each label of prompts\n"
}
