package paper_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/paper"
)

// near fails unless got is want to as many decimals as want is given with.
func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > within {
		t.Errorf("%s is %v, want %v within %v", what, got, want, within)
	}
}

// The figures come from SciPy 1.17.1 (spearmanr, pearsonr, kendalltau) over the
// same points; the paper prints 0.89 for the first.
func TestCorrelations(t *testing.T) {
	t.Parallel()
	want := []struct {
		name                       string
		n                          int
		spearman, pearson, kendall float64
	}{
		{"all", 32, 0.8935, 0.7929, 0.7439},
		{"older", 25, 0.8784, 0.7799, 0.7298},
		{"newer", 7, 1, 0.8812, 1},
		{"without_moderators", 29, 0.9319, 0.8354, 0.7926},
		{"without_selectors", 26, 0.8892, 0.8193, 0.7481},
	}
	study := paper.NewStudy()
	if len(study.Correlations) != len(want) {
		t.Fatalf("%d correlations, want %d", len(study.Correlations), len(want))
	}
	for i, w := range want {
		got := study.Correlations[i]
		if got.Name != w.name || got.N != w.n {
			t.Errorf("correlation %d is %s of %d models, want %s of %d", i, got.Name, got.N, w.name, w.n)
		}
		for _, m := range []struct {
			name string
			got  paper.Measured
			want float64
		}{{"Spearman", got.Spearman, w.spearman}, {"Pearson", got.Pearson, w.pearson}, {"Kendall", got.Kendall, w.kendall}} {
			near(t, w.name+" "+m.name, m.got.Value, m.want, 5e-5)
			if m.want == 1 {
				// Points in perfect order repeat themselves in every resample.
				if m.got.CI95 != nil {
					t.Errorf("%s %s has the interval %v, want none", w.name, m.name, *m.got.CI95)
				}
				continue
			}
			if f := m.got.CI95Families; f == nil || !(f[0] < m.got.Value && m.got.Value < f[1]) {
				t.Errorf("%s %s = %v has the interval %v by families", w.name, m.name, m.got.Value, f)
			}
			if m.got.CI95 == nil || !(m.got.CI95[0] < m.got.Value && m.got.Value < m.got.CI95[1]) {
				t.Errorf("%s %s = %v has the interval %v", w.name, m.name, m.got.Value, m.got.CI95)
			}
		}
	}
	// In 10,000 draws of Python's random.choice the interval was 0.606 to 0.967 and 0.612
	// to 0.967.
	all := study.Correlations[0]
	if all.Families != 8 {
		t.Errorf("%d families, want 8", all.Families)
	}
	near(t, "the lower end by families", all.Spearman.CI95Families[0], 0.61, 0.015)
	near(t, "the upper end by families", all.Spearman.CI95Families[1], 0.967, 0.004)
	near(t, "AdvBench's Spearman", study.AdvBenchSpearman.Value, 0.991031208965115, 1e-9)
}

func TestFitAndResidual(t *testing.T) {
	t.Parallel()
	study := paper.NewStudy()
	printed := paper.TradeOff()
	near(t, "A", study.Fit.A, printed.A, 1e-4)
	near(t, "B", study.Fit.B, printed.B, 1e-5)
	near(t, "C", study.Fit.C, printed.C, 1e-7)
	r := study.Residual
	near(t, "residual toxicity", r.Value, 1.8, 0.05)
	// The ends of the ratio (4/25) / (72/75) in the test of stats.Ratio, as shares
	// of an accepted tenth and nine tenths.
	near(t, "its lower end", r.CI95[0], 100*0.066685921618554798/(9+0.066685921618554798), 1e-9)
	near(t, "its upper end", r.CI95[1], 100*0.36282608330708873/(9+0.36282608330708873), 1e-9)
	if r.AcceptedToxic != 4 || r.Toxic != 25 || r.AcceptedSafe != 72 || r.Safe != 75 {
		t.Errorf("the residual is made of %+v", r)
	}
}

// The averages are as printed, except the means of GPT-4 and Llama 3.1. Their
// printed means were computed from rates in whole per cents.
func TestFamilyAverages(t *testing.T) {
	t.Parallel()
	study := paper.NewStudy()
	if len(study.Families) != 10 {
		t.Fatalf("%d families", len(study.Families))
	}
	for _, f := range study.Families {
		within := 0.0501
		if f.Name == "GPT-4" || f.Name == "Llama 3.1" {
			within = 0.15
		}
		near(t, f.Name+" mean", f.Mean, f.PrintedMean, within)
		near(t, f.Name+" deviation", f.Std, f.PrintedStd, 0.06)
		for _, m := range f.Models {
			if !slices.ContainsFunc(study.Models, func(x paper.Model) bool { return x.Name == m }) {
				t.Errorf("%s counts %s, which is not published", f.Name, m)
			}
		}
	}
}

