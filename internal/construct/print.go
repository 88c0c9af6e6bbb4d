package construct

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/audit"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/stats"
)

// View is the report of the build, from the replies in the store.
func (b *Builder) View(ctx context.Context, m store.Reader) (table.View, error) {
	made, err := b.Made(ctx, m)
	if err != nil {
		return nil, err
	}
	return made, made.Close()
}

// Made is Remembered, with an error where the store has too little for a benchmark.
func (b *Builder) Made(ctx context.Context, m store.Reader) (*Benchmark, error) {
	made, err := b.Remembered(ctx, m)
	if err == nil && made == nil {
		err = &orbench.InputError{Problem: "no seed of build " + b.Config.Name + " is there yet", Hint: "run its orbench build again; it continues"}
	}
	if err != nil {
		return nil, err
	}
	return made, made.Examine(ctx, m)
}

// Examine measures how much the prompts of each set are alike, and compares the moderators with
// what people said of drawn prompts, if any were drawn.
func (b *Benchmark) Examine(ctx context.Context, m store.Reader) error {
	b.Quality.Diversity = b.diversity()
	said, err := m.Annotations(ctx)
	if err != nil {
		return err
	}
	items, err := b.Voted()
	if err == nil {
		b.Audit = audit.Examine(items, annotation.NewWords(said))
	}
	return err
}

// Voted lists the rewrites that moderators voted on, each once.
func (b *Benchmark) Voted() (items []audit.Item, err error) {
	seen := map[orbench.PromptID]bool{}
	err = b.Lineage(func(r *benchmark.Record) {
		if it, ok := audit.ItemOf(r); ok && !seen[it.ID] {
			seen[it.ID], items = true, append(items, it)
		}
	})
	return items, err
}

// Document is the report for people. A brief screen shows the sets, how many prompts each
// stage left, a hard prompt, and the total cost.
func (b *Benchmark) Document() table.Document {
	d := table.Document{Title: "Benchmark " + b.Config.Name}
	if b.Simulated {
		const simulated = "SIMULATED: this benchmark was built with simulated models and measures nothing."
		d.AddTo(table.InMarkdown, table.Warning(simulated))
		d.AddTo(table.OnScreen, table.Line(simulated), table.Gap)
	}
	d.AddTo(table.OnBrief, b.sets())
	for _, line := range b.Funnel.Lines() {
		d.AddTo(table.OnFull|table.InMarkdown, table.Paragraph(line))
	}
	b.addSearch(&d)
	b.addGenerators(&d)
	for _, w := range repetitionWarnings(b.Manifest) {
		d.Add(table.Warning(w))
	}
	b.addBrief(&d)
	if b.Audit != nil {
		b.Audit.AddTo(&d)
	}
	return d
}

// addSearch adds what a search found, by generation and by operator.
func (b *Benchmark) addSearch(d *table.Document) {
	if b.Search == nil {
		return
	}
	targets := strings.Join(b.Search.Targets, ", ")
	s := table.Section{Title: "Refused by " + targets, Header: []string{"generation", "calls", "prompts", "refused", "rate", "95% interval", "safe too"}, Left: 1}
	found, calls := 0, 0
	for _, g := range b.Search.Generations {
		s.Add(strconv.Itoa(g.Generation), g.Calls, g.Prompts, g.Refused, table.Rate(stats.RateOf(g.Refused, g.Prompts)), table.Interval(&[2]float64{g.Low, g.High}), g.Found)
		if g.Generation > 0 {
			found, calls = found+g.Found, calls+g.Calls
		}
	}
	by := table.Section{Title: "By operator", Header: []string{"operator", "made", "prompts", "refused", "safe too"}, Left: 1}
	for _, o := range generator.Operators() {
		if g, used := b.Search.Operators[o]; used {
			by.Add(o, g.Made, g.Prompts, g.Refused, g.Found)
		}
	}
	d.Sections(s)
	d.AddTo(table.OnFull, by)
	if calls > 0 {
		d.Add(table.Line(fmt.Sprintf("The search found %s safe prompts that %s refused in %s: %s per 1,000.",
			table.Count(found), targets, table.Counted(calls, "call", "calls"), table.Count(1000*found/calls))))
	} else {
		d.Add(table.Warning("The calls were too few for one generation. Allow more calls for the search."))
	}
}

// sets is the table of sets. It shows each set's share of the prompts it was chosen from.
func (b *Benchmark) sets() table.Section {
	m, h := b.Funnel.Moderation, b.Funnel.Selection
	s := table.Section{Title: "Benchmark " + b.Config.Name, Header: []string{"set", "prompts", "candidates", "of", "share", "95% interval"}, Left: 1}
	rewrites := b.Funnel.Rewrites.Kept
	add := func(set benchmark.SetName, candidates, of int, what string) {
		s.Add(set, h.Sets[set], candidates, table.Count(of)+" "+what, stats.RateOf(candidates, of))
	}
	add(benchmark.FullSet, h.FullCandidates, rewrites, "rewrites")
	if h.Asked > 0 {
		add(benchmark.HardSet, h.HardCandidates, h.Sets[benchmark.FullSet], "safe rewrites")
	}
	add(benchmark.ToxicSet, h.ToxicCandidates, rewrites+m.Checked(), "voted on")
	return s
}

// addGenerators adds the habits of the generators, and names those that are no good.
func (b *Benchmark) addGenerators(d *table.Document) {
	for _, g := range b.Generators {
		if line := g.HabitLine(); line != "" {
			d.AddTo(table.InMarkdown, table.Paragraph(line))
			screen := table.OnScreen
			if !g.Common(g.Items / 20) {
				screen = table.OnFull
			}
			d.AddTo(screen, table.Line(line))
		}
		if fault := g.Fault(); fault != "" {
			d.Add(table.Warning(fault))
		}
	}
}

