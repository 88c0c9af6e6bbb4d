package job

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
	// ExpectedUSD is the range of what the calls are expected to cost, nil where the price
	// is unknown or nothing is expected.
	ExpectedUSD *[2]float64 `json:"expected_usd,omitempty"`
}

// expected says what the calls are expected to cost, or where that is nothing, or not
// known, to be answered with, and by how many remembered replies.
func (p pricedPlan) expected() string {
	if p.Expected == nil || p.Calls == 0 {
		return "–"
	}
	what := fmt.Sprintf("%s to %s tokens", table.Count(p.Expected.OutputTokens[0]), table.Count(p.Expected.OutputTokens[1]))
	if p.ExpectedUSD != nil && p.ExpectedUSD[1] > 0 {
		what = fmt.Sprintf("$%.4f to $%.4f", p.ExpectedUSD[0], p.ExpectedUSD[1])
	}
	if p.Expected.Replies == 0 {
		return what + ", a guess"
	}
	return fmt.Sprintf("%s, by %s replies", what, table.Count(p.Expected.Replies))
}

// priced gives plans their prices.
func priced(plans []Plan, prices price.Table) []pricedPlan {
	var all []pricedPlan
	for _, p := range plans {
		pp := pricedPlan{Plan: p}
		if tariff, ok := prices.Price(p.Provider, p.Model); ok {
			usd := tariff.Cost(p.Usage())
			pp.MaxUSD = &usd
			if p.Expected != nil {
				expected := p.usd(tariff)
				pp.ExpectedUSD = &expected
			}
		}
		all = append(all, pp)
	}
	return all
}

// Planned is what filling would send, to be shown.
type Planned struct {
	Plans []Plan
	// Least is what a run that ends by itself asks at the least, nil for any other.
	Least  []Plan
	Prices price.Table
	// Precision says how narrow the figures will be, with a line break after each line;
	// empty where that is not known.
	Precision string
	// Asked are the servers.
	Asked []provider.Recipient
	// Spent is what was spent on the run before, for JSON; nil where that bounds nothing.
	Spent any
}

// Print shows what would be sent, the most that it can cost and which servers are asked, as
// JSON for that format and as tables otherwise.
func (p Planned) Print(w io.Writer, format string) error {
	most := priced(p.Plans, p.Prices)
	if format == "json" {
		return table.JSON(w, struct {
			Plan      []pricedPlan         `json:"plan"`
			LeastPlan []pricedPlan         `json:"least_plan,omitempty"`
			Providers []provider.Recipient `json:"providers,omitempty"`
			Spent     any                  `json:"spent,omitempty"`
		}{most, priced(p.Least, p.Prices), p.Asked, p.Spent})
	}
	if _, err := fmt.Fprintf(w, "%s\n%s\n", headline(p.Plans, p.Prices), p.Precision); err != nil {
		return err
	}
	if err := provider.PrintRecipients(w, p.Asked); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "model\trole\tcalls\talready answered\tinput tokens\toutput tokens\tcost\texpected")
	for _, p := range most {
		cost := "unknown"
		if p.MaxUSD != nil {
			cost = fmt.Sprintf("at most $%.4f", *p.MaxUSD)
		}
		fmt.Fprintf(t, "%s/%s\t%s\t%d\t%d\tabout %d\tat most %d\t%s\t%s\n",
			p.Provider, p.Model, p.Role, p.Calls, p.FromMemo, p.InputTokens, p.MaxOutputTokens, cost, p.expected())
	}
	if err := t.Flush(); err != nil || p.Least == nil {
		return err
	}
	_, err := fmt.Fprintf(w, "Ends by itself once the rates are known: after %s calls at the least, %s at the most, which the table is of\n", table.Count(TotalCalls(p.Least)), table.Count(TotalCalls(p.Plans)))
	return err
}
