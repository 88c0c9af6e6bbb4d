package report

import (
	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/report/tradeoff"
	"github.com/orbench/orbench/internal/score"
)

// plots are all plots of a report, each in a file under its name. They show a result as one
// judge sees it, and report false if there is nothing to draw.
var plots = []struct {
	name string
	draw func(r score.Result, judge string) (chart.Figure, bool)
}{{"tradeoff", tradeoff.Plot}, {"tradeoff-own", tradeoff.Own}, {"categories", categoryPlot}}
