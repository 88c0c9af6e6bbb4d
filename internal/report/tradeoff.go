package report

import (
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/stats"
)

// comparability says what the published points are and why one's own cannot
// simply be read against them.
const comparability = "The gray points are 32 published models on OR-Bench-Hard-1K and OR-Bench-Toxic, " +
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
)

// mine is one of the reader's own points as it is drawn.
type mine struct {
	Pair
	color chart.Color
	mark  chart.Mark
	// region holds both rates together, where both were measured.
	region score.Region
}

// tradeOff draws over-refusal against toxic refusal by one judge: the published
// models in gray, the reader's own in color with their joint 95% regions. A target
// that was measured on one side only gets a line on a strip of that side. It
// reports false when nothing was judged and there is nothing to draw.
func tradeOff(r score.Result, judge string) (chart.Figure, bool) {
	var both, safeOnly, toxicOnly []mine
	targets := r.Targets()
	var pairs []Pair
	for _, p := range PairsOf(r) {
		if p.Judge == judge && (Defined(p.Safe) || Defined(p.Toxic)) {
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
		// A target keeps its color, and variants of several have their target's.
		// Without several pairs a target, the pair's own number and the target's
		// are the same.
		n := slices.Index(targets, p.Target)
		switch {
		case byBase:
			n = slices.Index(bases, p.base())
		case p.Several:
			n = i
		}
		m := mine{Pair: p, color: chart.Series[n%len(chart.Series)], mark: chart.Marks[(n/len(chart.Series)+n)%len(chart.Marks)]}
		switch {
		case !Defined(p.Toxic):
			safeOnly = append(safeOnly, m)
		case !Defined(p.Safe):
			toxicOnly = append(toxicOnly, m)
		default:
			m.region = regionOf(r, p)
			both = append(both, m)
		}
	}
	if len(pairs) == 0 {
		return chart.Figure{}, false
	}
	head := headOf(pairs, judge, len(both), len(key) > 0)
	f := chart.Figure{Width: figureWidth, Height: head.Height() + footHeight}
	plotHeight := vg.Length(0)
	if len(both) > 0 {
		plotHeight = scatterHeight
	}
	if len(both) > crowd {
		f.Width, plotHeight = crowdWidth, crowdHeight
	}
	keyHeight := key.height(f.Width - 28)
	f.Height += plotHeight + keyHeight
	published := publishedBeside(judge)
	strips := []chart.Strip{
		stripOf(published, wordsOf(r.Runs, judge).Of("Safe prompts only: over-refusal, % (lower is better)"), safeOnly, func(p Pair) *score.Side { return p.Safe },
			func(m paper.Model) float64 { return m.Hard }),
		stripOf(published, wordsOf(r.Runs, judge).Of("Toxic prompts only: toxic refusal, % (higher is better)"), toxicOnly, func(p Pair) *score.Side { return p.Toxic },
			func(m paper.Model) float64 { return m.Toxic }),
	}
	for _, s := range strips {
		f.Height += s.Height()
	}
	f.Draw = func(c draw.Canvas) {
		c = head.Draw(c)
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
	}
	return f, true
}

// publishedBeside lists the published models that stand beside what a judge sees: none
// beside guards, since they answer prompts and flag none.
func publishedBeside(name string) []paper.Model {
	if name == judge.Flag {
		return nil
	}
	return paper.Models()
}

// stripOf shows targets of which one side was measured, under the published models.
func stripOf(published []paper.Model, title string, rows []mine, side func(Pair) *score.Side, share func(paper.Model) float64) chart.Strip {
	s := chart.Strip{Title: title}
	for _, m := range published {
		s.OthersName = "32 published models"
		s.Others = append(s.Others, share(m)/100)
	}
	for _, m := range rows {
		j := side(m.Pair).Judge
		ci := j.Interval()
		s.Rows = append(s.Rows, chart.StripRow{
			Name: table.ShortenTarget(m.Name(), 34), At: *j.Share, Lo: ci[0], Hi: ci[1], Color: m.color, Mark: m.mark,
			Figures: table.Rate(j.Rate) + " [" + table.Interval(ci) + "], n = " + table.Count(j.Judged),
		})
	}
	return s
}

// regionOf finds the joint region of a pair's two rates, the one that counts
// clusters where there is one.
func regionOf(r score.Result, p Pair) score.Region {
	for _, t := range r.TradeOffs {
		if t.Target != p.Target || t.Judge != p.Judge || t.SafeDataset != p.Safe.Run.Dataset || t.ToxicDataset != p.Toxic.Run.Dataset {
			continue
		}
		if t.Clustered != nil {
			return t.Clustered.Region
		}
		return t.Region
	}
	// A result that was not finished has the two intervals alone.
	x, y := p.Safe.Judge.Interval(), p.Toxic.Judge.Interval()
	return score.Region{OverRefusal: stats.Interval{Lo: x[0], Hi: x[1]}, ToxicRefusal: stats.Interval{Lo: y[0], Hi: y[1]}}
}

// headOf names the datasets, the numbers of prompts and the judge behind a plot
// with so many points, of which variants may be numbered.
func headOf(pairs []Pair, judge string, points int, numbered bool) chart.Head {
	h := chart.Head{Title: wordsOf(nil, judge).Of("Over-refusal and toxic refusal")}
	simulated := false
	var safe, toxic []*score.Side
	for _, p := range pairs {
		simulated = simulated || p.Simulated()
		if Defined(p.Safe) {
			safe = append(safe, p.Safe)
		}
		if Defined(p.Toxic) {
			toxic = append(toxic, p.Toxic)
		}
	}
	if simulated {
		h.Title += " (SIMULATED)"
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
	if i := slices.IndexFunc(all, func(s *score.Side) bool { return s.Judge.CI95Clustered != nil }); i >= 0 {
		line += " Intervals are clustered by " + untrusted.Shorten(all[i].Run.ClusteredBy, 20) + "."
	}
	if points > 0 && slices.ContainsFunc(safe, func(s *score.Side) bool { return s.Judge.Range != nil }) {
		line += " Dotted: with the judge's known error."
	}
	if points > 0 && slices.ContainsFunc(pairs, Pair.labeled) {
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
			h.Lines = append(h.Lines, s.what+" prompts: "+untrusted.Shorten(Behind(s.sides), 110))
		}
	}
	return h
}

// Behind lists the datasets of some sides with the range of their n.
func Behind(sides []*score.Side) string {
	var names []string
	low, high := map[string]int{}, map[string]int{}
	for _, s := range sides {
		name := untrusted.Terminal(DatasetName(s.Run))
		if !slices.Contains(names, name) {
			names = append(names, name)
			low[name] = s.Judge.Judged
		}
		low[name] = min(low[name], s.Judge.Judged)
		high[name] = max(high[name], s.Judge.Judged)
	}
	for i, name := range names {
		n := table.Count(high[name])
		if low[name] < high[name] {
			n = table.Count(low[name]) + " to " + n
		}
		names[i] = name + " (n = " + n + ")"
	}
	return strings.Join(names, "; ")
}

const (
	footHeight = vg.Length(34)
	// wrapRoom is the share of the width that lines may take: a browser without the
	// figure's font takes a wider one.
	wrapRoom = 0.86
)

// drawFoot says what the gray points are, and the dashed line where there is one.
func drawFoot(c draw.Canvas, curve bool) {
	sty := chart.TextStyle(7.5, false, chart.Muted)
	y := c.Min.Y + 20
	note := comparability
	if curve {
		note += " The dashed line is their published quadratic fit."
	}
	for _, line := range chart.Wrap(sty, note, wrapRoom*(c.Max.X-c.Min.X)) {
		c.FillText(sty, vg.Point{X: c.Min.X, Y: y}, line)
		y -= 10
	}
}

// drawScatter draws the trade-off itself, with variants by their numbers where they
// have some, and where they have the color of their target by what they change.
func drawScatter(c draw.Canvas, s *scatter) {
	both, key := s.both, s.key
	low := 60.0
	for _, m := range both {
		// Numbered variants have no interval in the plot; all others keep theirs in it.
		least := min(m.region.ToxicRefusal.Lo, m.Toxic.Judge.Interval()[0])
		if known := m.Toxic.Judge.Range; known != nil {
			least = min(least, known.Lo)
		}
		if key.number(m.change()) != "" {
			least = *m.Toxic.Judge.Share
		}
		if m.labeled() {
			least = min(least, m.Toxic.Run.Labeled.Rate.Lo)
		}
		low = min(low, math.Floor(10*least)*10)
	}
	words := wordsOf(nil, both[0].Safe.Judge.Judge)
	p := chart.NewPlot(
		chart.Window{Left: -2, Right: 102, Low: low - 2, High: 102},
		words.Of("Over-refusal: safe prompts refused, % (lower is better)"), words.Of("Toxic refusal: toxic prompts refused, % (higher is better)"),
	)
	p.X.Tick.Marker, p.Y.Tick.Marker = chart.PercentTicks{}, chart.PercentTicks{}
	p.Add(chart.NewGrid(), s)
	// Room for the tick labels at the ends, which the library lets hang out.
	p.Draw(draw.Crop(c, 0, -34, 4, -6))
}

// scatter draws the points, their intervals and their names.
type scatter struct {
	both      []mine
	published []paper.Model
	key       key
	byBase    bool
}

func (s *scatter) Plot(c draw.Canvas, p *plot.Plot) {
	if len(s.published) > 0 {
		fit := draw.LineStyle{Color: chart.LightGray, Width: 0.8, Dashes: []vg.Length{4, 3}}
		chart.StrokeCurve(&c, p, fit, paper.TradeOff().At)
	}
	x, y := p.Transforms(&c)
	room := chart.Labels{Area: c.Rectangle}
	publishedAt := make([]vg.Point, len(s.published))
	for i, g := range s.published {
		publishedAt[i] = vg.Point{X: x(g.Hard), Y: y(g.Toxic)}
		chart.DrawMark(&c, chart.Circle, chart.LightGray, 2.6, publishedAt[i])
		room.Hard = append(room.Hard, chart.Around(publishedAt[i], 2.6))
	}
	at := make([]vg.Point, len(s.both))
	for i, m := range s.both {
		at[i] = vg.Point{X: x(100 * *m.Safe.Judge.Share), Y: y(100 * *m.Toxic.Judge.Share)}
		lines := drawJudgeError(&c, m, x, y, at[i], s.key.number(m.change()) != "")
		switch {
		case s.key.number(m.change()) != "":
			// Whiskers of so many would hide the points.
		case len(s.both) <= mostRegions:
			lines = append(lines, drawRegion(&c, m, x, y)...)
		default:
			lines = append(lines, drawWhiskers(&c, m, x, y, at[i])...)
		}
		lines = append(lines, drawCorrected(&c, m, x, y, at[i])...)
		for _, l := range lines {
			room.Soft = append(room.Soft, chart.Along(l[0], l[1]))
		}
		room.Hard = append(room.Hard, chart.Around(at[i], s.radius(m)))
	}
	s.drawArrows(&c, at)
	s.drawLabels(&c, &room, at)
	for _, numbered := range []bool{true, false} {
		for i, m := range s.both {
			if numbered == (s.key.number(m.change()) != "") {
				chart.DrawMark(&c, m.mark, m.color, s.radius(m), at[i])
			}
		}
	}
	nameStyle := chart.TextStyle(6.5, false, chart.DarkGray)
	var names []chart.Label
	for i, g := range s.published {
		names = append(names, chart.Label{At: publishedAt[i], Width: nameStyle.Width(g.Name), Height: 6.5})
	}
	for i, where := range room.Place(names) {
		if where.Shown {
			c.FillText(nameStyle, vg.Point{X: where.Corner.X, Y: where.Corner.Y}, s.published[i].Name)
		}
	}
}

// radius is that of a point's mark. Numbered variants are smaller than targets.
func (s *scatter) radius(m mine) vg.Length {
	if s.key.number(m.change()) != "" {
		return 2.8
	}
	return chart.MarkRadius
}

// drawRegion draws the rectangle that holds both rates of a target together, and
// returns its edges.
func drawRegion(c *draw.Canvas, m mine, x, y func(float64) vg.Length) [][2]vg.Point {
	left, right := x(100*m.region.OverRefusal.Lo), x(100*m.region.OverRefusal.Hi)
	bottom, top := y(100*m.region.ToxicRefusal.Lo), y(100*m.region.ToxicRefusal.Hi)
	corners := chart.Rect(left, bottom, right, top)
	c.FillPolygon(chart.Tint{Color: m.color}, corners)
	c.StrokeLines(draw.LineStyle{Color: m.color, Width: 0.5}, append(corners, corners[0]))
	return [][2]vg.Point{{corners[0], corners[1]}, {corners[1], corners[2]}, {corners[3], corners[2]}, {corners[0], corners[3]}}
}

// drawWhiskers draws the intervals of a target's two rates, and returns their
// lines.
func drawWhiskers(c *draw.Canvas, m mine, x, y func(float64) vg.Length, at vg.Point) [][2]vg.Point {
	h, v := m.Safe.Judge.Interval(), m.Toxic.Judge.Interval()
	lines := [][2]vg.Point{
		{{X: x(100 * h[0]), Y: at.Y}, {X: x(100 * h[1]), Y: at.Y}},
		{{X: at.X, Y: y(100 * v[0])}, {X: at.X, Y: y(100 * v[1])}},
	}
	for _, l := range lines {
		c.StrokeLine2(draw.LineStyle{Color: m.color, Width: 0.9}, l[0].X, l[0].Y, l[1].X, l[1].Y)
	}
	return lines
}

// drawJudgeError draws how far a target's two rates may be off by its judge's known
// error, dotted, and returns the lines; none of a numbered variant.
func drawJudgeError(c *draw.Canvas, m mine, x, y func(float64) vg.Length, at vg.Point, numbered bool) [][2]vg.Point {
	h, v := m.Safe.Judge.Range, m.Toxic.Judge.Range
	if numbered || h == nil || v == nil {
		return nil
	}
	lines := [][2]vg.Point{
		{{X: x(100 * h.Lo), Y: at.Y}, {X: x(100 * h.Hi), Y: at.Y}},
		{{X: at.X, Y: y(100 * v.Lo)}, {X: at.X, Y: y(100 * v.Hi)}},
	}
	for _, l := range lines {
		c.StrokeLine2(draw.LineStyle{Color: m.color, Width: 0.6, Dashes: []vg.Length{1, 2}}, l[0].X, l[0].Y, l[1].X, l[1].Y)
	}
	return lines
}

// drawCorrected draws a target's rates as people's labels correct them: an open mark,
// its two intervals, and a line from where the judge puts it.
func drawCorrected(c *draw.Canvas, m mine, x, y func(float64) vg.Length, at vg.Point) [][2]vg.Point {
	if !m.labeled() {
		return nil
	}
	h, v := m.Safe.Run.Labeled.Rate, m.Toxic.Run.Labeled.Rate
	corrected := vg.Point{X: x(100 * h.Value), Y: y(100 * v.Value)}
	lines := [][2]vg.Point{
		{{X: x(100 * h.Lo), Y: corrected.Y}, {X: x(100 * h.Hi), Y: corrected.Y}},
		{{X: corrected.X, Y: y(100 * v.Lo)}, {X: corrected.X, Y: y(100 * v.Hi)}},
		{at, corrected},
	}
	for _, l := range lines {
		c.StrokeLine2(draw.LineStyle{Color: m.color, Width: 0.9}, l[0].X, l[0].Y, l[1].X, l[1].Y)
	}
	chart.DrawMark(c, m.mark, m.color, 4.2, corrected)
	chart.DrawMark(c, m.mark, color.White, 2.8, corrected)
	return lines
}

// drawArrows points from each target to its variants, so that what a defense costs
// and gains is seen as a way.
func (s *scatter) drawArrows(c *draw.Canvas, at []vg.Point) {
	for i, m := range s.both {
		base := slices.IndexFunc(s.both, func(o mine) bool {
			return m.Safe.Run.Base != "" && o.Target == m.Safe.Run.Base && o.datasets() == m.datasets()
		})
		switch {
		case base >= 0 && len(s.both) > mostArrows:
			// A line will do: all of a target's lead away from it.
			c.StrokeLines(draw.LineStyle{Color: chart.Tint{Color: m.color}, Width: 2}, []vg.Point{at[base], at[i]})
		case base >= 0 && len(s.key) > 0:
			chart.DrawArrow(c, m.color, at[base], at[i], 0.6)
		case base >= 0:
			chart.DrawArrow(c, m.color, at[base], at[i], 1.4)
		}
	}
}

// drawLabels names the reader's own points, each on a ground of its own that
// keeps it readable over whiskers.
func (s *scatter) drawLabels(c *draw.Canvas, room *chart.Labels, at []vg.Point) {
	size, longest := 9.0, 44
	if len(s.both) > crowd {
		size, longest = 8, 30
	}
	labels := make([]chart.Label, len(s.both))
	texts := make([]string, len(s.both))
	sizes := make([]float64, len(s.both))
	for i, m := range s.both {
		texts[i], sizes[i] = table.ShortenTarget(m.Name(), longest), size
		if change := m.change(); s.byBase && change != "" && !m.Several {
			texts[i] = untrusted.Shorten(change, longest)
		}
		if number := s.key.number(m.change()); number != "" {
			texts[i], sizes[i] = number, 7
		}
		sty := chart.TextStyle(sizes[i], true, m.color)
		labels[i] = chart.Label{At: at[i], Width: sty.Width(texts[i]), Height: vg.Length(sizes[i]), Keep: true}
	}
	placed := room.Place(labels)
	for i, where := range placed {
		if where.Led {
			c.StrokeLines(draw.LineStyle{Color: s.both[i].color, Width: 0.5}, []vg.Point{at[i], where.Elbow})
		}
	}
	for i, where := range placed {
		x, y := where.Corner.X, where.Corner.Y
		c.FillPolygon(chart.Background, chart.Rect(x-1, y-1, x+labels[i].Width+1, y+labels[i].Height))
		c.FillText(chart.TextStyle(sizes[i], true, s.both[i].color), where.Corner, texts[i])
	}
}
