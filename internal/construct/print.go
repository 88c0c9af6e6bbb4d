package construct

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/orbench/orbench/benchmark"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// Document is what people read.
func (b *Benchmark) Document() table.Document {
	d := table.Document{Title: "Benchmark " + b.Config.Name}
	if b.Simulated {
		const simulated = "SIMULATED: this benchmark was built with simulated models and measures nothing."
		d.AddTo(table.InMarkdown, table.Warning(simulated))
		d.AddTo(table.OnScreen, table.Raw(simulated+"\n"))
	}
	for _, line := range b.Funnel.Lines() {
		d.AddTo(table.InMarkdown, table.Paragraph(line))
		d.AddTo(table.OnScreen, table.Raw(line+"\n"))
	}
	if b.Steering == nil {
		return d
	}
	s := table.Section{Title: "Refused by " + b.Steering.Target, Header: []string{"generation", "prompts", "refused", "rate", "95% interval"}, Left: 1}
	for _, g := range b.Steering.Generations {
		s.Rows = append(s.Rows, []string{
			strconv.Itoa(g.Generation), table.Count(g.Prompts), table.Count(g.Refused), fmt.Sprintf("%.1f%%", 100*g.Rate), fmt.Sprintf("%.1f to %.1f%%", 100*g.Low, 100*g.High),
		})
	}
	d.Sections(s)
	return d
}

// Data is what was built in its documented form.
func (b *Benchmark) Data() any {
	return map[string]any{
		"dir": b.Dir, "simulated": b.Simulated, "funnel": b.Funnel, "worn_out": b.Exhausted, "agreement": b.Quality.Agreement, "steering": b.Steering,
	}
}

// row is a line of CSV.
type row struct {
	Set       benchmark.SetName
	Prompts   int
	Simulated bool
}

// Rows has a row for each set.
func (b *Benchmark) Rows() any {
	var rows []row
	for _, set := range benchmark.SetNames {
		rows = append(rows, row{set, b.Funnel.Selection.Sets[set], b.Simulated})
	}
	return rows
}

// pricedPlan is a plan with what it can be expected to cost.
type pricedPlan struct {
	Plan
	// USD is nil where the price is unknown.
	USD *float64 `json:"usd"`
}

// PrintPlan shows what a build would ask, what that may cost and which servers are
// asked, as JSON for that format and as tables otherwise.
func PrintPlan(w io.Writer, format string, plans []Plan, prices price.Table, asked []provider.Recipient) error {
	var priced []pricedPlan
	total, known := 0.0, true
	for _, p := range plans {
		pp := pricedPlan{Plan: p}
		if tariff, ok := prices.Price(p.Provider, p.Model); ok {
			usd := tariff.Cost(model.Usage{Input: p.InputTokens, Output: p.OutputTokens})
			pp.USD = &usd
			total += usd
		} else {
			known = false
		}
		priced = append(priced, pp)
	}
	if format == "json" {
		return table.JSON(w, struct {
			Plan      []pricedPlan         `json:"plan"`
			Providers []provider.Recipient `json:"providers,omitempty"`
		}{priced, asked})
	}
	if err := provider.PrintRecipients(w, asked); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "stage\tmodel\tcalls\tinput tokens\toutput tokens\tat most\tcost")
	calls := 0
	for _, p := range priced {
		cost := "unknown"
		if p.USD != nil {
			cost = fmt.Sprintf("about $%.2f", *p.USD)
		}
		most := "no bound"
		if p.MaxOutputTokens > 0 {
			most = fmt.Sprint(p.MaxOutputTokens)
		}
		calls += p.Calls
		fmt.Fprintf(t, "%s\t%s/%s\t%d\t%d\t%d\t%s\t%s\n", p.Role, p.Provider, p.Model, p.Calls, p.InputTokens, p.OutputTokens, most, cost)
	}
	more := ""
	if !known {
		more = " and more"
	}
	fmt.Fprintf(t, "together\t\t%d\t\t\t\tabout $%.2f%s\n", calls, total, more)
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "Estimates for an empty store: %.0f%% of the rewrites mended, %.0f%% voted toxic, replies of usual length.\n",
		100*RepairShare, 100*ToxicShare)
	return err
}
