package view

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"

	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/table"
)

// PageFile is the page of a folder that Study.Write makes.
const PageFile = "paper.html"

//go:embed paper.html
var paperPage string

// paperPlot is a figure with the name of its files and what it shows.
type paperPlot struct {
	name, title string
	figure      chart.Figure
}

// plots gives the figures in the order of the page.
func (p Study) plots() []paperPlot {
	source := p.Source + ". Judge: " + p.Judge + "."
	all := []paperPlot{
		{"tradeoff", "Over-refusal and toxic refusal of the published models", p.scatterFigure()},
		{"radars", "Refusal by category of eight models", radarFigure("Figure 3: eight models by category", source, publishedRadars(figure3), 4)},
		{"radars-more", "Refusal by category of fifteen models", radarFigure("Figure 8: fifteen models by category", source, publishedRadars(figure8), 3)},
		{"80k-against-hard", "Refusal of the 80K set and of the hard set", p.againstFigure()},
		{"category-pies", "Categories of the three sets", p.pieFigure()},
		{"categories", "Categories of the three sets side by side", p.shareFigure()},
		{"families", "Mean refusal of the hard set by family", p.familyFigure()},
		{"temperature", "Refusal of the hard set by temperature", p.temperatureFigure()},
		{"keyword-against-gpt4", "Refusal by opening words and by GPT-4", p.keywordFigure()},
		{"advbench", "Toxic prompts answered, of AdvBench and of OR-Bench-Toxic", p.advBenchFigure()},
		{"moderators", "Moderators and people on 100 prompts", p.moderatorFigure()},
	}
	if own := p.ownRadars(); len(own) > 0 {
		title := "Your runs by category"
		if p.Own.Simulated {
			title += " (SIMULATED)"
		}
		all = append(all, paperPlot{"radars-own", title, radarFigure(title, "Your judges, your prompts.", own, 4)})
	}
	return all
}

// Write makes dir and writes the study into it: a page, every plot as SVG, PNG
// and PDF, the figures as JSON, CSV and Markdown, and how the reader's own runs were
// made. The folder is there as a
// whole or not at all. Write returns an *orbench.InputError when dir is there
// already and holds anything, or cannot be made.
func (p Study) Write(dir string) error {
	out, err := folder.Create(dir, folder.Subject{})
	if err != nil {
		return err
	}
	files := map[string]func(io.Writer) error{
		PageFile: p.page, "paper.json": table.AsJSON.Of(p), "paper.csv": table.AsCSV.Of(p), "paper.md": table.AsMarkdown.Of(p),
	}
	if p.Own.Provenance != nil {
		files[report.ProvenanceFile] = p.Own.Provenance.JSON
	}
	for _, plot := range p.plots() {
		files[plot.name+".svg"], files[plot.name+".png"], files[plot.name+".pdf"] = plot.figure.SVG, plot.figure.PNG, plot.figure.PDF
	}
	for name, write := range files {
		if _, err := out.Write(name, write); err != nil {
			return errors.Join(err, out.Discard())
		}
	}
	return out.Finish()
}

// page writes the page.
func (p Study) page(w io.Writer) error {
	type plot struct {
		Name, Title string
		// Width is in points.
		Width float64
		SVG   template.HTML
	}
	data := struct {
		Source, Notice, Contradicts string
		Simulated, Own              bool
		Style                       template.CSS
		Plots                       []plot
		Tables                      []table.Section
		Contradictions              []paper.Contradiction
	}{
		Source: p.Source, Notice: table.SimulatedNotice, Contradicts: contradictionsTitle,
		Simulated: p.Own.Simulated, Own: len(p.Own.Runs) > 0,
		Style: template.CSS(report.Style + ".plot svg { max-width: 100% }\n" + familyStyle()), Contradictions: p.Contradictions,
	}
	for _, f := range p.plots() {
		svg, err := f.figure.InlineSVG(f.title + "; the tables give the same figures")
		if err != nil {
			return fmt.Errorf("draw %s: %w", f.name, err)
		}
		// The drawing library escapes every text that it writes.
		data.Plots = append(data.Plots, plot{f.name, f.title, f.figure.Width.Points(), template.HTML(withFamilies(svg))})
	}
	data.Tables = append(data.Tables, p.sections()...)
	t, err := template.New("paper").Parse(paperPage)
	if err != nil {
		return err
	}
	return t.Execute(w, data)
}
