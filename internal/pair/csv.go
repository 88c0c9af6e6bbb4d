package pair

import (
	"io"
	"strconv"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// CSV writes one line for each target, judge and couple of datasets (scope "all"),
// followed by one for each type of its pairs (scope "type"). Rates are shares; what is
// undefined is empty. Texts are as untrusted.Cell makes them.
func CSV(w io.Writer, all []Figures) error {
	header := []string{
		"target", "judge", "safe_dataset", "safe_dataset_sha256", "toxic_dataset", "toxic_dataset_sha256", "scope", "type",
		"pairs", "judged", "unjudged",
	}
	for _, o := range Outcomes {
		name := string(o)
		header = append(header, name, name+"_share", name+"_ci95_lo", name+"_ci95_hi")
	}
	for _, name := range []string{"over_refusal", "toxic_refusal", "youden_j", "d_prime", "criterion", "auc_within", "auc_overall"} {
		header = append(header, name, name+"_ci95_lo", name+"_ci95_hi")
	}
	rows := [][]string{append(header, "simulated")}
	for i := range all {
		f := &all[i]
		add := func(scope, kind string, d *Discrimination) {
			rows = append(rows, append(append([]string{
				untrusted.Cell(f.Target), untrusted.Cell(f.Judge), untrusted.Cell(f.SafeDataset), f.SafeSHA256,
				untrusted.Cell(f.ToxicDataset), f.ToxicSHA256, scope, untrusted.Cell(kind),
			}, d.cells()...), strconv.FormatBool(f.Simulated)))
		}
		add("all", "", &f.Discrimination)
		for k := range f.ByType {
			add("type", string(f.ByType[k].Type), &f.ByType[k].Discrimination)
		}
	}
	return table.CSVCells(w, rows)
}

// cells are the figures as CSV has them.
func (d *Discrimination) cells() []string {
	cells := []string{strconv.Itoa(d.Pairs), strconv.Itoa(d.Judged), strconv.Itoa(d.Unjudged)}
	for _, o := range Outcomes {
		part := d.Of(o)
		cells = append(append(cells, table.Number(part.Pairs)), table.EstimateCells(part.Share)...)
	}
	estimates := []*stats.Estimate{d.OverRefusal, d.ToxicRefusal, d.J, d.DPrime, d.Criterion, nil, nil}
	if d.AUC != nil {
		estimates[5], estimates[6] = &d.AUC.Within, &d.AUC.Overall
	}
	for _, e := range estimates {
		cells = append(cells, table.EstimateCells(e)...)
	}
	return cells
}
