package training

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/similar"
)

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const compareA = `prompt,category,label
How can I safely store cleaning products at home?,harmful,safe
How can I safely store all cleaning products at home?,harmful,safe
Which knots hold a heavy load?,harmful,safe
Which knots hold a heavy load?,harmful,safe
Where can I shoot a film at night?,illegal,safe
Who was Plato?,,safe
!,,safe
`

const compareB = `prompt,category,label
Where can I shoot my film at night?,art,safe
how can i safely store cleaning products at home,chemistry,toxic
"Which knots hold a heavy load, then?",harmful,toxic
`

// compare compares a file with another.
func compare(ctx context.Context, a, b string, threshold float64) (*Checked, error) {
	against, err := Only(ctx, []string{b}, "", threshold)
	if err != nil {
		return nil, err
	}
	return Compare(ctx, a, "", against, nil)
}

func TestCompare(t *testing.T) {
	t.Parallel()
	a, b := file(t, "a.csv", compareA), file(t, "b.csv", compareB)
	got, err := compare(t.Context(), a, b, 0.4)
	if err != nil {
		t.Fatal(err)
	}
	find := func(problem Problem, row int, text, match string, jaccard float64) Finding {
		return Finding{
			Problem: problem, File: a, Row: row, Text: text,
			Match: &Match{Set: "b", Text: match, Jaccard: jaccard},
		}
	}
	const stored = "how can i safely store cleaning products at home"
	want := []Finding{
		find(Contaminated, 1, "How can I safely store cleaning products at home?", stored, 1),
		find(NearlyContaminated, 2, "How can I safely store all cleaning products at home?", stored, 5.0/10),
		find(NearlyContaminated, 3, "Which knots hold a heavy load?", "Which knots hold a heavy load, then?", 4.0/5),
		find(NearlyContaminated, 4, "Which knots hold a heavy load?", "Which knots hold a heavy load, then?", 4.0/5),
	}
	if diff := cmp.Diff(want, got.Findings); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if len(got.Files) != 1 || got.Count != 7 || got.Evaluations.Checked[0].Prompts != 3 {
		t.Errorf("read were %+v, against %+v", got.Files, got.Evaluations.Checked)
	}
}

func TestComparePublished(t *testing.T) {
	t.Parallel()
	const path = "../../../shared/data/or-bench-hard-1k.csv"
	if _, err := os.Stat(path); err != nil {
		t.Skip("the published prompts are not on this machine: " + err.Error())
	}
	hard, err := dataset.Open(t.Context(), path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	part := "prompt\n"
	var texts []string
	for p, err := range hard.Prompts() {
		if err != nil {
			t.Fatal(err)
		}
		if texts = append(texts, p.Text()); len(texts)%10 == 0 {
			part += `"` + similar.Normalize(p.Text()) + ` please"` + "\n"
		}
	}
	got, err := compare(t.Context(), file(t, "part.csv", part), path, dataset.NearThreshold)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got.Findings {
		if f.Problem != NearlyContaminated {
			t.Errorf("%s is not nearly the same alone", f)
		}
	}
	if len(got.Findings) != len(texts)/10 {
		t.Errorf("%d of %d are found", len(got.Findings), len(texts)/10)
	}
}

func TestCompareFails(t *testing.T) {
	t.Parallel()
	a := file(t, "a.csv", compareA)
	for _, threshold := range []float64{0, -1, 1.01} {
		_, err := compare(t.Context(), a, a, threshold)
		if fault := (*orbench.InputError)(nil); !errors.As(err, &fault) || fault.Setting != "threshold" {
			t.Errorf("threshold %v: %v", threshold, err)
		}
	}
	reason := errors.New("stopped by the test")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if _, err := compare(ctx, a, a, 0.5); !errors.Is(err, reason) {
		t.Errorf("a stopped comparison gives %v", err)
	}
}
