package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/report/tradeoff"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

//go:embed page.html
var pageTemplate string

// reportPage is the data that page.html shows.
type reportPage struct {
	page.Frame
	// Sentence is read first; see lead.
	Heading, Sentence, Cost, Source, Comparability string
	// Example is a safe prompt that was refused, with its title and where refusals concentrate.
	Example               *score.Example
	Refused, Concentrated string
	// Linked says that counts open the answers that they count, and AllAnswers is the
	// address of all of them.
	Linked     bool
	AllAnswers string
	Warnings   []string
	// Made says how each run was made.
	Made []table.Section
	// Differ lists the settings in which runs differ.
	Differ table.Section
	// Next says what is not known and how much work would tell, and Lines what the figures
	// rest on: the judges' errors, clusters, few labels.
	Next, Lines []string
	// Account says what became of every prompt.
	Account string
	// First are the rates by people's labels or the first judge, and Others those by each of
	// the other judges.
	First  pageMatrix
	Others []pageMatrix
	// Plot is the trade-off by the first judge, empty if there is none, and Categories the
	// plots of categories.
	Plot       template.HTML
	Categories []pagePlot
	Tables     []laidOut
	// Head says which runs these are, when they were made and by which version.
	Head string
	// Files are those beside the page.
	Files []string
}

// pageMatrix is the first table of a page.
type pageMatrix struct {
	laidOut
	// Judge is the one whose rates these are. Differs is how many of the answers that it and
	// the first judge judged they class differently, Of how many there are, and Differing the
	// address of these.
	Judge       string
	Differs, Of int
	Differing   string
	of          *Page
}

// Starred reports whether a star marks rates by people's labels.
func (m pageMatrix) Starred() bool { return strings.HasSuffix(m.Title, byPeople) }

// pageRate is a rate of a pageMatrix. Its ends are in per cent.
type pageRate struct {
	Side, Head, Rate, Range, Rank, By, Checked string
	// Refused of Judged answers are refusals, and the others their addresses.
	Refused, Judged               int
	RefusedAddress, JudgedAddress string
	// Without says what became of the prompts that Judged does not count.
	Without               string
	Low, High, Lo, Hi, At float64
}

// mostRows is the most rows of a table on a page.
const mostRows = maxCategories + 1

// pagePlot is a plot with the name that orbench report knows it by.
type pagePlot struct {
	Name, Title string
	Picture     template.HTML
}

// Page is the report of a result as a page.
type Page struct {
	Result score.Result
	Frame  page.Frame
	// Opens gives the address of the answers that a query chooses, of which a count on the
	// page is the number. Without it, the page has no links to answers.
	Opens func(page.Query) string
	// Files are the names of those beside the page, which it links to.
	Files []string
}

// opens is the address of answers, empty without links.
func (of Page) opens(q page.Query) string {
	if of.Opens == nil {
		return ""
	}
	return of.Opens(q)
}

// Write writes the page.
func (of Page) Write(w io.Writer) error {
	r := of.Result
	words := score.Words(r.Runs, r.Judges()...)
	t, err := page.Parse("page", pageTemplate, template.FuncMap{"word": words.Of})
	if err != nil {
		return err
	}
	p := reportPage{
		Frame: of.Frame, Linked: of.Opens != nil, AllAnswers: of.opens(page.Query{}), Head: headOf(r), Files: of.Files,
		Cost: cmp.Or(r.Provenance.Spent(), costLine(r, false)), Source: paper.Source,
		Warnings: View{Result: r}.Warnings(), Differ: provenance.Section(r.SettingsThatDiffer),
		Made: r.Provenance.Sections(), Account: accountLine(r),
	}
	p.Lines = slices.DeleteFunc(append(judgeErrorLines(r), intervalNote(r), fewLabelsNote(r)), func(line string) bool { return line == "" })
	next, _ := remarks(r)
	p.Next = slices.DeleteFunc(append(append(disputeLines(r), next...), notApart(r)), func(line string) bool { return line == "" || line == p.Account || slices.Contains(p.Lines, line) })
	p.Simulated = r.Simulated
	p.Heading = words.Of("Over-refusal report")
	p.Title = cmp.Or(p.Title, p.Heading)
	p.Sentence = lead(r, words)
	if !p.Redacted {
		p.Example, p.Refused, p.Concentrated = exampleOf(r)
	}
	p.First = pageMatrix{laidOut: matrix(r, false, false), of: &of}
	for i, judge := range r.Judges() {
		if i > 0 {
			p.Others = append(p.Others, of.byJudge(judge))
			continue
		}
		if tradeoff.Beside(r, judge) {
			p.Comparability = tradeoff.Comparability
		}
		if err := of.draw(&p, judge); err != nil {
			return err
		}
	}
	// Tables by the other judges would double the page.
	judges := r.Judges()
	first, _ := Choice{Judges: judges[:min(1, len(judges))]}.Of(r)
	for _, t := range append(tablesOf(first), tablesOf(r, "agreement")...) {
		if more := len(t.Rows) - mostRows; more > 0 {
			t.Rows, t.Note = t.Rows[:mostRows], strings.TrimSpace(t.Note+" "+strings.Join([]string{table.Count(more), "more rows: orbench report", "--table", t.name + "."}, " "))
		}
		t.opens = of.opens
		p.Tables = append(p.Tables, t)
	}
	return t.Execute(w, p)
}

