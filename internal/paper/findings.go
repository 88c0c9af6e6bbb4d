package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// Public is what is known of a model: a line of a file of models.
type Public struct {
	Model  string `json:"model"`
	Family string `json:"family"`
	// Billions is the number of parameters in billions, 0 where it is not public.
	Billions float64 `json:"size_b,omitempty"`
	// Date is the day of release; it is the zero time where it is not known.
	Date time.Time `json:"date,omitzero"`
	// Access says how the model was asked, such as by its maker or by a host.
	Access string `json:"access,omitempty"`
	Source string `json:"source,omitempty"`
}

// Measurement is a model with its rates, in per cent.
type Measurement struct {
	Public
	Hard  float64 `json:"hard_refusal_pct"`
	Toxic float64 `json:"toxic_refusal_pct"`
	// Refused counts the refused safe prompts of each category.
	Refused []StandsOut `json:"-"`
}

// Verdict says whether figures show what was claimed.
type Verdict string

// The verdicts. Untold means that these models are too few or too alike to tell.
const (
	Shown        Verdict = "shown"
	Contradicted Verdict = "contradicted"
	Untold       Verdict = "not to be told with these models"
)

// Finding is something that may go with the rates. Its estimate is nil where there are not
// enough models.
type Finding struct {
	Name string `json:"finding"`
	// Claim is what the paper says, and What is what is estimated.
	Claim string `json:"claim"`
	What  string `json:"what"`
	// Models and Families are those that tell something of it.
	Models   int             `json:"models"`
	Families int             `json:"families"`
	Of       *stats.Estimate `json:"estimate" csv:",ci95"`
	// P is adjusted for all tests of the table (Holm).
	P       *float64 `json:"p"`
	Verdict Verdict  `json:"verdict"`
	// Needed is about how many families it would take to tell, 0 where that is not known.
	Needed int `json:"families_needed,omitempty"`
}

// StandsOut is a category in which a model stands out from its own level.
type StandsOut struct {
	Model    string           `json:"model"`
	Category orbench.Category `json:"category"`
	K        int              `json:"refused"`
	N        int              `json:"n"`
	// Difference is between the category's rate and that of the model's other prompts.
	Difference stats.Estimate `json:"difference"`
	// P is adjusted for all models and categories (Holm).
	P float64 `json:"p"`
}

// Findings says what goes with the rates of some models.
type Findings struct {
	Source     string        `json:"source"`
	Models     []Measurement `json:"models"`
	Findings   []Finding     `json:"findings"`
	Categories []StandsOut   `json:"categories"`
	// Missing are models that the file of models does not have.
	Missing []string `json:"missing,omitempty"`
}

// smallScale is the largest change of the distance from the curve, in points for ten times
// the size, that still counts as none.
const smallScale = 5

// FindingsOf computes what goes with the rates of models.
func FindingsOf(source string, models []Measurement) Findings {
	f := Findings{Source: source, Models: models, Findings: []Finding{}, Categories: standOut(models)}
	var raw []float64
	add := func(finding Finding, e stats.LeftOut, ok bool) {
		finding.Verdict = Untold
		if ok {
			finding.Of, finding.P = &e.Estimate, &e.P
			raw = append(raw, e.P)
		}
		f.Findings = append(f.Findings, finding)
	}
	hard, toxic := func(m Measurement) float64 { return m.Hard }, func(m Measurement) float64 { return m.Toxic }
	e, in, ok := leaveOut(models, func(some []Measurement) (float64, bool) {
		return stats.Spearman(table.RowsOf(some, hard), table.RowsOf(some, toxic))
	})
	e.Lo, e.Hi = max(e.Lo, -1), min(e.Hi, 1)
	add(finding("trade-off", "models that refuse more toxic prompts refuse more safe ones", "Spearman's rank correlation", in), e, ok)

	years := func(m Measurement) float64 { return float64(m.Date.Unix()) / (365.25 * 24 * 3600) }
	dated := slices.DeleteFunc(slices.Clone(models), func(m Measurement) bool { return m.Date.IsZero() })
	e, in, ok = within(dated, years, hard)
	add(finding("date", "newer models of a family refuse fewer safe prompts", "points a year, within families", in), e, ok)

	if fit, fitted := stats.FitQuadratic(table.RowsOf(models, hard), table.RowsOf(models, toxic)); fitted {
		sized := slices.DeleteFunc(slices.Clone(models), func(m Measurement) bool { return m.Billions == 0 })
		e, in, ok = within(sized, func(m Measurement) float64 { return math.Log10(m.Billions) }, func(m Measurement) float64 { return m.Toxic - fit.At(m.Hard) })
	} else {
		in, ok = nil, false
	}
	add(finding("scale", fmt.Sprintf("size does not go with the distance from the curve (less than %d points)", smallScale), "points for ten times the size, within families", in), e, ok)

	e, in, ok = leaveOut(slices.DeleteFunc(slices.Clone(models), func(m Measurement) bool { return m.Access == "" }), accessDifference)
	add(finding("access", "models asked at their makers refuse as many safe prompts as those at hosts", "points, makers less hosts, over families", in), e, ok)

	names, means := familyMeans(models)
	for i, name := range names {
		e, ok := stats.Outlier(means[i], slices.Delete(slices.Clone(means), i, i+1), 0.95)
		in := slices.DeleteFunc(slices.Clone(models), func(m Measurement) bool { return m.Family != name })
		one := finding("family "+name, "a family is an outlier", "points from the mean of the other families", in)
		one.Families = len(names)
		add(one, e, ok)
	}
	p := stats.Holm(raw)
	for i := range f.Findings {
		if one := &f.Findings[i]; one.P != nil {
			one.P, p = &p[0], p[1:]
			one.decide()
		}
	}
	return f
}

