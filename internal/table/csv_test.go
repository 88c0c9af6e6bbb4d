package table_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

type csvRow struct {
	DatasetSHA256 string
	Label         orbench.Label
	N, OnlyInBase int
	Seed          uint64
	Of            *int
	Inside        bool
	Day           time.Time
	Rate          stats.Rate      `csv:"rate,ci95"`
	AsMeant       *stats.Rate     `csv:"meant"`
	PHolm         *stats.Estimate `csv:",holm"`
	CI95Clustered *[2]float64
	Base          csvSide
	*csvSide
	Left   string `csv:"-"`
	hidden int
}

type csvSide struct {
	Clusters   int
	SelfBLEU   float64
	TopOpeners *string
}

func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const csvHeader = "dataset_sha256,label,n,only_in_base,seed,of,inside,day,rate,ci95_lo,ci95_hi,meant,meant_ci95_lo,meant_ci95_hi,p_holm,holm_lo,holm_hi," +
	"ci95_clustered_lo,ci95_clustered_hi,base_clusters,base_self_bleu,base_top_openers,clusters,self_bleu,top_openers"

// TestCSV has every kind of column, with a value and undefined.
func TestCSV(t *testing.T) {
	t.Parallel()
	of, opener := 4, "@who"
	rate := stats.RateOf(1, 4)
	rate.CI95 = &[2]float64{0.125, 0.5}
	full := csvRow{
		DatasetSHA256: "=1+1", Label: orbench.Safe, N: -1, OnlyInBase: 2, Seed: 1 << 63, Of: &of, Inside: true, Day: time.Date(2026, 11, 29, 2, 0, 0, 0, time.UTC), Rate: rate, AsMeant: &rate,
		PHolm: &stats.Estimate{Value: -0.5, Lo: -1, Hi: 0.1}, CI95Clustered: &[2]float64{0, 1}, Base: csvSide{1, 0.25, &opener}, Left: "left out", hidden: 1,
	}
	const (
		fullCells  = "'=1+1,safe,-1,2,9223372036854775808,4,true,2026-11-29T02:00:00Z,0.25,0.125,0.5,0.25,0.125,0.5,-0.5,-1,0.1,0,1,1,0.25,'@who,,,"
		emptyCells = ",,0,0,0,,false,0001-01-01T00:00:00Z,,,,,,,,,,,,0,0,,7,0,"
	)
	if got, want := written(t, func(w io.Writer) error { return table.CSV(w, []csvRow{full, {csvSide: &csvSide{Clusters: 7}}}) }), csvHeader+"\n"+fullCells+"\n"+emptyCells+"\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := written(t, func(w io.Writer) error { return table.CSV(w, []csvRow(nil)) }); got != csvHeader+"\n" {
		t.Errorf("without rows there is no header: %q", got)
	}
}

// A field that no cell can hold is a fault of the program.
func TestCSVOfWhatIsNoCell(t *testing.T) {
	t.Parallel()
	defer func() {
		if got := recover(); got == nil || !strings.Contains(got.(string), "[]int") {
			t.Errorf("got %v", got)
		}
	}()
	_ = table.CSV(io.Discard, []struct{ Words []int }{{}})
}
