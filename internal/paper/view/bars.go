package view

import (
	"slices"

	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// setColors are those of the 80K, the hard and the toxic set: on white a light, a
// middle and a dark one, which are told apart without their hues too.
var setColors = []chart.Color{chart.LightGray, chart.Series[1], chart.Series[4]}

// againstFigure draws figure 4, and the reader's runs below it.
func (p Study) againstFigure() chart.Figure {
	b := chart.Bars{
		Head: chart.Head{Title: "Refusal of the 80K set and of the hard set", Lines: []string{p.Source + ". Two judges: opening words find fewer refusals than GPT-4."}}, Axis: "prompts refused, %",
		Kinds: []string{"OR-Bench-80K, opening words", "OR-Bench-Hard-1K, GPT-4"}, Colors: setColors, Most: 100, Step: 20,
	}
	own, rows := p.ownAgainst80K()
	if note := ownNote(rows); note != "" {
		b.Lines = append(b.Lines, note+" Whiskers: 95% intervals.")
	}
	// What has neither rate is a line of the table and nothing to draw.
	own = slices.DeleteFunc(own, func(r bothSets) bool { return r.broad == table.Unknown && r.hard == table.Unknown })
	b.Own = len(own)
	for _, r := range append(against80K(), own...) {
		b.Add(r.model, []float64{r.broad, r.hard}, r.broadCI, r.hardCI)
	}
	return b.Figure()
}

// keywordFigure draws table 8, and the reader's runs below it.
func (p Study) keywordFigure() chart.Figure {
	b := chart.Bars{
		Head: chart.Head{Title: "Table 8: refusal by opening words and by GPT-4", Lines: []string{p.Source + ". The sample's size is not published."}}, Axis: "prompts refused, %",
		Kinds: []string{"opening words", "GPT-4"}, Colors: setColors, Most: 100, Step: 20,
	}
	for _, r := range p.Keyword {
		b.Add(r.Model, []float64{r.Keyword, r.GPT4})
	}
	own, rows := p.ownKeywords(), []ownRow(nil)
	for _, r := range own {
		rows = append(rows, r.ownRow)
		b.Add(r.name, []float64{r.keyword, r.other}, r.keywordCI, r.otherCI)
	}
	b.Own = len(own)
	if note := ownNote(rows); note != "" {
		b.Kinds[1] = "GPT-4, or your other judge"
		b.Lines = append(b.Lines, note+" Whiskers: 95% intervals.")
	}
	return b.Figure()
}

// advBenchFigure draws table 5.
func (p Study) advBenchFigure() chart.Figure {
	b := chart.Bars{
		Head: chart.Head{Title: "Table 5: toxic prompts answered", Lines: []string{p.Source + ". Spearman " + measured(p.AdvBenchSpearman) + ": the two sets rank the models alike."}}, Axis: "prompts answered, %",
		Kinds: []string{"AdvBench", "OR-Bench-Toxic"}, Colors: []chart.Color{setColors[0], setColors[2]}, Most: 40, Step: 10,
	}
	for _, r := range p.AdvBench {
		b.Add(r.Model, []float64{r.AdvBench, r.Toxic})
	}
	return b.Figure()
}

// moderatorFigure draws tables 1 and 12.
func (p Study) moderatorFigure() chart.Figure {
	b := chart.Bars{
		Head: chart.Head{Title: "Tables 1 and 12: moderators and people on 100 prompts", Lines: []string{
			p.Source + ". Whiskers: 95% Wilson intervals.",
			"The truth is the majority of the five raters: 75 safe and 25 toxic prompts.",
		}}, Axis: "%",
		Kinds: []string{"safe prompts called safe", "toxic prompts called safe", "accuracy"}, Colors: setColors, Most: 100, Step: 20,
	}
	for _, m := range p.Moderators {
		var values []float64
		var spans []*[2]float64
		for _, n := range moderatorCounts(m) {
			value, span := inPercent(stats.RateOf(n[0], n[1]).Estimate())
			values, spans = append(values, value), append(spans, span)
		}
		b.Add(m.Name, values, spans...)
	}
	return b.Figure()
}

// shareFigure draws figure 7.
func (p Study) shareFigure() chart.Figure {
	b := chart.Bars{
		Head: chart.Head{Title: "Categories of the three sets", Lines: []string{p.Source + ". The hard and the toxic set are the older version, of 1,534 and 681 prompts."}}, Axis: "share of the set, %",
		Kinds: []string{"OR-Bench-80K", "OR-Bench-Hard-1K", "OR-Bench-Toxic"}, Colors: setColors, Most: 40, Step: 10,
	}
	for _, c := range p.Categories {
		b.Add(string(c.Category), []float64{c.Share80K, c.ShareHard, c.ShareToxic})
	}
	return b.Figure()
}

// familyFigure draws the family averages.
func (p Study) familyFigure() chart.Figure {
	b := chart.Bars{
		Head: chart.Head{Title: "Mean refusal of the hard set by family", Lines: []string{
			p.Source + ". Claude 2.1 and 3.5 are in no family of the paper's averages.",
			"Whiskers: one standard deviation of the family's models.",
		}}, Axis: "prompts refused, %",
		Kinds: []string{"mean over the family's models"}, Colors: setColors[1:], Most: 100, Step: 20,
	}
	for _, f := range p.Families {
		b.Add(f.Name, []float64{f.Mean}, &[2]float64{f.Mean - f.Std, f.Mean + f.Std})
	}
	return b.Figure()
}

// pieFigure draws figure 7 as it was published.
func (p Study) pieFigure() chart.Figure {
	pies := []chart.Pie{{Title: "OR-Bench-80K"}, {Title: "OR-Bench-Hard-1K"}, {Title: "OR-Bench-Toxic"}}
	for _, c := range p.Categories {
		for i, share := range []float64{c.Share80K, c.ShareHard, c.ShareToxic} {
			pies[i].Names = append(pies[i].Names, string(c.Category)+" "+table.PerCent(share))
			pies[i].Shares = append(pies[i].Shares, share)
		}
	}
	return chart.Pies(chart.Head{Title: "Figure 7: categories of the three sets, %", Lines: []string{
		p.Source + ". The hard and the toxic set are the older version, of " +
			table.Count(paper.HardOlder) + " and " + table.Count(paper.ToxicOlder) + " prompts.",
	}}, pies)
}
