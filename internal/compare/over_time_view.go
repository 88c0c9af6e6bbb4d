package compare

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/table"
)

// Series is the nights of a model with one label, dataset and judge.
type Series struct {
	Dataset string        `json:"dataset"`
	Label   orbench.Label `json:"label"`
	Judge   string        `json:"judge"`
	// SamePrompts is true if each night asks the same prompts.
	SamePrompts bool    `json:"same_prompts" csv:"-"`
	Nights      []Night `json:"nights" csv:"-"`
	asked       string
}

// OverTime is a model over time.
type OverTime struct {
	Model     string   `json:"model"`
	Simulated bool     `json:"simulated"`
	Series    []Series `json:"series"`
	// LeftOut are the runs of the model that are no nights.
	LeftOut []LeftOut `json:"left_out,omitempty"`
}

// LeftOut is a run whose rate is not compared with the others, and why.
type LeftOut struct {
	Run   string        `json:"run"`
	Label orbench.Label `json:"label"`
	Judge string        `json:"judge"`
	Why   string        `json:"why"`
}

// String says which run is left out, and why.
func (l LeftOut) String() string {
	return fmt.Sprintf("Left out: %s, %s prompts by %s: %s.", l.Run, l.Label, l.Judge, l.Why)
}

// Add puts a night into its series. asked identifies the prompts of the night.
func (r *OverTime) Add(of Series, asked string, n Night) {
	of.SamePrompts, of.asked = len(n.Shares) > 0, asked
	s := table.Entry(&r.Series, of, func(s Series) bool { return s.Dataset == of.Dataset && s.Label == of.Label && s.Judge == of.Judge })
	s.SamePrompts = s.SamePrompts && s.asked == asked
	s.Nights = append(s.Nights, n)
}

// Watch orders the nights and looks for changes. It reports whether the last night of a
// series raises an alarm.
func (r *OverTime) Watch() (alarm bool) {
	for _, s := range r.Series {
		slices.SortFunc(s.Nights, func(a, b Night) int { return a.Date.Compare(b.Date) })
		Watch(s.Nights, s.SamePrompts, len(r.Series))
		alarm = alarm || s.Nights[len(s.Nights)-1].Alarm
	}
	return alarm
}

// Title names the series.
func (s Series) Title() string {
	return fmt.Sprintf("%s prompts of %s, judged by %s", s.Label, s.Dataset, s.Judge)
}

// Said says in a sentence what the last night tells.
func (s Series) Said() string {
	last := s.Nights[len(s.Nights)-1]
	switch {
	case last.Alarm:
		return fmt.Sprintf("Alarm: over the last nights the rate is %s points from the mean of the baseline.", table.Signed(100*last.Of, table.Hyphen))
	case last.Change == nil:
		return fmt.Sprintf("No alarm yet: a baseline takes %d nights and one more; these are %d.", FewestNights, len(s.Nights))
	}
	return fmt.Sprintf("No alarm: the last night is %s points (%s to %s) from the mean of the baseline.", table.Signed(100**last.Change, table.Hyphen), table.Signed(100*last.CI95[0], table.Hyphen), table.Signed(100*last.CI95[1], table.Hyphen))
}

// section is the table of the last nights, or of all.
func (s Series) section(nights []Night) table.Section {
	t := table.Section{Title: s.Title(), Header: []string{"night", "run", "refused", "rate", "change", "95% interval", "alarm"}, Left: 2, WrapNames: true}
	for _, n := range nights {
		change, interval, alarm := "–", "–", ""
		if n.Change != nil {
			change, interval = table.Signed(100**n.Change, table.Hyphen), table.Signed(100*n.CI95[0], table.Hyphen)+" to "+table.Signed(100*n.CI95[1], table.Hyphen)
		}
		if n.Alarm {
			alarm = table.Signed(100*n.Of, table.Hyphen)
		}
		t.Add(n.Date.Format(time.DateOnly), n.Name, fmt.Sprintf("%d/%d", n.Refused, n.N), table.Percent(n.Rate), change, interval, alarm)
	}
	return t
}

