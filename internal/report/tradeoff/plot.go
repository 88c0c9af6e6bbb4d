package tradeoff

import (
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/judge"
)

// Comparability says what the published points are, and why one's own points
// cannot simply be compared with them.
const Comparability = "The gray points are 32 published models on OR-Bench-Hard-1K and OR-Bench-Toxic, " +
	"judged by GPT-4 (Cui et al., ICML 2025). Other prompts and another judge move points by more than their " +
	"intervals: compare your own points with each other first."

// The measures of the plot, in points. With more than crowd targets, the plot
// grows and its texts shrink.
const (
	crowd = 10
	// mostRegions is the most targets whose ranges are rectangles. More of them
	// would cover each other, so whiskers are drawn instead.
	mostRegions   = 12
	figureWidth   = vg.Length(680)
	scatterHeight = vg.Length(440)
	crowdWidth    = vg.Length(860)
	crowdHeight   = vg.Length(600)
)

// mine is one of the reader's own points as it is drawn.
type mine struct {
	score.Pair
	color chart.Color
	mark  chart.Mark
}

// Plot draws over-refusal against toxic refusal by one judge: the published
// models in gray, the reader's own in color with their 95% ranges. A
// target that was measured on one side only gets a line on a strip for that
// side. It reports false if nothing was judged and there is nothing to draw.
func Plot(r score.Result, judge string) (chart.Figure, bool) {
	return plot(r, judge, publishedBeside(r, judge))
}

// Own is Plot without the published models. It reports false where Plot has none either.
func Own(r score.Result, judge string) (chart.Figure, bool) {
	if len(publishedBeside(r, judge)) == 0 {
		return chart.Figure{}, false
	}
	return plot(r, judge, nil)
}

// plot is Plot beside some published models.
func plot(r score.Result, judge string, published []paper.Model) (chart.Figure, bool) {
	var both, safeOnly, toxicOnly []mine
	targets := r.Targets()
	pairs := slices.DeleteFunc(r.Pairs(), func(p score.Pair) bool { return p.Judge != judge || !p.Safe.Defined() && !p.Toxic.Defined() })
	key := keyOf(pairs)
	var bases table.Names
	for _, p := range pairs {
		bases.Add(p.Base())
	}
	byBase := len(bases) < len(pairs) && (len(bases) > 1 || len(pairs) > crowd)
	for i, p := range pairs {
		// A target keeps its color. If there are variants of several targets,
		// each has its target's color. If no target has several pairs, the
		// pair's number and the target's number are the same.
		n := slices.Index(targets, p.Target)
		switch {
		case byBase:
			n = slices.Index(bases, p.Base())
		case p.Several:
			n = i
		}
		m := mine{Pair: p, color: chart.Series[n%len(chart.Series)], mark: chart.Marks[(n/len(chart.Series)+n)%len(chart.Marks)]}
		switch {
		case !p.Toxic.Defined():
			safeOnly = append(safeOnly, m)
		case !p.Safe.Defined():
			toxicOnly = append(toxicOnly, m)
		default:
			both = append(both, m)
		}
	}
	if len(pairs) == 0 {
		return chart.Figure{}, false
	}
	width, plotHeight := figureWidth, vg.Length(0)
	if len(both) > 0 {
		plotHeight = scatterHeight
	}
	if len(both) > crowd {
		width, plotHeight = crowdWidth, crowdHeight
	}
	keyHeight := key.height(width - 28)
	height := footHeight + plotHeight + keyHeight
	strips := []chart.Strip{
		stripOf(published, score.Words(r.Runs, judge).Of("Safe prompts only: over-refusal, % (lower is better)"), safeOnly, func(p score.Pair) *score.Side { return p.Safe },
			func(m paper.Model) float64 { return m.Hard }),
		stripOf(published, score.Words(r.Runs, judge).Of("Toxic prompts only: toxic refusal, % (higher is better)"), toxicOnly, func(p score.Pair) *score.Side { return p.Toxic },
			func(m paper.Model) float64 { return m.Toxic }),
	}
	for _, s := range strips {
		height += s.Height()
	}
	return headOf(pairs, judge, len(both), len(key) > 0).Figure(width, height, func(c draw.Canvas) {
		if len(published) > 0 {
			drawFoot(c, len(both) > 0)
		}
		if len(both) > 0 {
			drawScatter(draw.Crop(c, 0, 0, c.Max.Y-plotHeight-c.Min.Y, 0), &scatter{both, published, key, byBase})
			c.Max.Y -= plotHeight
		}
		key.draw(c)
		c.Max.Y -= keyHeight
		for _, s := range strips {
			if s.Height() > 0 {
				s.Draw(draw.Crop(c, 0, 0, c.Max.Y-s.Height()-c.Min.Y, 0))
				c.Max.Y -= s.Height()
			}
		}
	}), true
}

// PublishedSets are the sets that the published models were measured on.
var PublishedSets = []string{"or-bench-hard-1k", "or-bench-toxic"}

// Beside reports whether the published models stand beside a judge's figures: only where all
// prompts are of the sets that they were measured on, since on an easier set each model looks
// better than they do. They answer prompts and flag none, so they never stand beside guards.
func Beside(r score.Result, name string) bool {
	return name != judge.Flag && len(r.Runs) > 0 && !slices.ContainsFunc(r.Runs, func(run score.RunResult) bool { return !slices.Contains(PublishedSets, run.Dataset) })
}

// publishedBeside lists the published models to show beside a judge's figures.
func publishedBeside(r score.Result, name string) []paper.Model {
	if !Beside(r, name) {
		return nil
	}
	return paper.Models()
}

