package sim

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/orbench/orbench"
)

func TestParseFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       Faults
	}{
		{"empty", "", nil},
		{"one", "429=0.1", Faults{"429": 0.1}},
		{
			"all", " 429=0.1, 500=0.05,reset=.05,truncate=5e-2,slow=0.05,filter=1,slow-by=2",
			Faults{"429": 0.1, "500": 0.05, "reset": 0.05, "truncate": 0.05, "slow": 0.05, "filter": 1, "slow-by": 2},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseFaults(test.text)
			if err != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("ParseFaults(%q) = %+v, %v; want %+v", test.text, got, err, test.want)
			}
		})
	}
}

func TestParseFaultsSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"429":           `"429" is no share from 0 to 1, and no number of seconds`,
		"429=0.1,":      `unknown fault ""`,
		"429=2":         `"429=2" is no share`,
		"429=-1":        "is no share",
		"reset=NaN":     "is no share",
		"slow=often":    "is no share",
		"429=.1,429=.2": "429 is given twice",
		"slow-by=2s":    "no number of seconds",
		"seed=7":        `unknown fault "seed"`,
		"trunkate=0.1":  `did you mean "truncate"?`,
		"503=0.1":       `unknown fault "503"; did you mean "500"?`,
	} {
		_, err := ParseFaults(text)
		if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseFaults(%q): %v, want an input error with %q", text, err, want)
		}
	}
}

func FuzzParseFaults(f *testing.F) {
	for _, seed := range []string{"", "429=0.1", "slow=1,slow-by=3600", "filter=0.02", "a=b", ",,=", "500=1e-300"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseFaults(text)
		if err != nil {
			return
		}
		for name, n := range got {
			if !(n >= 0) {
				t.Errorf("%q gives %s the number %v", text, name, n)
			}
		}
	})
}

// Each fault occurs at its rate, and whether one attempt fails says nothing
// about the next.
func TestFaultsOccurAtTheirRates(t *testing.T) {
	t.Parallel()
	const n = 20000
	f := Faults{"429": 0.1, "500": 0.06, "reset": 0.05, "truncate": 0.05, "slow": 0.04}
	for attempt := range 3 {
		count := map[string]int{}
		both, first := 0, 0
		for request := range uint64(n) {
			kind := f.at(mix(request), attempt)
			count[kind]++
			if kind != "" {
				first++
				if f.at(mix(request), attempt+1) != "" {
					both++
				}
			}
		}
		for _, kind := range attemptFaults {
			rate := f[kind]
			if got := float64(count[kind]) / n; math.Abs(got-rate) > 0.01 {
				t.Errorf("attempt %d: %s at a rate of %.3f, want %g", attempt, kind, got, rate)
			}
		}
		if again := float64(both) / float64(first); math.Abs(again-0.3) > 0.03 {
			t.Errorf("attempt %d: %.3f of the failed fail again, want 0.3", attempt, again)
		}
	}
}

func TestFilterStopsItsShare(t *testing.T) {
	t.Parallel()
	f := Faults{"filter": 0.2}
	stopped := 0
	for _, p := range starter(t) {
		if f.filters(p.Text()) {
			stopped++
		}
	}
	if stopped < 35 || stopped > 70 {
		t.Errorf("%d of 260 stopped, want about 52", stopped)
	}
	if new(Faults).filters("anything") {
		t.Error("no filter stopped a prompt")
	}
}
