package report

import (
	"strconv"
	"strings"

	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// Sections lays out the grid with a line for each category and a column for
// each target, in as many tables as are needed to stay within table.MaxWidth.
func (g *grid) Sections() []table.Section {
	names := make([]string, len(g.Categories))
	widest := len("category")
	for i, c := range g.Categories {
		names[i] = table.Category(c)
		widest = max(widest, untrusted.Width(untrusted.Terminal(names[i])))
	}
	var sections []table.Section
	for first := 0; first < len(g.Rows); {
		s := table.Section{
			Title:  "By category (refused/judged, rate, 95% interval): " + string(g.Label) + " prompts of " + g.Caption + ", judge " + g.Judge,
			Header: []string{"category"},
			Left:   1,
			Rows:   make([][]string, len(names)+1),
		}
		if g.Dropped > 0 {
			s.Note = table.Count(g.Dropped) + " smaller categories are left out here; JSON and CSV have all."
		}
		s.Note = strings.TrimSpace(s.Note + " " + g.notes())
		for i, name := range append(names, "all") {
			s.Rows[i] = []string{name}
		}
		used := widest
		for ; first < len(g.Rows); first++ {
			row := g.Rows[first]
			name := table.Name(table.ShortenTarget(row.Target, gridName), row.Simulated)
			column := []string{name}
			for _, c := range g.Categories {
				column = append(column, strings.TrimSpace(row.Mark(c)+" "+cell(row.Counts[c])))
			}
			column = append(column, cell(row.All))
			need := 0
			for _, text := range column {
				need = max(need, untrusted.Width(text))
			}
			if len(s.Header) > 1 && used+2+need > table.MaxWidth {
				break
			}
			used += 2 + need
			s.Header = append(s.Header, column[0])
			for i, text := range column[1:] {
				s.Rows[i] = append(s.Rows[i], text)
			}
		}
		sections = append(sections, s)
	}
	return sections
}

// cell returns the counts behind a rate, the rate and its interval.
func cell(c score.Count) string {
	r := c.Rate()
	if r.Share == nil {
		return "–"
	}
	return strconv.Itoa(c.Refused) + "/" + strconv.Itoa(c.N) + " " + table.Pad(table.Rate(r), 6, true) + " " + table.Pad(table.Interval(r.Interval()), 10, true)
}
