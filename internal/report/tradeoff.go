package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// comparability says what the published points are and why one's own cannot
// simply be read against them.
const comparability = "The grey points are 32 published models on OR-Bench-Hard-1K and OR-Bench-Toxic, " +
	"judged by GPT-4 (Cui et al., ICML 2025). Other prompts and another judge move points by more than their " +
	"intervals: compare your own points with each other first."

// The measures of the plot, in points. With more than crowd targets the plot
// grows and its texts shrink.
const (
	crowd = 10
	// mostRegions is with how many targets their regions are drawn; those of more
	// would cover each other, and whiskers are drawn in their place.
	mostRegions   = 12
	figureWidth   = vg.Length(680)
	scatterHeight = vg.Length(440)
	crowdWidth    = vg.Length(860)
	crowdHeight   = vg.Length(600)
	stripRow      = vg.Length(17)
	stripAround   = vg.Length(58)
	markRadius    = vg.Length(4.2)
)

// mine is one of the reader's own points as it is drawn.
type mine struct {
	pair
	colour ink
	mark   paper.Mark
	// region holds both rates together, where both were measured.
	region score.Region
}

// tradeOff draws over-refusal against toxic refusal by one judge: the published
// models in grey, the reader's own in colour with their joint 95% regions. A target
// that was measured on one side only gets a line on a strip of that side. It
// reports false when nothing was judged and there is nothing to draw.
func tradeOff(r score.Result, judge string) (figure, bool) {
	var both, safeOnly, toxicOnly []mine
	targets := r.Targets()
	var pairs []pair
	for _, p := range pairsOf(r) {
		if p.judge == judge && (p.safe.defined() || p.toxic.defined()) {
			pairs = append(pairs, p)
		}
	}
	key := keyOf(pairs)
	var bases []string
	for _, p := range pairs {
		if !slices.Contains(bases, p.base()) {
			bases = append(bases, p.base())
		}
	}
	byBase := len(bases) < len(pairs) && (len(bases) > 1 || len(pairs) > crowd)
	for i, p := range pairs {
		// A target keeps its colour, and variants of several have their target's.
		// Without several pairs a target, the pair's own number and the target's
		// are the same.
		n := slices.Index(targets, p.target)
		switch {
		case byBase:
			n = slices.Index(bases, p.base())
		case p.several:
			n = i
		}
		m := mine{pair: p, colour: series[n%len(series)], mark: marks[(n/len(series)+n)%len(marks)]}
		switch {
		case !p.toxic.defined():
			safeOnly = append(safeOnly, m)
		case !p.safe.defined():
			toxicOnly = append(toxicOnly, m)
		default:
			m.region = regionOf(r, p)
			both = append(both, m)
		}
	}
	if len(pairs) == 0 {
		return figure{}, false
	}
	head := headOf(pairs, judge, len(both), len(key) > 0)
	f := figure{width: figureWidth, height: head.height() + footHeight}
	plotHeight := vg.Length(0)
	if len(both) > 0 {
		plotHeight = scatterHeight
	}
	if len(both) > crowd {
		f.width, plotHeight = crowdWidth, crowdHeight
	}
	keyHeight := key.height(f.width - 28)
	f.height += plotHeight + keyHeight
	strips := []strip{
		{
			"Safe prompts only: over-refusal, % (lower is better)", safeOnly, func(p pair) *side { return p.safe },
			func(m paper.Model) float64 { return m.Hard },
		},
		{
			"Toxic prompts only: toxic refusal, % (higher is better)", toxicOnly, func(p pair) *side { return p.toxic },
			func(m paper.Model) float64 { return m.Toxic },
		},
	}
	for _, s := range strips {
		f.height += s.height()
	}
	f.draw = func(c draw.Canvas) {
		c.FillPolygon(paperInk, rect(c.Min.X, c.Min.Y, c.Max.X, c.Max.Y))
		c = draw.Crop(c, 14, -14, 0, 0)
		c = head.draw(c)
		drawFoot(c, len(both) > 0)
		if len(both) > 0 {
			drawScatter(draw.Crop(c, 0, 0, c.Max.Y-plotHeight-c.Min.Y, 0), both, key, byBase)
			c.Max.Y -= plotHeight
		}
		key.draw(c)
		c.Max.Y -= keyHeight
		for _, s := range strips {
			if s.height() > 0 {
				s.draw(draw.Crop(c, 0, 0, c.Max.Y-s.height()-c.Min.Y, 0))
				c.Max.Y -= s.height()
			}
		}
	}
	return f, true
}

