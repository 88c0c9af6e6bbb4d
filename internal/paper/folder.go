package paper

import (
	"errors"
	"io"

	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/table"
)

// Write makes dir and writes the study into it: the trade-off plot as SVG and
// PNG, and the figures as JSON, CSV and Markdown. Either the whole folder is
// written or nothing. Write returns an *orbench.InputError if dir already
// exists and is not empty, or cannot be made.
func (p Study) Write(dir string) error {
	out, err := folder.Create(dir, folder.Subject{})
	if err != nil {
		return err
	}
	plot := p.scatterFigure()
	for name, write := range map[string]func(io.Writer) error{
		"paper.json": table.AsJSON.Of(p), "paper.csv": table.AsCSV.Of(p), "paper.md": table.AsMarkdown.Of(p),
		"tradeoff.svg": plot.SVG, "tradeoff.png": plot.PNG,
	} {
		if _, err := out.Write(name, write); err != nil {
			return errors.Join(err, out.Discard())
		}
	}
	return out.Finish()
}
