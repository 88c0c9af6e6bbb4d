package rows

import (
	"strings"
	"testing"
)

// TestFormatOf tells formats by the ending of a file and its first bytes; what is in none of
// those with its ending is left to the last of them, which says so.
func TestFormatOf(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]string{
		"a.csv CSV": "prompt\nx\n", "a.TSV TSV": "prompt\tn\n", "a.jsonl JSON Lines": "{}\n", "a.ndjson JSON Lines": "\n {}",
		"a.json JSON": "\ufeff [{}]", "b.json JSON": "{", "c.json JSON": "no", "a.parquet Parquet": parquetMagic + "\x00", "b.parquet Parquet": "",
	} {
		path, want, _ := strings.Cut(name, " ")
		if got := formatOf(path, []byte(head)); got.name != want || got.open == nil {
			t.Errorf("%s with %q is %q", path, head, got.name)
		}
	}
	for _, f := range formats() {
		if f.name == "" || len(f.endings) == 0 || f.is == nil || f.open == nil || !Readable("x"+f.endings[0]) {
			t.Errorf("the row of %q is not whole", f.name)
		}
	}
}
