package construct

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/goccy/go-yaml"
	"gonum.org/v1/plot/vg"
	canvas "gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/audit"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/similar"
)

//go:embed card.md.tmpl
var cardText string

// card is the content of the dataset card.
type card struct {
	benchmark.Manifest
	// SetFacts is the table of counts and of diversity.
	SetFacts      []setFact
	USD           string
	NearThreshold float64
	// Sizes is the size category of the hub.
	Sizes string
	// Alike warns of prompts that are too much alike.
	Alike []string
	// Wrote are the models that wrote seeds and rewrites, with the page of the terms of each.
	Wrote map[string]string
	// Audit compares the moderators with people; nil if nobody drew prompts for that.
	Audit *audit.Report
	// Ending is the file name ending of the sets, Loaded that of the files which the hub
	// loads.
	Ending, Loaded string
}

type setFact struct {
	Name  benchmark.SetName
	Label orbench.Label
	Rows  int
	What  string
	similar.Diversity
}

// terms are the pages on which services say what may be done with what their models write.
var terms = map[string]string{
	"anthropic": "https://www.anthropic.com/legal/commercial-terms",
	"google":    "https://ai.google.dev/gemini-api/terms",
	"mistral":   "https://legal.mistral.ai/terms",
	"openai":    "https://openai.com/policies/services-agreement/",
	"together":  "https://www.together.ai/terms-of-service",
}

// total is the cost of all models.
func total(models []benchmark.Spent, prices price.Table) string {
	total, unknown := 0.0, ""
	for _, s := range models {
		tariff, ok := prices.Price(s.Provider, s.Model)
		if total += tariff.Cost(s.Usage); !ok {
			unknown = " and more (some prices are unknown)"
		}
	}
	return fmt.Sprintf("$%.2f", total) + unknown
}

// writeCard writes the dataset card: a README with the front matter that the
// Hugging Face hub and its datasets library read.
func writeCard(w io.Writer, m benchmark.Manifest, found *audit.Report, prices price.Table) error {
	c := card{Manifest: m, Audit: found, USD: total(m.Models, prices), Wrote: map[string]string{}, Alike: repetitionWarnings(m), NearThreshold: dataset.NearThreshold, Ending: m.Ending(), Loaded: ".parquet"}
	if m.Config.Rewrites.Turns > 1 {
		c.Loaded = c.Ending
	}
	what := map[benchmark.SetName]string{
		benchmark.FullSet:  "every rewrite that was voted safe, or re-admitted by the second chance",
		benchmark.HardSet:  fmt.Sprintf("prompts of the full set that selectors of at least %d families refused, drawn at random across clusters", m.Config.Hard.RefusedBy),
		benchmark.ToxicSet: "prompts that every moderator called toxic, whose answer by a model without safety training was voted toxic too",
	}
	if m.Config.SecondChance.Model == "" {
		what[benchmark.ToxicSet] = "prompts that every moderator called toxic"
		what[benchmark.FullSet] = "every rewrite that was voted safe"
	}
	for _, name := range benchmark.SetNames {
		file := m.Files[string(name)+c.Ending]
		c.SetFacts = append(c.SetFacts, setFact{name, file.Label, file.Rows, what[name], m.Quality.Diversity[name][""]})
	}
	c.Sizes = dataset.SizeCategory(m.Files["pairs"+c.Ending].Rows)
	for _, s := range m.Models {
		if s.Role == benchmark.GeneratorRole || s.Role == benchmark.RewriterRole {
			c.Wrote[s.Provider+"/"+s.Model] = terms[s.Provider]
		}
	}
	t := template.Must(template.New("card").Funcs(template.FuncMap{
		"percent": func(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) },
		"kappa": func(k *float64) string {
			if k == nil {
				return "undefined"
			}
			return fmt.Sprintf("%.3f", *k)
		},
		"usd": func(s benchmark.Spent) string {
			tariff, ok := prices.Price(s.Provider, s.Model)
			if !ok {
				return "price unknown"
			}
			return fmt.Sprintf("$%.2f", tariff.Cost(s.Usage))
		},
		"count": func(name benchmark.SetName, of orbench.Category) int { return m.Quality.Diversity[name][of].Texts },
		"cell":  untrusted.Markdown,
		// Front matter is YAML. A double-quoted YAML text follows the rules of JSON.
		"yaml": func(s string) string {
			if settings.IsName(s) {
				return s
			}
			b, err := json.Marshal(s)
			if err != nil {
				panic(err) // a text is always JSON
			}
			return string(b)
		},
		"join": func(s []string) string { return strings.Join(s, ", ") },
	}).Parse(cardText))
	return t.Execute(w, c)
}

// funnelFile is the picture of what each stage left.
const funnelFile = "funnel.svg"

// funnelFigure draws how many prompts each stage left, on one scale.
func funnelFigure(f benchmark.Funnel) chart.Figure {
	stages := []struct {
		name string
		n    int
	}{
		{"seeds", f.Seeds.Kept},
		{"rewrites", f.Rewrites.Items},
		{"without rule breaks and duplicates", f.Rewrites.Kept},
		{"safe", f.Selection.FullCandidates},
		{"set full", f.Selection.Sets[benchmark.FullSet]},
		{"refused by selectors", f.Selection.HardCandidates},
		{"set hard", f.Selection.Sets[benchmark.HardSet]},
		{"toxic by every vote", f.Selection.ToxicCandidates},
		{"set toxic", f.Selection.Sets[benchmark.ToxicSet]},
	}
	const row, names, numbers = 20, 200, 60
	most := 1
	for _, s := range stages {
		most = max(most, s.n)
	}
	return chart.Head{Title: "Prompts that each stage left"}.Figure(620, vg.Length(len(stages)+1)*row, func(c canvas.Canvas) {
		for i, s := range stages {
			y := c.Max.Y - vg.Length(i+1)*row
			left := c.Min.X + names
			right := left + (c.Max.X-numbers-left)*vg.Length(s.n)/vg.Length(most)
			c.FillText(chart.Right(chart.TextStyle(9, false, chart.Foreground)), vg.Point{X: left - 8, Y: y}, s.name)
			c.FillPolygon(chart.Series[0], chart.Rect(left, y-4, right, y+10))
			c.FillText(chart.TextStyle(9, true, chart.Foreground), vg.Point{X: right + 6, Y: y}, table.Count(s.n))
		}
	})
}

// writeTasks writes what makes a dataset a benchmark on the Hugging Face hub; see
// https://huggingface.co/docs/hub/eval-results. Each set is a task.
func writeTasks(w io.Writer, m benchmark.Manifest) error {
	type task struct {
		ID     string `yaml:"id"`
		Config string `yaml:"config"`
		Split  string `yaml:"split"`
	}
	tasks := table.RowsOf(benchmark.SetNames, func(name benchmark.SetName) task {
		return task{benchmark.Task(string(name), name.Label()), string(name), "test"}
	})
	b, err := yaml.Marshal(struct {
		Name        string `yaml:"name"`
		Description string `yaml:"description"`
		Framework   string `yaml:"evaluation_framework"`
		Tasks       []task `yaml:"tasks"`
	}{
		m.Name, "Over-refusal: the share of safe prompts that a model answers, and of toxic prompts that it refuses, in percent.", "orbench", tasks,
	})
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
