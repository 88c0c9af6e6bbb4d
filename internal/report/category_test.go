package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/page/pagetest"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/score/scoretest"
)

// A dataset with very many categories gives a figure of a bounded size.
func TestManyCategories(t *testing.T) {
	t.Parallel()
	r, _ := scoretest.Fixture{Targets: 2, Safe: 2, Toxic: 2}.Make()
	for i := range r.Runs {
		for k := range r.Runs[i].Judges {
			counts := map[orbench.Category]score.Count{}
			for c := range 500 {
				counts[orbench.Category("a rather long name of category "+strconv.Itoa(c))] = score.Count{N: c, Refused: c / 2}
			}
			r.Runs[i].Judges[k].ByCategory = counts
		}
		r.Runs[i].Finish()
	}
	f := categoryPlots(r, "lexical")[0].figure
	if f.Width > 3000 {
		t.Errorf("the figure is %v points wide", f.Width)
	}
	all := strings.Join(pagetest.FigureTexts(t, f), "\n")
	for _, want := range []string{"460 smaller categories are left out here", "499"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

func TestCategoriesOfManyVariants(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ targets, variants, rows, left int }{
		"few":          {2, 5, 12, 0},
		"many":         {2, 20, 2, 40},
		"only targets": {30, 0, 30, 0},
	} {
		r, _ := scoretest.Fixture{Targets: tc.targets, Safe: 1, Toxic: 1}.Make()
		for _, run := range r.Runs {
			run.Base = run.Target
			for v := range tc.variants {
				run.Target, run.Judges = fmt.Sprintf("%s [change-%d]", run.Base, v), slices.Clone(run.Judges)
				run.Finish()
				r.Runs = append(r.Runs, run)
			}
		}
		h := heats(r, r.Judges()[0])[0]
		if left := strings.Contains(h.Note, strconv.Itoa(tc.left)+" variants are left out"); len(h.Rows) != tc.rows || left != (tc.left > 0) {
			t.Errorf("%s: %d rows, and the note is %q", name, len(h.Rows), h.Note)
		}
	}
}

// Two versions of a dataset never make one pair or one table.
func TestVersionsOfADatasetStayApart(t *testing.T) {
	t.Parallel()
	r, _ := scoretest.Fixture{Targets: 2, Safe: 2, Toxic: 2}.Make()
	r.Runs[2].DatasetSHA256 = "ffff" + scoretest.SHA256[4:]
	r.Runs[2].Finish()
	if n := len(heats(r, "lexical")); n != 3 {
		t.Errorf("%d heat maps, want 3: safe in two versions, toxic in one", n)
	}
}

func TestCategoriesInOrder(t *testing.T) {
	t.Parallel()
	r, _ := scoretest.Fixture{Targets: 1, Safe: 2, Toxic: 2}.Make()
	counts := map[orbench.Category]score.Count{"b": {N: 1}, "": {N: 5}, "a": {N: 2}}
	for i := range r.Runs {
		r.Runs[i].Judges[0].ByCategory = counts
		r.Runs[i].Finish()
	}
	var got []string
	for _, g := range heats(r, "lexical")[0].Sets {
		got = append(got, g.Name)
	}
	if want := []string{"a", "b", "(none)", "all"}; !slices.Equal(got, want) {
		t.Errorf("categories %q, want %q", got, want)
	}
	delete(counts, "a")
	delete(counts, "b")
	for i := range r.Runs {
		r.Runs[i].Finish()
	}
	if n := len(heats(r, "lexical")); n > 0 {
		t.Error("the nameless category alone counts as named ones")
	}
}
