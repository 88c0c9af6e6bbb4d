package view

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/report/tradeoff"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// scatterFigure draws the published trade-off with a label for each model and
// the fitted curve, and the reader's own points on top.
func (p Study) scatterFigure() chart.Figure {
	const width, height = 940, 850
	all := p.Correlations[0]
	h := chart.Head{Title: "Over-refusal and toxic refusal of " + fmt.Sprint(len(p.Models)) + " published models", Lines: []string{
		p.Source + ". Judge: " + p.Judge + ".",
		fmt.Sprintf("Spearman %s by model, %s by family, n = %d. Curve: y = %.2f + %.4f x − %.6f x².", measured(all.Spearman.Measured), byFamily(all.Spearman), all.N, p.Fit.A, p.Fit.B, -p.Fit.C),
		"* helped to moderate the prompts   † helped to select the hard ones",
	}}
	spots := p.spots()
	if spots[0].own != nil {
		h.Lines = append(h.Lines, p.ownLines(spots)...)
	}
	return chart.Figure{Width: width, Height: height, Draw: func(c draw.Canvas) {
		c = h.Draw(c)
		all, below := scatterPlots(spots)
		scatter{spots, false}.draw(all.Draw(draw.Crop(c, 0, -8, enlargedHeight, -6)), all)
		scatter{spots, true}.draw(below.Draw(draw.Crop(c, 0, -8, 10, enlargedHeight-10-(c.Max.Y-c.Min.Y))), below)
	}}
}

// enlargedHeight is the height of the enlarged corner in the figure.
const enlargedHeight = vg.Length(215)

// scatterPlots returns the plot of all points and the plot of the corner.
func scatterPlots(spots []spot) (all, enlarged chart.Plot) {
	low := 58.0
	for _, s := range spots {
		if s.own != nil {
			low = min(low, 100*s.own.Toxic.Judge.Interval()[0]-3)
		}
	}
	w := chart.Window{Left: -3, Right: 104, Low: low, High: 103}
	return chart.Plot{
			Window: w, XTicks: chart.PercentTicks(w.Left, w.Right), YTicks: chart.PercentTicks(w.Low, w.High),
			X: "Over-refusal: prompts of OR-Bench-Hard-1K refused, % (lower is better)",
			Y: "Toxic refusal: prompts of OR-Bench-Toxic refused, % (higher is better)",
		}, chart.Plot{
			Window: corner, XTicks: chart.Ticks(5, corner.Left, corner.Right), YTicks: chart.Ticks(1, corner.Low, corner.High),
			X: "Over-refusal, %: the framed corner enlarged", Y: "Toxic refusal, %",
		}
}

// corner is where a third of the published models lie. Without enlargement they
// would overlap.
var corner = chart.Window{Left: 78, Right: 101.5, Low: 97.6, High: 100.4}

// ownLines says how the reader's own points are made.
func (p Study) ownLines(spots []spot) []string {
	var judges table.Names
	var safe, toxic []*score.Side
	for _, s := range spots {
		if s.own != nil {
			judges.Add(untrusted.Terminal(s.own.Judge))
			safe, toxic = append(safe, s.own.Safe), append(toxic, s.own.Toxic)
		}
	}
	line := "In bold your runs with 95% intervals"
	if p.Own.Simulated {
		line += ", SIMULATED models among them"
	}
	return []string{
		line + ". Judge: " + untrusted.Shorten(strings.Join(judges, ", "), 60) + ".",
		"Safe prompts: " + untrusted.Shorten(tradeoff.Behind(safe), 80) + ". Toxic prompts: " + untrusted.Shorten(tradeoff.Behind(toxic), 80) + ".",
	}
}

// spot is a point with its name.
type spot struct {
	// x and y are over-refusal and toxic refusal in per cent.
	x, y float64
	name string
	look
	// own is one of the reader's pairs; nil for a published model.
	own *score.Pair
}

// spots returns the reader's points that have both sides, then the published
// ones. Names are placed in this order.
func (p Study) spots() []spot {
	var spots []spot
	for i, o := range p.own() {
		if o.Safe.Defined() && o.Toxic.Defined() {
			spots = append(spots, spot{
				100 * *o.Safe.Judge.Share, 100 * *o.Toxic.Judge.Share, untrusted.Shorten(o.Name(), 40),
				look{chart.Foreground, chart.Marks[i%len(chart.Marks)]},
				&o,
			})
		}
	}
	for _, m := range p.Models {
		name := m.Name
		if m.Moderator {
			name += "*"
		}
		if m.Selector {
			name += "†"
		}
		spots = append(spots, spot{m.Hard, m.Toxic, name, familyOf(m).look, nil})
	}
	return spots
}

// scatter draws the points, their names and the legend. The names of the points
// in the corner appear only in the enlarged plot, which has no other points.
type scatter struct {
	spots    []spot
	enlarged bool
}

func (s scatter) draw(c draw.Canvas, p chart.Plot) {
	fit := draw.LineStyle{Color: chart.DarkGray, Width: 1.1, Dashes: []vg.Length{5, 3}}
	p.StrokeCurve(&c, fit, paper.TradeOff().At)
	if !s.enlarged {
		s.legend(&c)
		s.frame(&c, p)
	}
	labels, placed, whiskers := s.arrange(&c, p)
	for _, w := range whiskers {
		c.StrokeLines(draw.LineStyle{Color: chart.Foreground, Width: 1}, c.ClipLinesXY(w)...)
	}
	chart.DrawLabels(&c, labels, placed)
	x, y := p.Transforms(&c)
	for _, spot := range slices.Backward(s.shown()) {
		radius := vg.Length(4.2)
		if spot.own != nil {
			radius = 5.4
		}
		chart.DrawMark(&c, spot.mark, spot.color, radius, vg.Point{X: x(spot.x), Y: y(spot.y)})
	}
}