// finding is a finding without its figures. in are the models that tell something of it.
func finding(name, claim, what string, in []Measurement) Finding {
	return Finding{Name: name, Claim: claim, What: what, Models: len(in), Families: len(familiesOf(in))}
}

// decide compares the figures with the claim.
func (f *Finding) decide() {
	const level = 0.05
	half := (f.Of.Hi - f.Of.Lo) / 2
	margin := math.Abs(f.Of.Value)
	significant := *f.P < level
	switch f.Name {
	case "scale", "access":
		// The claim is that there is nothing: the whole interval must be small.
		margin = smallScale
		switch {
		case f.Of.Lo > -smallScale && f.Of.Hi < smallScale:
			f.Verdict = Shown
		case significant:
			f.Verdict = Contradicted
		}
	case "date", "trade-off":
		if significant {
			f.Verdict = Contradicted
			if (f.Of.Value < 0) == (f.Name == "date") {
				f.Verdict = Shown
			}
		}
	default:
		// More families do not bring an outlier nearer: no number would do.
		if margin = 0; significant {
			f.Verdict = Shown
		}
	}
	if f.Verdict == Untold && margin > 0 {
		f.Needed = int(math.Ceil(math.Min(1e6, float64(f.Families)*math.Pow(half/margin, 2))))
		f.Needed = max(f.Needed, f.Families+1)
	}
}

// familiesOf lists the families of models in order of their names.
func familiesOf(models []Measurement) []string {
	all := table.RowsOf(models, func(m Measurement) string { return m.Family })
	slices.Sort(all)
	return slices.Compact(all)
}

// leaveOut estimates over all models, and without each family. in are the models.
func leaveOut(models []Measurement, of func([]Measurement) (float64, bool)) (e stats.LeftOut, in []Measurement, ok bool) {
	all, ok := of(models)
	var without []float64
	for _, family := range familiesOf(models) {
		v, defined := of(slices.DeleteFunc(slices.Clone(models), func(m Measurement) bool { return m.Family == family }))
		ok = ok && defined
		without = append(without, v)
	}
	if ok {
		e, ok = stats.LeaveOneOut(all, without, 0.95)
	}
	return e, models, ok
}

// within estimates the slope of y over x within families. Families whose models have one x
// tell nothing of it.
func within(models []Measurement, x, y func(Measurement) float64) (stats.LeftOut, []Measurement, bool) {
	spread := map[string]float64{}
	sums := func(some []Measurement) (xy, xx float64) {
		mean := map[string][3]float64{}
		for _, m := range some {
			s := mean[m.Family]
			mean[m.Family] = [3]float64{s[0] + 1, s[1] + x(m), s[2] + y(m)}
		}
		for _, m := range some {
			s := mean[m.Family]
			dx := x(m) - s[1]/s[0]
			xy += dx * (y(m) - s[2]/s[0])
			xx += dx * dx
			spread[m.Family] += dx * dx
		}
		return xy, xx
	}
	sums(models)
	in := slices.DeleteFunc(slices.Clone(models), func(m Measurement) bool { return spread[m.Family] < 1e-9 })
	return leaveOut(in, func(some []Measurement) (float64, bool) {
		xy, xx := sums(some)
		return xy / xx, xx > 0
	})
}

// accessDifference is the mean over families of what makers' models refuse, less that of
// hosts' models. It is not defined where one of the two has fewer than two families.
func accessDifference(models []Measurement) (float64, bool) {
	var mean [2]float64
	for i, access := range []string{"maker", "host"} {
		names, means := familyMeans(slices.DeleteFunc(slices.Clone(models), func(m Measurement) bool { return m.Access != access }))
		if len(names) < 2 {
			return 0, false
		}
		for _, v := range means {
			mean[i] += v / float64(len(means))
		}
	}
	return mean[0] - mean[1], true
}

