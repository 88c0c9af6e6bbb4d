package evaluate

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/table"
)

// pricedPlan is a plan with the most that it can cost.
type pricedPlan struct {
	Plan
	// MaxUSD is nil where the price is unknown.
	MaxUSD *float64 `json:"max_usd"`
}

// PrintPlan shows what filling a run would send, the most that it can cost and which
// servers are asked, as JSON for that format and as tables otherwise.
func PrintPlan(w io.Writer, format string, plans []Plan, prices price.Table, asked []provider.Recipient) error {
	var priced []pricedPlan
	for _, p := range plans {
		pp := pricedPlan{Plan: p}
		if tariff, ok := prices.Price(p.Provider, p.Model); ok {
			usd := tariff.Cost(p.Usage())
			pp.MaxUSD = &usd
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
	fmt.Fprintln(t, "model\trole\tcalls\talready answered\tinput tokens\toutput tokens\tcost")
	for _, p := range priced {
		cost := "unknown"
		if p.MaxUSD != nil {
			cost = fmt.Sprintf("at most $%.4f", *p.MaxUSD)
		}
		fmt.Fprintf(t, "%s/%s\t%s\t%d\t%d\tabout %d\tat most %d\t%s\n",
			p.Provider, p.Model, p.Role, p.Calls, p.FromMemo, p.InputTokens, p.MaxOutputTokens, cost)
	}
	return t.Flush()
}