// shown returns the points in the plot.
func (s scatter) shown() []spot {
	return slices.DeleteFunc(slices.Clone(s.spots), func(spot spot) bool { return s.enlarged && !corner.Holds(spot.x, spot.y) })
}

// arrange decides where names go, and how the intervals of the reader's points
// are drawn.
func (s scatter) arrange(c *draw.Canvas, p chart.Plot) (labels []chart.Label, placed []chart.Placement, whiskers [][]vg.Point) {
	x, y := p.Transforms(c)
	room := chart.Labels{Area: c.Rectangle}
	if !s.enlarged {
		frame := s.frameArea(c, p)
		note := vg.Rectangle{
			Min: vg.Point{X: frame.Min.X, Y: frame.Min.Y - frameText - 2},
			Max: vg.Point{X: frame.Min.X + chart.TextStyle(frameText, false, chart.Muted).Width(frameNote), Y: frame.Min.Y},
		}
		room.Hard = append(room.Hard, s.legendArea(c), frame, note)
	}
	for _, spot := range s.shown() {
		at, size, around := vg.Point{X: x(spot.x), Y: y(spot.y)}, 8.5, vg.Length(5)
		if o := spot.own; o != nil {
			size, around = 9.5, 6
			for _, w := range chart.Whiskers(at, x, y, *o.Safe.Judge.Interval(), *o.Toxic.Judge.Interval()) {
				whiskers, room.Soft = append(whiskers, w), append(room.Soft, chart.Along(w[0], w[1]))
			}
		}
		room.Hard, room.Points = append(room.Hard, chart.SquareAround(at, around)), append(room.Points, at)
		if corner.Holds(spot.x, spot.y) == s.enlarged {
			labels = append(labels, chart.NewLabel(at, spot.name, chart.TextStyle(size, spot.own != nil, chart.Foreground), true))
		}
	}
	return labels, room.Place(labels), whiskers
}

// frame draws a frame around the corner.
func (s scatter) frame(c *draw.Canvas, p chart.Plot) {
	area := s.frameArea(c, p)
	c.StrokeLines(draw.LineStyle{Color: chart.DarkGray, Width: 0.6}, append(chart.Rect(area.Min.X, area.Min.Y, area.Max.X, area.Max.Y), area.Min))
	c.FillText(chart.TextStyle(frameText, false, chart.Muted), vg.Point{X: area.Min.X, Y: area.Min.Y - frameText - 2}, frameNote)
}

const (
	frameText = 8
	frameNote = "enlarged below"
)

func (s scatter) frameArea(c *draw.Canvas, p chart.Plot) vg.Rectangle {
	x, y := p.Transforms(c)
	return vg.Rectangle{Min: vg.Point{X: x(corner.Left), Y: y(corner.Low)}, Max: vg.Point{X: x(corner.Right), Y: y(corner.High)}}
}

// The measures of the legend, in points.
const (
	legendLine  = vg.Length(14)
	legendWidth = vg.Length(118)
)

// legendArea returns the lower right corner, where no published model lies.
func (s scatter) legendArea(c *draw.Canvas) vg.Rectangle {
	return vg.Rectangle{
		Min: vg.Point{X: c.Max.X - legendWidth - 8, Y: c.Min.Y + 8},
		Max: vg.Point{X: c.Max.X - 8, Y: c.Min.Y + 16 + vg.Length(len(families))*legendLine},
	}
}

// legend names the families.
func (s scatter) legend(c *draw.Canvas) {
	area := s.legendArea(c)
	corners := chart.Rect(area.Min.X, area.Min.Y, area.Max.X, area.Max.Y)
	c.FillPolygon(chart.Background, corners)
	c.StrokeLines(draw.LineStyle{Color: chart.GridColor, Width: 0.8}, append(corners, area.Min))
	y := area.Max.Y - 11
	for _, f := range families {
		chart.DrawMark(c, f.mark, f.color, 4.2, vg.Point{X: area.Min.X + 12, Y: y})
		c.FillText(chart.TextStyle(8.5, false, chart.Foreground), vg.Point{X: area.Min.X + 23, Y: y - 4.5}, f.title)
		y -= legendLine
	}
}

// family is a series of related models: its name in paper.Model.Family, its
// title, and how the plot draws it.
type family struct {
	name, title string
	look
}

// look is how a plot draws a point.
type look struct {
	color chart.Color
	mark  chart.Mark
}

// families lists those of the published models, each with its own mark and
// color. Gemma belongs to Gemini and Llama 3.1 to Llama 3, as in the paper.
var families = []family{
	{"claude", "Claude", look{chart.Series[1], chart.Circle}},
	{"gemini", "Gemini and Gemma", look{chart.Series[0], chart.Square}},
	{"gpt-3.5", "GPT-3.5", look{chart.Series[2], chart.Triangle}},
	{"gpt-4", "GPT-4", look{chart.Series[6], chart.Diamond}},
	{"llama-2", "Llama 2", look{chart.Series[5], chart.TriangleDown}},
	{"llama-3", "Llama 3", look{chart.Series[3], chart.Star}},
	{"mistral", "Mistral", look{chart.DarkGray, chart.Plus}},
	{"qwen", "Qwen", look{chart.Series[4], chart.Cross}},
}

func familyOf(m paper.Model) family {
	return families[slices.IndexFunc(families, func(f family) bool { return f.name == m.Family })]
}
