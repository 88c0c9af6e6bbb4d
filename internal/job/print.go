package job

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/table"
)

// expected says what the calls are expected to cost, or where that is nothing, or not
// known, to be answered with, and by how many remembered replies: without any it is a guess.
func (p Plan) expected() string {
	if p.Expected == nil || p.Calls == 0 {
		return "–"
	}
	what := fmt.Sprintf("%s–%s tokens", table.Count(p.Expected.OutputTokens[0]), table.Count(p.Expected.OutputTokens[1]))
	if p.ExpectedUSD != nil && p.ExpectedUSD[1] > 0 {
		what = fmt.Sprintf("$%.4f–%.4f", p.ExpectedUSD[0], p.ExpectedUSD[1])
	}
	if p.Expected.Replies == 0 {
		return what
	}
	return fmt.Sprintf("%s, by %s replies", what, table.Count(p.Expected.Replies))
}

// priced gives plans their prices.
func priced(plans []Plan, prices price.Table) []Plan {
	plans = slices.Clone(plans)
	for i := range plans {
		p := &plans[i]
		if tariff, ok := prices.Price(p.Provider, p.Model); ok {
			p.MaxUSD = new(tariff.Cost(p.Usage()))
			if p.Expected != nil {
				p.ExpectedUSD = new(p.usd(tariff))
			}
		}
	}
	return plans
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
	// Changed has the calls that are asked because a setting is new.
	Changed Changed
	// Asked are the servers.
	Asked []provider.Recipient
	// Spent is what was spent on the run before, for JSON; nil where that bounds nothing.
	Spent any
}

// Changed has, by target, judge or dataset, the settings in which a study differs from a kept run,
// and counts the calls that it makes because of them.
type Changed map[string]*Again

// count counts a call that is lacking.
func (c Changed) count(call *Call) {
	for _, subject := range []string{call.Judge, call.Target, call.Dataset} {
		if again := c[subject]; again != nil {
			again.Calls++
			return
		}
	}
}

// again lists those with calls, by name.
func (c Changed) again() (all []Again) {
	for _, subject := range slices.Sorted(maps.Keys(c)) {
		if c[subject].Calls > 0 {
			all = append(all, *c[subject])
		}
	}
	return all
}

// Again are calls that a kept run did not need, because a setting was another there.
type Again struct {
	// Of is the target, judge or dataset that has the settings, and Run the kept run.
	Of       string   `json:"of"`
	Run      string   `json:"run"`
	Calls    int      `json:"calls"`
	Settings []Change `json:"settings"`
}

// Change is a setting with its values now and in the kept run.
type Change struct {
	Setting string `json:"setting"`
	Is      string `json:"is"`
	Was     string `json:"was"`
}

// Print shows what would be sent, the most that it can cost and which servers are asked, as
// JSON for that format and as tables for a screen otherwise.
func (p Planned) Print(w io.Writer, format string, screen table.Screen) error {
	most := priced(p.Plans, p.Prices)
	if format == "json" {
		return table.JSON(w, struct {
			Plan      []Plan               `json:"plan"`
			LeastPlan []Plan               `json:"least_plan,omitempty"`
			Again     []Again              `json:"asked_again,omitempty"`
			Providers []provider.Recipient `json:"providers,omitempty"`
			Spent     any                  `json:"spent,omitempty"`
		}{most, priced(p.Least, p.Prices), p.Changed.again(), p.Asked, p.Spent})
	}
	var d table.Document
	for line := range strings.Lines(headline(p.Plans, p.Prices) + "\n" + p.Precision) {
		d.Add(table.Line(strings.TrimSuffix(line, "\n")))
	}
	for _, a := range p.Changed.again() {
		reasons := table.RowsOf(a.Settings, func(c Change) string { return fmt.Sprintf("%s of %s is %s, and was %s", c.Setting, a.Of, c.Is, c.Was) })
		d.Add(table.Line(fmt.Sprintf("%s asked because, of run %s, %s.", table.Counted(a.Calls, "call is", "calls are"), a.Run, strings.Join(reasons, "; "))))
	}
	d.Add(table.Gap)
	d.Sections(Recipients(p.Asked)...)
	calls := table.Section{
		Header:    []string{"model", "role", "calls", "answered", "input tokens", "most output tokens", "most cost", "expected"},
		Left:      2,
		Rows:      table.RowsOf(most, Plan.row),
		Spare:     []string{"input tokens", "most output tokens"},
		WrapNames: true,
	}
	if slices.ContainsFunc(most, func(p Plan) bool { return p.Calls > 0 && p.Expected != nil && p.Expected.Replies == 0 }) {
		calls.Note = "Expected is a guess for models of which no reply is remembered."
	}
	if len(calls.Rows) > 0 {
		d.Add(calls)
	}
	if p.Least != nil && TotalCalls(p.Plans) > 0 {
		d.Add(table.Line(fmt.Sprintf("Ends by itself once the rates are known, after %s to %s calls; the table has the largest number.", table.Count(TotalCalls(p.Least)), table.Count(TotalCalls(p.Plans)))))
	}
	return d.Text(w, screen)
}

// Recipients is a table of who is asked where, and with which key; none of nobody.
func Recipients(all []provider.Recipient) []table.Section {
	if len(all) == 0 {
		return nil
	}
	s := table.Section{Header: []string{"provider", "asked at", "key"}, Left: 3}
	for _, r := range all {
		key := cmp.Or(r.KeyEnv, "none")
		switch {
		case r.Unset:
			key += ", not set"
		case r.Withheld:
			key += ", withheld"
		}
		s.Add(r.Provider, r.Address, key)
	}
	return []table.Section{s}
}

// row is a line of the table of calls.
func (p Plan) row() []string {
	most := "unknown"
	if p.MaxUSD != nil {
		most = fmt.Sprintf("$%.4f", *p.MaxUSD)
	}
	answered := fmt.Sprint(p.FromMemo)
	if p.Judge {
		answered = table.None // those of judges are not counted
	}
	return []string{
		p.Provider + "/" + p.Model, string(p.Role), fmt.Sprint(p.Calls), answered,
		fmt.Sprint(p.InputTokens), fmt.Sprint(p.MaxOutputTokens), most, p.expected(),
	}
}
