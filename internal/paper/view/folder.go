package view

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"

	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/table"
)

// PageFile is the name of the page in a folder that Study.Write makes.
const PageFile = "paper.html"

//go:embed paper.html
var paperPage string

// plotName is the name of the files of the trade-off plot. plotTitle says what
// it shows.
const (
	plotName  = "tradeoff"
	plotTitle = "Over-refusal and toxic refusal of the published models"
)

// Write makes dir and writes the study into it: a page, the trade-off plot as
// SVG and PNG, the figures as JSON, CSV and Markdown, and how the reader's own
// runs were made. Either the whole folder is written or nothing. Write returns
// an *orbench.InputError if dir already exists and is not empty, or cannot be
// made.
func (p Study) Write(dir string) error {
	out, err := folder.Create(dir, folder.Subject{})
	if err != nil {
		return err
	}
	plot := p.scatterFigure()
	files := map[string]func(io.Writer) error{
		PageFile: p.page, "paper.json": table.AsJSON.Of(p), "paper.csv": table.AsCSV.Of(p), "paper.md": table.AsMarkdown.Of(p),
		plotName + ".svg": plot.SVG, plotName + ".png": plot.PNG,
	}
	if p.Own.Provenance != nil {
		files[report.ProvenanceFile] = p.Own.Provenance.JSON
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
	figure := p.scatterFigure()
	svg, err := figure.InlineSVG(plotTitle + "; the tables give the same figures")
	if err != nil {
		return fmt.Errorf("draw %s: %w", plotName, err)
	}
	data := struct {
		Study
		Notice, Contradicts string
		PlotName, PlotTitle string
		// PlotWidth is in points.
		PlotWidth float64
		// Plot is safe, since the drawing library escapes every text that it writes.
		Plot     template.HTML
		Style    template.CSS
		Sections []table.Section
	}{
		Study: p, Notice: table.SimulatedNotice, Contradicts: contradictionsTitle,
		PlotName: plotName, PlotTitle: plotTitle, PlotWidth: figure.Width.Points(), Plot: template.HTML(svg),
		Style: template.CSS(page.Style + ".plot svg { max-width: 100% }\n"), Sections: p.sections(),
	}
	t, err := template.New("paper").Parse(paperPage)
	if err != nil {
		return err
	}
	return t.Execute(w, data)
}
