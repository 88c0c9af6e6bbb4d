package audit_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/audit"
)

// paperSheet is where the reconstruction of the paper's labels is kept.
const paperSheet = "testdata/paper100.csv"

// reconstruct makes 100 tasks whose labels give every figure that the OR-Bench
// paper prints about its own (arXiv 2405.20947, tables 1 and 12, appendices L
// and V): 75 safe and 25 toxic tasks by the majority of the five raters, each
// rater's cells, and 43 tasks on which the three workers agree. Which rater
// erred on which task is not published. Figures beyond those, such as kappa
// between two workers, are therefore ours.
func reconstruct() [][]string {
	rows := [][]string{{"prompt", "truth", "rater:worker 1", "rater:worker 2", "rater:worker 3", "rater:expert", "ensemble"}}
	for _, side := range []struct {
		right, wrong string
		tasks        int
		// errors lists which raters err together and how often.
		errors []struct {
			raters []int
			times  int
		}
	}{
		{"safe", "toxic", 75, []struct {
			raters []int
			times  int
		}{{[]int{0, 1}, 5}, {[]int{0, 2}, 5}, {[]int{1, 2}, 5}, {[]int{0}, 10}, {[]int{1}, 7}, {[]int{2}, 11}, {[]int{3}, 4}, {[]int{4}, 3}}},
		{"toxic", "safe", 25, []struct {
			raters []int
			times  int
		}{{[]int{0, 1}, 1}, {[]int{0, 2}, 1}, {[]int{1, 2}, 2}, {[]int{0}, 3}, {[]int{1}, 2}, {[]int{2}, 5}, {[]int{3}, 2}, {[]int{4}, 4}}},
	} {
		first := len(rows)
		for range side.tasks {
			row := []string{fmt.Sprint("task ", len(rows)), side.right}
			for range 5 {
				row = append(row, side.right)
			}
			rows = append(rows, row)
		}
		for _, e := range side.errors {
			for range e.times {
				for _, rater := range e.raters {
					rows[first][2+rater] = side.wrong
				}
				first++
			}
		}
	}
	return rows
}

func TestReconstructionIsKept(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(reconstruct()); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("ORBENCH_UPDATE") != "" {
		if err := os.WriteFile(paperSheet, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{paperSheet, "../../cmd/orbench/testdata/script/audit.txtar"} {
		kept, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(kept, b.Bytes()) {
			t.Errorf("%s does not hold the reconstruction; ORBENCH_UPDATE=1 writes %s, from which to copy it", path, paperSheet)
		}
	}
}

// examinePaper examines the reconstruction against the given truth.
func examinePaper(t *testing.T, truth string) audit.Report {
	t.Helper()
	f, err := os.Open(paperSheet)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	parsed, err := audit.ParseTruth(truth)
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := audit.ReadSheet(paperSheet, f, parsed.Columns)
	if err != nil {
		t.Fatal(err)
	}
	r, err := audit.Examine(audit.Examination{
		Sheets: []*audit.Sheet{sheet}, Truth: parsed, Positive: orbench.Safe, Prevalence: 0.10,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPaper(t *testing.T) {
	t.Parallel()
	for _, truth := range []string{"truth", "majority(worker 1, worker 2, rater:worker 3, expert, ensemble)"} {
		t.Run(truth, func(t *testing.T) {
			t.Parallel()
			r := examinePaper(t, truth)
			if p := r.Prompts; p.All != 100 || p.Safe != 75 || p.Toxic != 25 {
				t.Fatalf("the truth is %+v, want 75 safe and 25 toxic of 100", p)
			}
			// Table 12: TP, FN, TN, FP and accuracy of each rater.
			for i, want := range []struct {
				name                  string
				tp, fn, tn, fp, right int
			}{
				{"worker 1", 55, 20, 20, 5, 75},
				{"worker 2", 58, 17, 20, 5, 78},
				{"worker 3", 54, 21, 17, 8, 71},
				{"expert", 71, 4, 23, 2, 94},
				{"ensemble", 72, 3, 21, 4, 93},
			} {
				got := r.Raters[i]
				c := got.Confusion
				if got.Name != want.name || c.TP != want.tp || c.FN != want.fn || c.TN != want.tn || c.FP != want.fp || got.Accuracy.K != want.right || got.N != 100 {
					t.Errorf("%s has %+v and %d right, want %+v", got.Name, c, got.Accuracy.K, want)
				}
				if got.InTruth != (truth != "truth") {
					t.Errorf("%s is in the truth: %t", got.Name, got.InTruth)
				}
			}
			if r.Truth.Moderators != (truth != "truth") {
				t.Errorf("the truth includes moderators: %t", r.Truth.Moderators)
			}
			ensemble := r.Raters[4]
			residual := 100 * 0.16 / (900*0.96 + 100*0.16)
			if got := ensemble.Residual; got == nil || math.Abs(got.Value-residual) > 1e-12 || math.Round(1000*got.Value) != 18 {
				t.Errorf("the residual toxicity is %v, want %v", got, residual)
			} else if math.Abs(got.Lo-0.007) > 0.0005 || math.Abs(got.Hi-0.039) > 0.001 {
				t.Errorf("its interval is %.4f to %.4f, want about 0.007 to 0.039", got.Lo, got.Hi)
			}
			if fpr := ensemble.FalsePositives; *fpr.Share != 0.16 || math.Abs(fpr.CI95[0]-0.0640) > 5e-5 || math.Abs(fpr.CI95[1]-0.3465) > 5e-5 {
				t.Errorf("the false-positive rate is %v %v", *fpr.Share, *fpr.CI95)
			}
		})
	}
}

// The people's majority alone leaves some of the paper's tasks without a truth:
// the ensemble's vote decided them.
func TestPaperWithoutTheEnsemblesVote(t *testing.T) {
	t.Parallel()
	r := examinePaper(t, "")
	if p := r.Prompts; p.Split != 19 || p.Safe != 60 || p.Toxic != 21 || p.Unlabelled != 0 {
		t.Errorf("the truth is %+v", p)
	}
	if r.Truth.Moderators || len(r.Truth.Columns) != 4 || !r.Truth.Majority {
		t.Errorf("the truth is made of %+v", r.Truth)
	}
}

// Appendix V: the three workers agree on 43%.
func TestPaperWorkersAgree(t *testing.T) {
	t.Parallel()
	rows := reconstruct()
	for _, row := range rows {
		row[5], row[6] = "", ""
	}
	rows[0][5], rows[0][6] = "x", "y"
	sheet := readRows(t, rows)
	r, err := audit.Examine(audit.Examination{Sheets: []*audit.Sheet{sheet}, Positive: orbench.Safe, Prevalence: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Fleiss[0]; f.Raters != "people" || f.Count != 3 || f.Unanimous.K != 43 || f.Unanimous.N != 100 {
		t.Errorf("the workers agree on %+v, want 43 of 100", f)
	}
}

// readRows reads rows as a sheet.
func readRows(t *testing.T, rows [][]string) *audit.Sheet {
	t.Helper()
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	sheet, err := audit.ReadSheet("labels.csv", &b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sheet
}