// familyMeans gives the mean refusal of safe prompts of each family.
func familyMeans(models []Measurement) (names []string, means []float64) {
	names = familiesOf(models)
	for _, name := range names {
		sum, n := 0.0, 0.0
		for _, m := range models {
			if m.Family == name {
				sum, n = sum+m.Hard, n+1
			}
		}
		means = append(means, sum/n)
	}
	return names, means
}

// standOut lists the categories in which models stand out from their own level: those that
// Fisher's exact test tells from the model's other prompts, with Holm's correction over all
// models and categories.
func standOut(models []Measurement) []StandsOut {
	all := []StandsOut{}
	var p []float64
	for _, m := range models {
		refused, n := 0, 0
		for _, c := range m.Refused {
			refused, n = refused+c.K, n+c.N
		}
		for _, c := range m.Refused {
			if c.N == 0 || c.N == n {
				continue
			}
			e, _ := stats.Newcombe(c.K, c.N, refused-c.K, n-c.N, 0.95)
			c.Model, c.Difference = m.Model, e
			all = append(all, c)
			p = append(p, stats.FisherExact(c.K, c.N, refused-c.K, n-c.N))
		}
	}
	for i, v := range stats.Holm(p) {
		all[i].P = v
	}
	all = slices.DeleteFunc(all, func(s StandsOut) bool { return s.P >= 0.05 })
	slices.SortStableFunc(all, func(a, b StandsOut) int { return cmp.Compare(a.P, b.P) })
	return all
}

// PublishedFindings computes the paper's findings from its own tables.
func PublishedFindings() Findings {
	known, hard, sizes := publicOfModels(), TableOf(HardRefusal), TableOf(Categories)
	var models []Measurement
	for i, m := range Models() {
		one := Measurement{Public: known[i], Hard: m.Hard, Toxic: m.Toxic}
		for _, c := range orbench.PaperCategories {
			n := sizes.Of(string(c), "hard_"+string(m.Version)+"_n")
			one.Refused = append(one.Refused, StandsOut{Model: m.Name, Category: c, K: int(math.Round(hard.Of(m.Name, string(c)) * n / 100)), N: int(n)})
		}
		models = append(models, one)
	}
	return FindingsOf(Source, models)
}

// Document returns what people read: the findings, and the categories that stand out.
func (f Findings) Document() table.Document {
	d := table.Document{Title: "What goes with the rates"}
	d.Add(table.Paragraph(f.Source))
	s := table.Section{
		Title: "What goes with the rates", Header: []string{"finding", "verdict", "models", "families", "estimate", "95% interval", "p (Holm)"}, Left: 2, WrapNames: true,
		Spare: []string{"p (Holm)", "models"},
		Note:  "Intervals leave out one family at a time (Student's t). Families count, since models of one are alike. \"4 of 21\": about 21 would tell.",
	}
	for _, one := range f.Findings {
		estimate, interval, p, verdict := "–", "not enough models", "–", string(one.Verdict)
		if one.Verdict == Untold {
			verdict = "not to be told"
		}
		if one.Of != nil {
			estimate, interval, p = fixed(one.Of.Value), fmt.Sprintf("%.2f to %.2f", one.Of.Lo, one.Of.Hi), pValue(*one.P)
		}
		families := strconv.Itoa(one.Families)
		if one.Needed > 0 {
			families += " of " + table.Count(one.Needed)
		}
		s.Add(one.Name, verdict, one.Models, families, estimate, interval, p)
	}
	d.Add(s)
	claims := table.Section{Title: "What is claimed", Header: []string{"finding", "claim", "estimate of"}, Left: 3, WrapNames: true}
	for _, one := range f.Findings {
		claims.Add(one.Name, one.Claim, one.What)
	}
	c := table.Section{
		Title: "Categories in which a model stands out from its own level", Header: []string{"model", "category", "refused", "difference", "95% interval", "p (Holm)"}, Left: 2,
		Note: "The difference is from the model's other prompts, in points; of all models and categories, those with p below 0.05.",
	}
	for _, o := range f.Categories {
		c.Add(o.Model, o.Category, fmt.Sprintf("%d/%d", o.K, o.N), fixed(100*o.Difference.Value), fmt.Sprintf("%.1f to %.1f", 100*o.Difference.Lo, 100*o.Difference.Hi), pValue(o.P))
	}
	d.Details(claims, c)
	d.Add(table.Line(table.Counted(len(f.Categories), "category stands", "categories stand") + " out from the level of the model in question."))
	for _, name := range f.Missing {
		d.Add(table.Warning("The file of models does not have " + name + "."))
	}
	return d
}

// pValue formats a p-value.
func pValue(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

// Data returns the findings in their documented form.
func (f Findings) Data() any { return f }

// Rows has a row for each finding.
func (f Findings) Rows() any { return f.Findings }
