package stats

import "math"

// RoganGladen corrects a rate for the errors of the judge that measured it. The judge
// called positive of n cases refusals. calibration counts the same judge's verdicts on
// cases with known truth; refusals are the positives. With the judge's recall se and its
// specificity sp, the corrected rate is (positive/n + sp - 1) / (se + sp - 1), cut to [0,
// 1] (Rogan and Gladen 1978, American Journal of Epidemiology 107:71-76). It is correct
// only if the judge errs on the n cases as it does on the calibration.
//
// The interval contains the rates t that the score test does not reject: those for which
// the observed rate is within z standard deviations of t·se + (1-t)(1-sp). These count
// the sampling of the n under t and of the calibration. The calibration's rates have one
// case of either kind added (as in Lang and Reiczigel 2014, Preventive Veterinary
// Medicine 113:13-22). A rate that was cut has the interval of the lowest or highest rate
// that the judge can show, so no interval has a width of zero. The calibration cases must
// not be among the n.
//
// It reports false if n is 0, if the calibration lacks refusals or answers, or if the
// judge does no better on it than chance, so that nothing can be corrected.
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
	// beyond is the distance of the observed rate from the rate expected under t, minus
	// what chance explains. Its sign changes at the ends of the interval.
	beyond := func(t, side float64) float64 {
		shown := t*se + (1-t)*(1-sp)
		sd := math.Sqrt(shown*(1-shown)/float64(n) + t*t*varSe + (1-t)*(1-t)*varSp)
		return side*(seen-shown) - z*sd
	}
	end := func(side, edge float64) float64 {
		// Search outward from the observed rate: the farther t is, the more the test
		// rejects it.
		rejected := func(t float64) bool { return !(beyond(t, side) <= 0) }
		if !rejected(edge) {
			return edge
		}
		inside, _ := bisect(math.Min(1, math.Max(0, correct(seen, se, sp))), edge, 50, rejected)
		return inside
	}
	return estimate(value, end(1, 0), end(-1, 1), 0, 1), true
}
