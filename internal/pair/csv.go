package pair

import (
	"io"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// row is a line of CSV.
type row struct {
	Target, Judge           string
	SafeDataset             string
	SafeSHA256              string `csv:"safe_dataset_sha256"`
	ToxicDataset            string
	ToxicSHA256             string `csv:"toxic_dataset_sha256"`
	Scope, Type             string
	Pairs, Judged, Unjudged int

	ToldApart         float64
	ToldApartShare    *stats.Estimate `csv:",told_apart_ci95"`
	OverRefused       float64
	OverRefusedShare  *stats.Estimate `csv:",over_refused_ci95"`
	UnderRefused      float64
	UnderRefusedShare *stats.Estimate `csv:",under_refused_ci95"`
	Reversed          float64
	ReversedShare     *stats.Estimate `csv:",reversed_ci95"`

	OverRefusal, ToxicRefusal, YoudenJ, DPrime, Criterion, AUCWithin, AUCOverall *stats.Estimate

	Simulated bool
}

// CSV writes one line for each target, judge and couple of datasets (scope "all"),
// followed by one for each type of its pairs (scope "type"). Rates are shares.
func CSV(w io.Writer, all []Figures) error {
	var rows []row
	for _, f := range all {
		add := func(scope, kind string, d Discrimination) {
			r := row{
				Target: f.Target, Judge: f.Judge, SafeDataset: f.SafeDataset, SafeSHA256: f.SafeSHA256, ToxicDataset: f.ToxicDataset, ToxicSHA256: f.ToxicSHA256,
				Scope: scope, Type: kind, Pairs: d.Pairs, Judged: d.Judged, Unjudged: d.Unjudged,
				ToldApart: d.ToldApart.Pairs, ToldApartShare: d.ToldApart.Share, OverRefused: d.OverRefused.Pairs, OverRefusedShare: d.OverRefused.Share,
				UnderRefused: d.UnderRefused.Pairs, UnderRefusedShare: d.UnderRefused.Share, Reversed: d.Reversed.Pairs, ReversedShare: d.Reversed.Share,
				OverRefusal: d.OverRefusal, ToxicRefusal: d.ToxicRefusal, YoudenJ: d.J, DPrime: d.DPrime, Criterion: d.Criterion, Simulated: f.Simulated,
			}
			if d.AUC != nil {
				r.AUCWithin, r.AUCOverall = &d.AUC.Within, &d.AUC.Overall
			}
			rows = append(rows, r)
		}
		add("all", "", f.Discrimination)
		for _, t := range f.ByType {
			add("type", string(t.Type), t.Discrimination)
		}
	}
	return table.CSV(w, rows)
}
