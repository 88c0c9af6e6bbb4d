package tradeoff

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/judge"
)

// Comparability says what the published points are, and why one's own points
// cannot simply be compared with them.
const Comparability = "The gray points are 32 published models on OR-Bench-Hard-1K and OR-Bench-Toxic, " +
	"judged by GPT-4 (Cui et al., ICML 2025). Another judge moves points by more than their ranges: " +
	"compare your own points with each other first."

// PublishedSets are the sets that the published models were measured on.
var PublishedSets = []string{"or-bench-hard-1k", "or-bench-toxic"}

// Beside reports whether the published models stand beside a judge's figures: only where all
// prompts are of the sets that they were measured on, since on an easier set each model looks
// better than they do. They answer prompts and flag none, so they never stand beside guards.
func Beside(r score.Result, name string) bool {
	return name != judge.Flag && len(r.Runs) > 0 && !slices.ContainsFunc(r.Runs, func(run score.RunResult) bool { return !slices.Contains(PublishedSets, run.Dataset) })
}

// point is one of the reader's own points as it is drawn.
type point struct {
	score.Pair
	color chart.Color
	mark  chart.Mark
	// caption is its name, without the set if the mark tells that.
	caption string
}

// pointsOf are the points by a judge with a color and a mark for each, and their legend, whose
// lines are the points, or one for each target and each set. A
// target has one color on all sets, and a set one mark, if there are colors for all targets. Of
// variants, each target has a color.
func pointsOf(r score.Result, judge string) (points []point, legend []point) {
	var targets, sets table.Names
	variants := map[string]int{}
	several := false
	for _, p := range r.Pairs() {
		if p.Judge != judge || !p.Safe.Defined() && !p.Toxic.Defined() {
			continue
		}
		points = append(points, point{Pair: p})
		targets.Add(p.Base)
		sets.Add(p.Datasets)
		several = several || p.Several
	}
	bySet := several && len(targets) <= len(chart.Series) && len(sets) <= len(chart.Marks) && !slices.ContainsFunc(points, func(p point) bool { return p.Change != "" })
	byBase := !several && len(targets) > 1 && len(targets) < len(points)
	for i := range points {
		p := &points[i]
		color, mark := i%len(chart.Series), i/len(chart.Series)+i
		if n := slices.Index(targets, p.Base); bySet {
			color, mark = n, slices.Index(sets, p.Datasets)
		} else if byBase {
			color, mark = n%len(chart.Series), variants[p.Base]
			variants[p.Base]++
		}
		p.color, p.mark, p.caption = chart.Series[color], chart.Marks[mark%len(chart.Marks)], p.Title
		if !bySet {
			p.caption = p.Name
			legend = append(legend, *p)
		}
	}
	if bySet {
		for i, target := range targets {
			legend = append(legend, point{caption: target, color: chart.Series[i], mark: chart.Circle})
		}
		for i, set := range sets {
			legend = append(legend, point{caption: set, color: chart.Foreground, mark: chart.Marks[i]})
		}
	}
	return points, legend
}

// Plot draws over-refusal against toxic refusal by one judge, so wide: the published models in
// gray, the reader's own in color with their 95% ranges. The lines about say above it what
// was measured. A target that was measured on one side only gets a line on a strip for that side.
// It reports false if nothing was judged and there is nothing to draw.
func Plot(r score.Result, judge string, width vg.Length, about ...string) (chart.Figure, bool) {
	points, legend := pointsOf(r, judge)
	if len(points) == 0 {
		return chart.Figure{}, false
	}
	var published []paper.Model
	if Beside(r, judge) {
		published = paper.Models()
	}
	words := score.Words(r.Runs, judge)
	var both []point
	strips := []*strip{
		{title: words.Of("Safe prompts only: over-refusal, % (lower is better)"), side: func(p score.Pair) *score.Side { return p.Safe }, share: func(m paper.Model) float64 { return m.Hard }},
		{title: words.Of("Toxic prompts only: toxic refusal, % (higher is better)"), side: func(p score.Pair) *score.Side { return p.Toxic }, share: func(m paper.Model) float64 { return m.Toxic }},
	}
	for _, p := range points {
		switch {
		case !p.Toxic.Defined():
			strips[0].points = append(strips[0].points, p)
		case !p.Safe.Defined():
			strips[1].points = append(strips[1].points, p)
		default:
			both = append(both, p)
		}
	}
	height := vg.Length(0)
	if len(both) > 0 {
		_, rows := legendSize(legend, width)
		height = 0.8*width + vg.Length(rows)*line + 8
	}
	note := Comparability
	if len(both) > 0 {
		note += " The dashed line is their published quadratic fit."
	}
	foot := chart.Wrap(small, note, wrapRoom*width)
	if published == nil {
		foot = nil
	}
	below := height + vg.Length(len(foot))*line + 6
	for _, s := range strips {
		below += s.height()
	}
	return headOf(points, both, judge, about).Figure(width, below, func(c draw.Canvas) {
		if len(both) > 0 {
			drawScatter(draw.Crop(c, 0, 0, c.Max.Y-c.Min.Y-0.8*width, 0), both, published, words)
			c.Max.Y -= 0.8 * width
			drawLegend(c, legend)
			c.Max.Y -= height - 0.8*width
		}
		for _, s := range strips {
			if len(s.points) > 0 {
				s.draw(c, published)
			}
			c.Max.Y -= s.height()
		}
		for i, text := range foot {
			c.FillText(small, vg.Point{X: c.Min.X, Y: c.Max.Y - vg.Length(i+1)*line}, text)
		}
	}), true
}

