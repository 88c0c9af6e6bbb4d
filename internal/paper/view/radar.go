package view

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// The models of the paper's figures 3 and 8, in the order of their panels.
var (
	figure3 = []string{
		"Claude-3-opus", "GPT-3.5-turbo-0301", "Llama-3-70b", "Gemini-1.5-pro",
		"Claude-3.5-sonnet", "GPT-3.5-turbo-0125", "Llama-3.1-70B", "Gemma-2-27b",
	}
	figure8 = []string{
		"Claude-3-haiku", "Claude-3-sonnet", "Claude-3-opus",
		"Qwen-1.5-7B", "Qwen-1.5-32B", "Qwen-1.5-72B",
		"Mistral-small-latest", "Mistral-medium-latest", "Mistral-large-latest",
		"GPT-3.5-turbo-0301", "GPT-3.5-turbo-0613", "GPT-3.5-turbo-0125",
		"Gemini-1.0-pro", "Gemini-1.5-flash", "Gemini-1.5-pro",
	}
)

// radarFigure draws panels in rows of so many columns. The note says where they
// come from.
func radarFigure(title, note string, panels []chart.Radar, columns int) chart.Figure {
	r := chart.Radars{
		Head: chart.Head{Title: title, Lines: []string{
			note, "Per cent by category, rings at 20, 40, 60, 80 and 100; smaller is better for both.",
		}},
		Lines: [2]string{"safe prompts refused", "toxic prompts answered"}, Columns: columns, Panels: panels,
	}
	for _, c := range orbench.PaperCategories {
		r.Axes = append(r.Axes, string(c))
	}
	return r.Figure()
}

// publishedRadars gives the panels of some models.
func publishedRadars(names []string) []chart.Radar {
	hard, toxic := paper.HardRefusal(), paper.ToxicAcceptance()
	var panels []chart.Radar
	for _, name := range names {
		panels = append(panels, chart.Radar{Name: name, Rates: [2][]float64{hard.Rates(name).Rates, toxic.Rates(name).Rates}})
	}
	return panels
}

// ownRadars gives panels of the reader's runs on datasets with the paper's
// categories.
func (p Study) ownRadars() []chart.Radar {
	var panels []chart.Radar
	for _, o := range p.own() {
		r := chart.Radar{Name: untrusted.Shorten(o.Name(), 34)}
		known := 0
		for _, c := range orbench.PaperCategories {
			of := func(s *score.Side, refused bool) float64 {
				if s == nil || s.Judge.ByCategory[c].N == 0 {
					return table.Unknown
				}
				known++
				n := s.Judge.ByCategory[c]
				if !refused {
					n = score.Count{N: n.N, Refused: n.N - n.Refused}
				}
				return 100 * float64(n.Refused) / float64(n.N)
			}
			r.Rates[0] = append(r.Rates[0], of(o.Safe, true))
			r.Rates[1] = append(r.Rates[1], of(o.Toxic, false))
		}
		if known > 0 {
			panels = append(panels, r)
		}
	}
	return panels
}
