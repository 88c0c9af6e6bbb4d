package report

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/stats"
)

// temperatureFigure draws table 4.
func (p Paper) temperatureFigure() figure {
	h := head{title: "Table 4: refusal of the hard set by temperature", lines: []string{
		p.Source + ". One run each; the axis does not begin at 0.",
		"Whiskers: 95% Wilson intervals of " + count(paper.HardOlder) + " prompts. On the same prompts two temperatures differ by less.",
	}}
	return figure{width: 680, height: 330, draw: func(c draw.Canvas) {
		c.FillPolygon(paperInk, rect(c.Min.X, c.Min.Y, c.Max.X, c.Max.Y))
		c = draw.Crop(c, 14, -14, 0, 0)
		c = h.draw(c)
		g := plotOf(window{-0.05, 1.05, 79.5, 100.5}, "temperature", "prompts refused, %")
		g.Y.Tick.Marker = wholeTicks(5)
		g.X.Tick.Marker = temperatureTicks(p.Temperatures)
		g.Add(newGrid(), temperatureLines{p.Temperatures, p.Temperature})
		g.Draw(draw.Crop(c, 0, -90, 10, -8))
	}}
}

// temperatureTicks puts a tick at each temperature.
type temperatureTicks []float64

// Ticks implements plot.Ticker.
func (t temperatureTicks) Ticks(_, _ float64) []plot.Tick {
	var ticks []plot.Tick
	for _, v := range t {
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', 2, 64)})
	}
	return ticks
}

// temperatureLines draws a line for each model, named at its end.
type temperatureLines struct {
	temperatures []float64
	rows         []paper.TemperatureRow
}

// Plot implements plot.Plotter.
func (l temperatureLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, row := range l.rows {
		k := series[i%len(series)]
		var line []vg.Point
		for j, rate := range row.Rates {
			at := vg.Point{X: x(l.temperatures[j]), Y: y(rate)}
			line = append(line, at)
			lo, hi := stats.Wilson(int(math.Round(rate*paper.HardOlder/100)), paper.HardOlder, 0.95)
			c.StrokeLine2(draw.LineStyle{Color: k, Width: 0.9}, at.X, y(100*lo), at.X, y(100*hi))
		}
		c.StrokeLines(draw.LineStyle{Color: k, Width: 1.6}, line)
		for j, at := range line {
			drawMark(&c, marks[i%len(marks)], k, markRadius, at)
			sty := textStyle(8, false, textInk)
			c.FillText(sty, vg.Point{X: at.X + 6, Y: at.Y + 3}, printedRate(row.Rates[j]))
		}
		name := textStyle(9, true, textInk)
		name.YAlign = draw.YCenter
		c.FillText(name, vg.Point{X: c.Max.X + 6, Y: line[len(line)-1].Y}, row.Model)
	}
}
