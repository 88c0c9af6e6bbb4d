package report

import (
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// propensitySections lays out how often prompts that are asked several times
// are refused, alone and beside the verdicts at temperature 0. Without such
// prompts it returns no sections.
func propensitySections(all []score.Propensity) []table.Section {
	if len(all) == 0 {
		return nil
	}
	sections := []table.Section{propensitySection(all)}
	if s := greedySection(all); len(s.Rows) > 0 {
		sections = append(sections, s)
	}
	return sections
}

func propensitySection(all []score.Propensity) table.Section {
	s := table.Section{
		Title: "Refusal propensity: each prompt asked several times, the share of its answers that refuse",
		Header: []string{
			"target", "dataset", "label", "judge", "samples", "prompts", "unjudged", "missing", "propensity", "95% interval",
			"never", "sometimes", "always", "at least once", "every time", "alike",
		},
		Left: 4,
		Note: "Intervals are clustered by prompt. The columns from never to every time count prompts whose samples were all judged. " +
			"Alike is the intraclass correlation of a prompt's answers, which is 1 if all samples of each prompt agree.",
	}
	for _, p := range all {
		s.Add(table.Name(p.Target, p.Simulated), p.Dataset, p.Label, p.Judge, p.Samples, p.Prompts, p.Unjudged, p.Missing, p.Mean, p.Never, p.Sometimes,
			p.Always, table.Estimate(p.AtLeastOnce), table.Estimate(p.EveryTime), table.Kappa(p.Intraclass))
	}
	return s
}

func greedySection(all []score.Propensity) table.Section {
	s := table.Section{
		Title: "Compared with one answer at temperature 0: what a single verdict hides",
		Header: []string{
			"target", "temperature 0", "dataset", "label", "judge", "prompts", "greedy", "propensity less that", "95% interval", "agree",
			"only greedy refuses", "only samples refuse", "even", "where answered", "where refused",
		},
		Left: 5,
		Note: "Samples refuse if most of them do; even: half of them do. Where answered: the propensity of the prompts that the answer at temperature 0 does not refuse.",
	}
	for _, p := range all {
		g := p.Greedy
		if g == nil {
			continue
		}
		s.Add(table.Name(p.Target, p.Simulated), g.Target, p.Dataset, p.Label, p.Judge, g.Prompts, table.Estimate(g.Rate),
			table.Points(g.Difference, table.Hyphen), table.Estimate(g.Agreement), g.OnlyGreedy, g.OnlySamples, g.Even, table.Estimate(g.WhereAnswered),
			table.Estimate(g.WhereRefused))
	}
	return s
}

// propensityRow is a line of PropensityFile: a prompt, and what a target does
// with it.
type propensityRow struct {
	PromptID                 orbench.PromptID
	Category                 orbench.Category
	Label                    orbench.Label
	Dataset, Target, Judge   string
	Samples, Judged, Refused int
	Propensity               *float64
	GreedyClass              orbench.Class
}

func propensityRowOf(p score.PromptPropensity) propensityRow {
	return propensityRow{
		p.Prompt, p.Category, p.Label, p.Dataset, p.Target, p.Judge, p.Samples, p.Judged, p.Refused, stats.RateOf(p.Refused, p.Judged).Share, p.Greedy,
	}
}

// The measures of the plot, in points.
const (
	plotColumns = 2
	plotPanel   = vg.Length(312)
	plotHeight  = vg.Length(158)
	// plotBars is the height of the highest bar of all panels.
	plotBars = vg.Length(70)
	plotGap  = vg.Length(28)
)

// mostPanels is the most panels that the plot has.
const mostPanels = 24

// plotPropensity draws a panel for each target that is asked several times, as
// one judge sees it. A panel shows how many prompts are refused in none of
// their samples, in one, and so on up to all. If there is an answer at
// temperature 0, bars are split by it. plotPropensity reports false if no
// prompt was asked several times.
func plotPropensity(all []score.Propensity, judge string) (chart.Figure, bool) {
	panels := slices.DeleteFunc(slices.Clone(all), func(p score.Propensity) bool { return p.Judge != judge || p.Complete == 0 })
	if len(panels) == 0 {
		return chart.Figure{}, false
	}
	found := len(panels)
	panels = panels[:min(mostPanels, found)]
	// All panels have the same scale, so that bars can be compared across them.
	scale := 0.0
	for _, p := range panels {
		scale = max(scale, float64(slices.Max(p.Histogram))/float64(p.Complete))
	}
	rows := vg.Length((len(panels) + plotColumns - 1) / plotColumns)
	h := propensityHead(panels, judge)
	if found > mostPanels {
		h.Lines = append(h.Lines, "The first "+table.Count(mostPanels)+" of "+table.Count(found)+"; the tables and propensity.csv have all.")
	}
	const width = 2*chart.Margin + plotColumns*plotPanel + plotGap
	return h.Figure(width, rows*plotHeight, func(c draw.Canvas) {
		for i, p := range panels {
			left := c.Min.X + vg.Length(i%plotColumns)*(plotPanel+plotGap)
			top := c.Max.Y - vg.Length(i/plotColumns)*plotHeight
			drawPanel(c, p, left, top, plotBars/vg.Length(scale*float64(p.Complete)))
		}
	}), true
}

func propensityHead(panels []score.Propensity, judge string) chart.Head {
	h := chart.Head{Title: "Refusal propensity"}
	greedy := false
	for _, p := range panels {
		greedy = greedy || p.Greedy != nil
		if p.Simulated {
			h.Title = "Refusal propensity (SIMULATED)"
		}
	}
	h.Lines = append(h.Lines, "Judge: "+untrusted.Shorten(judge, 60)+". Bars: prompts, by how many of their samples are refused.")
	if greedy {
		h.Lines = append(h.Lines, "Orange: the answer at temperature 0 is a refusal too. Blue: it is not, or there is no such answer.")
	}
	return h
}

// drawPanel draws one histogram with its upper left corner at left and top.
// each is the height of a bar for one prompt.
func drawPanel(c draw.Canvas, p score.Propensity, left, top, each vg.Length) {
	c.FillText(chart.TextStyle(9.5, true, chart.Foreground), vg.Point{X: left, Y: top - 20}, table.ShortenTarget(p.Target, 52))
	note := string(p.Label) + " prompts of " + untrusted.Shorten(p.Dataset, 24)
	if p.Mean != nil {
		note += ": " + table.Estimate(p.Mean) + " [" + table.EstimateInterval(p.Mean) + "]"
	}
	c.FillText(chart.TextStyle(8, false, chart.Muted), vg.Point{X: left, Y: top - 31}, note+", n = "+table.Count(p.Complete))
	bottom := top - 50 - plotBars
	c.StrokeLine2(draw.LineStyle{Color: chart.LightGray, Width: 0.6}, left, bottom, left+plotPanel, bottom)
	step := plotPanel / vg.Length(len(p.Histogram))
	// With many samples there is no room for a number below every bar.
	every := 1 + (len(p.Histogram)-1)/12
	for i, n := range p.Histogram {
		from := left + vg.Length(i)*step + step*0.12
		to := from + step*0.76
		refused := 0
		if p.Greedy != nil {
			refused = p.Greedy.Histogram[i]
		}
		low := bottom + vg.Length(refused)*each
		high := bottom + vg.Length(n)*each
		c.FillPolygon(chart.Series[1], chart.Rect(from, bottom, to, low))
		c.FillPolygon(chart.Series[0], chart.Rect(from, low, to, high))
		centered := chart.Centered(chart.TextStyle(7.5, false, chart.Foreground))
		middle := (from + to) / 2
		if every == 1 {
			c.FillText(centered, vg.Point{X: middle, Y: high + 2}, table.Count(n))
		}
		if i%every == 0 {
			centered.Color = chart.Muted
			c.FillText(centered, vg.Point{X: middle, Y: bottom - 10}, strconv.Itoa(i))
		}
	}
	c.FillText(chart.Centered(chart.TextStyle(7.5, false, chart.Muted)), vg.Point{X: left + plotPanel/2, Y: bottom - 21}, "refused of "+table.Count(p.Samples)+" samples")
}
