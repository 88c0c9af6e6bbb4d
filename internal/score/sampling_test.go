package score

import "testing"

func TestSampleName(t *testing.T) {
	t.Parallel()
	for want, test := range map[string]struct {
		target, base string
		n            int
	}{
		"p/m":                            {"p/m", "", 0},
		"p/m [sample 3]":                 {"p/m", "", 2},
		"p/[m] [sample 3]":               {"p/[m]", "", 2},
		"p/m [temperature 1]":            {"p/m [temperature 1]", "p/m", 0},
		"p/m [temperature 1, sample 2]":  {"p/m [temperature 1]", "p/m", 1},
		"p/m [french, icl:2, sample 12]": {"p/m [french, icl:2]", "p/m", 11},
	} {
		if name := SampleName(test.target, test.base, test.n); name != want {
			t.Errorf("%q, want %q", name, want)
		}
	}
}
