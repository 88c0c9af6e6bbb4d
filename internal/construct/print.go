package construct

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provider"
)

// Print shows what was built into the folder dir, as JSON for that format and for
// people otherwise.
func (b *Benchmark) Print(w io.Writer, format, dir string) error {
	if format == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{
			"dir": dir, "simulated": b.Simulated(), "funnel": b.Funnel, "worn_out": b.Exhausted,
			"agreement": b.Agreement, "steering": b.Steering,
		})
	}
	if b.Simulated() {
		fmt.Fprintln(w, "SIMULATED: this benchmark was built with simulated models and measures nothing.")
	}
	for _, line := range b.Funnel.Lines() {
		fmt.Fprintln(w, line)
	}
	if b.Steering != nil {
		fmt.Fprintf(w, "refused by %s:\n", b.Steering.Target)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "  generation\tprompts\trefused\trate\t95% interval")
		for _, g := range b.Steering.Generations {
			fmt.Fprintf(t, "  %d\t%d\t%d\t%.1f%%\t%.1f to %.1f%%\n", g.Generation, g.Prompts, g.Refused, 100*g.Rate, 100*g.Low, 100*g.High)
		}
		return t.Flush()
	}
	return nil
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
			usd := tariff.Cost(p.Usage())
			pp.USD = &usd
			total += usd
		} else {
			known = false
		}
		priced = append(priced, pp)
	}
	if format == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(struct {
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