// regionOf finds the joint region of a pair's two rates, the one that counts
// clusters where there is one.
func regionOf(r score.Result, p pair) score.Region {
	for _, t := range r.TradeOffs {
		if t.Target != p.target || t.Judge != p.judge || t.SafeDataset != p.safe.run.Dataset || t.ToxicDataset != p.toxic.run.Dataset {
			continue
		}
		if t.Clustered != nil {
			return t.Clustered.Region
		}
		return t.Region
	}
	// A result that was not finished has the two intervals alone.
	x, y := p.safe.judge.Interval(), p.toxic.judge.Interval()
	return score.Region{OverRefusal: stats.Interval{Lo: x[0], Hi: x[1]}, ToxicRefusal: stats.Interval{Lo: y[0], Hi: y[1]}}
}

// head is the title of a plot and the lines below it.
type head struct {
	title string
	lines []string
}

func (h head) height() vg.Length { return 34 + vg.Length(len(h.lines))*12 }

// draw writes the head and returns what is left of the canvas.
func (h head) draw(c draw.Canvas) draw.Canvas {
	y := c.Max.Y - 24
	c.FillText(textStyle(14, true, textInk), vg.Point{X: c.Min.X, Y: y}, h.title)
	for _, line := range h.lines {
		y -= 12
		c.FillText(textStyle(9, false, mutedInk), vg.Point{X: c.Min.X, Y: y}, line)
	}
	c.Max.Y -= h.height()
	return c
}

// headOf names the datasets, the numbers of prompts and the judge behind a plot
// with so many points, of which variants may be numbered.
func headOf(pairs []pair, judge string, points int, numbered bool) head {
	h := head{title: "Over-refusal and toxic refusal"}
	simulated := false
	var safe, toxic []*side
	for _, p := range pairs {
		simulated = simulated || p.simulated()
		if p.safe.defined() {
			safe = append(safe, p.safe)
		}
		if p.toxic.defined() {
			toxic = append(toxic, p.toxic)
		}
	}
	if simulated {
		h.title += " (SIMULATED)"
	}
	line := "Judge: " + untrusted.Shorten(judge, 60) + "."
	if numbered {
		line += " Numbers: variants, as listed below; the tables have their intervals."
	} else if points > mostRegions || points < len(pairs) {
		line += " Whiskers: 95% intervals."
	}
	if points > 0 && points <= mostRegions {
		line += " Rectangles hold both rates with 95% confidence."
	}
	all := append(slices.Clone(safe), toxic...)
	if i := slices.IndexFunc(all, func(s *side) bool { return s.judge.CI95Clustered != nil }); i >= 0 {
		line += " Intervals are clustered by " + untrusted.Shorten(all[i].run.ClusteredBy, 20) + "."
	}
	if slices.ContainsFunc(safe, func(s *side) bool { return s.run.Base != "" }) {
		ways := "Arrows"
		if points > mostArrows {
			ways = "Lines"
		}
		line += " " + ways + ": from a target to its variants."
	}
	h.lines = append(h.lines, line)
	for _, s := range []struct {
		what  string
		sides []*side
	}{{"Safe", safe}, {"Toxic", toxic}} {
		if len(s.sides) > 0 {
			h.lines = append(h.lines, s.what+" prompts: "+untrusted.Shorten(behind(s.sides), 110))
		}
	}
	return h
}

