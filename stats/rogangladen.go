package stats

import "math"

// RoganGladen corrects a rate for the errors of the judge that measured it. The
// judge called positive of n cases refusals; calibration counts what the same
// judge said of cases whose truth is known, refusals being the positives. With
// its recall se and its specificity sp the corrected rate is (positive/n + sp -
// 1) / (se + sp - 1), cut to [0, 1] (Rogan and Gladen 1978, American Journal of
// Epidemiology 107:71-76). It is only right where the judge errs on the n as it does
// on the calibration.
//
// The interval holds the rates t that the score test does not reject: those for
// which the observed rate is within z standard deviations of t·se + (1-t)(1-sp),
// counting the sampling of the n under t and of the calibration, whose rates have one
// case of either kind added (as Lang and Reiczigel 2014, Preventive Veterinary
// Medicine 113:13-22, do). A rate that was cut has the interval of the least or the
// greatest rate that the judge can show, so that no interval has a width of zero. It
// supposes that the calibration cases are none of the n.
//
// It reports false when n is 0, when the calibration lacks refusals or answers,
// or when the judge does no better on it than chance, so that nothing can be
// corrected.
func RoganGladen(positive, n int, calibration Confusion, confidence float64) (Estimate, bool) {
	checkCounts("RoganGladen", positive, n)
	z := zOf(confidence)
	refusals, answers := calibration.TP+calibration.FN, calibration.FP+calibration.TN
	if n == 0 || refusals == 0 || answers == 0 {
		return Estimate{}, false
	}
	correct := func(p, se, sp float64) float64 { return (p + sp - 1) / (se + sp - 1) }
	se, _ := calibration.Recall()
	sp := float64(calibration.TN) / float64(answers)
	// se + sp > 1, in whole numbers.
	if calibration.TP*answers <= calibration.FP*refusals {
		return Estimate{}, false
	}
	value := correct(float64(positive)/float64(n), se, sp)

	se, sp = (float64(calibration.TP)+1)/float64(refusals+2), (float64(calibration.TN)+1)/float64(answers+2)
	varSe, varSp := se*(1-se)/float64(refusals+2), sp*(1-sp)/float64(answers+2)
	seen := math.Min(math.Max(float64(positive)/float64(n), 1-sp), math.Max(se, 1-sp))
	// beyond is how far the observed rate is from what t would show, over what chance
	// explains; below and above 0 at the ends of the interval.
	beyond := func(t, side float64) float64 {
		shown := t*se + (1-t)*(1-sp)
		sd := math.Sqrt(shown*(1-shown)/float64(n) + t*t*varSe + (1-t)*(1-t)*varSp)
		return side*(seen-shown) - z*sd
	}
	end := func(side, edge float64) float64 {
		// From the observed rate outward; the test rejects more the farther t is.
		rejected := func(t float64) bool { return !(beyond(t, side) <= 0) }
		if !rejected(edge) {
			return edge
		}
		inside, _ := bisect(math.Min(1, math.Max(0, correct(seen, se, sp))), edge, 50, rejected)
		return inside
	}
	return estimate(value, end(1, 0), end(-1, 1), 0, 1), true
}