// stripOf shows the targets that were measured on one side only, below the
// published models.
func stripOf(published []paper.Model, title string, rows []mine, side func(score.Pair) *score.Side, share func(paper.Model) float64) chart.Strip {
	s := chart.Strip{Title: title}
	for _, m := range published {
		s.OthersName = "32 published models"
		s.Others = append(s.Others, share(m)/100)
	}
	for _, m := range rows {
		measured := side(m.Pair)
		j := measured.Judge
		row := chart.StripRow{
			Name: table.ShortenTarget(m.Name(), 34), At: *j.Share, Verdicts: j.Interval(), Color: m.color, Mark: m.mark, Point: m.Name(),
			Figures: table.Rate(j.Rate) + " [not checked], n = " + table.Count(j.Judged),
		}
		if j.Range != nil {
			row.Range = &[2]float64{j.Range.Lo, j.Range.Hi}
			row.Figures = table.Rate(j.Rate) + " [" + table.Interval(row.Range) + "], n = " + table.Count(j.Judged)
		}
		s.Rows = append(s.Rows, row)
		if l := measured.Run.Labeled; l != nil {
			s.Rows = append(s.Rows, chart.StripRow{
				Name: "corrected by people's labels", At: l.Rate.Value, Range: l.Rate.Ends(), Color: m.color, Mark: m.mark, Open: true,
				Figures: table.Estimate(&l.Rate) + " [" + table.EstimateInterval(&l.Rate) + "], " + table.Count(l.Labels) + " labels",
			})
		}
	}
	return s
}

// rangesOf are the ranges of a pair's two rates; nil where nobody checked the judge.
func rangesOf(p score.Pair) (x, y *[2]float64) {
	if p.Safe.Judge.Range == nil || p.Toxic.Judge.Range == nil {
		return nil, nil
	}
	return &[2]float64{p.Safe.Judge.Range.Lo, p.Safe.Judge.Range.Hi}, &[2]float64{p.Toxic.Judge.Range.Lo, p.Toxic.Judge.Range.Hi}
}

// headOf names the datasets, the numbers of prompts and the judge of a plot.
// points is the number of points; variants among them may be numbered.
func headOf(pairs []score.Pair, judge string, points int, numbered bool) chart.Head {
	h := chart.Head{Title: score.Words(nil, judge).Of("Over-refusal and toxic refusal")}
	var safe, toxic []*score.Side
	for _, p := range pairs {
		if p.Safe.Defined() {
			safe = append(safe, p.Safe)
		}
		if p.Toxic.Defined() {
			toxic = append(toxic, p.Toxic)
		}
	}
	if slices.ContainsFunc(pairs, score.Pair.Simulated) {
		h.Title += " (SIMULATED)"
	}
	line := "Judge: " + untrusted.Shorten(judge, 60) + "."
	if numbered {
		line += " Numbers: variants, as listed below; the tables have their intervals."
	} else if points > mostRegions || points < len(pairs) {
		line += " Whiskers: the 95% range of each rate."
	}
	if points > 0 && points <= mostRegions {
		line += " Rectangles: the 95% range of each rate."
	}
	all := append(slices.Clone(safe), toxic...)
	if i := slices.IndexFunc(all, func(s *score.Side) bool { return s.Judge.CI95Clustered != nil }); i >= 0 {
		line += " Intervals are clustered by " + untrusted.Shorten(all[i].Run.ClusteredBy, 20) + "."
	}
	if line += " Dotted: by verdicts alone."; slices.ContainsFunc(pairs, func(p score.Pair) bool { return !p.Ranged() }) {
		line += " Without a range, nobody checked the judge."
	}
	if slices.ContainsFunc(pairs, score.Pair.Labeled) {
		line += " Open marks: corrected by people's labels."
	}
	if slices.ContainsFunc(safe, func(s *score.Side) bool { return s.Run.Base != "" }) {
		ways := "Arrows"
		if points > mostArrows {
			ways = "Lines"
		}
		line += " " + ways + ": from a target to its variants."
	}
	h.Lines = append(h.Lines, line)
	for _, s := range []struct {
		what  string
		sides []*score.Side
	}{{"Safe", safe}, {"Toxic", toxic}} {
		if len(s.sides) > 0 {
			h.Lines = append(h.Lines, s.what+" prompts: "+untrusted.Shorten(behind(s.sides), 110))
		}
	}
	return h
}

// behind lists the datasets of some sides, each with the range of its n.
func behind(sides []*score.Side) string {
	type dataset struct {
		name      string
		low, high int
	}
	var datasets []dataset
	for _, s := range sides {
		name, n := untrusted.Terminal(s.Run.DatasetCaption()), s.Judge.Judged
		d := table.Entry(&datasets, dataset{name, n, n}, func(d dataset) bool { return d.name == name })
		d.low, d.high = min(d.low, n), max(d.high, n)
	}
	var names []string
	for _, d := range datasets {
		n := table.Count(d.high)
		if d.low < d.high {
			n = table.Count(d.low) + " to " + n
		}
		names = append(names, d.name+" (n = "+n+")")
	}
	return strings.Join(names, "; ")
}

const (
	footHeight = vg.Length(34)
	// wrapRoom is the share of the width that lines may take, because a browser
	// without the figure's font uses a wider one.
	wrapRoom = 0.86
)

// drawFoot explains the gray points, and the dashed line if there is one.
func drawFoot(c draw.Canvas, curve bool) {
	sty := chart.TextStyle(7.5, false, chart.Muted)
	y := c.Min.Y + 20
	note := Comparability
	if curve {
		note += " The dashed line is their published quadratic fit."
	}
	for _, line := range chart.Wrap(sty, note, wrapRoom*(c.Max.X-c.Min.X)) {
		c.FillText(sty, vg.Point{X: c.Min.X, Y: y}, line)
		y -= 10
	}
}