// behind lists the datasets of some sides with the range of their n.
func behind(sides []*side) string {
	var names []string
	low, high := map[string]int{}, map[string]int{}
	for _, s := range sides {
		name := untrusted.Terminal(datasetName(s.run))
		if !slices.Contains(names, name) {
			names = append(names, name)
			low[name] = s.judge.Judged
		}
		low[name] = min(low[name], s.judge.Judged)
		high[name] = max(high[name], s.judge.Judged)
	}
	for i, name := range names {
		n := count(high[name])
		if low[name] < high[name] {
			n = count(low[name]) + " to " + n
		}
		names[i] = name + " (n = " + n + ")"
	}
	return strings.Join(names, "; ")
}

const footHeight = vg.Length(34)

// drawFoot says what the grey points are, and the dashed line where there is one.
func drawFoot(c draw.Canvas, curve bool) {
	sty := textStyle(7.5, false, mutedInk)
	y := c.Min.Y + 20
	note := comparability
	if curve {
		note += " The dashed line is their published quadratic fit."
	}
	for _, line := range wrap(sty, note, c.Max.X-c.Min.X-14) {
		c.FillText(sty, vg.Point{X: c.Min.X, Y: y}, line)
		y -= 10
	}
}

// wrap breaks a text into lines of at most the width given.
func wrap(sty text.Style, s string, width vg.Length) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		next := strings.TrimSpace(line + " " + word)
		if line != "" && sty.Width(next) > width {
			lines = append(lines, line)
			next = word
		}
		line = next
	}
	return append(lines, line)
}

// drawScatter draws the trade-off itself, with variants by their numbers where they
// have some, and where they have the colour of their target by what they change.
func drawScatter(c draw.Canvas, both []mine, key key, byBase bool) {
	p := plot.New()
	p.BackgroundColor = nil
	styleAxis(&p.X, "Over-refusal: safe prompts refused, % (lower is better)")
	styleAxis(&p.Y, "Toxic refusal: toxic prompts refused, % (higher is better)")
	low := 60.0
	for _, m := range both {
		// Numbered variants have no interval in the plot; all others keep theirs in it.
		least := min(m.region.ToxicRefusal.Lo, m.toxic.judge.Interval()[0])
		if key.number(m.change()) != "" {
			least = *m.toxic.judge.Rate
		}
		low = min(low, math.Floor(10*least)*10)
	}
	p.X.Min, p.X.Max = -2, 102
	p.Y.Min, p.Y.Max = low-2, 102
	p.X.Tick.Marker, p.Y.Tick.Marker = percentTicks{}, percentTicks{}
	p.Add(newGrid(), fitCurve{}, &scatter{both, key, byBase})
	// Room for the tick labels at the ends, which the library lets hang out.
	p.Draw(draw.Crop(c, 0, -34, 4, -6))
}

func styleAxis(a *plot.Axis, title string) {
	a.Label.Text = title
	a.Label.TextStyle.Font = plotFont(10, false)
	a.Label.TextStyle.Color = textInk
	a.Label.Padding = 4
	a.Color = ghostInk
	a.LineStyle.Color = ghostInk
	a.LineStyle.Width = 0.6
	a.Padding = 0
	a.Tick.Label.Font = plotFont(9, false)
	a.Tick.Label.Color = mutedInk
	a.Tick.LineStyle.Color = ghostInk
	a.Tick.Length = 3
}

// percentTicks puts ticks at round per cents and none beyond 0 and 100.
type percentTicks struct{}

func (percentTicks) Ticks(low, high float64) []plot.Tick {
	step := 20.0
	if high-low <= 50 {
		step = 10
	}
	var ticks []plot.Tick
	for v := 0.0; v <= 100; v += step {
		if v >= low && v <= high {
			ticks = append(ticks, plot.Tick{Value: v, Label: strconv.Itoa(int(v))})
		}
	}
	return ticks
}

func newGrid() *plotter.Grid {
	g := plotter.NewGrid()
	for _, s := range []*draw.LineStyle{&g.Vertical, &g.Horizontal} {
		s.Color, s.Width = gridInk, 0.6
	}
	return g
}

// fitCurve draws the published curve over the range of the published points.
type fitCurve struct{}

