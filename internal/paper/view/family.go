package view

import (
	"slices"

	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/paper"
)

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
