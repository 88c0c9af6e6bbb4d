package score

import "testing"

func TestNameOf(t *testing.T) {
	t.Parallel()
	for want, test := range map[string]struct {
		labels []string
		sample int
		first  string
	}{
		"p/m":                            {nil, 0, "p/m"},
		"p/m [sample 3]":                 {nil, 2, "p/m"},
		"p/m [temperature 1]":            {[]string{"temperature 1"}, 0, "p/m [temperature 1]"},
		"p/m [temperature 1, sample 2]":  {[]string{"temperature 1"}, 1, "p/m [temperature 1]"},
		"p/m [french, icl:2, sample 12]": {[]string{"french", "icl:2"}, 11, "p/m [french, icl:2]"},
	} {
		name := NameOf("p/m", test.labels, test.sample)
		if first := WithoutSample(name, test.sample); name != want || first != test.first {
			t.Errorf("%q, without its sample %q; want %q and %q", name, first, want, test.first)
		}
	}
}