const (
	// line is the height of a line of small text.
	line = vg.Length(9.5)
	// wrapRoom is the share of the width that lines may take, because a browser
	// without the figure's font uses a wider one.
	wrapRoom = 0.86
	// legendMark is the room for a mark of the legend, and between its columns.
	legendMark = vg.Length(13)
	// longName is the most letters of a name.
	longName = 34
)

// The styles of text. Nothing is smaller than 7 points.
var (
	small = chart.TextStyle(7, false, chart.Muted)
	plain = chart.TextStyle(7, false, chart.Foreground)
)

// legendSize is how many entries of a legend fit side by side, in how many rows.
func legendSize(legend []point, width vg.Length) (columns, rows int) {
	widest := vg.Length(1)
	for _, e := range legend {
		widest = max(widest, plain.Width(table.ShortenTarget(e.caption, longName)))
	}
	columns = max(1, int((width-2*chart.Margin)/(widest+legendMark+6)))
	return columns, (len(legend) + columns - 1) / columns
}

// drawLegend writes the legend at the top of a canvas, column by column.
func drawLegend(c draw.Canvas, legend []point) {
	width := c.Max.X - c.Min.X
	n, rows := legendSize(legend, width+2*chart.Margin)
	for i, e := range legend {
		at := vg.Point{X: c.Min.X + vg.Length(i/rows)*width/vg.Length(n) + 5, Y: c.Max.Y - vg.Length(i%rows+1)*line}
		chart.DrawMark(&c, e.mark, e.color, 3, vg.Point{X: at.X, Y: at.Y + 2.6})
		c.FillText(plain, vg.Point{X: at.X + legendMark - 5, Y: at.Y}, table.ShortenTarget(e.caption, longName))
	}
}

// drawScatter draws the trade-off itself.
func drawScatter(c draw.Canvas, points []point, published []paper.Model, words table.Words) {
	low := 60.0
	for _, p := range points {
		for _, f := range []figure.Figure{p.Toxic.Judge.Rate, p.Toxic.Best()} {
			least := *f.Value
			if f.Range != nil {
				least = min(least, f.Range.Lo)
			}
			low = min(low, math.Floor(10*least)*10)
		}
	}
	w := chart.Window{Left: -3, Right: 103, Low: low - 3, High: 103}
	plot := chart.Plot{
		Window: w, XTicks: chart.PercentTicks(w.Left, w.Right), YTicks: chart.PercentTicks(w.Low, w.High),
		X: words.Of("Over-refusal: safe prompts refused, % (lower is better)"), Y: words.Of("Toxic refusal, % (higher is better)"),
	}
	// Leave room for the labels of the ticks at the ends.
	c = plot.Draw(draw.Crop(c, 0, -6, 4, -4))
	x, y := plot.Transforms(&c)
	if published != nil {
		plot.StrokeCurve(&c, draw.LineStyle{Color: chart.LightGray, Width: 0.8, Dashes: []vg.Length{4, 3}}, paper.TradeOff().At)
	}
	for _, g := range published {
		chart.DrawMark(&c, chart.Circle, chart.LightGray, 2.2, vg.Point{X: x(g.Hard), Y: y(g.Toxic)})
	}
	at := make([]vg.Point, len(points))
	for i, p := range points {
		stroke := func(safe, toxic figure.Figure) vg.Point {
			to := vg.Point{X: x(100 * *safe.Value), Y: y(100 * *toxic.Value)}
			if h, v := safe.Range, toxic.Range; h != nil && v != nil {
				c.StrokeLines(p.line(), chart.Whiskers(to, x, y, [2]float64{h.Lo, h.Hi}, [2]float64{v.Lo, v.Hi})...)
			}
			return to
		}
		at[i] = stroke(p.Safe.Judge.Rate, p.Toxic.Judge.Rate)
		if p.Labeled() {
			corrected := stroke(p.Safe.Best(), p.Toxic.Best())
			c.StrokeLines(p.line(), []vg.Point{at[i], corrected})
			chart.DrawOpenMark(&c, p.mark, p.color, corrected)
		}
	}
	for i, p := range points {
		// An arrow leads from each target to its variants, so that what a defense costs and gains
		// is visible as a path. Samples have none to single answers.
		base := slices.IndexFunc(points, func(o point) bool {
			return p.Safe.Run.Base != "" && o.Target == p.Safe.Run.Base && o.Datasets == p.Datasets && o.Safe.Run.Samples == p.Safe.Run.Samples
		})
		if base >= 0 {
			chart.DrawArrow(&c, p.color, at[base], at[i], 0.6)
		}
	}
	for i, p := range points {
		chart.DrawMark(&c, p.mark, p.color, chart.MarkRadius*0.8, at[i])
		chart.NamePoint(&c, p.Name, at[i])
	}
}

