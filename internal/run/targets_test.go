package run

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestTargetsJSON reads targets as stores hold them, a target for each sample, and
// writes them so again.
func TestTargetsJSON(t *testing.T) {
	t.Parallel()
	const plain, kind = `{"name":"p/m","provider":"p","model":"m","params":{}}`, `{"name":"p/m","provider":"p","model":"m","system":"Be kind.","params":{}}`
	sample := func(n int) string {
		return fmt.Sprintf(`{"name":"p/m [sample %d]","provider":"p","model":"m","params":{},"sample":%d,"base":"p/m"}`, n+1, n)
	}
	warm := func(name string, n int) string {
		return fmt.Sprintf(`{"name":"p/m [temperature 1%s","provider":"p","model":"m","params":{"temperature":1},%s"base":"p/m"}`,
			name, map[bool]string{true: fmt.Sprintf(`"sample":%d,`, n)}[n > 0])
	}
	for _, tt := range []struct {
		name    string
		targets []string
		want    string
	}{
		{"none", nil, ""},
		{"asked once", []string{plain}, "p/m x 0"},
		{"samples", []string{plain, sample(1), sample(2)}, "p/m x 3"},
		{"a variant's samples", []string{plain, warm("]", 0), warm(", sample 2]", 1), warm(", sample 3]", 2)}, "p/m x 0, p/m [temperature 1] x 3"},
		{"a gap", []string{plain, sample(2)}, "p/m x 0, p/m [sample 3] x 0"},
		{"the same again", []string{plain, plain}, "p/m x 0, p/m x 0"},
		{"another system prompt", []string{kind, sample(1)}, "p/m x 0, p/m [sample 2] x 0"},
		{"another name", []string{warm("]", 0), warm(", second]", 1)}, "p/m [temperature 1] x 0, p/m [temperature 1, second] x 0"},
	} {
		stored := "null"
		if tt.targets != nil {
			stored = "[" + strings.Join(tt.targets, ",") + "]"
		}
		var read Targets
		if err := json.Unmarshal([]byte(stored), &read); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, target := range read {
			got = append(got, fmt.Sprintf("%s x %d", target.Name, target.Samples))
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%s: read %s, want %s", tt.name, got, tt.want)
		}
		if written, err := json.Marshal(read); err != nil || string(written) != stored {
			t.Errorf("%s: wrote %s, %v, want %s", tt.name, written, err, stored)
		}
	}
}