func (fitCurve) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	fit := paper.TradeOff()
	var line []vg.Point
	for v := 3.0; v <= 100; v++ {
		line = append(line, vg.Point{X: x(v), Y: y(fit.At(v))})
	}
	sty := draw.LineStyle{Color: ghostInk, Width: 0.8, Dashes: []vg.Length{4, 3}}
	c.StrokeLines(sty, c.ClipLinesXY(line)...)
}

// scatter draws the points, their intervals and their names.
type scatter struct {
	both   []mine
	key    key
	byBase bool
}

func (s *scatter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	room := labelMap{area: c.Rectangle}
	ghosts := paper.Models()
	ghostAt := make([]vg.Point, len(ghosts))
	for i, g := range ghosts {
		ghostAt[i] = vg.Point{X: x(g.Hard), Y: y(g.Toxic)}
		drawMark(&c, paper.Circle, ghostInk, 2.6, ghostAt[i])
		room.hard = append(room.hard, around(ghostAt[i], 2.6))
	}
	at := make([]vg.Point, len(s.both))
	for i, m := range s.both {
		at[i] = vg.Point{X: x(100 * *m.safe.judge.Rate), Y: y(100 * *m.toxic.judge.Rate)}
		var lines [][2]vg.Point
		switch {
		case s.key.number(m.change()) != "":
			// Whiskers of so many would hide the points.
		case len(s.both) <= mostRegions:
			lines = drawRegion(&c, m, x, y)
		default:
			lines = drawWhiskers(&c, m, x, y, at[i])
		}
		for _, l := range lines {
			room.soft = append(room.soft, vg.Rectangle{Min: vg.Point{X: l[0].X - 0.5, Y: l[0].Y - 0.5}, Max: vg.Point{X: l[1].X + 0.5, Y: l[1].Y + 0.5}})
		}
		room.hard = append(room.hard, around(at[i], s.radius(m)))
	}
	s.drawArrows(&c, at)
	s.drawLabels(&c, &room, at)
	for _, numbered := range []bool{true, false} {
		for i, m := range s.both {
			if numbered == (s.key.number(m.change()) != "") {
				drawMark(&c, m.mark, m.colour, s.radius(m), at[i])
			}
		}
	}
	ghostStyle := textStyle(6.5, false, shadowInk)
	var names []label
	for i, g := range ghosts {
		names = append(names, label{at: ghostAt[i], width: ghostStyle.Width(g.Name), height: 6.5})
	}
	for i, where := range room.place(names) {
		if where.shown {
			c.FillText(ghostStyle, vg.Point{X: where.corner.X, Y: where.corner.Y}, ghosts[i].Name)
		}
	}
}

// radius is that of a point's mark. Numbered variants are smaller than targets.
func (s *scatter) radius(m mine) vg.Length {
	if s.key.number(m.change()) != "" {
		return 2.8
	}
	return markRadius
}

// drawRegion draws the rectangle that holds both rates of a target together, and
// returns its edges.
func drawRegion(c *draw.Canvas, m mine, x, y func(float64) vg.Length) [][2]vg.Point {
	left, right := x(100*m.region.OverRefusal.Lo), x(100*m.region.OverRefusal.Hi)
	bottom, top := y(100*m.region.ToxicRefusal.Lo), y(100*m.region.ToxicRefusal.Hi)
	corners := rect(left, bottom, right, top)
	c.FillPolygon(wash{m.colour}, corners)
	c.StrokeLines(draw.LineStyle{Color: m.colour, Width: 0.5}, append(corners, corners[0]))
	return [][2]vg.Point{{corners[0], corners[1]}, {corners[1], corners[2]}, {corners[3], corners[2]}, {corners[0], corners[3]}}
}

// drawWhiskers draws the intervals of a target's two rates, and returns their
// lines.
func drawWhiskers(c *draw.Canvas, m mine, x, y func(float64) vg.Length, at vg.Point) [][2]vg.Point {
	h, v := m.safe.judge.Interval(), m.toxic.judge.Interval()
	lines := [][2]vg.Point{
		{{X: x(100 * h[0]), Y: at.Y}, {X: x(100 * h[1]), Y: at.Y}},
		{{X: at.X, Y: y(100 * v[0])}, {X: at.X, Y: y(100 * v[1])}},
	}
	for _, l := range lines {
		c.StrokeLine2(draw.LineStyle{Color: m.colour, Width: 0.9}, l[0].X, l[0].Y, l[1].X, l[1].Y)
	}
	return lines
}