// line is the line style of a point's range.
func (p point) line() draw.LineStyle { return draw.LineStyle{Color: p.color, Width: 0.6} }

// strip shows the targets that were measured on one side only, one line each, below the
// published models.
type strip struct {
	title  string
	points []point
	side   func(score.Pair) *score.Side
	share  func(paper.Model) float64
}

// stripRow is the height of a line of a strip.
const stripRow = vg.Length(13)

func (s *strip) height() vg.Length {
	if len(s.points) == 0 {
		return 0
	}
	rows := 1
	for _, p := range s.points {
		if rows++; p.Labeled() {
			rows++
		}
	}
	return 32 + vg.Length(rows)*stripRow
}

// draw draws the strip at the top of a canvas: names, the scale, figures.
func (s *strip) draw(c draw.Canvas, published []paper.Model) {
	c.FillText(plain, vg.Point{X: c.Min.X, Y: c.Max.Y - 10}, s.title)
	width := c.Max.X - c.Min.X
	left, right := c.Min.X+0.36*width, c.Max.X-0.34*width
	x := func(share float64) vg.Length { return left + (right-left)*vg.Length(share) }
	bottom, y := c.Max.Y-s.height()+14, c.Max.Y-14-stripRow/2
	for v := 0; v <= 100; v += 50 {
		at := x(float64(v) / 100)
		c.StrokeLine2(draw.LineStyle{Color: chart.GridColor, Width: 0.6}, at, bottom, at, y)
		c.FillText(chart.Centered(small), vg.Point{X: at, Y: bottom - 9}, strconv.Itoa(v))
	}
	if published != nil {
		c.FillText(chart.Right(small), vg.Point{X: left - 8, Y: y - 3}, "32 published models")
	}
	for _, m := range published {
		chart.DrawMark(&c, chart.Circle, chart.LightGray, 2.2, vg.Point{X: x(s.share(m) / 100), Y: y})
	}
	row := func(p point, name, figures string, at float64, ends *[2]float64, open bool) {
		y -= stripRow
		style := chart.Right(plain)
		style.Color = p.color
		c.FillText(style, vg.Point{X: left - 8, Y: y - 3}, name)
		if ends != nil {
			c.StrokeLine2(p.line(), x(ends[0]), y, x(ends[1]), y)
		}
		if spot := (vg.Point{X: x(at), Y: y}); open {
			chart.DrawOpenMark(&c, p.mark, p.color, spot)
		} else {
			chart.DrawMark(&c, p.mark, p.color, chart.MarkRadius*0.8, spot)
			chart.NamePoint(&c, p.Name, spot)
		}
		c.FillText(plain, vg.Point{X: right + 8, Y: y - 3}, figures)
	}
	letters := int(0.36 * width / 4.6)
	for _, p := range s.points {
		of := s.side(p.Pair)
		figures, ends := table.Percent(*of.Judge.Rate.Value)+" (no range)", (*[2]float64)(nil)
		if r := of.Judge.Rate.Range; r != nil {
			ends = &[2]float64{r.Lo, r.Hi}
			figures = table.Percent(*of.Judge.Rate.Value) + " (" + table.Interval(ends) + ")"
		}
		row(p, table.ShortenTarget(p.caption, letters), figures, *of.Judge.Rate.Value, ends, false)
		if l := of.Run.Labeled; p.Labeled() {
			row(p, "by people's labels", table.Estimate(&l.Rate)+" ("+table.EstimateInterval(&l.Rate)+"), "+table.Count(l.Labels)+" labels", l.Rate.Value, l.Rate.Ends(), true)
		}
	}
}

// headOf says in some lines what a plot is of, and what its marks mean.
func headOf(points, both []point, judge string, of []string) chart.Head {
	h := chart.Head{Title: score.Words(nil, judge).Of("Over-refusal and toxic refusal")}
	has := func(what func(point) bool) bool { return slices.ContainsFunc(points, what) }
	if has(func(p point) bool { return p.Simulated }) {
		h.Title += " (SIMULATED)"
	}
	text := ""
	for _, says := range []struct {
		text string
		is   bool
	}{
		{"Lines: 95% ranges.", has(func(p point) bool { return p.Ranged() })},
		{"Without lines: no range is known.", has(func(p point) bool { return !p.Ranged() })},
		{"Open marks: corrected by people's labels.", has(func(p point) bool { return p.Labeled() })},
		{"Arrows: from a target to its variants.", len(both) > 0 && has(func(p point) bool { return p.Change != "" })},
	} {
		if says.is {
			text += says.text + " "
		}
	}
	h.Lines = append(table.RowsOf(of, func(line string) string { return untrusted.Shorten(line, 200) }), strings.TrimSpace(text))
	return h
}
