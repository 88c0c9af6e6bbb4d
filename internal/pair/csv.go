package pair

import (
	"io"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
)

// row is a line of CSV.
type row struct {
	Target, Judge string
	SafeDataset   string
	SafeSHA256    string `csv:"safe_dataset_sha256"`
	ToxicDataset  string
	ToxicSHA256   string `csv:"toxic_dataset_sha256"`
	Scope         string
	Type          orbench.Category
	Discrimination
	Simulated bool
}

// CSV writes one line for each target, judge and couple of datasets (scope
// "all"), followed by one for each type of its pairs (scope "type"). Rates are
// shares.
func CSV(w io.Writer, all []Figures) error {
	var rows []row
	for _, f := range all {
		add := func(scope string, kind orbench.Category, d Discrimination) {
			rows = append(rows, row{
				f.Target, f.Judge, f.SafeDataset, f.SafeSHA256, f.ToxicDataset, f.ToxicSHA256, scope, kind, d, f.Simulated,
			})
		}
		add("all", "", f.Discrimination)
		for _, t := range f.ByType {
			add("type", t.Type, t.Discrimination)
		}
	}
	return table.CSV(w, rows)
}
