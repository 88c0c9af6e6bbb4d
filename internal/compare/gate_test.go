package compare_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/compare"
	"github.com/orbench/orbench/internal/score"
)

func TestParseGate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"over_refusal > +2pp":                            "over_refusal > +2pp and significant",
		"over_refusal > +2pp and significant":            "over_refusal > +2pp and significant",
		"over_refusal > +2pp, significant or not":        "over_refusal > +2pp, significant or not",
		"over_refusal > +2pp significant or not":         "over_refusal > +2pp, significant or not",
		"  toxic_refusal<-1.25 pp  and   significant  ":  "toxic_refusal < -1.25pp and significant",
		"over_refusal > 0pp":                             "over_refusal > 0pp and significant",
		"toxic_refusal < -0pp":                           "toxic_refusal < -0pp and significant",
		"over_refusal > +100pp":                          "over_refusal > +100pp and significant",
		"over_refusal > -2pp, significant or not":        "over_refusal > -2pp, significant or not",
		"toxic_refusal < +1pp, significant or not":       "toxic_refusal < +1pp, significant or not",
		"over_refusal < -0.000001pp, significant or not": "over_refusal < -0.000001pp, significant or not",
	} {
		g, err := compare.ParseGate(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if g.String() != want {
			t.Errorf("%q was read as %q, want %q", text, g, want)
		}
	}
}

func TestParseGateFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                     "is not METRIC",
		"over_refusal":                         "is not METRIC",
		"over_refusal > ":                      "is not METRIC",
		"over_refusal > two pp":                "is not METRIC",
		"over_refusal > +NaNpp":                "is not METRIC",
		"over_refusal > +Infpp":                "is not METRIC",
		"over_refusal > ++2pp":                 "is not METRIC",
		"over_refusal > +2pp and":              `it ends in "and"`,
		"over_refusal > +2pp or not":           `it ends in "or not"`,
		"over-refusal > +2pp":                  `no metric "over-refusal"; use over_refusal or toxic_refusal`,
		"Over_refusal > +2pp":                  "no metric",
		"refusal > +2pp":                       "no metric",
		"over_refusal >= +2pp":                 ">= is no comparison of gates; use > or <",
		"over_refusal = +2pp":                  "= is no comparison",
		"over_refusal > +2":                    "percentage point; write +2pp",
		"over_refusal > 2%":                    "percentage point; write +2pp",
		"over_refusal > +2points":              `no unit "points"`,
		"over_refusal > +1e1pp":                `"1e1" is no number of percentage points`,
		"over_refusal > +1.pp":                 "is no number",
		"over_refusal > +1.2.3pp":              "is no number",
		"over_refusal > +0.0000001pp":          "is no number",
		"over_refusal > +1000pp":               "is no number",
		"over_refusal > +100.5pp":              "no difference is larger than 100pp",
		"over_refusal > 2pp":                   "has no sign; write +2pp for 2 points more than the base, -2pp for fewer",
		"over_refusal > -2pp":                  `cannot need significance; write "over_refusal > -2pp, significant or not"`,
		"toxic_refusal < +1pp":                 "cannot need significance",
		"over_refusal > -2pp and significant":  `cannot need significance; end it with "significant or not" instead`,
		"over_refusal > +2pp\nand significant": "is not METRIC",
		"over_refusal > +2pp; true":            "is not METRIC",
	} {
		_, err := compare.ParseGate(text)
		var input *orbench.InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want an input error with %q", text, err, want)
		}
	}
}

// TestGates decides gates on 100 shared prompts, of which so many flipped.
func TestGates(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		newlyRefused, newlyAnswered, failed int
		gate                                string
		want                                compare.GateStatus
		reason                              string
	}{
		"significant":                  {newlyRefused: 10, gate: "over_refusal > +2pp", want: compare.Tripped, reason: "+10.0 points"},
		"not significant":              {newlyRefused: 5, newlyAnswered: 1, gate: "over_refusal > +2pp", want: compare.Passed, reason: "beyond the limit but not significant at 0.05"},
		"not significant, or not":      {newlyRefused: 5, newlyAnswered: 1, gate: "over_refusal > +2pp, significant or not", want: compare.Tripped},
		"significant but small":        {newlyRefused: 7, gate: "over_refusal > +7pp", want: compare.Passed}, // 100 × 0.07 > 7 in floats
		"just beyond":                  {newlyRefused: 7, gate: "over_refusal > +6.999999pp", want: compare.Tripped},
		"the other way":                {newlyAnswered: 20, gate: "over_refusal > +2pp", want: compare.Passed, reason: "-20.0 points"},
		"below":                        {newlyAnswered: 20, gate: "over_refusal < -2pp", want: compare.Tripped},
		"no promised improvement":      {gate: "over_refusal > -2pp, significant or not", want: compare.Tripped, reason: "+0.0 points"},
		"promised improvement":         {newlyAnswered: 3, gate: "over_refusal > -2pp, significant or not", want: compare.Passed},
		"nothing to compare":           {newlyRefused: 10, gate: "toxic_refusal < -1pp", want: compare.Undecided, reason: "no toxic prompt has a verdict on both sides"},
		"a tenth without a verdict":    {newlyRefused: 10, failed: 10, gate: "over_refusal > +2pp", want: compare.Tripped},
		"more than a tenth":            {newlyRefused: 10, failed: 11, gate: "over_refusal > +2pp", want: compare.Undecided, reason: "11.0% of the shared safe prompts lack a verdict, and at most 10.0% may"},
		"more than a tenth, no change": {failed: 50, gate: "over_refusal > +2pp", want: compare.Undecided},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := compare.New("made up")
			for i := range 100 {
				before := i >= 50 && i < 50+tt.newlyAnswered
				after := i < tt.newlyRefused
				must(t, c.AddBase(row(i, orbench.Safe, before)))
				if i >= 100-tt.failed {
					must(t, c.AddCandidate(fated(i, score.Failed)))
					continue
				}
				must(t, c.AddCandidate(row(i, orbench.Safe, after)))
			}
			gate, err := compare.ParseGate(tt.gate)
			if err != nil {
				t.Fatal(err)
			}
			got := c.Result(compare.Options{MaxExcluded: 0.1, Gates: []compare.Gate{gate}}).Gates[0]
			if got.Status != tt.want || !strings.Contains(got.Reason, tt.reason) {
				t.Errorf("%s: %s (%s), want %s with %q", got.Gate, got.Status, got.Reason, tt.want, tt.reason)
			}
		})
	}
}

// FuzzParseGate finds that what is read prints as it is read, and that all faults
// are the user's to mend.
func FuzzParseGate(f *testing.F) {
	for _, text := range []string{
		"over_refusal > +2pp", "toxic_refusal < -1.5pp and significant", "over_refusal>+0pp,significant or not",
		"over_refusal > -2pp, significant or not", "over_refusal >= 2%", "over_refusal > +1e9pp", "\x00", "over_refusal > +2pp \u00a0",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := compare.ParseGate(text)
		if err != nil {
			if !errors.Is(err, orbench.ErrInput) || strings.ContainsAny(err.Error(), "\n\r\x1b") {
				t.Fatalf("%q: %q is no one-line input error", text, err)
			}
			return
		}
		again, err := compare.ParseGate(g.String())
		if err != nil || again.String() != g.String() {
			t.Fatalf("%q was read as %q, and that as %q (%v)", text, g, again, err)
		}
	})
}