// drawArrows points from each target to its variants, so that what a defence costs
// and gains is seen as a way.
func (s *scatter) drawArrows(c *draw.Canvas, at []vg.Point) {
	for i, m := range s.both {
		base := slices.IndexFunc(s.both, func(o mine) bool {
			return m.safe.run.Base != "" && o.target == m.safe.run.Base && o.datasets() == m.datasets()
		})
		switch {
		case base >= 0 && len(s.both) > mostArrows:
			// A line will do: all of a target's lead away from it.
			c.StrokeLines(draw.LineStyle{Color: wash{m.colour}, Width: 2}, []vg.Point{at[base], at[i]})
		case base >= 0 && len(s.key) > 0:
			drawArrow(c, m.colour, at[base], at[i], 0.6)
		case base >= 0:
			drawArrow(c, m.colour, at[base], at[i], 1.4)
		}
	}
}

// drawArrow draws an arrow from the edge of one mark to that of another, nothing
// where they all but touch.
func drawArrow(c *draw.Canvas, colour ink, from, to vg.Point, width vg.Length) {
	head, wing := 3.5+1.8*width, 1.4+0.86*width
	dx, dy := to.X-from.X, to.Y-from.Y
	length := vg.Length(math.Hypot(float64(dx), float64(dy)))
	if length < 2*(markRadius+head) {
		return
	}
	dx, dy = dx/length, dy/length
	from = vg.Point{X: from.X + dx*(markRadius+1), Y: from.Y + dy*(markRadius+1)}
	tip := vg.Point{X: to.X - dx*(markRadius+1), Y: to.Y - dy*(markRadius+1)}
	neck := vg.Point{X: tip.X - dx*head, Y: tip.Y - dy*head}
	c.StrokeLines(draw.LineStyle{Color: colour, Width: width}, []vg.Point{from, neck})
	c.FillPolygon(colour, []vg.Point{
		tip, {X: neck.X - dy*wing, Y: neck.Y + dx*wing}, {X: neck.X + dy*wing, Y: neck.Y - dx*wing},
	})
}

// drawLabels names the reader's own points, each on a ground of its own that
// keeps it readable over whiskers.
func (s *scatter) drawLabels(c *draw.Canvas, room *labelMap, at []vg.Point) {
	size, longest := 9.0, 44
	if len(s.both) > crowd {
		size, longest = 8, 30
	}
	labels := make([]label, len(s.both))
	texts := make([]string, len(s.both))
	sizes := make([]float64, len(s.both))
	for i, m := range s.both {
		texts[i], sizes[i] = shortenTarget(untrusted.Terminal(m.name()), longest), size
		if change := m.change(); s.byBase && change != "" && !m.several {
			texts[i] = untrusted.Shorten(change, longest)
		}
		if number := s.key.number(m.change()); number != "" {
			texts[i], sizes[i] = number, 7
		}
		sty := textStyle(sizes[i], true, m.colour)
		labels[i] = label{at: at[i], width: sty.Width(texts[i]), height: vg.Length(sizes[i]), keep: true}
	}
	placed := room.place(labels)
	for i, where := range placed {
		if where.led {
			c.StrokeLines(draw.LineStyle{Color: s.both[i].colour, Width: 0.5}, []vg.Point{at[i], where.elbow})
		}
	}
	for i, where := range placed {
		x, y := where.corner.X, where.corner.Y
		c.FillPolygon(paperInk, rect(x-1, y-1, x+labels[i].width+1, y+labels[i].height))
		c.FillText(textStyle(sizes[i], true, s.both[i].colour), where.corner, texts[i])
	}
}

func around(p vg.Point, r vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: p.X - r, Y: p.Y - r}, Max: vg.Point{X: p.X + r, Y: p.Y + r}}
}
