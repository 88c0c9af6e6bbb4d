package view

import "github.com/orbench/orbench/internal/chart"

// look is how the plot draws a family.
type look struct {
	color chart.Color
	mark  chart.Mark
}

// looks is by paper.Family.Name. Each family has its own mark and color.
var looks = map[string]look{
	"claude":  {chart.Series[1], chart.Circle},
	"gemini":  {chart.Series[0], chart.Square},
	"gpt-3.5": {chart.Series[2], chart.Triangle},
	"gpt-4":   {chart.Series[6], chart.Diamond},
	"llama-2": {chart.Series[5], chart.TriangleDown},
	"llama-3": {chart.Series[3], chart.Star},
	"mistral": {chart.DarkGray, chart.Plus},
	"qwen":    {chart.Series[4], chart.Cross},
}
