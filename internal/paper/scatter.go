package paper

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/chart"
)

// scatterFigure draws the published trade-off with a label for each model and
// the fitted curve.
func (p Study) scatterFigure() chart.Figure {
	const width, height = 940, 850
	all := p.Correlations[0]
	h := chart.Head{Title: "Over-refusal and toxic refusal of " + fmt.Sprint(len(p.Models)) + " published models", Lines: []string{
		p.Source + ". Judge: " + p.Judge + ".",
		fmt.Sprintf("Spearman %s by model, %s by family, n = %d. Curve: y = %.2f + %.4f x − %.6f x².", measured(all.Spearman.Measured), interval(all.Spearman.CI95Families), all.N, p.Fit.A, p.Fit.B, -p.Fit.C),
		"* helped to moderate the prompts   † helped to select the hard ones",
	}}
	spots := p.spots()
	return chart.Figure{Width: width, Height: height, Draw: func(c draw.Canvas) {
		c = h.Draw(c)
		scatter{spots, false}.draw(allPlot.Draw(draw.Crop(c, 0, -8, enlargedHeight, -6)), allPlot)
		scatter{spots, true}.draw(cornerPlot.Draw(draw.Crop(c, 0, -8, 10, enlargedHeight-10-(c.Max.Y-c.Min.Y))), cornerPlot)
	}}
}

// enlargedHeight is the height of the enlarged corner in the figure.
const enlargedHeight = vg.Length(215)

var (
	allPoints = chart.Window{Left: -3, Right: 104, Low: 58, High: 103}
	allPlot   = chart.Plot{
		Window: allPoints, XTicks: chart.PercentTicks(allPoints.Left, allPoints.Right), YTicks: chart.PercentTicks(allPoints.Low, allPoints.High),
		X: "Over-refusal: prompts of OR-Bench-Hard-1K refused, % (lower is better)",
		Y: "Toxic refusal: prompts of OR-Bench-Toxic refused, % (higher is better)",
	}
	cornerPlot = chart.Plot{
		Window: corner, XTicks: chart.Ticks(5, corner.Left, corner.Right), YTicks: chart.Ticks(1, corner.Low, corner.High),
		X: "Over-refusal, %: the framed corner enlarged", Y: "Toxic refusal, %",
	}
)

// corner is where a third of the published models lie. Without enlargement they
// would overlap.
var corner = chart.Window{Left: 78, Right: 101.5, Low: 97.6, High: 100.4}

// spot is a point with its name.
type spot struct {
	// x and y are over-refusal and toxic refusal in per cent.
	x, y float64
	name string
	family
}

// spots returns the models' points. Names are placed in this order.
func (p Study) spots() []spot {
	var spots []spot
	for _, m := range p.Models {
		name := m.Name
		if m.Moderator {
			name += "*"
		}
		if m.Selector {
			name += "†"
		}
		spots = append(spots, spot{m.Hard, m.Toxic, name, familyOf(m)})
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
	p.StrokeCurve(&c, fit, TradeOff().At)
	if !s.enlarged {
		s.legend(&c)
		s.frame(&c, p)
	}
	labels, placed := s.arrange(&c, p)
	chart.DrawLabels(&c, labels, placed)
	x, y := p.Transforms(&c)
	for _, spot := range slices.Backward(s.shown()) {
		chart.DrawMark(&c, spot.mark, spot.color, 4.2, vg.Point{X: x(spot.x), Y: y(spot.y)})
	}
}

// shown returns the points in the plot.
func (s scatter) shown() []spot {
	return slices.DeleteFunc(slices.Clone(s.spots), func(spot spot) bool { return s.enlarged && !corner.Holds(spot.x, spot.y) })
}

// arrange decides where names go.
func (s scatter) arrange(c *draw.Canvas, p chart.Plot) (labels []chart.Label, placed []chart.Placement) {
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
		at := vg.Point{X: x(spot.x), Y: y(spot.y)}
		room.Hard, room.Points = append(room.Hard, chart.SquareAround(at, 5)), append(room.Points, at)
		if corner.Holds(spot.x, spot.y) == s.enlarged {
			labels = append(labels, chart.NewLabel(at, spot.name, chart.TextStyle(8.5, false, chart.Foreground), true))
		}
	}
	return labels, room.Place(labels)
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
		Max: vg.Point{X: c.Max.X - 8, Y: c.Min.Y + 16 + vg.Length(len(hues))*legendLine},
	}
}

// legend names the hues.
func (s scatter) legend(c *draw.Canvas) {
	area := s.legendArea(c)
	corners := chart.Rect(area.Min.X, area.Min.Y, area.Max.X, area.Max.Y)
	c.FillPolygon(chart.Background, corners)
	c.StrokeLines(draw.LineStyle{Color: chart.GridColor, Width: 0.8}, append(corners, area.Min))
	y := area.Max.Y - 11
	for _, f := range hues {
		chart.DrawMark(c, f.mark, f.color, 4.2, vg.Point{X: area.Min.X + 12, Y: y})
		c.FillText(chart.TextStyle(8.5, false, chart.Foreground), vg.Point{X: area.Min.X + 23, Y: y - 4.5}, f.title)
		y -= legendLine
	}
}

// family is a series of related models: its name in Model.Family, its
// title, and how the plot draws it.
type family struct {
	series, title string
	color         chart.Color
	mark          chart.Mark
}

// hues lists those of the published models, each with its own mark and
// color. Gemma belongs to Gemini and Llama 3.1 to Llama 3, as in the paper.
var hues = []family{
	{"claude", "Claude", chart.Series[1], chart.Circle},
	{"gemini", "Gemini and Gemma", chart.Series[0], chart.Square},
	{"gpt-3.5", "GPT-3.5", chart.Series[2], chart.Triangle},
	{"gpt-4", "GPT-4", chart.Series[6], chart.Diamond},
	{"llama-2", "Llama 2", chart.Series[5], chart.TriangleDown},
	{"llama-3", "Llama 3", chart.Series[3], chart.Star},
	{"mistral", "Mistral", chart.DarkGray, chart.Plus},
	{"qwen", "Qwen", chart.Series[4], chart.Cross},
}

func familyOf(m Model) family {
	return hues[slices.IndexFunc(hues, func(f family) bool { return f.series == m.Family })]
}