// byJudge are the rates by one of the other judges.
func (of *Page) byJudge(judge string) pageMatrix {
	r, m := of.Result, pageMatrix{Judge: judge, of: &Page{}, laidOut: ratesBy(of.Result, judge)}
	for f := range figure.Of(r.All(), figure.Agreement) {
		if first := r.Judges()[0]; f.Judge == first && f.Other == judge || f.Judge == judge && f.Other == first {
			m.Differs, m.Of = m.Differs+f.N-int(f.Count()), m.Of+f.N
		}
	}
	if len(r.Judges()) == 2 {
		m.Differing = of.opens(page.Query{}.With("split", "yes"))
	}
	return m
}

// Short is the name of the target of a row, shortened if it is long.
func (m pageMatrix) Short(y int) string {
	return table.Short(table.RowsOf(m.Rows, func(row []string) string { return row[0] }), longName)[m.Rows[y][0]]
}

// longName is the most letters of a target's name in the first table.
const longName = 36

// Rates are the cells of a row.
func (m pageMatrix) Rates(y int) (all []pageRate) {
	for x := m.Left; x < len(m.Header); x++ {
		rate := pageRate{Head: m.Header[x]}
		if f := m.at[y][x]; f != nil && m.Header[x] == rankHead {
			rate.Rank = m.Rows[y][x]
		} else if f != nil {
			rate = m.of.rate(f)
			rate.Head = m.Header[x]
		}
		all = append(all, rate)
	}
	return all
}

// rate is a rate of the matrix as a cell of the page.
func (of *Page) rate(f *figure.Figure) pageRate {
	p := pageRate{Side: string(f.Label), Rate: value(f), Range: rangeOf(f), Checked: f.Basis.String(), Refused: int(f.Count()), Judged: f.N}
	if f.Judge == "" {
		p.By = "by " + table.Counted(f.Labels, "label", "labels")
	} else {
		q := answersOf(f.Keys)
		p.RefusedAddress, p.JudgedAddress = of.opens(q.With("verdict", "refused")), of.opens(q.With("verdict", "judged"))
	}
	var without []string
	for _, w := range []struct{ why, what string }{{"served_by_other", "answered by another model"}, {"unanswered", "unanswered"}, {"failed", "failed"}, {"unjudged", "unjudged"}} {
		if n := f.Missing[w.why]; n > 0 {
			without = append(without, table.Count(n)+" "+w.what)
		}
	}
	p.Without = strings.Join(without, ", ")
	if e := f.Sampled(); e != nil {
		p.Lo, p.Hi, p.At, p.Low, p.High = 100*e.Lo, 100*e.Hi, 100*e.Value, 100*e.Lo, 100*e.Hi
	}
	if r := f.Range; r != nil {
		p.Low, p.High = 100*r.Lo, 100*r.Hi
	}
	return p
}

// draw adds the plots as a judge sees the result. One that is in a file beside the page is not
// drawn again, but for the trade-off, whose points lead to their answers.
func (of *Page) draw(to *reportPage, judge string) error {
	for _, p := range plots(of.Result, judge) {
		if p.name == wideTradeOff {
			continue
		}
		about := p.figure.Title + ", by judge " + judge + "; the tables give the same figures"
		file := p.name + ".svg"
		if p.name != tradeOff && slices.Contains(of.Files, file) {
			picture := fmt.Sprintf(`<img loading="lazy" src="%s" alt="%s">`, template.HTMLEscapeString(file), template.HTMLEscapeString(about))
			to.Categories = append(to.Categories, pagePlot{p.name, p.figure.Title, template.HTML(picture)})
			continue
		}
		if of.Opens != nil {
			p.figure.Opens = of.points(of.Result, judge)
		}
		svg, err := p.figure.InlineSVG(about)
		if err != nil {
			return fmt.Errorf("draw for the page: %w", err)
		}
		// The drawing library escapes every text that it writes.
		if picture := template.HTML(svg); p.name == tradeOff {
			to.Plot = picture
		} else {
			to.Categories = append(to.Categories, pagePlot{p.name, p.figure.Title, picture})
		}
	}
	return nil
}

// headOf says which runs a result is of, when they were made and by which version; empty
// if that is not known.
func headOf(r score.Result) string {
	if r.Provenance == nil {
		return ""
	}
	head := "orbench " + r.Provenance.Program + " · "
	if runs := r.Provenance.Runs; len(runs) == 1 {
		head += runs[0].Run + ": "
	}
	return head + agesOf(r, time.UTC)
}