// Document returns what people read: what the last night tells, and the last week; all nights
// in full.
func (r OverTime) Document() table.Document {
	d := table.Document{Title: r.Model + " over time", Simulated: r.Simulated}
	for _, s := range r.Series {
		d.AddTo(table.OnBrief, s.section(s.Nights[max(0, len(s.Nights)-7):]))
		d.AddTo(table.OnFull|table.InMarkdown, s.section(s.Nights))
		d.Add(table.Line(s.Said()))
		if !s.SamePrompts {
			d.Add(table.Warning(fmt.Sprintf("The nights asked different prompts, so %d nights are looked at together; with the same prompts each night, %d would do.", Window(false), Window(true))))
		}
	}
	for _, l := range r.LeftOut {
		d.Add(table.Warning(l.String()))
	}
	d.Add(table.Line("Changes are points from the mean of all earlier nights without alarm. The judge's error is shared by all nights."))
	return d
}

// Data returns the report in its documented form.
func (r OverTime) Data() any { return r }

// Rows has a row for each night.
func (r OverTime) Rows() any {
	type row struct {
		Series
		Night
	}
	var rows []row
	for _, s := range r.Series {
		for _, n := range s.Nights {
			rows = append(rows, row{s, n})
		}
	}
	return rows
}

// figure draws the rate of each night. Nights with an alarm are marked.
func (s Series) figure() chart.Figure {
	top := 0.0
	for _, n := range s.Nights {
		top = max(top, 100*n.Rate)
	}
	w := chart.Window{Left: 0, Right: float64(len(s.Nights) + 1), Low: 0, High: min(100, 1.3*top+1)}
	step := 10.0
	if w.High <= 20 {
		step = 2
	}
	plot := chart.Plot{Window: w, X: "nights", Y: "refused, %", YTicks: chart.Ticks(step, 0, w.High)}
	head := chart.Head{Title: s.Title(), Lines: []string{s.Said(), "Squares: nights with an alarm."}}
	return head.Figure(760, 300, func(c draw.Canvas) {
		area := plot.Draw(draw.Crop(c, 0, -8, 8, 0))
		x, y := plot.Transforms(&area)
		for i, n := range s.Nights {
			at := vg.Point{X: x(float64(i + 1)), Y: y(100 * n.Rate)}
			if n.Alarm {
				chart.DrawMark(&area, chart.Square, chart.Series[1], chart.MarkRadius, at)
			} else {
				chart.DrawMark(&area, chart.Circle, chart.Series[0], 2.5, at)
			}
		}
	})
}

// Picture is the plot for the page.
func (s Series) Picture() (template.HTML, error) {
	svg, err := s.figure().InlineSVG(s.Title())
	return template.HTML(svg), err
}

// Grid is the table of all nights.
func (s Series) Grid() table.Section { return s.section(s.Nights) }

// PageFile is the page of a report's folder.
const PageFile = "over-time.html"

const pageText = `{{template "top" .Frame}}<main><h1>{{.Title}}</h1>
{{range .Series}}<section><h2>{{.Title}}</h2><p>{{.Said}}</p><figure class="plot scroll">{{.Picture}}</figure>
<details><summary>All nights</summary>{{template "grid" .Grid}}</details></section>
{{end}}{{range .LeftOut}}<p class="warning"><bdi>{{.}}</bdi></p>
{{end}}<p class="note">Changes are points from the mean of all earlier nights without alarm. The judge's error is shared by all nights.</p>
</main>{{template "bottom" .Frame}}`

// Write writes the page and the figures as JSON into a new folder.
func (r OverTime) Write(dir string) error {
	p := struct {
		page.Frame
		Series  []Series
		LeftOut []LeftOut
	}{page.File(r.Model+" over time", page.Style, ""), r.Series, r.LeftOut}
	p.Simulated = r.Simulated
	t, err := page.Parse("over-time", pageText, nil)
	if err != nil {
		return err
	}
	out, err := folder.Create(dir, folder.Subject{})
	if err != nil {
		return err
	}
	_, err = out.Write(PageFile, func(w io.Writer) error { return t.Execute(w, p) })
	if err == nil {
		_, err = out.Write("over-time.json", table.AsJSON.Of(r))
	}
	if err != nil {
		return errors.Join(err, out.Discard())
	}
	return out.Finish()
}
