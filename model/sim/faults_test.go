package sim

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench"
)

func TestParseFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       Faults
	}{
		{"empty", "", Faults{Rates: map[string]float64{}}},
		{"one", "429=0.1", Faults{Rates: map[string]float64{"429": 0.1}}},
		{
			"all", " 429=0.1, 500=0.05,reset=.05,truncate=5e-2,slow=0.05,filter=1,slow-by=2s,retry-after=1500ms,seed=-7",
			Faults{
				Rates:  map[string]float64{"429": 0.1, "500": 0.05, "reset": 0.05, "truncate": 0.05, "slow": 0.05, "filter": 1},
				SlowBy: 2 * time.Second, RetryAfter: 1500 * time.Millisecond, Seed: -7,
			},
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
		"429":             `"429" is not NAME=VALUE`,
		"429=0.1,":        `"" is not NAME=VALUE`,
		"429=2":           "the rate 429=2 is not a number from 0 to 1",
		"429=-1":          "not a number from 0 to 1",
		"reset=NaN":       "not a number from 0 to 1",
		"slow=often":      "not a number from 0 to 1",
		"429=.1,429=.2":   "429 is given twice",
		"429=0.6,500=0.6": "the rates without filter add up to 1.2",
		"slow-by=2":       "slow-by=2 is not a duration",
		"retry-after=-1s": "retry-after=-1s is not a duration",
		"seed=x":          "seed=x is not a whole number",
		"trunkate=0.1":    `did you mean "truncate"?`,
		"503=0.1":         `no fault is called "503"; did you mean "500"?`,
	} {
		_, err := ParseFaults(text)
		if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseFaults(%q): %v, want an input error with %q", text, err, want)
		}
	}
}

func FuzzParseFaults(f *testing.F) {
	for _, seed := range []string{"", "429=0.1,seed=7", "slow=1,slow-by=1h", "filter=0.02,retry-after=1s", "a=b", ",,=", "500=1e-300"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseFaults(text)
		if err != nil {
			return
		}
		for kind, rate := range got.Rates {
			if !(rate >= 0 && rate <= 1) {
				t.Errorf("%q gives %s the rate %v", text, kind, rate)
			}
		}
		if got.sum() > 1 || got.SlowBy < 0 || got.RetryAfter < 0 {
			t.Errorf("%q reads as %+v", text, got)
		}
	})
}

// Each fault occurs at its rate, and whether one attempt fails says nothing
// about the next.
func TestFaultsOccurAtTheirRates(t *testing.T) {
	t.Parallel()
	const n = 20000
	f := Faults{Rates: map[string]float64{"429": 0.1, "500": 0.06, "reset": 0.05, "truncate": 0.05, "slow": 0.04}, Seed: 3}
	for attempt := range uint32(3) {
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
		for kind, rate := range f.Rates {
			if got := float64(count[kind]) / n; math.Abs(got-rate) > 0.01 {
				t.Errorf("seed %d, attempt %d: %s at a rate of %.3f, want %g", f.Seed, attempt, kind, got, rate)
			}
		}
		if again := float64(both) / float64(first); math.Abs(again-f.sum()) > 0.03 {
			t.Errorf("seed %d, attempt %d: %.3f of the failed fail again, want %g", f.Seed, attempt, again, f.sum())
		}
	}
}

func TestFilterStopsTheSamePrompts(t *testing.T) {
	t.Parallel()
	f := Faults{Rates: map[string]float64{"filter": 0.2}, Seed: 3}
	stopped, ways := 0, map[int]int{}
	for _, p := range starter(t) {
		way, ok := f.filters(p.Text())
		if ok {
			stopped++
			ways[way]++
		}
		if w, again := f.filters(p.Text()); again != ok || w != way {
			t.Errorf("%q is stopped at one time and not at another", p.Text())
		}
	}
	if stopped < 35 || stopped > 70 || len(ways) != 3 {
		t.Errorf("seed %d: %d of 260 stopped in %d ways, want about 52 in 3", f.Seed, stopped, len(ways))
	}
	if _, ok := new(Faults).filters("anything"); ok {
		t.Error("no filter stopped a prompt")
	}
}