// addBrief adds what a brief screen shows below the sets.
func (b *Benchmark) addBrief(d *table.Document) {
	f, full := b.Funnel, b.Funnel.Selection.FullCandidates
	kept := "without rule breaks and duplicates"
	if b.Search != nil {
		kept = "without rule breaks, duplicates and prompts that every target answered"
	}
	fed := ""
	if n := f.Seeds.Fed; n > 0 {
		fed = " and " + table.Counted(n, "toxic rewrite", "toxic rewrites") + " fed back"
	}
	d.AddTo(table.OnBrief, table.Line(fmt.Sprintf("Left by each stage: %s seeds%s → %s rewrites → %s %s → %s safe, %s of them by the second chance → %s refused by selectors.",
		table.Count(f.Seeds.Kept), fed, table.Count(f.Rewrites.Items), table.Count(f.Rewrites.Kept), kept,
		table.Count(full), table.Count(full-f.Moderation.Voted[orbench.Safe]), table.Count(f.Selection.HardCandidates))))
	if r := b.Quality.Residual; r.Share > 0 && b.Audit == nil {
		d.AddTo(table.OnBrief, table.Line(fmt.Sprintf("About %s (%s) of the safe prompts are toxic, if these moderators err as those of the published study did.",
			table.Percent(r.Share), table.Interval(&[2]float64{r.Low, r.High}))))
	}
	for _, set := range []benchmark.SetName{benchmark.HardSet, benchmark.FullSet} {
		if prompts := b.Sets[set]; len(prompts) > 0 {
			d.AddTo(table.OnBrief, table.Gap, table.Line("In the "+string(set)+" set:"), table.Quote("  ", prompts[0].Text()), table.Gap)
			break
		}
	}
	if f.FailedCalls > 0 {
		d.AddTo(table.OnBrief, table.Warning(table.Counted(f.FailedCalls, "call", "calls")+" failed or were not made, so their results are missing."))
	}
	replies := 0
	for _, m := range b.Models {
		replies += m.Replies
	}
	cost := "Cost: " + table.Counted(replies, "reply", "replies")
	if b.cost != "" {
		cost += ", " + b.cost
	}
	d.AddTo(table.OnBrief, table.Line(cost+". The full output says what each stage dropped."))
	if n := f.Selection.Sets[benchmark.HardSet]; n > 0 && b.Dir != "" {
		d.AddTo(table.OnBrief, table.Line(fmt.Sprintf("Next: measure a model on %s with orbench eval, which makes %s; a dry run shows their cost.",
			filepath.Join(b.Dir, string(benchmark.HardSet)+b.Manifest.Ending()), table.Counted(n, "call", "calls"))))
	}
	if n := f.Moderation.Voted[orbench.Toxic]; n > 0 && b.Audit == nil {
		d.AddTo(table.OnBrief, table.Line(audit.Outlook(float64(n)/float64(n+f.Moderation.Voted[orbench.Safe]))),
			table.Line("Check them with: orbench label "+untrusted.Shell(b.Config.Name)))
	}
}

// Data is the result of the build in its documented form.
func (b *Benchmark) Data() any {
	return map[string]any{
		"dir": b.Dir, "simulated": b.Simulated, "funnel": b.Funnel, "worn_out": b.Exhausted, "agreement": b.Quality.Agreement, "search": b.Search, "generators": b.Generators, "audit": b.Audit,
	}
}

// Rows has a row for each set.
func (b *Benchmark) Rows() any {
	type row struct {
		Set       benchmark.SetName
		Prompts   int
		Simulated bool
	}
	return table.RowsOf(benchmark.SetNames, func(set benchmark.SetName) row { return row{set, b.Funnel.Selection.Sets[set], b.Simulated} })
}

// PrintPlan shows what a build would ask, its possible cost, and the servers that it
// asks. It prints JSON for that format and tables otherwise.
func PrintPlan(w io.Writer, format string, screen table.Screen, plans []Plan, prices price.Table, asked []provider.Recipient) error {
	stages := table.Section{
		Header: []string{"stage", "model", "calls", "input tokens", "output tokens", "at most", "cost"}, Left: 2,
		Spare: []string{"at most", "input tokens"}, WrapNames: true,
	}
	total, calls, more := 0.0, 0, ""
	for i, p := range plans {
		cost, most := "unknown", "no bound"
		if tariff, ok := prices.Price(p.Provider, p.Model); ok {
			usd := tariff.Cost(model.Usage{Input: p.InputTokens, Output: p.OutputTokens})
			plans[i].USD, cost = &usd, fmt.Sprintf("about $%.2f", usd)
			total += usd
		} else {
			more = " and more"
		}
		if p.MaxOutputTokens > 0 {
			most = fmt.Sprint(p.MaxOutputTokens)
		}
		calls += p.Calls
		stages.Add(p.Role, p.Provider+"/"+p.Model, p.Calls, p.InputTokens, p.OutputTokens, most, cost)
	}
	if format == "json" {
		return table.JSON(w, struct {
			Plan      []Plan               `json:"plan"`
			Providers []provider.Recipient `json:"providers,omitempty"`
		}{plans, asked})
	}
	stages.Add("together", "", calls, "", "", "", fmt.Sprintf("about $%.2f%s", total, more))
	var d table.Document
	d.Sections(job.Recipients(asked)...)
	d.Add(stages, table.Line(fmt.Sprintf("Estimates for an empty store: %.0f%% of the rewrites mended, %.0f%% voted toxic, replies of usual length.",
		100*RepairShare, 100*ToxicShare)))
	return d.Text(w, screen)
}
