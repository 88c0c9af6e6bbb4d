package construct

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/similar"
)

//go:embed card.md.tmpl
var cardText string

// card is what the dataset card shows.
type card struct {
	Manifest
	// SetFacts and CategoryFacts are the tables of counts and of diversity.
	SetFacts      []setFact
	CategoryFacts []categoryFact
	USD           string
	NearThreshold float64
	Models        []modelFact
	Funnel        []string
}

type setFact struct {
	Name  SetName
	Label orbench.Label
	Rows  int
	What  string
	similar.Diversity
}

type categoryFact struct {
	Category          orbench.Category
	Text              string
	Full, Hard, Toxic int
}

type modelFact struct {
	Spent
	USD string
}

// writeCard writes the dataset card: a README with the front matter that the
// Hugging Face hub and its datasets library read.
func writeCard(w io.Writer, m Manifest, prices price.Table) error {
	c := card{Manifest: m, Funnel: m.Funnel.Lines(), NearThreshold: dataset.NearThreshold}
	what := map[SetName]string{
		FullSet:  "every rewrite that was voted safe, or re-admitted by the second chance",
		HardSet:  fmt.Sprintf("safe prompts that selectors of at least %d families refused", m.Config.Hard.RefusedBy),
		ToxicSet: "prompts that every moderator called toxic, and the answer of a model without safety training too",
	}
	if m.Config.SecondChance.Model == "" {
		what[ToxicSet] = "prompts that every moderator called toxic"
		what[FullSet] = "every rewrite that was voted safe"
	}
	for _, name := range SetNames {
		file := m.Files[string(name)+".csv"]
		c.SetFacts = append(c.SetFacts, setFact{name, file.Label, file.Rows, what[name], m.Quality.Diversity[name][""]})
	}
	for _, category := range m.Config.Policy {
		count := func(name SetName) int { return m.Quality.Diversity[name][category.Category].Texts }
		c.CategoryFacts = append(c.CategoryFacts, categoryFact{
			category.Category, category.Text, count(FullSet), count(HardSet), count(ToxicSet),
		})
	}
	total, known := 0.0, true
	for _, s := range m.Models {
		tariff, ok := prices.Price(s.Provider, s.Model)
		usd := tariff.Cost(s.Usage)
		total, known = total+usd, known && ok
		fact := modelFact{s, "price unknown"}
		if ok {
			fact.USD = fmt.Sprintf("$%.2f", usd)
		}
		c.Models = append(c.Models, fact)
	}
	c.USD = fmt.Sprintf("$%.2f", total)
	if !known {
		c.USD += " and more (some prices are unknown)"
	}
	t := template.Must(template.New("card").Funcs(template.FuncMap{
		"percent": func(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) },
		"kappa": func(k *float64) string {
			if k == nil {
				return "undefined"
			}
			return fmt.Sprintf("%.3f", *k)
		},
		"cell": cell,
		"join": func(s []string) string { return strings.Join(s, ", ") },
	}).Parse(cardText))
	return t.Execute(w, c)
}

// cell makes text fit for a cell of a Markdown table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;", "*", `\*`, "_", `\_`, "`", "'").Replace(s)
}

// Lines tells the funnel in sentences, stage by stage.
func (f Funnel) Lines() []string {
	s, w, m, c, h := f.Seeds, f.Rewrites, f.Moderation, f.SecondChance, f.Selection
	lines := []string{
		fmt.Sprintf("seeds: %d calls (%d unreadable, %d failed) gave %d items; dropped %d duplicates, %d near duplicates, %d surplus; kept %d",
			s.Calls, s.Unreadable, s.FailedCalls, s.Items, s.Duplicates, s.NearDuplicates, s.Surplus, s.Kept),
		fmt.Sprintf("rewrites: %d seeds (%d of them fed back, %d unreadable, %d failed) gave %d items, %d short of what was asked for; %d were mended (%d of them well); dropped %d for a broken rule, %d duplicates, %d near duplicates, %d surplus; kept %d",
			w.Seeds, s.Fed, w.Unreadable, w.FailedCalls, w.Items, w.Missing, w.Mends, w.Mended,
			w.Dropped[BrokenRule], w.Dropped[Duplicate], w.Dropped[NearDuplicate], w.Dropped[Surplus], w.Kept),
		fmt.Sprintf("votes: %d, of which %d abstentions; rewrites voted %d safe, %d toxic, %d controversial, %d undecided; of %d seeds put to the vote, %d toxic",
			m.Votes, m.Abstentions, m.Voted[orbench.Safe], m.Voted[orbench.Toxic], m.Voted[orbench.Controversial], m.Voted[orbench.Undecided],
			sum(m.SeedsVoted), m.SeedsVoted[orbench.Toxic]),
		fmt.Sprintf("second chance: %d prompts; %d re-admitted, %d confirmed as toxic, %d unclear, %d without an answer",
			c.Asked, c.Readmitted, c.Confirmed, c.Unclear, c.Missing),
		fmt.Sprintf("selectors: %d answers to %d prompts, %d unjudged; %d prompts qualify as hard, %d as toxic",
			h.Answers, h.Asked, h.Unjudged, h.HardCandidates, h.ToxicCandidates),
		fmt.Sprintf("sets: full %d, hard %d, toxic %d", h.Sets[FullSet], h.Sets[HardSet], h.Sets[ToxicSet]),
	}
	if f.FailedCalls > 0 {
		lines = append(lines, fmt.Sprintf("failed calls: %d", f.FailedCalls))
	}
	return lines
}