// The small tables agree with the large ones where they overlap.
func TestSmallTables(t *testing.T) {
	t.Parallel()
	hard, toxic := paper.TableOf(paper.HardRefusal), paper.TableOf(paper.ToxicAcceptance)
	for _, r := range paper.TableOf(paper.Temperature).Rows {
		if want := hard.Of(r.Name, paper.Overall); r.Values[0] != want {
			t.Errorf("%s at temperature 0: %v, and %v in table 2", r.Name, r.Values[0], want)
		}
	}
	for _, r := range paper.TableOf(paper.AdvBench).Rows {
		if r.Name == "GPT-4-1106-preview" {
			continue
		}
		if want := toxic.Of(r.Name, paper.Overall); r.Values[1] != want {
			t.Errorf("%s answers %v of the toxic prompts in table 5, and %v in table 6", r.Name, r.Values[1], want)
		}
	}
	for _, r := range paper.TableOf(paper.KeywordAgainstGPT4).Rows {
		if r.Values[0] >= r.Values[1] {
			t.Errorf("%s: opening words find %v, GPT-4 %v", r.Name, r.Values[0], r.Values[1])
		}
	}
	accuracies := []float64{0.75, 0.78, 0.71, 0.94, 0.93}
	for i, m := range paper.Moderators() {
		got, _ := m.Accuracy()
		near(t, m.Name+" accuracy", got, accuracies[i], 1e-12)
		if m.TP+m.FN != 75 || m.FP+m.TN != 25 {
			t.Errorf("%s rated %+v, want 75 safe and 25 toxic prompts", m.Name, m.Confusion)
		}
	}
}

// The sizes add up to the sets, the shares of figure 7 are those of the older
// version, and the shares of the 80K set give every overall rate of table 7.
func TestCategorySizes(t *testing.T) {
	t.Parallel()
	sizes := paper.TableOf(paper.Categories)
	sums := map[string]float64{}
	for i, s := range sizes.Rows {
		if s.Name != string(orbench.PaperCategories[i]) {
			t.Errorf("category %d is %s", i, s.Name)
		}
		for j, v := range s.Values {
			sums[sizes.Columns[j]] += v
		}
		near(t, s.Name+" of the hard set", 100*sizes.Of(s.Name, "hard_older_n")/paper.HardOlder, sizes.Of(s.Name, "share_hard_pct"), 0.051)
		near(t, s.Name+" of the toxic set", 100*sizes.Of(s.Name, "toxic_older_n")/paper.ToxicOlder, sizes.Of(s.Name, "share_toxic_pct"), 0.051)
	}
	if sums["hard_older_n"] != paper.HardOlder || sums["hard_released_n"] != paper.HardReleased || sums["toxic_older_n"] != paper.ToxicOlder || sums["toxic_released_n"] != paper.ToxicReleased {
		t.Errorf("the categories add up to %v", sums)
	}
	for _, row := range paper.TableOf(paper.KeywordRefusal).Rows {
		sum := 0.0
		for i, s := range sizes.Rows {
			sum += sizes.Of(s.Name, "share_80k_pct") * row.Values[i] / 100
		}
		near(t, row.Name+" overall of table 7", sum, row.Values[10], 0.1)
	}
}

// Every row of both tables fits the version that Models gives it with all ten
// rates, except for six rates of table 2.
func TestVersions(t *testing.T) {
	t.Parallel()
	odd := 0
	for _, m := range paper.Models() {
		for _, table := range []paper.Table{paper.TableOf(paper.HardRefusal), paper.TableOf(paper.ToxicAcceptance)} {
			fits := paper.FitVersions(table, m.Name)
			i := slices.IndexFunc(fits, func(f paper.Fit) bool { return f.Version == m.Version })
			if fits[i].Best() < 9 {
				t.Errorf("%s in %s fits %+v, want all of %s", m.Name, table.Name, fits, m.Version)
			}
			odd += 10 - fits[i].Best()
		}
	}
	if odd != 6 {
		t.Errorf("%d rates fit in no way, want 6", odd)
	}
}

// The stated contradictions are computed; the expected figures here were
// counted by a separate script.
func TestContradictions(t *testing.T) {
	t.Parallel()
	all := paper.Contradictions()
	for _, c := range all {
		if c.Where == "" || c.Printed == "" || c.Found == "" {
			t.Errorf("%+v is incomplete", c)
		}
	}
	for _, want := range []string{
		"the rates of 25 models are shares of 1,534 hard and 681 toxic prompts, those of 7 of the released 1,319 and 655",
		"of the older models' 250 rates, 244 are possible when cut to 0.1 and only 129 when rounded; the other 6 are rounded",
		"add up to 13.27%", "add up to 8.85%",
		"illegal (49.3 and 73.7); the overall rates are 34.7 and 52.9",
		"the table's own gap is 2.4, and that of GPT-3.5-turbo-0613 is 5.5",
		"it refuses 9.7% of the hard prompts and 5.2% of the 80K set",
		"give 11.24 and 13.20", "the table has 31.7 and 12.0",
		"610 of the older 1,534; of the released 1,319 it is 527, 39.95%",
	} {
		if !slices.ContainsFunc(all, func(c paper.Contradiction) bool { return strings.Contains(c.Found, want) }) {
			t.Errorf("nothing says %q", want)
		}
	}
}

// Leaving out judges and selectors is by these names.
func TestParts(t *testing.T) {
	t.Parallel()
	var moderators, selectors []string
	for _, m := range paper.Models() {
		if m.Moderator {
			moderators = append(moderators, m.Name)
		}
		if m.Selector {
			selectors = append(selectors, m.Name)
		}
	}
	if len(moderators) != 3 || len(selectors) != 6 {
		t.Errorf("moderators %v and selectors %v, want 3 and 6", moderators, selectors)
	}
}
