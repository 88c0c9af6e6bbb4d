package paper

import (
	"reflect"

	"github.com/orbench/orbench/internal/table"
)

// Data returns the study in the form of docs/paper.md.
func (p Study) Data() any { return p }

// Document returns what people read. On a brief screen it is how the two rates
// are related.
func (p Study) Document() table.Document {
	d := table.Document{Title: "The published study"}
	d.Add(table.Paragraph(p.Source))
	d.Add(p.correlationSection())
	d.Details(p.sections()...)
	d.AddTo(table.OnFull|table.InMarkdown, table.Paragraph("Where the publication does not agree with itself:"))
	for _, c := range p.Contradictions {
		d.AddTo(table.OnFull|table.InMarkdown, table.Note{Mark: "- ", Text: c.Where + ". Printed: " + c.Printed + ". Found: " + c.Found + "."})
	}
	return d
}

// row is one figure of the study, a line of CSV.
type row struct {
	Section, Subject, Measure string
	Value                     float64
	CI95                      *[2]float64
	CI95Families              *[2]float64
}

// Rows returns every figure of the study: its section, its subject (a model, a
// part of the models, a category), its measure, its value and the ends of its
// 95% interval. Correlations also have the ends of the interval by families.
// Rates are in per cent.
func (p Study) Rows() any {
	var rows []row
	plain := func(section, subject, measure string, v float64) {
		rows = append(rows, row{Section: section, Subject: subject, Measure: measure, Value: v})
	}
	// numbers adds each number of a struct under its JSON name.
	numbers := func(section, subject string, of any) {
		v := reflect.ValueOf(of)
		for i := range v.NumField() {
			measure := v.Type().Field(i).Tag.Get("json")
			switch n := v.Field(i); {
			case n.CanInt():
				plain(section, subject, measure, float64(n.Int()))
			case n.CanFloat():
				plain(section, subject, measure, n.Float())
			}
		}
	}
	// list adds the numbers of each of some structs, whose first field is the subject.
	list := func(section string, all any) {
		for i := range reflect.ValueOf(all).Len() {
			of := reflect.ValueOf(all).Index(i)
			numbers(section, of.Field(0).String(), of.Interface())
		}
	}
	list("models", p.Models)
	for _, c := range p.Correlations {
		plain("correlations", c.Name, "n", float64(c.N))
		for _, m := range []struct {
			name string
			Measured
		}{{"spearman", c.Spearman}, {"pearson", c.Pearson}, {"kendall", c.Kendall}} {
			rows = append(rows, row{"correlations", c.Name, m.name, m.Value, m.CI95, m.CI95Families})
		}
	}
	numbers("fit", "all", p.Fit)
	for _, t := range p.Tables {
		for _, r := range t.Rows {
			for i, column := range t.Columns {
				plain(t.Name, r.Name, column, r.Values[i])
			}
		}
	}
	list("families", p.Families)
	rows = append(rows, row{AdvBench, "all", "spearman", p.AdvBenchSpearman.Value, p.AdvBenchSpearman.CI95, nil})
	for _, m := range p.Moderators {
		numbers("moderators", m.Name, m.Confusion)
	}
	rows = append(rows, row{"residual_toxicity", "ensemble", "pct", p.Residual.Value, p.Residual.CI95, nil})
	return rows
}
