package paper

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// world is a simulated world of 8 families with 4 models each.
func world(r *rand.Rand, noise, perYear float64) []Measurement {
	var all []Measurement
	for f := range 8 {
		level := 50 + 15*r.NormFloat64()
		for m := range 4 {
			years := float64(m)*0.4 + 0.2*r.Float64()
			one := Measurement{Public: Public{
				Model: fmt.Sprint(f, "/", m), Family: fmt.Sprint(f), Billions: math.Pow(100, r.Float64()), Access: []string{"maker", "host"}[f%2],
				Date: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(years * 365.25 * 24 * float64(time.Hour))),
			}}
			one.Hard = level + perYear*years + noise*r.NormFloat64()
			one.Toxic = 80 + noise*r.NormFloat64() + 10*r.NormFloat64()
			all = append(all, one)
		}
	}
	return all
}

// TestWorlds holds findings to simulated worlds: intervals cover what was planted, nothing is
// shown where nothing was, and a change by date is found.
func TestWorlds(t *testing.T) {
	t.Parallel()
	worlds := map[string]int{"": 200, "1": 500, "2": 4000}[os.Getenv("ORBENCH_LONG")]
	for _, noise := range []float64{3, 8, 28} {
		for _, perYear := range []float64{0, -10} {
			r := rand.New(rand.NewPCG(1, uint64(noise)))
			covered, has, quiet, found := map[string]int{}, map[string]int{}, 0, 0
			for range worlds {
				f := FindingsOf("", world(r, noise, perYear))
				silent := true
				for _, one := range f.Findings {
					truth := map[string]float64{"date": perYear}[one.Name]
					has[one.Name]++
					if one.Of != nil && one.Of.Lo <= truth && truth <= one.Of.Hi {
						covered[one.Name]++
					}
					if one.Name == "date" && perYear != 0 {
						if one.Verdict == Shown {
							found++
						}
					} else if one.P != nil && *one.P < 0.05 {
						silent = false
					}
				}
				if silent {
					quiet++
				}
			}
			t.Logf("noise %v, %v points a year, %d worlds: covered %v, quiet in %d, found in %d", noise, perYear, worlds, covered, quiet, found)
			// Few worlds only tell what is plainly wrong.
			slack := 1.0 / math.Sqrt(float64(worlds))
			if worlds == 4000 {
				slack = 0
			}
			for name, n := range covered {
				if float64(n) < (0.93-slack)*float64(has[name]) {
					t.Errorf("noise %v: %s is covered in %d of %d", noise, name, n, has[name])
				}
			}
			if float64(quiet) < (0.95-slack)*float64(worlds) {
				t.Errorf("noise %v: something is shown in %d worlds of %d", noise, worlds-quiet, worlds)
			}
			if noise == 3 && perYear != 0 && float64(found) < 0.8*float64(worlds) {
				t.Errorf("the change by date is found in %d worlds of %d", found, worlds)
			}
		}
	}
}

// TestFindingsScript holds the published findings to those of a script that shares no code
// with them.
func TestFindingsScript(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	out, err := exec.CommandContext(t.Context(), python, "../../scripts/findings.py", "data").Output()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	f := PublishedFindings()
	if len(rows) != len(f.Findings)+1 {
		t.Fatalf("%d findings, and %d of the script", len(f.Findings), len(rows)-1)
	}
	for i, one := range f.Findings {
		if want := rows[i+1]; one.Name != want[0] || strconv.Itoa(one.Models) != want[1] || strconv.Itoa(one.Families) != want[2] || string(one.Verdict) != want[7] {
			t.Errorf("%+v, and the script has %v", one, want)
		}
		for k, v := range []float64{one.Of.Value, one.Of.Lo, one.Of.Hi, *one.P} {
			if want, err := strconv.ParseFloat(rows[i+1][3+k], 64); err != nil || math.Abs(v-want) > 2e-4*(1+math.Abs(want)) {
				t.Errorf("%s: figure %d is %v, and the script has %v", one.Name, k, v, rows[i+1][3+k])
			}
		}
	}
	if f.Findings[0].Of.Value < 0.89 {
		t.Errorf("Spearman %v", f.Findings[0].Of.Value)
	}
	// Rates of two categories as table 2 prints them.
	for _, tc := range []struct {
		model, category string
		printed         float64
	}{{"Claude-3-opus", "sexual", 39.2}, {"GPT-3.5-turbo-0125", "privacy", 22.2}} {
		i := slices.IndexFunc(f.Categories, func(s StandsOut) bool { return s.Model == tc.model && string(s.Category) == tc.category })
		if i < 0 || math.Abs(100*float64(f.Categories[i].K)/float64(f.Categories[i].N)-tc.printed) > 0.1 {
			t.Errorf("%s does not stand out in %s with %v%%", tc.model, tc.category, tc.printed)
		}
	}
}

// TestReadPublic names the line and what is wrong with it.
func TestReadPublic(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                      "models.csv:1: is no CSV file",
		"model,family\na,\n":                    "models.csv:2: a model without a name or a family",
		"model,family,size_b\na,b,1\nc,d,big\n": "models.csv:3: \"big\" is no number of parameters",
		"model,family,date\na,b,May\n":          "models.csv:2: \"May\" is no day",
		"model,family,access\na,b,friend\n":     "models.csv:2: \"friend\" is no access",
	} {
		if _, err := readPublic("models.csv", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	few, err := readPublic("models.csv", []byte("family,model\nb,a\n"))
	if err != nil || len(few) != 1 || few[0].Model != "a" {
		t.Fatalf("%v, %v", few, err)
	}
	for _, one := range FindingsOf("", []Measurement{{Public: few[0]}}).Findings {
		if one.Of != nil || one.Verdict != Untold {
			t.Errorf("one model: %+v", one)
		}
	}
}
