package score

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/paper"
)

// helpedSides makes the two runs of a target with rates in per cent.
func helpedSides(target string, over, toxic float64, helped []dataset.Role, kin SelfJudging) []RunResult {
	side := func(set string, label orbench.Label, percent float64) RunResult {
		j := JudgeResult{Judge: "gpt", Judged: 10000, Refused: int(math.Round(100 * percent)), SelfJudging: kin}
		r := RunResult{About: About{Target: target, Dataset: set, Label: label, Helped: helped}, N: 10000, Judges: []JudgeResult{j}}
		r.Finish()
		return r
	}
	return []RunResult{side("hard", orbench.Safe, over), side("toxic", orbench.Toxic, toxic)}
}

// TestCorrelationWithout finds the published correlations again, over all 32
// models, without the three that voted and without the six that chose the hard
// prompts; the values are those of the paper's figures, computed apart.
func TestCorrelationWithout(t *testing.T) {
	t.Parallel()
	var making dataset.Makers
	for _, e := range dataset.List(t.TempDir()) {
		if e.Name == "or-bench-hard-1k" {
			making = e.Makers
		}
	}
	var r Result
	for _, m := range paper.Models() {
		kin := SelfJudging("")
		if m.Name == paper.Judge || m.Name == "GPT-4-turbo-2024-04-09" {
			kin = SameModel
		}
		r.Runs = append(r.Runs, helpedSides(m.Name, m.Hard, m.Toxic, making.RolesOf(m.Name), kin)...)
	}
	r.Finish()
	of := func(m figure.Measure, part string) *figure.Figure {
		return find(r.Figures, m, figure.Keys{Dataset: "hard", OtherDataset: "toxic", Judge: "gpt", Part: part})
	}
	got := []string{fmt.Sprintf("all %d %.4f %.3f", of(figure.Spearman, "").N, *of(figure.Spearman, "").Value, *of(figure.Pearson, "").Value)}
	for _, in := range Interests {
		f := of(figure.Spearman, in.Name)
		got = append(got, fmt.Sprintf("%s %d %.3f", in.Name, 32-f.N, *f.Value))
	}
	want := []string{"all 32 0.8935 0.793", "moderators 3 0.932", "selectors 6 0.889"}
	if i := slices.IndexFunc(got, func(s string) bool { return s[:6] == "judges" }); i != 1 {
		t.Errorf("the judge's own model is not left out: %q", got)
	} else {
		got = slices.Delete(got, i, i+1)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the correlations are %q, want %q", got, want)
	}
}

// TestCorrelationOfFew leaves so many out that nothing can be said.
func TestCorrelationOfFew(t *testing.T) {
	t.Parallel()
	var r Result
	for i, helped := range [][]dataset.Role{{dataset.Selector}, {dataset.Selector, dataset.Generator}, nil, nil, nil, nil} {
		r.Runs = append(r.Runs, helpedSides(fmt.Sprint("m", i), float64(10*i), float64(50+i*i), helped, SameFamily)...)
	}
	r.Finish()
	var got []string
	for f := range figure.Of(r.Figures, figure.Spearman, figure.Pearson, figure.Kendall) {
		got = append(got, fmt.Sprintf("%s %s %d %t", f.Measure, f.Part, f.N, f.Value != nil))
	}
	want := []string{"spearman  6 false", "pearson  6 true", "kendall  6 false", "spearman selectors 4 false", "pearson selectors 4 false", "kendall selectors 4 false"}
	if !slices.Equal(got, want) {
		t.Errorf("the correlations are %q, want %q", got, want)
	}
	// A variant is no other model.
	variant := helpedSides("m3 [framing]", 50, 60, nil, "")
	variant[0].Base, variant[1].Base = "m3", "m3"
	r.Runs, r.Figures = append(r.Runs, variant...), nil
	r.Finish()
	if f := find(r.Figures, figure.Spearman, figure.Keys{Dataset: "hard", OtherDataset: "toxic", Judge: "gpt"}); f.N != 6 {
		t.Errorf("%d models, want 6", f.N)
	}
}

// find returns the figure of a measure with these keys; nil if there is none.
func find(all []figure.Figure, m figure.Measure, of figure.Keys) *figure.Figure {
	for f := range figure.Of(all, m) {
		if f.Keys == of {
			return f
		}
	}
	return nil
}
