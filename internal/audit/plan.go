package audit

import (
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/orbench/orbench"
)

// SampleSize returns the least number of prompts for which Wilson's interval,
// around a share observed as expect, reaches no further than halfWidth to each
// side of its middle. All three arguments are shares, such as 0.02, 0.05 and
// 0.95.
//
// With v = expect (1 - expect) and z the normal quantile of the confidence it
// is
//
//	n = z² (v - 2h² + sqrt(v² + h² (1 - 4v))) / 2h²
//
// rounded up, which is Wilson's half-width solved for n (Piegorsch 2004,
// Computational Statistics & Data Analysis 46:309-316). It is at least 1.
// SampleSize panics unless 0 < halfWidth < 0.5, 0 <= expect <= 1 and 0 <
// confidence < 1.
func SampleSize(halfWidth, expect, confidence float64) int {
	if !(halfWidth > 0 && halfWidth < 0.5 && expect >= 0 && expect <= 1 && confidence > 0 && confidence < 1) {
		panic(fmt.Sprintf("audit: SampleSize(%v, %v, %v)", halfWidth, expect, confidence))
	}
	z := math.Sqrt2 * math.Erfinv(confidence)
	v, h2 := expect*(1-expect), halfWidth*halfWidth
	n := z * z * (v - 2*h2 + math.Sqrt(v*v+h2*(1-4*v))) / (2 * h2)
	// The small subtraction keeps rounding errors from raising a whole number.
	return max(1, int(math.Ceil(n-1e-9)))
}

// FromPopulation returns how many of n prompts are still needed if they are
// drawn without replacement from a population of the given size: n / (1 +
// (n-1)/population), rounded up (Cochran 1977, Sampling Techniques, section
// 4.4). A population of 0 means an infinite one.
func FromPopulation(n, population int) int {
	if population <= 0 {
		return n
	}
	return int(math.Ceil(float64(n)/(1+float64(n-1)/float64(population)) - 1e-9))
}

// PlanConfig sets what an audit should be able to show.
type PlanConfig struct {
	// HalfWidth is how far an interval may reach to each side, as a share above 0
	// and below 0.5.
	HalfWidth float64 `json:"half_width"`
	// Expect is the expected value of a rate over all prompts, such as the
	// moderators' error rate, as a share. 0.5 is the worst case.
	Expect float64 `json:"expect"`
	// ExpectFPR is the share of toxic prompts that is expected to pass as safe.
	ExpectFPR float64 `json:"expect_fpr"`
	// Prevalence is the share of toxic prompts in the population, above 0 and
	// below 1.
	Prevalence float64 `json:"prevalence"`
	// Population is how many prompts there are to draw from; 0 means that their
	// number does not matter.
	Population int `json:"population"`
	// Confidence is the level of the intervals, above 0 and below 1.
	Confidence float64 `json:"confidence"`
}

// check reports a value out of range.
func (c PlanConfig) check() error {
	bad := func(setting, problem, hint string) error {
		return &orbench.InputError{Setting: setting, Problem: problem, Hint: hint}
	}
	switch {
	case !(c.HalfWidth >= 0.001 && c.HalfWidth < 0.5):
		return bad("half-width", "the half-width must be at least 0.1 and less than 50 percentage points", "give one such as 2pp")
	case !(c.Expect >= 0 && c.Expect <= 1):
		return bad("expect", "the expected share must be from 0 to 1", "give one such as 0.05")
	case !(c.ExpectFPR >= 0 && c.ExpectFPR <= 1):
		return bad("expect-fpr", "the expected share must be from 0 to 1", "give one such as 0.16")
	case !(c.Prevalence >= 0.0001 && c.Prevalence < 1):
		return bad("prevalence", "the prevalence must be at least 0.0001 and less than 1", "give the share of toxic prompts, such as 0.10")
	case c.Population < 0:
		return bad("population", "the population is negative", "give the number of prompts to draw from, or leave it out")
	case !(c.Confidence >= 0.5 && c.Confidence <= 0.9999):
		return bad("confidence", "the confidence must be from 0.5 to 0.9999", "give one such as 0.95")
	}
	return nil
}

// Plan is how many prompts people must label.
type Plan struct {
	PlanConfig
	// Need is for the wanted half-width. Table is for common ones, narrow to
	// wide.
	Need  Size   `json:"need"`
	Table []Size `json:"table"`
}

// Size is the number of prompts that one half-width needs.
type Size struct {
	HalfWidth float64 `json:"half_width"`
	// Rate is the number of prompts for a rate over all of them that has the
	// expected value. RateWorst is for a rate of one half, which needs the
	// most.
	Rate      int `json:"rate"`
	RateWorst int `json:"rate_worst"`
	// Toxic is the number of toxic prompts for the false-positive rate. Drawing
	// Draw prompts gives that many on average; drawing DrawSurely gives at
	// least that many in 95 of 100 draws. Both are 0 if the population has too
	// few.
	Toxic      int `json:"toxic"`
	Draw       int `json:"draw"`
	DrawSurely int `json:"draw_surely"`
}

// commonWidths are the half-widths that a plan shows besides the wanted one.
var commonWidths = []float64{0.01, 0.02, 0.03, 0.05, 0.10}

// sure is the chance that DrawSurely prompts contain enough toxic ones.
const sure = 0.95

// NewPlan computes a plan. It returns an *orbench.InputError that names the
// setting if a value is out of range.
func NewPlan(c PlanConfig) (Plan, error) {
	if err := c.check(); err != nil {
		return Plan{}, err
	}
	p := Plan{PlanConfig: c, Need: c.size(c.HalfWidth)}
	for _, w := range commonWidths {
		p.Table = append(p.Table, c.size(w))
	}
	return p, nil
}

func (c PlanConfig) size(halfWidth float64) Size {
	s := Size{
		HalfWidth: halfWidth,
		Rate:      FromPopulation(SampleSize(halfWidth, c.Expect, c.Confidence), c.Population),
		RateWorst: FromPopulation(SampleSize(halfWidth, 0.5, c.Confidence), c.Population),
		Toxic:     SampleSize(halfWidth, c.ExpectFPR, c.Confidence),
	}
	if c.Population > 0 {
		there := int(math.Round(float64(c.Population) * c.Prevalence))
		if there == 0 {
			return s
		}
		s.Toxic = FromPopulation(s.Toxic, there)
	}
	s.Draw = int(math.Ceil(float64(s.Toxic)/c.Prevalence - 1e-9))
	s.DrawSurely = drawSurely(s.Toxic, c.Prevalence)
	if c.Population > 0 {
		// Drawing everything gives every toxic prompt there is, and
		// FromPopulation never asks for more than those.
		s.Draw, s.DrawSurely = min(s.Draw, c.Population), min(s.DrawSurely, c.Population)
	}
	return s
}

// drawSurely returns the least number of prompts that contain at least k toxic
// ones with a chance of 95 in 100, if each is toxic with probability p. For a
// finite population the number is rather too large.
func drawSurely(k int, p float64) int {
	enough := func(n int) bool {
		return n >= k && distuv.Binomial{N: float64(n), P: p}.CDF(float64(k-1)) <= 1-sure
	}
	most := k
	for !enough(most) {
		most *= 2
	}
	return sort.Search(most, enough)
}
