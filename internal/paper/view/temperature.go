package view

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// temperatureFigure draws table 4.
func (p Study) temperatureFigure() chart.Figure {
	h := chart.Head{Title: "Table 4: refusal of the hard set by temperature", Lines: []string{
		p.Source + ". One run each; the axis does not begin at 0.",
		"Whiskers: 95% Wilson intervals of " + table.Count(paper.HardOlder) + " prompts. On the same prompts two temperatures differ by less.",
	}}
	return chart.Figure{Width: 680, Height: 330, Draw: func(c draw.Canvas) {
		c = h.Draw(c)
		g := chart.Plot{
			Window: chart.Window{Left: -0.05, Right: 1.05, Low: 79.5, High: 100.5}, X: "temperature", Y: "prompts refused, %",
			XTicks: p.Temperatures, YTicks: chart.Ticks(5, 79.5, 100.5),
		}
		p.temperatureLines(g.Draw(draw.Crop(c, 0, -90, 10, -8)), g)
	}}
}

// temperatureLines draws a line for each model, named at its end.
func (p Study) temperatureLines(c draw.Canvas, g chart.Plot) {
	x, y := g.Transforms(&c)
	for i, row := range p.Temperature {
		k := chart.Series[i%len(chart.Series)]
		var line []vg.Point
		for j, rate := range row.Rates {
			at := vg.Point{X: x(p.Temperatures[j]), Y: y(rate)}
			line = append(line, at)
			lo, hi := stats.Wilson(int(math.Round(rate*paper.HardOlder/100)), paper.HardOlder, 0.95)
			c.StrokeLine2(draw.LineStyle{Color: k, Width: 0.9}, at.X, y(100*lo), at.X, y(100*hi))
		}
		c.StrokeLines(draw.LineStyle{Color: k, Width: 1.6}, line)
		for j, at := range line {
			chart.DrawMark(&c, chart.Marks[i%len(chart.Marks)], k, chart.MarkRadius, at)
			sty := chart.TextStyle(8, false, chart.Foreground)
			c.FillText(sty, vg.Point{X: at.X + 6, Y: at.Y + 3}, table.PerCent(row.Rates[j]))
		}
		name := chart.TextStyle(9, true, chart.Foreground)
		name.YAlign = draw.YCenter
		c.FillText(name, vg.Point{X: c.Max.X + 6, Y: line[len(line)-1].Y}, row.Model)
	}
}
